//! What is no module of ours is refused when it is loaded, with what to do about it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use message::Kind;

use super::{Module, assert_says, call, echo, function, made, module, source, text};

/// `(func (export "f") …)` that gives `null`, in the binary format.
const BINARY: &[u8] = b"\0asm\x01\0\0\0\
    \x01\x0c\x02\x60\x01\x7f\x01\x7f\x60\x02\x7f\x7f\x01\x7e\
    \x03\x03\x02\x00\x01\
    \x05\x03\x01\x00\x01\
    \x07\x16\x03\x06memory\x02\x00\x05alloc\x00\x00\x01f\x00\x01\
    \x0a\x0b\x02\x04\x00\x41\x08\x0b\x04\x00\x42\x04\x0b\
    \x0b\x0a\x01\x00\x41\x00\x0b\x04null";

fn refused(content: impl AsRef<[u8]>, words: &str) {
    let error = made(content.as_ref(), |plan| plan.timeout = Duration::from_millis(50)).err();
    let error = error.expect(words);
    assert_says(&error, Kind::Internal, words);
    assert!(error.to_string().contains("/module"), "names no file: {error}");
}

#[tokio::test]
async fn text_and_binary_are_both_read() {
    let text = made(text(&echo()).as_bytes(), |_| ()).unwrap();
    assert_eq!(call(&text, "echo", "[1]").await.unwrap(), "[1]");
    let binary = made(BINARY, |_| ()).unwrap();
    assert_eq!(call(&binary, "f", "1").await.unwrap(), "null");
}

#[test]
fn functions_are_the_exports_that_can_be_called() {
    let other = r#"(func (export "other") (param i32) (result i64) unreachable) (global (export "size") i32 (i32.const 1))"#;
    let module = module(&[echo(), function("b", "unreachable"), other.to_owned()], |_| ());
    assert_eq!(module.functions().collect::<Vec<_>>(), ["b", "echo"]);
    assert!(module.has("echo") && module.has("b"));
    assert!(!module.has("alloc") && !module.has("other") && !module.has("size") && !module.has("memory"));
    assert_eq!(module.plan().name, "math");
}

#[tokio::test]
async fn a_function_that_is_not_there_is_an_error() {
    let module = module(&[echo()], |_| ());
    assert_says(&call(&module, "alloc", "1").await.unwrap_err(), Kind::Internal, "no function alloc");
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let error = Module::new(Arc::new(source(PathBuf::from("/nowhere/math.wasm")))).err().unwrap();
    assert_says(&error, Kind::Internal, "/nowhere/math.wasm cannot be read");
}

#[test]
fn what_is_no_module_is_refused() {
    refused("hello", "is no WebAssembly");
    refused("", "is no WebAssembly");
    refused("(module)", "exports no `memory`");
    refused("(module (func (result i32) (i64.const 1)))", "is no WebAssembly");
    refused(b"\x7fELF\x02\x01\x01\0", "is no WebAssembly");
    // Cut anywhere it is broken, or lacks something: the data come last, and are not needed.
    for length in 1..BINARY.len() - 12 {
        assert!(made(&BINARY[..length], |_| ()).is_err(), "the first {length} bytes");
    }
}

#[test]
fn imports_are_named_and_refused() {
    refused(
        r#"(module (import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32))))"#,
        "imports `wasi_snapshot_preview1.fd_write`, and modules are given nothing; compile it without WASI",
    );
    refused(
        r#"(module (import "env" "abort" (func (param i32 i32 i32 i32))))"#,
        "imports `env.abort`, and modules are given nothing; compile it with `--use abort=`",
    );
    refused(r#"(module (import "env" "memory" (memory 1)))"#, "imports `env.memory`");
    refused(r#"(module (import "env" "base" (global i32)))"#, "imports `env.base`");
}

#[test]
fn exports_that_have_to_be_there_are_asked_for() {
    let alloc = r#"(func (export "alloc") (param i32) (result i32) (i32.const 8))"#;
    let memory = r#"(memory (export "memory") 1)"#;
    refused(format!("(module {alloc})"), "exports no `memory`");
    refused(format!(r#"(module {alloc} (memory (export "memory") i64 1))"#), "exports no `memory`");
    refused(
        format!(r#"(module {alloc} (global (export "memory") i32 (i32.const 1)))"#),
        "exports no `memory`",
    );
    refused(format!("(module {memory})"), "exports no `alloc(length: i32) -> i32`");
    refused(
        format!(r#"(module {memory} (func (export "alloc")))"#),
        "exports no `alloc(length: i32) -> i32`",
    );
}

#[test]
fn what_other_threads_could_change_or_a_collector_would_need_is_refused() {
    refused(r#"(module (memory (export "memory") 1 2 shared))"#, "is no WebAssembly that we can run");
    refused("(module (type (struct (field i32))))", "is no WebAssembly that we can run");
}

#[test]
fn what_starts_above_its_bounds_is_refused() {
    let too_much = "wanted more than 16777216 bytes of memory";
    refused(text("").replace("1)", "257)"), too_much);
    refused(text("(table 99999 funcref) (table 100000 funcref)").replace("1)", "240)"), too_much);
    refused(text("(table 100001 funcref)"), "exceeds the limit of 100000");
    refused(text(&"(table 1 funcref)".repeat(5)), "the per-instance limit of 4");
    refused(text("(memory 1)"), "the per-instance limit of 1");
    assert!(made(text("").replace("1)", "256)").as_bytes(), |_| ()).is_ok(), "as much as there may be");
}

#[test]
fn what_fails_whenever_it_starts_is_refused() {
    refused(text("(func $start unreachable) (start $start)"), "unreachable");
    refused(text("(func $start (loop $again (br $again))) (start $start)"), "computed for more than 50ms");
    refused(text(r#"(data (i32.const 65535) "too long")"#), "out of bounds memory access");
}
