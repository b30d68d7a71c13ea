//! Tracked: the answers that are held, and the three who call it: requests get and stale, readers begin and insert, and
//! whoever keeps the line tells what was heard on it. Why this is right stands at the top of the crate.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use message::Timestamp;

use crate::counters::{KeyCounters, Overflowed, Stamps};
use crate::line::{Life, Line};
use crate::table::{HeldAnswer, Table};

/// Answers of reads, by a name the caller gives each read: its command, arguments and form, without ambiguity. Shared
/// between cores behind an `Arc`.
///
/// `V` is a finished answer, in practice an `Arc`: each hit clones it.
pub struct Tracked<V> {
    line: Line,
    counters: KeyCounters,
    table: Table<V>,
    counted: Counted,
    /// How old an answer may be that is given because Redis cannot be asked.
    most: Duration,
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
pub struct TrackedFigures {
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
    /// `most` bounds how old one can be that is not; with zero none is kept.
    pub fn new(bytes: u64, silence: Duration, most: Duration) -> Self {
        /// An entry takes some hundred bytes: this makes several counters for each.
        const BYTES_PER_COUNTER: u64 = 64;
        let counters = KeyCounters::new((bytes / BYTES_PER_COUNTER).clamp(1024, 1 << 26));
        let table = Table::new(bytes.saturating_sub(counters.bytes()));
        Tracked { line: Line::new(silence), counters, table, counted: Counted::default(), most }
    }

    /// The same for the same seed each time, with so many bytes for answers and so many counters.
    #[cfg(test)]
    pub(crate) fn shaped(bytes: u64, counters: u64, silence: Duration, most: Duration, seed: u64) -> Self {
        let (counters, table) = (KeyCounters::seeded(counters, seed), Table::seeded(bytes, seed));
        Tracked { line: Line::new(silence), counters, table, counted: Counted::default(), most }
    }

    /// A fresh answer. `None`: Redis must be asked.
    ///
    /// Takes no lock but the one of the table's shard, for reading; allocates nothing.
    #[inline]
    pub fn get(&self, read: &[u8], now: Timestamp) -> Option<V> {
        let held = self.table.get(read)?;
        let as_of = self.line.fresh_as_of(held.ticket.life, now)?;
        if now >= held.deadline || !self.counters.are_valid(&held.ticket.stamps) {
            return None;
        }
        // Once for each ping, and not each time.
        if held.seen.load(Ordering::Relaxed) < as_of.as_millis() {
            held.seen.fetch_max(as_of.as_millis(), Ordering::Relaxed);
        }
        Some(held.value.clone())
    }

