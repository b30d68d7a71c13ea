//! Whatever a function does, its caller gets JSON or an error that is defined.

use std::time::{Duration, Instant};

use message::Kind;

use super::{assert_says, call, echo, endless, function, made, module};

/// What a function with this body answers to `null`.
async fn answer(body: &str) -> Result<String, message::Error> {
    let module = module(&[function("f", body)], |plan| plan.timeout = Duration::from_secs(1));
    call(&module, "f", "null").await
}

async fn unusable(body: &str, words: &str) {
    let error = answer(body).await.expect_err(body);
    assert_says(&error, Kind::UnusableReply, words);
}

/// Writes a text of up to eight bytes to address 0 and gives it.
fn gives(output: &[u8]) -> String {
    let mut bytes = [0; 8];
    bytes[..output.len()].copy_from_slice(output);
    let number = i64::from_le_bytes(bytes);
    format!("(i64.store (i32.const 0) (i64.const {number})) (i64.const {})", output.len())
}

#[tokio::test]
async fn json_of_any_kind_goes_in_and_out() {
    let module = module(&[echo()], |_| ());
    let long = format!("[{}1]", "1,".repeat(30_000));
    for json in ["null", "true", "-1.5e3", r#""ä\u0000""#, "[]", r#"{"a":{"b":[1,2,{}]}}"#, " 1 ", &long] {
        assert_eq!(call(&module, "echo", json).await.unwrap(), json);
    }
    assert_eq!(answer(&gives(b"[1,2]")).await.unwrap(), "[1,2]");
}

#[tokio::test]
async fn what_is_no_json_is_unusable() {
    let bad: [&[u8]; 11] = [
        b"",
        b" ",
        b"nul",
        b"1 2",
        b"{a:1}",
        b"[1,]",
        b"01",
        b"\"\xff\"",
        b"\"\0\"",
        b"null\0",
        b"\xef\xbb\xbf1",
    ];
    for output in bad {
        unusable(&gives(output), "gives something else than JSON").await;
    }
}

#[tokio::test]
async fn a_trap_is_unusable_and_named() {
    unusable("unreachable", "`unreachable` instruction executed").await;
    unusable("(i64.div_s (i64.const 1) (i64.const 0))", "integer divide by zero").await;
    unusable("(i64.load (i32.const 65529))", "out of bounds memory access").await;
    unusable("(i64.load (i32.const -1))", "out of bounds memory access").await;
    unusable("(memory.fill (i32.const 0) (i32.const 0) (i32.const -1)) unreachable", "out of bounds").await;
    unusable("(i64.trunc_f64_s (f64.const nan))", "invalid conversion to integer").await;
}

#[tokio::test]
async fn deep_recursion_is_unusable() {
    unusable("(call 1 (local.get $pointer) (local.get $length))", "call stack exhausted").await;
}

#[tokio::test]
async fn pointers_and_lengths_of_all_kinds_are_looked_at() {
    let packed =
        |pointer: u64, length: u64| format!("(i64.const {})", (pointer << 32 | length).cast_signed());
    unusable(&packed(65_536, 4), "outside of its memory").await;
    unusable(&packed(65_533, 4), "outside of its memory").await;
    unusable(&packed(0, 65_537), "outside of its memory").await;
    unusable(&packed(0xffff_fff0, 4), "outside of its memory").await;
    unusable(&packed(0xffff_ffff, 0x80_0000), "outside of its memory").await;
    unusable(&packed(0, 0xffff_ffff), "more than 8388608").await;
    unusable(&packed(0, 0x8000_0000), "more than 8388608").await;
    unusable(&packed(0xffff_ffff, 0xffff_ffff), "more than 8388608").await;
}

#[tokio::test]
async fn eight_mebibytes_of_output_and_no_more() {
    let spaces = |length: u32| {
        format!(
            "(drop (memory.grow (i32.const 200)))
             (memory.fill (i32.const 0) (i32.const 32) (i32.const {length}))
             (i32.store8 (i32.const 0) (i32.const 49))
             (i64.const {length})"
        )
    };
    assert_eq!(answer(&spaces(8 << 20)).await.unwrap().len(), 8 << 20);
    unusable(&spaces((8 << 20) + 1), "gives 8388609 bytes, more than 8388608").await;
}

#[tokio::test]
async fn memory_ends_where_the_plan_says() {
    // As much as there may be, and a page more.
    let grow = |pages: u32| {
        format!("(if (i32.eq (memory.grow (i32.const {pages})) (i32.const -1)) (then unreachable))")
    };
    let full = grow(255);
    assert_eq!(answer(&format!("{full} {}", gives(b"1"))).await.unwrap(), "1");
    unusable(&format!("{} unreachable", grow(256)), "wanted more than 16777216 bytes of memory").await;
    // Who can live with less does.
    let modest = format!("(drop (memory.grow (i32.const 60000))) {}", gives(b"2"));
    assert_eq!(answer(&modest).await.unwrap(), "2");
    // What was refused does not count.
    assert_eq!(
        answer(&format!("(drop (memory.grow (i32.const 256))) {full} {}", gives(b"3"))).await.unwrap(),
        "3"
    );
    unusable(
        "(loop $again (br_if $again (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))) unreachable",
        "wanted more",
    )
    .await;
}

