//! Failures: what the engine tells of one becomes a `message::Error`. Called where a call or the start of a module has
//! come to an end.

use std::fmt;

use message::{Error, Kind};
use plan::WasmSource;
use wasmtime::Trap;

use super::bounds::Bounds;

/// What `wasmtime` said, as it is shown beneath an error of ours.
#[derive(Debug)]
struct Engine(wasmtime::Error);

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // On one line: its own excerpts of a text have several.
        let text = format!("{:#}", self.0);
        f.write_str(&text.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

impl std::error::Error for Engine {}

/// The module cannot be used; `why` goes on after its name and says what to do.
pub(crate) fn unfit(plan: &WasmSource, why: &str) -> Error {
    Error::new(Kind::Internal, format!("source {}: the module {} {why}", plan.name, plan.module.display()))
}

/// The same, with what the engine said.
pub(crate) fn unfit_since(plan: &WasmSource, why: &str, error: wasmtime::Error) -> Error {
    unfit(plan, why).caused_by(Engine(error))
}

/// What a function gave is of no use; `why` goes on after its name.
pub(crate) fn unusable(plan: &WasmSource, function: &str, why: &str) -> Error {
    Error::new(Kind::UnusableReply, format!("source {}: {function} {why}", plan.name))
}

/// A call broke off.
pub(crate) fn broken_off(
    plan: &WasmSource,
    function: &str,
    bounds: &Bounds,
    error: wasmtime::Error,
) -> Error {
    match error.downcast_ref::<Trap>() {
        Some(Trap::Interrupt) => {
            let detail =
                format!("source {}: {function} computed for more than {:?}", plan.name, plan.timeout);
            Error::new(Kind::SourceTimeout, detail)
        }
        _ if bounds.wanted_more() => {
            let why = format!("broke off after it wanted more than {} bytes of memory", plan.memory);
            unusable(plan, function, &why).caused_by(Engine(error))
        }
        Some(_) => unusable(plan, function, "broke off").caused_by(Engine(error)),
        None => {
            let detail = format!("source {}: {function} cannot be run", plan.name);
            Error::new(Kind::Internal, detail).caused_by(Engine(error))
        }
    }
}
