//! Your own CPU work, sandboxed: JSON in, JSON out.
//!
//! In: what the plan says of a module, and calls of the cores. Out: what its functions give, or a `message::Error` within
//! a bounded time. A call has a thread, memory and time of its own: cores only wait for it, as they wait for a source.
//! Called by the steps of what is composed. What a module has to look like is in `docs/guide/wasm.md`.

mod bounds;
mod call;
mod compiled;
mod failure;
mod figures;
mod module;
mod ticker;

pub use figures::Figures;
pub use module::Module;
