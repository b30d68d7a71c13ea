//! Shared lines: the lines that all cores join, with the wakers of those who wait.
//!
//! Only the first of a line asks the limit, and is woken. Whoever makes another one the first by leaving, however it leaves,
//! wakes that one. So no wake is lost with a call that has gone away, and none wakes a crowd.

use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use tokio::time::Instant;

use super::lines::{Full, Joined, Lines};
use super::waiting::Waiting;
use super::{Exit, Ticket};
use crate::fingerprint::{Fingerprint, Fingerprints};

/// Lines of calls that wait for their turn, one for each key, shared by all cores. The empty key is for what has no keys, as in
/// [`Limits`](crate::Limits).
///
/// A newcomer must not overtake those who wait. So it asks the limit itself only where [`is_empty`](Self::is_empty) says that
/// nobody does; otherwise it joins. Where that makes it the first, it asks as soon as it is polled.
#[derive(Debug)]
pub struct SharedLines {
    lines: Mutex<Lines<Option<Waker>>>,
    /// How many wait in all lines, so that whoever finds nobody needs no lock. Written under it.
    waiting: AtomicUsize,
    fingerprints: Fingerprints,
}

/// Where in its line somebody is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    First,
    Behind,
    /// Nowhere: somebody else has taken its place.
    Out,
}

impl SharedLines {
    /// For so many who wait, in all lines together. A line goes when it is empty.
    pub fn new(size: usize) -> Arc<Self> {
        Arc::new(SharedLines {
            lines: Mutex::new(Lines::new(size)),
            waiting: AtomicUsize::new(0),
            fingerprints: Fingerprints::default(),
        })
    }

    /// Whether nobody waits in the line of this key. Costs one load where nobody waits in any.
    pub fn is_empty(&self, key: &[u8]) -> bool {
        self.waiting() == 0 || self.waiting_for(key) == 0
    }

    /// A place in the line of this key, for no longer than until the deadline. Higher priorities go first; groups of the same
    /// priority take turns.
    ///
    /// Where the lines are full, the last of the longest has to go, and is told at once: of this one, where no other is longer
    /// than it would be. The last of a line is one of its lowest priority, and there of the group with most waiting. A
    /// newcomer that would be the last itself, or tie with it, is refused.
    ///
    /// # Errors
    /// Too many wait.
    pub fn join(
        self: &Arc<Self>,
        key: &[u8],
        priority: i32,
        group: &[u8],
        deadline: Instant,
    ) -> Result<Waiting, Full> {
        let (key, group) = (self.fingerprints.of(key), self.fingerprints.of(group));
        let mut lines = self.lock();
        let Joined { ticket, turned_out } = lines.join(key, priority, group, None)?;
        self.waiting.store(lines.len(), Ordering::Relaxed);
        drop(lines);
        wake(turned_out.flatten());
        Ok(Waiting::new(Arc::clone(self), key, ticket, deadline))
    }

    /// Has the first in the line of this key ask again, for what it waits for may be there: to be said after each place that
    /// becomes free. Costs a fence and a load where nobody waits.
    pub fn wake(&self, key: &[u8]) {
        // With the one in `stand`: either this sees who waits, or whoever waits sees what has become free.
        fence(Ordering::SeqCst);
        if self.waiting() == 0 {
            return;
        }
        let key = self.fingerprints.of(key);
        let waker = first_waker(&mut self.lock(), key);
        wake(waker);
    }

    /// How many wait in all lines.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// How many wait in the line of this key: with the rate of a limit, that is how long a newcomer would have to.
    pub fn waiting_for(&self, key: &[u8]) -> usize {
        let key = self.fingerprints.of(key);
        self.lock().len_of(key)
    }

    /// Where somebody is. From now on it is woken when it becomes the first or is turned out.
    pub(super) fn stand(&self, key: Fingerprint, ticket: &Ticket, waker: &Waker) -> Standing {
        // Dropping a waker may drop its task, and with it one that waits here, which takes the lock. So it goes after the lock.
        let _before;
        let mut lines = self.lock();
        let Some(kept) = lines.get_mut(key, ticket) else { return Standing::Out };
        _before = match kept {
            Some(kept) if kept.will_wake(waker) => None,
            _ => kept.replace(waker.clone()),
        };
        if lines.first(key) != Some(*ticket) {
            return Standing::Behind;
        }
        drop(lines);
        // With the one in `wake`.
        fence(Ordering::SeqCst);
        Standing::First
    }

