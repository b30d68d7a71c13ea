;; CPU work of your own, as a module that fleetfoot runs: counts the primes up to a number, by trial division.
;;
;;   in:   {"n": 200000}, or anything without a "n", such as null
;;   out:  {"n":200000,"primes":17984}
;;
;; It is text on purpose: fleetfoot reads it as it is, and it shows all there is to the interface. Modules are usually
;; compiled from another language; docs/guide/wasm.md has the same in Rust, C and AssemblyScript.
(module
  ;; What goes in and out passes through here. One page, 64 KiB:
  ;;     0 ..    15  pieces of the output
  ;;    64 ..   191  the output
  ;;  1024 .. 65535  the input
  (memory (export "memory") 1)
  (data (i32.const 0) "{\"n\":,\"primes\":}")

  ;; What is counted up to when the input says nothing: 53 ms of one core of the virtual machine this was measured on.
  (global $default i32 (i32.const 1000000))
  ;; Where the next byte of the output goes.
  (global $end (mut i32) (i32.const 64))

  ;; Where to put this many bytes of input; 0 if there is no room for them. Every call has a fresh memory, so nothing is
  ;; ever given back.
  (func (export "alloc") (param $length i32) (result i32)
    (select (i32.const 1024) (i32.const 0) (i32.le_u (local.get $length) (i32.const 64512))))

  ;; From JSON at a pointer to JSON at a pointer: (pointer << 32) | length.
  (func (export "execute") (param $pointer i32) (param $length i32) (result i64)
    (local $n i32)
    (local.set $n (call $read_n (local.get $pointer) (i32.add (local.get $pointer) (local.get $length))))
    (call $put_text (i32.const 0) (i32.const 5))
    (call $put_number (local.get $n))
    (call $put_text (i32.const 5) (i32.const 10))
    (call $put_number (call $count_primes (local.get $n)))
    (call $put_text (i32.const 15) (i32.const 1))
    (i64.or
      (i64.shl (i64.const 64) (i64.const 32))
      (i64.extend_i32_u (i32.sub (global.get $end) (i32.const 64)))))

  (func $count_primes (param $n i32) (result i32)
    (local $candidate i32) (local $divisor i32) (local $primes i32)
    (if (i32.lt_u (local.get $n) (i32.const 2)) (then (return (i32.const 0))))
    (local.set $primes (i32.const 1)) ;; two; from here on odd numbers only
    (local.set $candidate (i32.const 3))
    (block $all
      (loop $candidates
        (br_if $all (i32.gt_u (local.get $candidate) (local.get $n)))
        (local.set $divisor (i32.const 3))
        (block $composite
          (block $prime
            (loop $divisors
              (br_if $prime
                (i32.gt_u (i32.mul (local.get $divisor) (local.get $divisor)) (local.get $candidate)))
              (br_if $composite (i32.eqz (i32.rem_u (local.get $candidate) (local.get $divisor))))
              (local.set $divisor (i32.add (local.get $divisor) (i32.const 2)))
              (br $divisors)))
          (local.set $primes (i32.add (local.get $primes) (i32.const 1))))
        (local.set $candidate (i32.add (local.get $candidate) (i32.const 2)))
        (br $candidates)))
    (local.get $primes))

  ;; The number after the first "n": in the input. A simple scan and no parser: a "n" in a text would be found as well.
  (func $read_n (param $at i32) (param $end i32) (result i32)
    (local $n i32) (local $digit i32)
    (block $none
      (loop $look
        ;; Three bytes for "n" and one at least for what comes after it.
        (br_if $none (i32.gt_u (i32.add (local.get $at) (i32.const 4)) (local.get $end)))
        (if (i32.ne
              (i32.and (i32.load align=1 (local.get $at)) (i32.const 0xffffff))
              (i32.const 0x226e22)) ;; "n", little endian
          (then
            (local.set $at (i32.add (local.get $at) (i32.const 1)))
            (br $look))))
      (local.set $at (i32.add (local.get $at) (i32.const 3)))
      ;; Colon, spaces and line ends: up to the first digit.
      (loop $skip
        (br_if $none (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $digit (i32.sub (i32.load8_u (local.get $at)) (i32.const 48)))
        (if (i32.gt_u (local.get $digit) (i32.const 9))
          (then
            ;; The difference to the digit 0 is -16 and below for spaces and line ends, and 10 for the colon.
            (br_if $none
              (i32.and (i32.gt_s (local.get $digit) (i32.const -16)) (i32.ne (local.get $digit) (i32.const 10))))
            (local.set $at (i32.add (local.get $at) (i32.const 1)))
            (br $skip))))
      (loop $digits
        (local.set $n (i32.add (i32.mul (local.get $n) (i32.const 10)) (local.get $digit)))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (if (i32.ge_u (local.get $n) (i32.const 100000000)) (then (return (i32.const 100000000)))) ;; no overflow
        (if (i32.lt_u (local.get $at) (local.get $end))
          (then
            (local.set $digit (i32.sub (i32.load8_u (local.get $at)) (i32.const 48)))
            (br_if $digits (i32.le_u (local.get $digit) (i32.const 9))))))
      (return (local.get $n)))
    (global.get $default))

  (func $put_text (param $pointer i32) (param $length i32)
    (memory.copy (global.get $end) (local.get $pointer) (local.get $length))
    (global.set $end (i32.add (global.get $end) (local.get $length))))

  ;; In decimal; the first digits by a call of its own.
  (func $put_number (param $number i32)
    (if (i32.ge_u (local.get $number) (i32.const 10))
      (then (call $put_number (i32.div_u (local.get $number) (i32.const 10)))))
    (i32.store8 (global.get $end) (i32.add (i32.const 48) (i32.rem_u (local.get $number) (i32.const 10))))
    (global.set $end (i32.add (global.get $end) (i32.const 1)))))
