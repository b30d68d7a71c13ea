//! What the cache promises, told against an origin that is a script. No sockets, no real time.
#![allow(clippy::unwrap_used)] // what fails here fails the test

mod coalescing;
mod compression;
mod disk;
mod early;
mod forgetting;
mod keys;
mod origin;
mod parts;
mod personal;
mod purging;
mod reflection;
mod revalidation;
mod variants;
