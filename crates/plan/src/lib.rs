//! Config as written → config as meant.
//!
//! In comes a file ([`load`]), its text ([`compile`]) or just the URL of an origin ([`up`]); out goes a [`Plan`] that is
//! ready to run, or [`Faults`]: everything that is wrong, each with its line, its cause and what to write instead.

mod check;
mod default;
mod disk;
mod keys;
mod known;
mod listen;
mod load;
mod meant;
mod policy;
mod reference;
mod routes;
mod schema;
mod secret;
mod source;
mod template;
mod up;
mod uses;
mod wrappings;
mod yaml;

pub use listen::socket_address;
pub use load::{compile, load};
pub use meant::*;
pub use reference::reference;
pub use schema::{More, Section, Word, schema};
pub use up::up;
pub use yaml::fault::{Fault, Faults, Hints, Reason};
pub use yaml::unit;
