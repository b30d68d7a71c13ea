//! Your own CPU work, sandboxed: JSON in, JSON out.
//!
//! In: what the plan says of a module, and calls of the cores. Out: what its functions give, or a `message::Error` within
//! a bounded time. A call has a thread, memory and time of its own: cores only wait for it, as they wait for a source.
//! Called by the steps of what is composed, and by policies around calls. What a module has to look like is in `docs/guide/wasm.md`.
//!
//! Compiling the engine takes two fifths of the build, so it can be left out: without the feature `engine`, a file that
//! names a module does not start.

mod figures;

#[cfg(feature = "engine")]
mod engine;
#[cfg(feature = "engine")]
pub use engine::Module;

#[cfg(not(feature = "engine"))]
mod absent;
#[cfg(not(feature = "engine"))]
pub use absent::Module;

pub use figures::ModuleFigures;
