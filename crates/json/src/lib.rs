//! JSON as bytes: looked into and reshaped without being parsed whole. Called by whoever puts JSON together from what
//! many sources said: `source`, `compose`.
//!
//! Text of others comes in through [`check()`] once; everything else takes what was found to be JSON, and gives slices of
//! it or appends to an output. Inner values stay byte for byte as they came: `1.50` stays `1.50`, and so do the order of
//! names and the white space inside. Of a name that stands in a map twice the last counts, as JavaScript reads it.
//!
//! Nothing here recurses into JSON, except as deep as a configured name has dots: a value nested a million deep is
//! skipped like any other. What is no JSON gives wrong answers or none, but never a panic.

mod check;
mod enclosed;
mod find;
mod joined;
mod key;
mod list;
mod map;
mod scan;
mod shape;
mod text;

pub use check::{check, is_valid};
pub use find::{Step, find};
pub use joined::{TooLarge, merge};
pub use list::{Items, concat, items};
pub use map::{members, members_as_written};
pub use scan::{JsonKind, has_more_values, kind};
pub use shape::{Shape, reshape};
pub use text::{text, write_string};
