//! Answers as heads and bodies.
//!
//! `server` and `cache` come here with something decided (a stored answer to use, an error to report) and leave with
//! bytes or a [`message::Response`].

mod client_lifetime;
mod decode;
mod encode;
mod failure;
mod forget;
mod multipart;
mod rate_limit;
mod saying;
mod stored;

pub use client_lifetime::{ClientLifetime, split_lifetime};
pub use decode::decoded_beginning;
pub use encode::{encode, encoded_fields, is_worth_encoding, negotiate};
pub use failure::{Form, failure, missing, status_of};
pub use forget::forget_content;
pub use rate_limit::{add_quotas, write_quota};
pub use saying::Saying;
pub use stored::{conditional, from_part, from_stored, write_fresh_head};
