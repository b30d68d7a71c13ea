//! Tracked: the answers that are held, and the three who call it: requests get and stale, readers begin and insert, and
//! whoever keeps the line tells what was heard on it. Why this is right stands at the top of the crate.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use message::Timestamp;

use crate::counters::{Counters, Overflowed, Stamps};
use crate::line::{Life, Line};
use crate::table::{Held, Table};

/// Answers of reads, by a name the caller gives each read: its command, arguments and form, without ambiguity. Shared
/// between cores behind an `Arc`.
///
/// `V` is a finished answer, in practice an `Arc`: each hit clones it.
pub struct Tracked<V> {
    line: Line,
    counters: Counters,
    table: Table<V>,
    counted: Counted,
}

/// What was so before a read was sent. Its answer is shown with it.
#[derive(Clone, Debug)]
#[must_use = "an answer without its ticket cannot be kept"]
pub struct Ticket {
    pub(crate) life: Life,
    pub(crate) stamps: Stamps,
}

/// What became of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// It is held. That it still is fresh, [`Tracked::get`] says.
    Kept,
    /// One of its keys was announced since it was sent, or there was a flush or a reconnect.
    Outdated,
    /// There is no line, or was none when it was sent.
    NotLive,
    /// It is larger than the table lets in.
    TooLarge,
}

/// What is counted. All but the first two since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Answers in the table, those that are no longer fresh included.
    pub entries: u64,
    /// Bytes they and the counters take.
    pub bytes: u64,
    /// Answers kept.
    pub kept: u64,
    /// Answers not kept because a key was announced meanwhile.
    pub outdated: u64,
    /// Answers not kept because there was no line.
    pub not_live: u64,
    /// Answers not kept because of their size.
    pub too_large: u64,
    /// Keys announced.
    pub invalidated: u64,
    /// Times everything was announced.
    pub flushes: u64,
    /// Times the line was connected.
    pub lives: u64,
    /// Answers pushed out by others.
    pub evicted: u64,
}

/// Away from the line's cache line, so that readers who count do not disturb hits.
#[derive(Default)]
#[repr(align(64))]
struct Counted {
    kept: AtomicU64,
    outdated: AtomicU64,
    not_live: AtomicU64,
    too_large: AtomicU64,
    invalidated: AtomicU64,
    flushes: AtomicU64,
    lives: AtomicU64,
}

impl<V: Clone> Tracked<V> {
    /// Holds at most `bytes`: names, values, counters and bookkeeping counted. Not live before [`Tracked::connected`].
    /// Nothing is fresh that was not confirmed for longer than `silence`, which so bounds how old a fresh answer can be.
    pub fn new(bytes: u64, silence: Duration) -> Self {
        /// An entry takes some hundred bytes: this makes several counters for each.
        const BYTES_PER_COUNTER: u64 = 64;
        let counters = Counters::new((bytes / BYTES_PER_COUNTER).clamp(1024, 1 << 26));
        let table = Table::new(bytes.saturating_sub(counters.bytes()));
        Tracked { line: Line::new(silence), counters, table, counted: Counted::default() }
    }

    /// The same for the same seed each time, with so many bytes for answers and so many counters.
    #[cfg(test)]
    pub(crate) fn shaped(bytes: u64, counters: u64, silence: Duration, seed: u64) -> Self {
        let (counters, table) = (Counters::seeded(counters, seed), Table::seeded(bytes, seed));
        Tracked { line: Line::new(silence), counters, table, counted: Counted::default() }
    }

    /// A fresh answer. `None`: Redis must be asked.
    ///
    /// Takes no lock but the one of the table's shard, for reading; allocates nothing.
    #[inline]
    pub fn get(&self, read: &[u8], now: Timestamp) -> Option<V> {
        let held = self.table.get(read)?;
        let is_fresh = now < held.deadline
            && self.line.is_fresh(held.ticket.life, now)
            && self.counters.are_valid(&held.ticket.stamps);
        is_fresh.then_some(held.value)
    }

