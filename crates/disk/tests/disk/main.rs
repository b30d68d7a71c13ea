//! What the disk tier promises, tried from outside: against a model, with damaged files, killed, and from many threads.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are not inside #[test]")]

mod concurrent;
mod damage;
mod failing;
mod kill;
mod model;
mod sample;
mod stream;
