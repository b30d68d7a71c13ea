//! The words every crate shares.
//!
//! A [`Request`] goes down the flow, a [`Response`] comes back up, an [`Error`] says why there is none, and a [`Trip`] what
//! happened on the way. Nothing here does I/O or decides what is done; it names things, and writes them down.

mod ask;
mod body;
mod cache_status;
mod call;
mod clock;
mod edit;
mod error;
mod fields;
mod interim;
mod kind;
pub mod open_files;
mod quota;
mod random;
mod request;
mod response;
mod sending;
mod trip;
mod whole;

pub use ask::{Ask, OnBehalf};
pub use body::{Body, Duplex, Tunnel};
pub use cache_status::{CacheOutcome, CacheStatus, Fwd};
pub use call::Call;
pub use clock::{Clock, ClockReading, Skew, Timestamp};
pub use edit::{FieldEdit, FieldPattern, is_framing, is_ours};
pub use error::{Error, FLEETFOOT_ERROR, Misfit, Result, Retry};
pub use fields::Fields;
pub use interim::{Interim, InterimHead};
pub use kind::{Kind, Side};
pub use quota::{Quota, QuotaPolicy};
pub use random::random;
pub use request::{Client, Request, RequestParts, RequestView, Scheme};
pub use response::{HeadFields, Response, ResponseView};
pub use sending::Sent;
pub use trip::{Deadline, Targets, Trip};