    /// Takes somebody out, if it still waits. Who is the first by that is woken.
    pub(super) fn remove(&self, key: Fingerprint, ticket: &Ticket, exit: Exit) {
        let mut lines = self.lock();
        let was_first = lines.first(key) == Some(*ticket);
        let gone = lines.remove(key, ticket, exit);
        self.waiting.store(lines.len(), Ordering::Relaxed);
        let next = if was_first { first_waker(&mut lines, key) } else { None };
        drop(lines);
        wake(next);
        drop(gone);
    }

    /// No code of ours that can panic runs under the lock, so a poisoned one is as good as another.
    fn lock(&self) -> MutexGuard<'_, Lines<Option<Waker>>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// That of the first, if it has not been woken already. Once woken it comes and leaves another, or leaves the line.
fn first_waker(lines: &mut Lines<Option<Waker>>, key: Fingerprint) -> Option<Waker> {
    let first = lines.first(key)?;
    lines.get_mut(key, &first)?.take()
}

fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

#[cfg(test)]
mod tests {
    use std::future::{Future, poll_fn};
    use std::pin::pin;
    use std::sync::atomic::Ordering::{Relaxed, SeqCst};
    use std::task::Poll;
    use std::time::Duration;

    use futures_util::stream::{FuturesUnordered, StreamExt};
    use tokio::runtime::Builder;

    use super::*;
    use crate::Admission;

    const CORES: u64 = 4;
    const TASKS: u64 = 16;
    const ROUNDS: u64 = 150;

    struct Places {
        all: usize,
        taken: AtomicUsize,
        let_through: AtomicUsize,
    }

    impl Places {
        fn take(&self) -> Admission<()> {
            let more = |taken| (taken < self.all).then_some(taken + 1);
            match self.taken.try_update(Relaxed, Relaxed, more) {
                Ok(_) => Admission::Taken(()),
                Err(_) => Admission::WhenTold,
            }
        }
    }

    /// A call that asks, waits, goes away while it waits, or is let through and gives its place back.
    async fn call(lines: &Arc<SharedLines>, places: &Places, number: u64) {
        let admitted = if lines.is_empty(b"") { places.take() } else { Admission::WhenTold };
        if admitted == Admission::WhenTold {
            // So long that only a wake that was lost makes it wait until then.
            let deadline = Instant::now() + Duration::from_secs(20);
            // No priorities, and room for all: nobody comes who is the first at once and asks in place of one that sleeps.
            let waiting = lines.join(b"", 0, &(number % 5).to_be_bytes(), deadline).unwrap();
            let mut admitted = pin!(waiting.admitted(|_| places.take()));
            let end = if number.is_multiple_of(4) {
                let polled = poll_fn(|cx| Poll::Ready(admitted.as_mut().poll(cx))).await;
                if polled.is_pending() {
                    // Meanwhile it may be woken, and goes away all the same.
                    for _ in 0..3 {
                        tokio::task::yield_now().await;
                    }
                    return;
                }
                polled
            } else {
                Poll::Ready(admitted.await)
            };
            assert_eq!(end, Poll::Ready(Ok(())));
            assert!(Instant::now() < deadline, "a wake was lost");
        }
        places.let_through.fetch_add(1, Relaxed);
        tokio::task::yield_now().await;
        assert!(places.taken.fetch_sub(1, SeqCst) <= places.all);
        lines.wake(b"");
    }

    fn come_and_go(all: usize) {
        let lines = SharedLines::new((CORES * TASKS) as usize);
        let places = Places { all, taken: AtomicUsize::new(0), let_through: AtomicUsize::new(0) };
        std::thread::scope(|scope| {
            for core in 0..CORES {
                let (lines, places) = (&lines, &places);
                scope.spawn(move || {
                    let task = async |task| {
                        for round in 0..ROUNDS {
                            call(lines, places, core + task * 7 + round).await;
                        }
                    };
                    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
                    // Each task is polled only when it is woken itself.
                    let tasks: FuturesUnordered<_> = (0..TASKS).map(task).collect();
                    runtime.block_on(tasks.collect::<()>());
                });
            }
        });
        assert_eq!((places.taken.load(Relaxed), lines.waiting(), lines.is_empty(b"")), (0, 0, true));
        let let_through = places.let_through.load(Relaxed) as u64;
        assert!(let_through > CORES * TASKS * ROUNDS / 4, "most are let through: {let_through}");
    }

    /// With one place, a wake that is lost is the last one. With several, who is let through has to wake the next.
    #[test]
    fn cores_that_come_and_go_lose_no_wake() {
        come_and_go(1);
        come_and_go(3);
    }
}
