//! Fill: one fetch in progress that any number of requests may follow (single flight).
//!
//! The filler (see `filler`) moves it forward; followers, on any core, wait for its head and then read its content at
//! their own pace. The leader's client is a follower like the others, so its going away harms nobody.
//!
//! ```text
//! Asking ──► Arriving ──► (ended)        a storable answer, shared as it comes
//!        ├─► Settled(Entry)              the stored answer was confirmed (304)
//!        ├─► Settled(Value)              a value of a source that is no origin, whole at once
//!        ├─► Settled(Alone)              not for sharing: everyone asks for themself, at once
//!        └─► Settled(Failed)             the origin failed; perhaps a stale answer may serve
//! ```

pub(crate) mod arriving;
pub(crate) mod beginning;
pub(crate) mod duty;
pub(crate) mod fetch;
pub(crate) mod filler;
pub(crate) mod fills;
pub(crate) mod follower;
pub(crate) mod follower_body;
pub(crate) mod keeper;
pub(crate) mod onward;
pub(crate) mod partial_body;
pub(crate) mod unshared;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use expression::Json;
use http::HeaderMap;
use message::Error;

use crate::entry::{Draft, Entry, Variant};
use crate::fill::arriving::{Arriving, Passing};
use crate::fill::beginning::Beginning;
use crate::fill::follower::Piece;
use crate::tier::memory_account::{Content, MemoryAccount};

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
    /// A value, stored or not: it may be shared in any case.
    Value(Json),
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
pub(crate) enum FillNews {
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
    held: Arc<MemoryAccount>,
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
    content: Arriving,
    /// How the content ended: its trailers, or what broke it off.
    end: Option<Result<Option<HeaderMap>, Error>>,
    /// For those who wait until it has been looked through.
    done: Done,
}

#[derive(Debug, Default)]
struct Seat {
    taken: bool,
    waker: Option<Waker>,
    /// Content read so far.
    read: u64,
    /// What this one has had, for whom the others wait no longer.
    behind: Option<Box<Beginning>>,
}

impl Fill {
    pub(crate) fn new(variant: Option<Variant>, since: u64, held: &Arc<MemoryAccount>) -> Arc<Fill> {
        let state = Mutex::new(State { variant, ..State::default() });
        Arc::new(Fill { is_alone: false, since, held: Arc::clone(held), state })
    }

    /// For one client, outside the table.
    pub(crate) fn alone(since: u64, held: &Arc<MemoryAccount>) -> Arc<Fill> {
        Arc::new(Fill { is_alone: true, since, held: Arc::clone(held), state: Mutex::default() })
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
        state.variant.clone_from(&head.draft.variant);
        let content = Arriving::new(head.length, &self.held);
        state.phase = Phase::Arriving(Arrival { head, content, end: None, done: Done::NotYet });
        state.wake_followers();
    }

    /// More content is here, of which at most so much is kept; tells how much there is in all.
    pub(crate) fn extend(&self, data: Bytes, most: u64) -> u64 {
        let mut state = self.state();
        let Phase::Arriving(Arrival { content, .. }) = &mut state.phase else { return 0 };
        content.push(data, most, &self.held);
        let total = content.end();
        state.wake_followers();
        total
    }

