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
//! - `output`: one expression whose value goes into JSON or a statement; `reshape` is what may be done to it.
//! - `content`: literal JSON with expressions in it.
//! - `names`, `given`: what is known, and at hand, beside the request.
//! - `reads`: what one reads of a request, for whoever gives to others what is made of it.
//! - `argument`: a word behind a command: one value, or all of a repeated parameter.
//! - `slot`: one thing a request may hold. `claim` and `decode` read two kinds of them, `answered` those of a response.
//! - `computed`: the tree, run for a request; `unable` is why it gives nothing though all that it reads is there.

mod answered;
mod argument;
mod bind;
mod claim;
mod compile;
mod computed;
mod content;
mod context;
mod decode;
mod expression;
mod fault;
mod functions;
mod given;
mod inner;
mod kind;
mod names;
mod nearest;
mod operators;
mod output;
mod reads;
mod reshape;
mod roots;
mod scalar;
mod scan;
mod slot;
mod template;
#[cfg(test)]
mod tests;
mod unable;

pub use argument::{Argument, Arguments, Each};
pub use content::Content;
pub use context::Context;
pub use expression::Expression;
pub use fault::{ExpressionFault, quoted};
pub use given::{Given, Json};
pub use kind::ValueKind;
pub use names::{Named, Names, Parts};
pub use nearest::nearest;
pub use output::Output;
pub use reads::Reads;
pub use roots::is_root;
pub use scalar::{Parameter, Scalar};
pub use template::{Template, Unwritten};
pub use unable::Unable;
