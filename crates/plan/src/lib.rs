//! Config as written → config as meant.
//!
//! In comes a file ([`load`]), its text ([`compile`]) or just the URL of an origin ([`up`]); out goes a [`Plan`] that is
//! ready to run, or [`Faults`]: everything that is wrong, each with its line, its cause and what to write instead.

mod check;
mod compose;
mod database;
mod default;
mod disk;
mod escape;
mod fault;
mod file;
mod invalidate;
mod listen;
mod load;
mod masked;
mod meant;
mod module;
mod network;
mod pattern;
mod policy;
mod read;
mod redis;
mod redis_url;
mod reference;
mod routes;
mod schema;
mod secret;
mod section;
mod source;
mod statement;
mod syntax;
mod template;
mod tracked;
mod tree;
pub mod unit;
mod unknown;
mod up;
mod url;
mod value;

pub use fault::{Fault, Faults, Hints, Reason};
pub use listen::socket_address;
pub use load::{compile, load};
pub use meant::*;
pub use reference::reference;
pub use schema::{More, Section, Word, schema};
pub use up::up;
