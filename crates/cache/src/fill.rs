//! Fill: one fetch in progress that any number of requests may follow (single flight).
//!
//! The filler (see `filler`) moves it forward; followers, on any core, wait for its head and then read its content at
//! their own pace. The leader's client is a follower like the others, so its going away harms nobody.
//!
//! ```text
//! Asking ──► Arriving ──► (ended)        a storable answer, shared as it comes
//!        ├─► Settled(Entry)              the stored answer was confirmed (304)
//!        ├─► Settled(Alone)              not for sharing: everyone asks for themself, at once
//!        └─► Settled(Failed)             the origin failed; perhaps a stale answer may serve
//! ```

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::{Buf, Bytes, BytesMut};
use http::HeaderMap;
use message::Error;

use crate::entry::{Draft, Entry, Variant};
use crate::follower::Piece;

/// The head of a storable answer that is arriving.
#[derive(Debug)]
pub(crate) struct ArrivingHead {
    /// Only what may be shared.
    pub(crate) draft: Draft,
    /// The content's length, where the origin told it.
    pub(crate) length: Option<u64>,
    /// Of the leader's request: others wait until the content has been looked through for what it repeats.
    pub(crate) fingerprint: Option<u64>,
}

/// What a fill came to when there is nothing to stream.
#[derive(Clone, Debug)]
pub(crate) enum Settled {
    /// The stored answer is good again.
    Entry(Arc<Entry>),
    /// Another instance has fetched it.
    Shared(Arc<Entry>),
    /// The answer is the leader's alone.
    Alone,
    /// No usable answer; `stale` may serve those whose directives allow it.
    Failed { error: Option<Error>, stale: Option<Arc<Entry>> },
}

/// What an arrival has come to.
#[derive(Debug, Default)]
enum Done {
    #[default]
    NotYet,
    /// It has been looked through: the answer for whomever it suits.
    Entry(Arc<Entry>),
    /// There is none to share.
    Nothing,
}

impl Done {
    /// The first word counts.
    fn settle(&mut self, entry: Option<Arc<Entry>>) {
        if let Done::NotYet = self {
            *self = entry.map_or(Done::Nothing, Done::Entry);
        }
    }
}

/// What a follower learns once there is something to learn.
#[derive(Clone, Debug)]
pub(crate) enum News {
    Arriving(Arc<ArrivingHead>),
    Settled(Settled),
}

/// One fetch in progress.
#[derive(Debug)]
pub(crate) struct Fill {
    /// Not in the table: one client's, whom nobody can follow.
    is_alone: bool,
    /// The epoch of purges when it began: what it brings is of before the later ones.
    since: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    phase: Phase,
    /// The variant being fetched, as soon as it is known.
    variant: Option<Variant>,
    seats: Vec<Seat>,
    free: Vec<usize>,
    /// Woken when a follower has read on or left.
    filler: Option<Waker>,
}

#[derive(Debug, Default)]
enum Phase {
    #[default]
    Asking,
    Arriving(Arrival),
    Settled(Settled),
}

#[derive(Debug)]
struct Arrival {
    head: Arc<ArrivingHead>,
    content: Content,
    /// How the content ended: its trailers, or what broke it off.
    end: Option<Result<Option<HeaderMap>, Error>>,
    /// For those who wait until it has been looked through.
    done: Done,
    /// Content is kept from the first byte on. Once it is over the limit only a window is.
    whole: bool,
}

#[derive(Debug)]
enum Content {
    /// What has come, from offset `start` on.
    Growing { start: u64, bytes: BytesMut },
    /// All of it, shared with the stored entry.
    Whole(Bytes),
}

#[derive(Debug, Default)]
struct Seat {
    taken: bool,
    waker: Option<Waker>,
    /// Content read so far.
    read: u64,
}

/// Above this much unread content an oversized answer waits for its slowest reader.
const WINDOW: u64 = 256 * 1024;
/// Most content a reader takes at once.
const PIECE: usize = 64 * 1024;

impl Fill {
    pub(crate) fn new(variant: Option<Variant>, since: u64) -> Arc<Fill> {
        Arc::new(Fill { is_alone: false, since, state: Mutex::new(State { variant, ..State::default() }) })
    }

    /// For one client, outside the table.
    pub(crate) fn alone(since: u64) -> Arc<Fill> {
        Arc::new(Fill { is_alone: true, since, state: Mutex::default() })
    }

