//! Wasm: what a source of your own CPU work means.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// A module of your own, sandboxed: JSON in, JSON out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WasmSource {
    /// Its name in the file.
    pub name: String,
    /// The module: `.wasm`, or `.wat` as text.
    pub module: PathBuf,
    /// When the file changed last: with another it is another source, which a reload makes anew.
    pub modified: Option<SystemTime>,
    /// How long one call may compute; then it is stopped.
    pub timeout: Duration,
    /// Bytes of memory that one call may use.
    pub memory: u64,
    /// Threads that compute, shared by all cores.
    pub threads: usize,
    /// Calls that may wait for a thread; above: refused at once.
    pub queue: usize,
}
