//! Config as written → config as meant.
//!
//! In comes a file (`load`), its text (`compile`) or just the URL of an origin (`up`); out goes a [`Plan`] that is
//! ready to run, or [`Faults`]: everything that is wrong, each with its line, its cause and what to write instead.

mod default;
mod fault;
mod meant;
mod nearest;
mod network;
mod pattern;
pub mod unit;
mod up;
mod url;

use std::path::Path;

pub use fault::{Fault, Faults, Reason};
pub use meant::*;
pub use up::up;

/// Reads and compiles a file.
pub fn load(path: &Path) -> Result<Plan, Faults> {
    Err(Faults::of_file(&path.display().to_string(), Reason::new("not written yet", "wait")))
}

/// Compiles the text of a file.
pub fn compile(_text: &str, name: &str) -> Result<Plan, Faults> {
    Err(Faults::of_file(name, Reason::new("not written yet", "wait")))
}