    /// An answer for when Redis cannot be asked, and how long ago it was right for certain: when it was read, when the line
    /// was last confirmed while it was used, or, where none of its keys was announced since, when it was last confirmed at
    /// all. Not one whose key has expired since: that needs nobody to tell.
    pub fn stale(&self, read: &[u8], now: Timestamp) -> Option<(V, Duration)> {
        let held = self.table.get(read).filter(|held| now < held.deadline)?;
        let is_unchanged = self.counters.are_valid(&held.ticket.stamps);
        let confirmed = is_unchanged.then(|| self.line.was_fresh_as_of(held.ticket.life)).flatten();
        let seen = Timestamp::from_millis(held.seen.load(Ordering::Relaxed));
        let age = now.since(confirmed.map_or(seen, |confirmed| confirmed.max(seen)));
        (age <= self.most).then(|| (held.value.clone(), age))
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

    /// Keeps an answer, unless something happened meanwhile; then only for when Redis cannot be asked.
    ///
    /// `asked` is when the read was sent. `weight` is what the value holds, in bytes. `deadline` is when the first of its
    /// keys expires; as seen from when the read was *sent*, since nobody knows when between then and now Redis looked at its
    /// clock.
    pub fn insert(
        &self,
        ticket: Ticket,
        read: &[u8],
        value: V,
        weight: u64,
        asked: Timestamp,
        deadline: Option<Timestamp>,
    ) -> Inserted {
        let refusal = self.refusal(&ticket);
        let cost = self.table.cost(read, &ticket, weight);
        // Never in place of what is newer.
        let is_newest = || {
            let there = self.table.get(read);
            there.is_none_or(|there| there.seen.load(Ordering::Relaxed) < asked.as_millis())
        };
        let is_wanted = refusal.is_none() || (!self.most.is_zero() && is_newest());
        if let Some(cost) = cost.filter(|_| is_wanted) {
            let deadline = deadline.unwrap_or(Timestamp::from_millis(u64::MAX));
            let seen = AtomicU64::new(asked.as_millis());
            self.table.insert(read, HeldAnswer { value, ticket, deadline, seen, cost });
        }
        let inserted = match (refusal, cost) {
            (Some(refusal), _) => refusal,
            (None, None) => Inserted::TooLarge,
            (None, Some(_)) => Inserted::Kept,
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

    /// Redis has agreed to tell, and was asked to at `asked`: a new life begins, with nothing that is fresh. Reads begun
    /// from now on can be kept.
    pub fn connected(&self, asked: Timestamp) {
        self.line.connected(asked);
        if self.most.is_zero() {
            self.table.clear();
        }
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

    /// The line is gone: nothing is fresh from now on. What is held stays, for [`Tracked::stale`].
    pub fn disconnected(&self) {
        self.line.disconnected();
    }

    /// Figures for metrics.
    pub fn figures(&self) -> TrackedFigures {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        TrackedFigures {
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
    const MOST: Duration = Duration::from_secs(5);

    fn live() -> Tracked<u64> {
        let tracked = Tracked::new(1 << 20, SILENCE, MOST);
        tracked.connected(NOW);
        tracked
    }

    fn keep(tracked: &Tracked<u64>, read: &str, value: u64) -> Inserted {
        tracked.insert(tracked.begin([read.as_bytes()]), read.as_bytes(), value, 0, NOW, None)
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
            tracked.insert(tracked.begin([&b"hash"[..]]), &[field], 0, 0, NOW, None);
        }
        tracked.insert(tracked.begin([&b"a"[..], b"hash"]), b"both", 0, 0, NOW, None);
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
        assert_eq!(tracked.insert(ticket, b"a", 1, 0, NOW, None), Inserted::Outdated);
        let ticket = tracked.begin([&b"a"[..]]);
        tracked.flush();
        assert_eq!(tracked.insert(ticket, b"a", 1, 0, NOW, None), Inserted::Outdated);
    }

    #[test]
    fn nothing_is_kept_without_a_line_nor_from_before_it() {
        let tracked = Tracked::new(1 << 20, SILENCE, MOST);
        let early = tracked.begin([&b"a"[..]]);
        assert_eq!(keep(&tracked, "a", 1), Inserted::NotLive);
        tracked.connected(NOW);
        assert_eq!(tracked.insert(early, b"a", 1, 0, NOW, None), Inserted::NotLive);
        let ticket = tracked.begin([&b"a"[..]]);
        tracked.disconnected();
        assert_eq!(tracked.insert(ticket.clone(), b"a", 1, 0, NOW, None), Inserted::NotLive);
        tracked.connected(NOW);
        assert_eq!(tracked.insert(ticket, b"a", 1, 0, NOW, None), Inserted::Outdated);
    }

    fn stale(tracked: &Tracked<u64>, read: &str, after: u64) -> Option<(u64, u64)> {
        let (value, age) = tracked.stale(read.as_bytes(), NOW + Duration::from_secs(after))?;
        Some((value, age.as_secs()))
    }

    #[test]
    fn what_was_right_lately_is_given_though_the_line_is_gone_or_new() {
        let tracked = live();
        keep(&tracked, "a", 1);
        let ticket = tracked.begin([&b"short"[..]]);
        tracked.insert(ticket, b"short", 1, 0, NOW, Some(NOW + Duration::from_secs(2)));
        tracked.disconnected();
        assert_eq!(tracked.get(b"a", NOW + Duration::from_secs(3)), None);
        assert_eq!(stale(&tracked, "a", 3), Some((1, 3)));
        assert_eq!(stale(&tracked, "short", 3), None, "its key has expired");
        assert_eq!(stale(&tracked, "a", 6), None, "too long ago");
        tracked.disconnected();
        assert_eq!(stale(&tracked, "a", 3), Some((1, 3)), "lost twice is lost once");
        tracked.connected(NOW + Duration::from_secs(4));
        assert_eq!(tracked.get(b"a", NOW + Duration::from_secs(4)), None, "nobody told meanwhile");
        assert_eq!(stale(&tracked, "a", 4), Some((1, 4)));
    }

    #[test]
    fn what_has_changed_was_right_when_it_was_last_confirmed_in_use() {
        let tracked = live();
        keep(&tracked, "unused", 1);
        keep(&tracked, "used", 1);
        tracked.confirmed(NOW + Duration::from_secs(4));
        assert_eq!(tracked.get(b"used", NOW + Duration::from_secs(5)), Some(1));
        tracked.invalidate(b"used");
        tracked.invalidate(b"unused");
        assert_eq!((stale(&tracked, "used", 6), stale(&tracked, "unused", 6)), (Some((1, 2)), None));
        assert_eq!(stale(&tracked, "used", 10), None);
    }

    #[test]
    fn what_is_read_without_a_line_is_given_when_redis_is_gone_and_never_fresh() {
        let tracked = Tracked::new(1 << 20, SILENCE, MOST);
        assert_eq!(keep(&tracked, "a", 1), Inserted::NotLive);
        assert_eq!((tracked.get(b"a", NOW), stale(&tracked, "a", 1)), (None, Some((1, 1))));
        let older = NOW.minus(Duration::from_secs(1));
        tracked.insert(tracked.begin([&b"a"[..]]), b"a", 0, 0, older, None);
        assert_eq!(stale(&tracked, "a", 1), Some((1, 1)), "a reply that was late");
        let forgetful = Tracked::new(1 << 20, SILENCE, Duration::ZERO);
        keep(&forgetful, "a", 1);
        assert_eq!(forgetful.figures().entries, 0);
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
        tracked.insert(tracked.begin([&b"a"[..]]), b"a", 1, 0, NOW, Some(deadline));
        assert_eq!(tracked.get(b"a", deadline.minus(Duration::from_millis(1))), Some(1));
        assert_eq!(tracked.get(b"a", deadline), None);
    }

    #[test]
    fn what_is_too_large_is_not_kept_and_harms_nothing() {
        let tracked = live();
        keep(&tracked, "small", 1);
        let ticket = tracked.begin([&b"large"[..]]);
        assert_eq!(tracked.insert(ticket, b"large", 1, 1 << 20, NOW, None), Inserted::TooLarge);
        assert_eq!(tracked.get(b"small", NOW), Some(1));
    }

    #[test]
    fn the_largest_that_is_let_in_is_there() {
        let tracked = live();
        let most = (1..1 << 20).rev().step_by(64).find(|weight| {
            tracked.insert(tracked.begin([&b"a"[..]]), b"a", 1, *weight, NOW, None) == Inserted::Kept
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
        let tracked = Tracked::new(BYTES, SILENCE, MOST);
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
            assert_eq!(tracked.insert(ticket, &key, value, 32, NOW, None), Inserted::Kept);
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
