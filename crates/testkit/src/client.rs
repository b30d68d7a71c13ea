//! Client: who asks, over HTTP/1.1 and HTTP/2, and what comes back.

mod answer;
mod arrived;
mod async_client;
mod http2_client;
mod http2_frames;
mod raw_client;

pub use answer::{Answer, Broken};
pub use async_client::AsyncClient;
pub(crate) use http2_client::fields;
pub use http2_client::{Http2Client, Http2Exchange};
pub use http2_frames::{END_HEADERS, END_STREAM, Http2Frames, Outcome, block};
pub use raw_client::RawClient;