    /// An answer for when Redis cannot be asked: one that was right at most `most` ago, when the line was last confirmed.
    /// Not one whose key has expired since: that needs nobody to tell.
    pub fn stale(&self, read: &[u8], now: Timestamp, most: Duration) -> Option<V> {
        let held = self.table.get(read)?;
        let was_fresh = now < held.deadline
            && self.line.was_fresh(held.ticket.life, now, most)
            && self.counters.are_valid(&held.ticket.stamps);
        was_fresh.then_some(held.value)
    }

    /// Before a read is sent that depends on these keys: what to show when its answer is here.
    pub fn begin<'a>(&self, keys: impl IntoIterator<Item = &'a [u8]>) -> Ticket {
        Ticket { life: self.line.life(), stamps: self.counters.stamps(keys) }
    }

    /// Whether an answer with this ticket would be kept now. Whoever asks later may share a read that is under way only
    /// while this is so: otherwise its answer may be older than what was announced before the question.
    pub fn is_valid(&self, ticket: &Ticket) -> bool {
        self.refusal(ticket).is_none()
    }

    /// Keeps an answer, unless something happened meanwhile.
    ///
    /// `weight` is what the value holds, in bytes. `deadline` is when the first of its keys expires; as seen from when
    /// the read was *sent*, since nobody knows when between then and now Redis looked at its clock.
    pub fn insert(
        &self,
        ticket: Ticket,
        read: &[u8],
        value: V,
        weight: u64,
        deadline: Option<Timestamp>,
    ) -> Inserted {
        let inserted = match (self.refusal(&ticket), self.table.cost(read, &ticket, weight)) {
            (Some(refusal), _) => refusal,
            (None, None) => Inserted::TooLarge,
            (None, Some(cost)) => {
                let deadline = deadline.unwrap_or(Timestamp::from_millis(u64::MAX));
                self.table.insert(read, Held { value, ticket, deadline, cost });
                Inserted::Kept
            }
        };
        let counter = match inserted {
            Inserted::Kept => &self.counted.kept,
            Inserted::Outdated => &self.counted.outdated,
            Inserted::NotLive => &self.counted.not_live,
            Inserted::TooLarge => &self.counted.too_large,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        inserted
    }

    /// Redis has agreed to tell, and was asked to at `asked`: a new life begins, empty. Reads begun from now on can be kept.
    pub fn connected(&self, asked: Timestamp) {
        self.line.connected(asked);
        self.table.clear();
        self.counted.lives.fetch_add(1, Ordering::Relaxed);
    }

    /// Redis has answered a ping that was sent on the line at `asked`, and all it announced before that answer has been
    /// passed on. When it was *sent*: announcements may be a long time on their way, and an answer behind them is, too.
    pub fn confirmed(&self, asked: Timestamp) {
        self.line.confirmed(asked);
    }

    /// A key was announced.
    pub fn invalidate(&self, key: &[u8]) {
        self.counted.invalidated.fetch_add(1, Ordering::Relaxed);
        if self.counters.count(key) == Overflowed(true) {
            self.flush();
        }
    }

    /// Everything was announced: `FLUSHALL` and `FLUSHDB` do so.
    pub fn flush(&self) {
        self.line.flushed();
        self.table.clear();
        self.counted.flushes.fetch_add(1, Ordering::Relaxed);
    }

    /// The line is gone: nothing is fresh from now on. What is held stays, for [`Tracked::stale`], until it is connected
    /// again.
    pub fn disconnected(&self) {
        self.line.disconnected();
    }

    /// Figures for metrics.
    pub fn figures(&self) -> Figures {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Figures {
            entries: self.table.entries() as u64,
            bytes: self.table.bytes() + self.counters.bytes(),
            kept: read(&self.counted.kept),
            outdated: read(&self.counted.outdated),
            not_live: read(&self.counted.not_live),
            too_large: read(&self.counted.too_large),
            invalidated: read(&self.counted.invalidated),
            flushes: read(&self.counted.flushes),
            lives: read(&self.counted.lives),
            evicted: self.table.evicted(),
        }
    }

    /// Why an answer with this ticket is not kept.
    fn refusal(&self, ticket: &Ticket) -> Option<Inserted> {
        let life = self.line.life();
        if !life.is_live() || !ticket.life.is_live() {
            Some(Inserted::NotLive)
        } else if life != ticket.life || !self.counters.are_valid(&ticket.stamps) {
            Some(Inserted::Outdated)
        } else {
            None
        }
    }
}

