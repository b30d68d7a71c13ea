//! Config as written → config as meant.

mod meant;

pub use meant::*;
