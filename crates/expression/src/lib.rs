//! `${…}`: expressions over a request.
//!
//! In comes what stands in the configuration; out goes an [`Expression`] (one `${…}`) or a [`Template`] (text with any
//! number of them), parsed and checked once, by `plan`. `cache` and `server` evaluate them for a request: plain paths
//! such as `header('X-User')` are resolved without the interpreter and without allocating.

mod context;
mod template;

pub use context::Context;
pub use template::{Expression, Fault, Template};