impl Ticket {
    /// Bytes outside of itself.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.stamps.heap_bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    use super::*;

    const NOW: Timestamp = Timestamp::from_secs(1000);
    const SILENCE: Duration = Duration::from_secs(10);

    fn live() -> Tracked<u64> {
        let tracked = Tracked::new(1 << 20, SILENCE);
        tracked.connected(NOW);
        tracked
    }

    fn keep(tracked: &Tracked<u64>, read: &str, value: u64) -> Inserted {
        tracked.insert(tracked.begin([read.as_bytes()]), read.as_bytes(), value, 0, None)
    }

    #[test]
    fn an_answer_is_fresh_until_its_key_is_announced() {
        let tracked = live();
        assert_eq!(tracked.get(b"a", NOW), None);
        assert_eq!(keep(&tracked, "a", 1), Inserted::Kept);
        assert_eq!(tracked.get(b"a", NOW), Some(1));
        tracked.invalidate(b"b");
        assert_eq!(tracked.get(b"a", NOW), Some(1), "two keys of 16384 counters are strangers");
        tracked.invalidate(b"a");
        assert_eq!(tracked.get(b"a", NOW), None);
    }

    #[test]
    fn all_reads_of_a_key_go_and_a_read_of_many_keys_with_any_of_them() {
        let tracked = live();
        for field in 0..100_u8 {
            tracked.insert(tracked.begin([&b"hash"[..]]), &[field], 0, 0, None);
        }
        tracked.insert(tracked.begin([&b"a"[..], b"hash"]), b"both", 0, 0, None);
        assert!((0..100).all(|field| tracked.get(&[field], NOW).is_some()));
        tracked.invalidate(b"hash");
        assert!((0..100).all(|field| tracked.get(&[field], NOW).is_none()));
        assert_eq!(tracked.get(b"both", NOW), None);
    }

    #[test]
    fn an_answer_that_was_overtaken_is_not_kept() {
        let tracked = live();
        let ticket = tracked.begin([&b"a"[..]]);
        assert!(tracked.is_valid(&ticket));
        tracked.invalidate(b"a");
        assert!(!tracked.is_valid(&ticket));
        assert_eq!(tracked.insert(ticket, b"a", 1, 0, None), Inserted::Outdated);
        let ticket = tracked.begin([&b"a"[..]]);
        tracked.flush();
        assert_eq!(tracked.insert(ticket, b"a", 1, 0, None), Inserted::Outdated);
    }

    #[test]
    fn nothing_is_kept_without_a_line_nor_from_before_it() {
        let tracked = Tracked::new(1 << 20, SILENCE);
        let early = tracked.begin([&b"a"[..]]);
        assert_eq!(keep(&tracked, "a", 1), Inserted::NotLive);
        tracked.connected(NOW);
        assert_eq!(tracked.insert(early, b"a", 1, 0, None), Inserted::NotLive);
        let ticket = tracked.begin([&b"a"[..]]);
        tracked.disconnected();
        assert_eq!(tracked.insert(ticket.clone(), b"a", 1, 0, None), Inserted::NotLive);
        tracked.connected(NOW);
        assert_eq!(tracked.insert(ticket, b"a", 1, 0, None), Inserted::Outdated);
    }

