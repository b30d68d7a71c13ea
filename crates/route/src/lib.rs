//! Request → route: method, host and path; the most specific route wins.
//!
//! In come the patterns of a plan, once, and then the head of each request; out goes what belongs to the pattern that
//! takes it. Called by `server` for every request, on the path of a fresh hit too.

mod hosts;
mod reading;
mod router;
mod trie;

pub use router::{NoRoute, Router};