#[tokio::test]
async fn tables_count_as_memory() {
    let grow = |elements: u32| {
        let grown = format!("(table.grow 0 (ref.null func) (i32.const {elements}))");
        let body = format!("(if (i32.eq {grown} (i32.const -1)) (then unreachable)) {}", gives(b"1"));
        // Two pages: one is taken at the start, and an element takes eight bytes.
        let table = "(table 0 funcref)".to_owned();
        module(&[table, function("f", &body)], |plan| plan.memory = 128 << 10)
    };
    assert_eq!(call(&grow(8192), "f", "null").await.unwrap(), "1");
    let error = call(&grow(8193), "f", "null").await.unwrap_err();
    assert_says(&error, Kind::UnusableReply, "wanted more than 131072 bytes of memory");
    let error = call(&grow(u32::MAX), "f", "null").await.unwrap_err();
    assert_says(&error, Kind::UnusableReply, "broke off");
}

#[tokio::test]
async fn where_input_goes_is_looked_at() {
    let with = |alloc: &str| {
        let alloc = format!(r#"(func (export "alloc") (param i32) (result i32) {alloc})"#);
        let text = format!(r#"(module (memory (export "memory") 1) {alloc} {})"#, echo());
        made(text.as_bytes(), |plan| plan.timeout = Duration::from_millis(50)).unwrap()
    };
    let cases = [
        ("(i32.const 0)", Kind::UnusableReply, "no room for 4 bytes of input"),
        ("(i32.const -1)", Kind::UnusableReply, "wants its input outside of its memory"),
        ("(i32.const 65533)", Kind::UnusableReply, "wants its input outside of its memory"),
        ("unreachable", Kind::UnusableReply, "`unreachable` instruction executed"),
        ("(loop $again (br $again)) unreachable", Kind::SourceTimeout, "computed for more than 50ms"),
    ];
    for (alloc, kind, words) in cases {
        assert_says(&call(&with(alloc), "echo", "null").await.unwrap_err(), kind, words);
    }
    assert_eq!(call(&with("(i32.const 65532)"), "echo", "null").await.unwrap(), "null");
}

#[tokio::test]
async fn what_computes_for_too_long_is_stopped() {
    let recursive = "(func $twice (call $twice) (call $twice)) (func $deep (return_call $deep))";
    let by_calls = function("calls", "(call $deep) unreachable");
    let module = module(&[endless(), recursive.to_owned(), by_calls], |plan| {
        plan.timeout = Duration::from_millis(100);
    });
    for name in ["endless", "calls"] {
        let start = Instant::now();
        let error = call(&module, name, "null").await.unwrap_err();
        assert_says(&error, Kind::SourceTimeout, "computed for more than 100ms");
        assert!(start.elapsed() >= Duration::from_millis(100));
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    }
    assert_eq!(module.figures().timed_out, 2);
    assert_eq!(module.figures().failed, 0);
}

#[tokio::test]
async fn the_time_that_it_waits_does_not_count() {
    let module = module(&[endless(), echo()], |plan| {
        plan.timeout = Duration::from_millis(50);
        plan.threads = 1;
    });
    let endless = || call(&module, "endless", "null");
    let results = tokio::join!(endless(), endless(), endless(), call(&module, "echo", "1"));
    assert!(results.0.is_err() && results.1.is_err() && results.2.is_err());
    assert_eq!(results.3.unwrap(), "1", "it waited for 150 ms");
}

#[tokio::test]
async fn nothing_of_a_call_is_seen_by_the_next() {
    // Counts in a global, in memory, in a table and by growing.
    let counts = "(global $calls (mut i32) (i32.const 48)) (table 1 2 funcref)";
    let body = "
        (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
        (i32.store8 (i32.const 0) (global.get $calls))
        (i32.store8 (i32.const 1) (i32.add (i32.load8_u (i32.const 60000)) (i32.const 48)))
        (i32.store8 (i32.const 60000) (i32.const 7))
        (i32.store8 (i32.const 2) (i32.add (memory.grow (i32.const 1)) (i32.const 48)))
        (i32.store8 (i32.const 3) (i32.add (table.grow 0 (ref.null func) (i32.const 1)) (i32.const 48)))
        (i32.store8 (i32.const 4) (i32.add (i32.load8_u (i32.const 70000)) (i32.const 48)))
        (i32.store8 (i32.const 70000) (i32.const 7))
        (i64.const 5)";
    let module = module(&[counts.to_owned(), function("f", body)], |plan| plan.threads = 1);
    for _ in 0..100 {
        assert_eq!(call(&module, "f", "null").await.unwrap(), "10110");
    }
}
