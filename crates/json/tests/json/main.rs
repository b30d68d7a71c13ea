//! What is done with bytes is what would be done with parsed values; and how fast that is.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod properties;
mod speed;
