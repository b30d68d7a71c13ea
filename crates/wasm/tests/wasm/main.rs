//! What whoever composes relies on: a module answers or fails as defined, in time, and never at the cost of a core.
//! Modules are written as text, here and now.

mod bounds;
mod cores;
mod example;
mod files;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use message::{Error, Kind};
use plan::WasmSource;
use tempfile::TempDir;
use wasm::Module;

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(20);

/// What is in the way of no test, of a file.
fn source(module: PathBuf) -> WasmSource {
    let modified = None;
    WasmSource {
        name: "math".to_owned(),
        module,
        modified,
        timeout: LONG,
        memory: 16 << 20,
        threads: 2,
        queue: 1000,
    }
}

/// The result of making one from this file, with these changes to the plan.
fn made(content: &[u8], change: impl Fn(&mut WasmSource)) -> message::Result<Arc<Module>> {
    let folder = TempDir::new().expect("there is room for a folder");
    let file = folder.path().join("module");
    std::fs::write(&file, content).expect("there is room for a file");
    let mut plan = source(file);
    change(&mut plan);
    Module::new(Arc::new(plan))
}

/// Has a memory and an `alloc`, and these functions.
fn text(functions: &str) -> String {
    let alloc = r#"(func (export "alloc") (param i32) (result i32) (i32.const 1024))"#;
    format!(r#"(module (memory (export "memory") 1) {alloc} {functions})"#)
}

/// A function that can be called.
fn function(name: &str, body: &str) -> String {
    format!(r#"(func (export "{name}") (param $pointer i32) (param $length i32) (result i64) {body})"#)
}

/// Gives what it gets.
fn echo() -> String {
    let pointer = "(i64.shl (i64.extend_i32_u (local.get $pointer)) (i64.const 32))";
    function("echo", &format!("(i64.or {pointer} (i64.extend_i32_u (local.get $length)))"))
}

/// Computes for ever.
fn endless() -> String {
    function("endless", "(loop $again (br $again)) unreachable")
}

/// Of these functions, with these changes to the plan.
fn module(functions: &[String], change: impl Fn(&mut WasmSource)) -> Arc<Module> {
    made(text(&functions.concat()).as_bytes(), change).expect("a module as it has to be")
}

async fn call(module: &Module, function: &str, input: &str) -> Result<String, Error> {
    let output = module.call(function, Bytes::copy_from_slice(input.as_bytes())).await?;
    Ok(String::from_utf8(output.to_vec()).expect("what is no UTF-8 is refused"))
}

fn assert_says(error: &Error, kind: Kind, words: &str) {
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().contains(words), "not {words:?}, but: {error}");
}

async fn until(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < LONG, "{what} did not happen");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
