//! The words every crate shares.
//!
//! A [`Request`] goes down the flow, a [`Response`] comes back up, an [`Error`] says why there is none, and a [`Trip`] what
//! happened on the way. Nothing here does I/O or decides what is done; it names things, and writes them down.

mod body;
mod cache_status;
mod call;
mod clock;
mod error;
mod fields;
mod interim;
pub mod open_files;
mod request;
mod response;
mod trip;

pub use body::{Body, Duplex, Tunnel};
pub use cache_status::{CacheOutcome, CacheStatus, Fwd};
pub use call::Call;
pub use clock::{Clock, Reading, Skew, Timestamp};
pub use error::{Error, Kind, Misfit, Result, Retry, Side};
pub use fields::Fields;
pub use interim::{Interim, InterimHead};
pub use request::{Client, Request, RequestView, Scheme};
pub use response::Response;
pub use trip::Trip;
