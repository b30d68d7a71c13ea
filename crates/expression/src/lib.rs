//! `${…}`: expressions over a request.
//!
//! In comes what stands in the configuration; out goes an [`Expression`] (one `${…}`) or a [`Template`] (text with any
//! number of them), parsed and checked once, by `plan`. `cache` and `server` evaluate them for a request: plain paths
//! such as `header('X-User')` are resolved without the interpreter and without allocating; everything else is CEL, over
//! values that are bound and never spliced. `docs/reference/expressions.md` is the page for people.
//!
//! - `scan`: finds `${…}` in a text, and what in it is not a string.
//! - `compile`: one expression → a constant, a slot, or a tree for the interpreter; `bind` is the walk through the tree.
//! - `roots`, `functions`, `operators`, `kind`: what may stand in one, and what it gives.
//! - `argument`: a word behind a command: one value, or all of a repeated parameter.
//! - `slot`: one thing a request may hold. `claim` and `decode` read two kinds of them.
//! - `computed`: the tree, run for a request.

mod argument;
mod bind;
mod claim;
mod compile;
mod computed;
mod context;
mod decode;
mod expression;
mod fault;
mod functions;
mod kind;
mod nearest;
mod operators;
mod roots;
mod scan;
mod slot;
mod template;
#[cfg(test)]
mod tests;

pub use argument::{Argument, Arguments};
pub use context::Context;
pub use expression::Expression;
pub use fault::{Fault, quoted};
pub use nearest::nearest;
pub use template::Template;
