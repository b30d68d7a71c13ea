//! Module: one that is ready to run, with its threads. In: calls of all cores. Out: what they give.

use std::sync::Arc;

use bytes::Bytes;
use message::{Error, Kind, Result};
use plan::WasmSource;
use workers::{Stop, Workers};

use super::call::Call;
use super::compiled::Compiled;
use super::counters::ModuleCounters;
use super::failure::unfit;
use super::ticker::Ticker;
use crate::figures::ModuleFigures;

/// See the module. Shared by all cores. Dropping it ends its threads, once nobody waits for a call any more.
pub struct Module {
    shared: Arc<Shared>,
    workers: Workers<()>,
    counters: ModuleCounters,
}

/// What calls on the threads need, for as long as one runs.
struct Shared {
    plan: Arc<WasmSource>,
    compiled: Compiled,
    ticker: Ticker,
}

impl Module {
    /// Reads, validates and compiles the module, makes an instance to see that it can be done, and starts the threads.
    /// Blocks meanwhile: for milliseconds, or seconds where the module is large.
    ///
    /// # Errors
    ///
    /// [`Kind::Internal`], with the file and what to do: it cannot be read, is no WebAssembly, imports something, lacks
    /// an export that it has to have, cannot be instantiated within its limits; or threads cannot be started.
    pub fn new(plan: Arc<WasmSource>) -> Result<Arc<Self>> {
        let compiled = Compiled::new(&plan)?;
        let name = format!("wasm-{}", plan.name);
        let no_threads = |error| unfit(&plan, "has no threads: the system gives us none").caused_by(error);
        let ticker = Ticker::start(&name, compiled.engine.clone()).map_err(no_threads)?;
        let computing = ticker.computing();
        let instance = Call::new(&compiled, &plan, "its start", &Stop::default()).instance();
        instance.map_err(|error| unfit(&plan, "cannot be instantiated").caused_by(error))?;
        drop(computing);
        let workers = Workers::start(&name, plan.threads, plan.queue, || ()).map_err(no_threads)?;
        let shared = Arc::new(Shared { plan, compiled, ticker });
        Ok(Arc::new(Module { shared, workers, counters: ModuleCounters::default() }))
    }

    /// What it was made from.
    pub fn plan(&self) -> &WasmSource {
        &self.shared.plan
    }

    /// The names of the functions that can be called: exports that take `(pointer: i32, length: i32)` and give an `i64`.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        self.shared.compiled.functions.keys().map(String::as_str)
    }

    /// Whether there is this function to call.
    pub fn has(&self, function: &str) -> bool {
        self.shared.compiled.functions.contains_key(function)
    }

    /// Runs one of its functions on a thread of its own, with JSON in and JSON out. Dropping the future stops it, or
    /// keeps it from starting.
    ///
    /// # Errors
    ///
    /// [`Kind::Overloaded`], at once: too many wait already. [`Kind::SourceTimeout`]: it computed for too long.
    /// [`Kind::UnusableReply`]: it trapped, wanted too much memory, or gave something else than JSON.
    /// [`Kind::Internal`]: there is no such function, or we could not run it.
    pub async fn call(&self, function: &str, input: Bytes) -> Result<Bytes> {
        self.counters.called();
        let result = self.run(function, input).await;
        result.inspect_err(|error| self.counters.ended_badly(error))
    }

    async fn run(&self, function: &str, input: Bytes) -> Result<Bytes> {
        let Some(&export) = self.shared.compiled.functions.get(function) else {
            let detail = format!("source {}: there is no function {function}", self.plan().name);
            return Err(Error::new(Kind::Internal, detail));
        };
        let shared = Arc::clone(&self.shared);
        let function = function.to_owned();
        let job = move |(): &mut (), stop: &Stop| {
            let _computing = shared.ticker.computing();
            Call::new(&shared.compiled, &shared.plan, &function, stop).run(export, &input)
        };
        self.workers.run(job).await?
    }

    /// What became of calls so far.
    pub fn figures(&self) -> ModuleFigures {
        self.counters.figures(self.workers.figures())
    }
}
