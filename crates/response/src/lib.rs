//! Answers as heads and bodies.
//!
//! `server` and `cache` come here with something decided (a stored answer to use, an error to report) and leave with
//! bytes or a [`message::Response`].

mod failure;
mod multipart;
mod stored;

pub use failure::{failure, status_of};
pub use stored::{conditional, from_part, from_stored, write_fresh_head};
