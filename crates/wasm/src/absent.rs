//! Absent: what stands for a module in a program that was built without the engine. There never is one.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use message::{Error, Kind, Result};
use plan::WasmSource;

use crate::figures::ModuleFigures;

/// A module, of which this program can make none.
pub struct Module(Infallible);

impl Module {
    /// Makes none.
    ///
    /// # Errors
    ///
    /// [`Kind::Internal`], always: how to build a program that has the engine.
    pub fn new(plan: Arc<WasmSource>) -> Result<Arc<Self>> {
        let detail = format!(
            "source {}: this program was built without WebAssembly; build it with `make build`",
            plan.name
        );
        Err(Error::new(Kind::Internal, detail))
    }

    /// What it was made from.
    pub fn plan(&self) -> &WasmSource {
        match self.0 {}
    }

    /// The names of the functions that can be called.
    pub fn functions(&self) -> std::iter::Empty<&str> {
        match self.0 {}
    }

    /// Whether there is this function to call.
    pub fn has(&self, _: &str) -> bool {
        match self.0 {}
    }

    /// Runs one of its functions.
    ///
    /// # Errors
    ///
    /// None: there is no module to call.
    pub fn call(&self, _: &str, _: Bytes) -> std::future::Pending<Result<Bytes>> {
        match self.0 {}
    }

    /// What became of calls so far.
    pub fn figures(&self) -> ModuleFigures {
        match self.0 {}
    }
}
