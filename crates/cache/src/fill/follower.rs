//! Follower: a place at a fill, from which one reads along at one's own pace. Taken by every request that waits for the
//! fill, its leader's too.

use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::HeaderMap;
use message::Error;

use crate::entry::Entry;
use crate::fill::beginning::Beginning;
use crate::fill::{Fill, FillNews};

/// What a reader gets next.
#[derive(Debug)]
pub(crate) enum Piece {
    Data(Bytes),
    End(Option<HeaderMap>),
    Broken(Error),
    /// The others wait no longer. What this reader has had.
    Behind(Box<Beginning>),
}

/// A follower's place at a fill. Leaving it (drop) tells the filler.
#[derive(Debug)]
pub(crate) struct Follower {
    fill: Arc<Fill>,
    seat: usize,
}

impl Follower {
    pub(crate) fn new(fill: &Arc<Fill>) -> Self {
        Follower { fill: Arc::clone(fill), seat: fill.take_seat() }
    }

    #[cfg(test)]
    pub(crate) fn poll_news(&self, cx: &mut Context<'_>) -> Poll<FillNews> {
        self.fill.poll_news(self.seat, cx)
    }

    /// Waits for the head, or for word that there will be none.
    pub(crate) async fn news(&self) -> FillNews {
        std::future::poll_fn(|cx| self.fill.poll_news(self.seat, cx)).await
    }

    /// Waits until the answer is stored, or is known not to be.
    pub(crate) async fn done(&self) -> Option<Arc<Entry>> {
        std::future::poll_fn(|cx| self.fill.poll_done(self.seat, cx)).await
    }

    /// The next piece of content.
    pub(crate) fn poll_content(&self, cx: &mut Context<'_>) -> Poll<Piece> {
        self.fill.poll_content(self.seat, cx)
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.fill.leave_seat(self.seat);
    }
}
