//! FollowerBody: the content of a fill in progress as a response's body, read at the client's pace.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use message::Error;

use crate::follower::{Follower, Piece};

/// Reads along with a fill from its first byte.
pub(crate) struct FollowerBody {
    follower: Follower,
    left: Option<u64>,
    ended: bool,
}

impl FollowerBody {
    /// `length`: the whole content's, where known.
    pub(crate) fn new(follower: Follower, length: Option<u64>) -> Self {
        FollowerBody { follower, left: length, ended: length == Some(0) }
    }
}

impl Body for FollowerBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let piece = std::task::ready!(self.follower.poll_content(cx));
        Poll::Ready(match piece {
            Piece::Data(data) => {
                self.left = self.left.map(|left| left.saturating_sub(data.len() as u64));
                Some(Ok(Frame::data(data)))
            }
            Piece::End(trailers) => {
                self.ended = true;
                trailers.map(|trailers| Ok(Frame::trailers(trailers)))
            }
            Piece::Broken(error) => {
                self.ended = true;
                Some(Err(error))
            }
        })
    }

    fn is_end_stream(&self) -> bool {
        self.ended
    }

    fn size_hint(&self) -> SizeHint {
        self.left.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
