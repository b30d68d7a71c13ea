//! What the cache promises, told against an origin that is a script. No sockets, no real time.
#![allow(clippy::unwrap_used)] // what fails here fails the test

mod coalescing;
mod forgetting;
mod origin;
mod parts;
mod revalidation;
mod variants;