    /// Whether the content streams past the cache: only what somebody still has to read is kept, and nobody new may
    /// follow.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(&self.state().phase, Phase::Arriving(arrival) if arrival.content.is_passing())
    }

    /// Whether a reader who is too slow for the others may be left behind: known from the beginning, for content whose
    /// length was told has its room by then.
    pub(crate) fn may_leave_behind(&self) -> bool {
        match &self.state().phase {
            Phase::Arriving(arrival) => arrival.head.length.is_none() || arrival.content.is_passing(),
            Phase::Asking | Phase::Settled(_) => false,
        }
    }

    /// For a passing fill: ready with `true` when there is room for more, with `false` when nobody reads any more.
    ///
    /// It is read no further ahead than a window. Whoever is so far behind while others wait is left behind: they go on
    /// alone, and the others at their own pace.
    pub(crate) fn poll_room(&self, cx: &mut Context<'_>) -> Poll<bool> {
        let mut guard = self.state();
        let state = &mut *guard;
        let Phase::Arriving(Arrival { content: Arriving::Passing(passing), .. }) = &mut state.phase else {
            return Poll::Ready(false);
        };
        loop {
            let start = passing.start();
            let readers = || state.seats.iter().filter(move |seat| seat.reads_on(start));
            let Some(slowest) = readers().map(|seat| seat.read).min() else { return Poll::Ready(false) };
            let end = passing.end();
            let is_awaited = readers().any(|seat| seat.read == end && seat.waker.is_some());
            let window = Passing::window(readers().count(), &self.held);
            passing.advance(slowest);
            let unread = end - slowest;
            if unread < window || (unread == 0 && is_awaited) {
                return Poll::Ready(true);
            }
            if unread == 0 || !is_awaited {
                state.filler = Some(cx.waker().clone());
                return Poll::Pending;
            }
            for seat in state.seats.iter_mut().filter(|seat| seat.reads_on(start) && seat.read == slowest) {
                seat.behind = Some(Box::new(passing.beginning(slowest)));
                seat.waker.take().into_iter().for_each(Waker::wake);
            }
        }
    }

    /// The content is complete. Returns it when it was kept whole.
    pub(crate) fn complete(&self, trailers: Option<HeaderMap>) -> Option<Content> {
        let mut state = self.state();
        let Phase::Arriving(arrival) = &mut state.phase else { return None };
        arrival.end = Some(Ok(trailers));
        let kept = arrival.content.complete();
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
        let seat = Seat { taken: true, ..Seat::default() };
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

    pub(crate) fn poll_news(&self, seat: usize, cx: &mut Context<'_>) -> Poll<FillNews> {
        let mut state = self.state();
        match &state.phase {
            Phase::Asking => {
                state.seats[seat].waker = Some(cx.waker().clone());
                Poll::Pending
            }
            // Whoever comes after the beginning is gone cannot follow.
            Phase::Arriving(arrival) if state.seats[seat].read == 0 && arrival.content.start() > 0 => {
                Poll::Ready(FillNews::Settled(Settled::Alone))
            }
            Phase::Arriving(arrival) => Poll::Ready(FillNews::Arriving(Arc::clone(&arrival.head))),
            Phase::Settled(settled) => Poll::Ready(FillNews::Settled(settled.clone())),
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
        let Phase::Arriving(arrival) = &state.phase else { return Poll::Ready(Piece::End(None)) };
        let seat = &mut state.seats[seat];
        if let Some(had) = seat.behind.take() {
            return Poll::Ready(Piece::Behind(had));
        }
        if let Some(piece) = arrival.content.piece(seat.read, &self.held) {
            seat.read += piece.len() as u64;
            if arrival.content.is_passing() {
                state.wake_filler();
            }
            return Poll::Ready(Piece::Data(piece));
        }
        match &arrival.end {
            Some(Ok(trailers)) => Poll::Ready(Piece::End(trailers.clone())),
            Some(Err(error)) => Poll::Ready(Piece::Broken(error.clone())),
            None => {
                seat.waker = Some(cx.waker().clone());
                if arrival.content.is_passing() {
                    state.wake_filler();
                }
                Poll::Pending
            }
        }
    }
}

impl Seat {
    /// Whether the others wait for this reader. Not for who sat down after the window had moved on (they found the fill
    /// in the table just before it left that, on another core): they will be told to ask for themselves.
    fn reads_on(&self, start: u64) -> bool {
        self.taken && self.behind.is_none() && self.read >= start
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fill::follower::Follower;
    use crate::sample;

    fn head() -> Arc<ArrivingHead> {
        Arc::new(ArrivingHead { draft: sample::draft(), length: None, fingerprint: None })
    }

    /// A fill of content that passes: none may be stored.
    fn passing(first: &'static [u8]) -> (Arc<Fill>, Follower) {
        let fill = Fill::new(None, 0, &MemoryAccount::new(64 << 20));
        let reader = Follower::new(&fill);
        fill.arrive(head());
        fill.extend(Bytes::from_static(first), 0);
        (fill, reader)
    }

    fn read(reader: &Follower, cx: &mut Context<'_>) -> Option<Bytes> {
        match reader.poll_content(cx) {
            Poll::Ready(Piece::Data(data)) => Some(data),
            _ => None,
        }
    }

    #[test]
    fn who_sits_down_after_the_window_moved_on_disturbs_nobody() {
        let mut cx = Context::from_waker(Waker::noop());
        let (fill, reader) = passing(b"first");
        assert_eq!(read(&reader, &mut cx).unwrap(), "first");
        assert_eq!(fill.poll_room(&mut cx), Poll::Ready(true));
        let late = Follower::new(&fill);
        assert!(matches!(late.poll_news(&mut cx), Poll::Ready(FillNews::Settled(Settled::Alone))));
        fill.extend(Bytes::from_static(b"second"), 0);
        assert_eq!(fill.poll_room(&mut cx), Poll::Ready(true));
        assert_eq!(read(&reader, &mut cx).unwrap(), "second");
        drop(reader);
        assert_eq!(fill.poll_room(&mut cx), Poll::Ready(false), "nobody who can read is left");
    }

    #[test]
    fn who_falls_a_window_behind_is_left_behind_once_the_others_wait() {
        let mut cx = Context::from_waker(Waker::noop());
        let (fill, fast) = passing(b"first");
        let slow = Follower::new(&fill);
        assert_eq!(read(&slow, &mut cx).unwrap(), "first");
        fill.extend(Bytes::from(vec![b'x'; 512 * 1024]), 0);
        while read(&fast, &mut cx).is_some() {
            assert_eq!(fill.poll_room(&mut cx), Poll::Pending, "they have not read all there is");
        }
        assert_eq!(fill.poll_room(&mut cx), Poll::Ready(true));
        let Poll::Ready(Piece::Behind(had)) = slow.poll_content(&mut cx) else { panic!("it goes on alone") };
        let mut same = had.anew();
        same.push(b"first");
        assert!(had.is_same(&same));
    }

    #[test]
    fn nothing_is_read_ahead_for_one_reader_where_there_is_no_room() {
        let mut cx = Context::from_waker(Waker::noop());
        let held = MemoryAccount::new(0);
        let _on_loan = held.hold(1 << 30);
        let fill = Fill::new(None, 0, &held);
        let reader = Follower::new(&fill);
        fill.arrive(head());
        fill.extend(Bytes::from_static(b"first"), 1 << 20);
        assert!(fill.is_passing());
        assert_eq!(fill.poll_room(&mut cx), Poll::Pending);
        assert_eq!(read(&reader, &mut cx).unwrap(), "first");
        assert_eq!(fill.poll_room(&mut cx), Poll::Pending, "it may be busy with that");
        assert!(read(&reader, &mut cx).is_none());
        assert_eq!(fill.poll_room(&mut cx), Poll::Ready(true));
    }
}