    pub(crate) fn is_alone(&self) -> bool {
        self.is_alone
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether its variant is exactly this one.
    pub(crate) fn is_variant(&self, variant: &Variant) -> bool {
        self.state().variant.as_ref() == Some(variant)
    }

    pub(crate) fn since(&self) -> u64 {
        self.since
    }

    // What the filler calls.

    /// A storable answer's head is here.
    pub(crate) fn arrive(&self, head: Arc<ArrivingHead>) {
        let mut state = self.state();
        let capacity = head.length.unwrap_or(0) as usize;
        state.variant.clone_from(&head.draft.variant);
        state.phase = Phase::Arriving(Arrival {
            head,
            content: Content::Growing { start: 0, bytes: BytesMut::with_capacity(capacity) },
            end: None,
            done: Done::NotYet,
            whole: true,
        });
        state.wake_followers();
    }

    /// More content is here; tells how much there is in all.
    pub(crate) fn extend(&self, data: &[u8]) -> u64 {
        let mut state = self.state();
        let Phase::Arriving(Arrival { content: Content::Growing { start, bytes }, .. }) = &mut state.phase
        else {
            return 0;
        };
        bytes.extend_from_slice(data);
        let total = *start + bytes.len() as u64;
        state.wake_followers();
        total
    }

    /// The content outgrew the limit: from now on only a window of it is kept, and nobody new may follow.
    pub(crate) fn outgrow(&self) {
        if let Phase::Arriving(arrival) = &mut self.state().phase {
            arrival.whole = false;
        }
    }

    /// For an outgrown fill: ready with `true` when there is room for more, with `false` when nobody reads any more.
    pub(crate) fn poll_room(&self, cx: &mut Context<'_>) -> Poll<bool> {
        let mut state = self.state();
        let Some(slowest) = state.slowest() else { return Poll::Ready(false) };
        let Phase::Arriving(Arrival { content: Content::Growing { start, bytes }, .. }) = &mut state.phase
        else {
            return Poll::Ready(false);
        };
        bytes.advance((slowest - *start) as usize);
        *start = slowest;
        if (bytes.len() as u64) < WINDOW {
            return Poll::Ready(true);
        }
        state.filler = Some(cx.waker().clone());
        Poll::Pending
    }

    /// The content is complete. Returns it when it was kept whole.
    pub(crate) fn complete(&self, trailers: Option<HeaderMap>) -> Option<Bytes> {
        let mut state = self.state();
        let Phase::Arriving(arrival) = &mut state.phase else { return None };
        arrival.end = Some(Ok(trailers));
        let mut kept = None;
        if let (true, Content::Growing { bytes, .. }) = (arrival.whole, &mut arrival.content) {
            // A boxed slice gives back what the buffer allocated too much.
            let bytes = Bytes::from(std::mem::take(bytes).to_vec().into_boxed_slice());
            arrival.content = Content::Whole(bytes.clone());
            kept = Some(bytes);
        }
        state.wake_followers();
        kept
    }

    /// Nothing more is to come from this fill: whoever waited for it to be stored finds it, or nothing.
    pub(crate) fn done(&self, entry: Option<Arc<Entry>>) {
        let mut state = self.state();
        if let Phase::Arriving(arrival) = &mut state.phase {
            arrival.done.settle(entry);
        }
        state.wake_followers();
    }

    /// The content broke off.
    pub(crate) fn break_off(&self, error: Error) {
        let mut state = self.state();
        if let Phase::Arriving(arrival) = &mut state.phase {
            arrival.end = Some(Err(error));
        }
        state.wake_followers();
    }

    /// Nothing to stream.
    pub(crate) fn settle(&self, settled: Settled) {
        let mut state = self.state();
        state.phase = Phase::Settled(settled);
        state.wake_followers();
    }

    /// The filler is gone: whatever has not come to an end ends with this error.
    pub(crate) fn abandon(&self, error: Error) {
        let mut state = self.state();
        match &mut state.phase {
            Phase::Asking => {
                state.phase = Phase::Settled(Settled::Failed { error: Some(error), stale: None });
            }
            Phase::Arriving(arrival) => {
                arrival.done.settle(None);
                if arrival.end.is_none() {
                    arrival.end = Some(Err(error));
                }
            }
            Phase::Settled(_) => return,
        }
        state.wake_followers();
    }

    // What followers call, through their seat.

    pub(crate) fn take_seat(&self) -> usize {
        let mut state = self.state();
        let seat = Seat { taken: true, waker: None, read: 0 };
        if let Some(index) = state.free.pop() {
            state.seats[index] = seat;
            index
        } else {
            state.seats.push(seat);
            state.seats.len() - 1
        }
    }

    pub(crate) fn leave_seat(&self, index: usize) {
        let mut state = self.state();
        state.seats[index] = Seat::default();
        state.free.push(index);
        state.wake_filler();
    }

    pub(crate) fn poll_news(&self, seat: usize, cx: &mut Context<'_>) -> Poll<News> {
        let mut state = self.state();
        match &state.phase {
            Phase::Asking => {
                state.seats[seat].waker = Some(cx.waker().clone());
                Poll::Pending
            }
            // Whoever comes after the beginning is gone cannot follow.
            Phase::Arriving(arrival)
                if !arrival.whole && state.seats[seat].read == 0 && arrival.start() > 0 =>
            {
                Poll::Ready(News::Settled(Settled::Alone))
            }
            Phase::Arriving(arrival) => Poll::Ready(News::Arriving(Arc::clone(&arrival.head))),
            Phase::Settled(settled) => Poll::Ready(News::Settled(settled.clone())),
        }
    }

    pub(crate) fn poll_done(&self, seat: usize, cx: &mut Context<'_>) -> Poll<Option<Arc<Entry>>> {
        let mut state = self.state();
        match &state.phase {
            Phase::Arriving(Arrival { done: Done::Entry(entry), .. }) => Poll::Ready(Some(Arc::clone(entry))),
            Phase::Arriving(Arrival { done: Done::NotYet, .. }) => {
                state.seats[seat].waker = Some(cx.waker().clone());
                Poll::Pending
            }
            Phase::Arriving(_) | Phase::Asking | Phase::Settled(_) => Poll::Ready(None),
        }
    }

    pub(crate) fn poll_content(&self, seat: usize, cx: &mut Context<'_>) -> Poll<Piece> {
        let mut guard = self.state();
        let state = &mut *guard;
        let read = state.seats[seat].read;
        let Phase::Arriving(arrival) = &state.phase else { return Poll::Ready(Piece::End(None)) };
        if let Some(piece) = arrival.piece(read) {
            state.seats[seat].read += piece.len() as u64;
            if !arrival.whole {
                state.wake_filler();
            }
            return Poll::Ready(Piece::Data(piece));
        }
        match &arrival.end {
            Some(Ok(trailers)) => Poll::Ready(Piece::End(trailers.clone())),
            Some(Err(error)) => Poll::Ready(Piece::Broken(error.clone())),
            None => {
                state.seats[seat].waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl State {
    fn wake_followers(&mut self) {
        self.seats.iter_mut().filter_map(|seat| seat.waker.take()).for_each(Waker::wake);
    }

    fn wake_filler(&mut self) {
        if let Some(filler) = self.filler.take() {
            filler.wake();
        }
    }

    /// How far the slowest reader is. Whoever sat down after the window had moved on (they found the fill in the table
    /// just before it left that, on another core) is none: they will be told to ask for themselves.
    fn slowest(&self) -> Option<u64> {
        let start = match &self.phase {
            Phase::Arriving(arrival) => arrival.start(),
            Phase::Asking | Phase::Settled(_) => 0,
        };
        self.seats.iter().filter(|seat| seat.taken && seat.read >= start).map(|seat| seat.read).min()
    }
}

impl Arrival {
    fn start(&self) -> u64 {
        match self.content {
            Content::Growing { start, .. } => start,
            Content::Whole(_) => 0,
        }
    }

    /// The next piece for a reader who has read so much. Small content is copied out of the growing buffer, since
    /// handing out slices of it would pin every buffer it grows through; complete content is shared.
    fn piece(&self, read: u64) -> Option<Bytes> {
        let offset =
            read.checked_sub(self.start()).expect("the window starts at the slowest reader") as usize;
        let bytes = match &self.content {
            Content::Growing { bytes, .. } => {
                let end = bytes.len().min(offset + PIECE);
                Bytes::copy_from_slice(&bytes[offset..end])
            }
            Content::Whole(bytes) => bytes.slice(offset..),
        };
        (!bytes.is_empty()).then_some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::follower::Follower;
    use crate::sample;

    fn head() -> Arc<ArrivingHead> {
        Arc::new(ArrivingHead { draft: sample::draft(), length: None, fingerprint: None })
    }

    #[test]
    fn who_sits_down_after_the_window_moved_on_disturbs_nobody() {
        let mut cx = Context::from_waker(Waker::noop());
        let fill = Fill::new(None, 0);
        let reader = Follower::new(&fill);
        fill.arrive(head());
        fill.extend(b"first");
        fill.outgrow();
        assert!(matches!(reader.poll_content(&mut cx), Poll::Ready(Piece::Data(data)) if data == "first"));
        assert_eq!(fill.poll_room(&mut cx), Poll::Ready(true));
        let late = Follower::new(&fill);
        assert!(matches!(late.poll_news(&mut cx), Poll::Ready(News::Settled(Settled::Alone))));
        fill.extend(b"second");
        assert_eq!(fill.poll_room(&mut cx), Poll::Ready(true));
        assert!(matches!(reader.poll_content(&mut cx), Poll::Ready(Piece::Data(data)) if data == "second"));
        drop(reader);
        assert_eq!(fill.poll_room(&mut cx), Poll::Ready(false), "nobody who can read is left");
    }
}
