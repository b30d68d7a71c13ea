//! FollowerBody: the content of a fill in progress as a response's body, read at the client's pace. Whoever is too slow
//! for the others goes on alone.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use message::{Error, Kind};

use crate::fill::ArrivingHead;
use crate::fill::follower::{Follower, Piece};
use crate::fill::onward::{Again, Onward};

/// Reads along with a fill from its first byte.
pub(crate) struct FollowerBody {
    from: From,
    head: Arc<ArrivingHead>,
    /// Where it may be left behind.
    again: Option<Again>,
    left: Option<u64>,
}

enum From {
    Fill(Follower),
    Onward(Box<Onward>),
    Ended,
}

impl FollowerBody {
    pub(crate) fn new(follower: Follower, head: &Arc<ArrivingHead>, again: Option<Again>) -> Self {
        let from = if head.length == Some(0) { From::Ended } else { From::Fill(follower) };
        FollowerBody { from, head: Arc::clone(head), again, left: head.length }
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        loop {
            let follower = match &mut self.from {
                From::Fill(follower) => follower,
                From::Onward(onward) => return onward.poll_frame(cx),
                From::Ended => return Poll::Ready(None),
            };
            return Poll::Ready(match std::task::ready!(follower.poll_content(cx)) {
                Piece::Data(data) => Some(Ok(Frame::data(data))),
                Piece::End(trailers) => trailers.map(|trailers| Ok(Frame::trailers(trailers))),
                Piece::Broken(error) => Some(Err(error)),
                Piece::Behind(had) => match self.again.take() {
                    Some(again) => {
                        let onward = Onward::new(again, Arc::clone(&self.head), *had);
                        self.from = From::Onward(Box::new(onward));
                        continue;
                    }
                    None => Some(Err(Error::new(Kind::ClientGone, "a client read too slowly"))),
                },
            });
        }
    }
}

impl Body for FollowerBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let next = std::task::ready!(self.poll_next(cx));
        match &next {
            Some(Ok(frame)) if frame.is_data() => {
                let length = frame.data_ref().map_or(0, Bytes::len) as u64;
                self.left = self.left.map(|left| left.saturating_sub(length));
            }
            _ => self.from = From::Ended,
        }
        Poll::Ready(next)
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.from, From::Ended)
    }

    fn size_hint(&self) -> SizeHint {
        self.left.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
