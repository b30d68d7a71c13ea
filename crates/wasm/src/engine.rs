//! Engine: compiles modules and runs their functions. Left out without the feature `engine`; `absent` stands in its place.

mod bounds;
mod call;
mod compiled;
mod counters;
mod failure;
mod module;
mod ticker;

pub use module::Module;