    #[test]
    fn what_was_right_when_the_line_was_lost_is_given_for_a_while_and_gone_with_the_next_life() {
        let tracked = live();
        keep(&tracked, "a", 1);
        keep(&tracked, "changed", 1);
        let ticket = tracked.begin([&b"short"[..]]);
        tracked.insert(ticket, b"short", 1, 0, Some(NOW + Duration::from_secs(2)));
        tracked.invalidate(b"changed");
        tracked.disconnected();
        let (most, later) = (Duration::from_secs(5), NOW + Duration::from_secs(3));
        assert_eq!(tracked.get(b"a", later), None);
        assert_eq!(tracked.stale(b"a", later, most), Some(1));
        assert_eq!(tracked.stale(b"a", later, Duration::ZERO), None);
        assert_eq!(tracked.stale(b"changed", later, most), None);
        assert_eq!(tracked.stale(b"short", later, most), None, "its key has expired");
        assert_eq!(tracked.stale(b"a", NOW + Duration::from_secs(6), most), None);
        tracked.disconnected();
        assert_eq!(tracked.stale(b"a", later, most), Some(1), "lost twice is lost once");
        tracked.connected(later);
        assert_eq!(tracked.stale(b"a", later, most), None);
    }

    #[test]
    fn nothing_is_fresh_that_was_not_confirmed_for_longer_than_the_silence() {
        let tracked = live();
        keep(&tracked, "a", 1);
        let late = NOW + SILENCE + Duration::from_millis(1);
        assert_eq!(tracked.get(b"a", NOW + SILENCE), Some(1));
        assert_eq!(tracked.get(b"a", late), None);
        tracked.confirmed(NOW + Duration::from_secs(5));
        assert_eq!(tracked.get(b"a", late), Some(1));
    }

    #[test]
    fn what_has_a_deadline_is_fresh_before_it() {
        let tracked = live();
        let deadline = NOW + Duration::from_secs(1);
        tracked.insert(tracked.begin([&b"a"[..]]), b"a", 1, 0, Some(deadline));
        assert_eq!(tracked.get(b"a", deadline.minus(Duration::from_millis(1))), Some(1));
        assert_eq!(tracked.get(b"a", deadline), None);
    }

    #[test]
    fn what_is_too_large_is_not_kept_and_harms_nothing() {
        let tracked = live();
        keep(&tracked, "small", 1);
        let ticket = tracked.begin([&b"large"[..]]);
        assert_eq!(tracked.insert(ticket, b"large", 1, 1 << 20, None), Inserted::TooLarge);
        assert_eq!(tracked.get(b"small", NOW), Some(1));
    }

    #[test]
    fn the_largest_that_is_let_in_is_there() {
        let tracked = live();
        let most = (1..1 << 20).rev().step_by(64).find(|weight| {
            tracked.insert(tracked.begin([&b"a"[..]]), b"a", 1, *weight, None) == Inserted::Kept
        });
        assert!(most.is_some_and(|most| most > 1 << 19), "{most:?}");
        assert_eq!(tracked.get(b"a", NOW), Some(1));
    }

    /// Counts how many of it there are.
    #[derive(Debug)]
    struct Counted(Arc<AtomicUsize>);

    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_million_answers_pass_through_and_leave_nothing_behind() {
        const BYTES: u64 = 4 << 20;
        let tracked = Tracked::new(BYTES, SILENCE);
        tracked.connected(NOW);
        let alive = Arc::new(AtomicUsize::new(0));
        for number in 0..1_000_000_u64 {
            let (key, other) = (number.to_be_bytes(), (number / 2).to_be_bytes());
            alive.fetch_add(1, Ordering::Relaxed);
            let value = Arc::new(Counted(Arc::clone(&alive)));
            let ticket = match number % 4 {
                0 => tracked.begin([&key[..], &other[..]]),
                _ => tracked.begin([&key[..]]),
            };
            assert_eq!(tracked.insert(ticket, &key, value, 32, None), Inserted::Kept);
            assert!(tracked.figures().bytes <= BYTES);
            if number % 8 == 0 {
                tracked.invalidate(&other);
            }
        }
        let figures = tracked.figures();
        assert_eq!(figures.kept, figures.entries + figures.evicted, "{figures:?}");
        assert_eq!(alive.load(Ordering::Relaxed) as u64, figures.entries, "what is evicted is freed");
        tracked.flush();
        assert_eq!((tracked.figures().entries, alive.load(Ordering::Relaxed)), (0, 0));
    }
}
