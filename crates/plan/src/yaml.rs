//! The file as it is written: YAML → a tree whose every value knows its place, sections whose keys are checked against the
//! schema, single values with their units, and faults that say what to write instead. Nothing in here knows what a word of
//! the language means.

pub(crate) mod fault;
pub(crate) mod file;
mod masked;
pub(crate) mod section;
mod syntax;
pub(crate) mod tree;
pub mod unit;
mod unknown;
pub(crate) mod value;
