//! Your own CPU work, sandboxed: JSON in, JSON out.
//!
//! In: what the plan says of a module, and calls of the cores. Out: what its functions give, or a `message::Error` within
//! a bounded time. A call has a thread, memory and time of its own: cores only wait for it, as they wait for a source.
//! Called by the steps of what is composed. What a module has to look like is in `docs/guide/wasm.md`.
//!
//! The compiler of modules is more than a third of what building fleetfoot takes, so that it can be left out: without the feature
//! `engine`, a file that names a module does not start.

#[cfg(not(feature = "engine"))]
mod absent;
#[cfg(feature = "engine")]
mod bounds;
#[cfg(feature = "engine")]
mod call;
#[cfg(feature = "engine")]
mod compiled;
#[cfg(feature = "engine")]
mod counters;
#[cfg(feature = "engine")]
mod failure;
mod figures;
#[cfg(feature = "engine")]
mod module;
#[cfg(feature = "engine")]
mod ticker;

#[cfg(not(feature = "engine"))]
pub use absent::Module;
pub use figures::Figures;
#[cfg(feature = "engine")]
pub use module::Module;
