;; Functions around calls, as a module that fleetfoot runs: see docs/guide/wasm.md, "Around calls". It is text on purpose: it shows all there
;; is to the interface, and fleetfoot reads it as it is. Modules are usually compiled from another language.
;;
;;   on_request   wants clients to say who they are, and tells the source through whom it is asked
;;   on_response  adds what every response is to have, and takes out what is nobody's business
(module
  ;; What goes in and out passes through here:
  ;;     0 ..  1023  what there is to say
  ;;  1024 ..        what is told
  (memory (export "memory") 1)
  (data (i32.const 0)   "\"x-client\":")
  (data (i32.const 128) "{\"respond\":{\"status\":400,\"body\":{\"error\":\"say who you are in X-Client\"}}}")
  (data (i32.const 256) "{\"set\":{\"X-Edge\":\"fleetfoot\"}}")
  (data (i32.const 384) "{\"set\":{\"X-Content-Type-Options\":\"nosniff\"},\"remove\":[\"Server\",\"X-Powered-By\"]}")

  ;; Where to put so many bytes; 0 if there is no room for them. Every call has a fresh memory, so nothing is ever freed.
  (func (export "alloc") (param $length i32) (result i32)
    (select (i32.const 1024) (i32.const 0) (i32.le_u (local.get $length) (i32.const 64512))))

  (func (export "on_request") (param $at i32) (param $length i32) (result i64)
    (if (result i64) (call $has (local.get $at) (i32.add (local.get $at) (local.get $length)))
      (then (call $said (i32.const 256) (i32.const 30)))
      (else (call $said (i32.const 128) (i32.const 73)))))

  (func (export "on_response") (param $at i32) (param $length i32) (result i64)
    (call $said (i32.const 384) (i32.const 79)))

  ;; Whether what is told has the 11 bytes at 0: a field of that name. Quotes inside of a value are told as \", so that no client can write them.
  (func $has (param $at i32) (param $end i32) (result i32)
    (local $same i32)
    (loop $look
      (if (i32.gt_u (i32.add (local.get $at) (i32.const 11)) (local.get $end)) (then (return (i32.const 0))))
      (local.set $same (i32.const 0))
      (loop $compare
        (if (i32.eq
              (i32.load8_u (i32.add (local.get $at) (local.get $same)))
              (i32.load8_u (local.get $same)))
          (then
            (local.set $same (i32.add (local.get $same) (i32.const 1)))
            (br_if $compare (i32.lt_u (local.get $same) (i32.const 11)))
            (return (i32.const 1)))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br $look))
    (unreachable))

  (func $said (param $at i32) (param $length i32) (result i64)
    (i64.or
      (i64.shl (i64.extend_i32_u (local.get $at)) (i64.const 32))
      (i64.extend_i32_u (local.get $length)))))
