//! Body: the bytes after a head, whole or still arriving.
//!
//! Made by the listener (from a client), by a source (from an origin) and by the cache (from an entry or a fill
//! in progress); read by whoever writes it out. Bodies stay on the core that made them, so they are not `Send`.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::Error;

/// The content of a message, with its trailers.
#[derive(Default)]
pub enum Body {
    /// No content at all.
    #[default]
    Empty,
    /// The whole content, already in memory.
    Whole(Bytes),
    /// Content that arrives frame by frame. Dropping it tells the sender that nobody reads on.
    Stream(Pin<Box<dyn HttpBody<Data = Bytes, Error = Error>>>),
    /// Not content but a connection that left HTTP: what follows a `101 Switching Protocols`.
    Tunnel(Tunnel),
}

/// A byte stream both ways: a TCP or TLS connection.
pub trait Duplex: AsyncRead + AsyncWrite + Unpin {}
impl<T: AsyncRead + AsyncWrite + Unpin> Duplex for T {}

/// A connection to the origin after it switched protocols (RFC 9110 §7.8).
pub struct Tunnel {
    /// Bytes the origin sent right behind its `101` head; they go to the client first.
    pub early: Bytes,
    /// The connection itself.
    pub io: Box<dyn Duplex>,
}

impl Body {
    /// A body that arrives frame by frame.
    pub fn stream(body: impl HttpBody<Data = Bytes, Error = Error> + 'static) -> Self {
        Body::Stream(Box::pin(body))
    }

    /// True when no byte of content will come, as far as can be known now.
    pub fn is_empty(&self) -> bool {
        match self {
            Body::Empty => true,
            Body::Whole(bytes) => bytes.is_empty(),
            Body::Stream(stream) => stream.is_end_stream(),
            Body::Tunnel(_) => false,
        }
    }

    /// True while somebody still has content to send for it.
    pub fn is_arriving(&self) -> bool {
        matches!(self, Body::Stream(_)) && !self.is_empty()
    }

    /// The length in bytes, where it is known before reading.
    pub fn exact_length(&self) -> Option<u64> {
        match self {
            Body::Empty => Some(0),
            Body::Whole(bytes) => Some(bytes.len() as u64),
            Body::Stream(stream) => stream.size_hint().exact(),
            Body::Tunnel(_) => None,
        }
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        if bytes.is_empty() { Body::Empty } else { Body::Whole(bytes) }
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        match &mut *self {
            Body::Empty | Body::Tunnel(_) => Poll::Ready(None),
            Body::Whole(bytes) => {
                let bytes = std::mem::take(bytes);
                *self = Body::Empty;
                Poll::Ready((!bytes.is_empty()).then(|| Ok(Frame::data(bytes))))
            }
            Body::Stream(stream) => stream.as_mut().poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Body::Stream(stream) => stream.size_hint(),
            other => other.exact_length().map_or_else(SizeHint::default, SizeHint::with_exact),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Body::Empty => f.write_str("Empty"),
            Body::Whole(bytes) => write!(f, "Whole({} bytes)", bytes.len()),
            Body::Stream(_) => f.write_str("Stream"),
            Body::Tunnel(_) => f.write_str("Tunnel"),
        }
    }
}
