//! Waiting: one call in a line, until it is let through, pushed out or too late. Made by `shared`; polled by layers.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{self, Duration};

use tokio::time::Instant;

use super::shared::{SharedLines, Standing};
use super::{Exit, Ticket};
use crate::fingerprint::Fingerprint;
use crate::timer::Timer;

/// A place in a line; dropping it leaves. Those behind wait for whoever has it, so it is to be polled or dropped. It needs a
/// tokio runtime, whichever.
#[derive(Debug)]
pub struct Waiting {
    lines: Arc<SharedLines>,
    key: Fingerprint,
    ticket: Ticket,
    deadline: Instant,
    timer: Timer,
}

/// What a limit says to the first in line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission<T> {
    /// It is let through, and has taken this.
    Taken(T),
    /// Not before so much time has passed: it asks again then. [`Duration::MAX`]: never.
    In(Duration),
    /// Something has to become free: it asks again after [`SharedLines::wake`].
    WhenTold,
}

/// Why somebody who waited was not let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoTurn {
    /// Its deadline has come, or the limit says that it would.
    TooLate,
    /// Another one has taken its place: see [`SharedLines::join`].
    TurnedOut,
}

impl Waiting {
    pub(super) fn new(lines: Arc<SharedLines>, key: Fingerprint, ticket: Ticket, deadline: Instant) -> Self {
        Waiting { lines, key, ticket, deadline, timer: Timer::default() }
    }

    /// Ready with what `admit` has taken; it is asked when this is the first in line only, with the time. Without a lock, so
    /// it may free things and wake this line. Whoever is behind and comes first in the very moment of asking asks as well:
    /// what `admit` takes must be taken in one step.
    ///
    /// # Errors
    /// See [`NoTurn`]. After any of this it is in no line: if polled again, it is turned out.
    pub async fn admitted<T>(
        mut self,
        mut admit: impl FnMut(time::Instant) -> Admission<T>,
    ) -> Result<T, NoTurn> {
        poll_fn(|cx| self.poll_admitted(cx, &mut admit)).await
    }

    /// The same, to be polled.
    ///
    /// # Errors
    /// The same.
    pub fn poll_admitted<T>(
        &mut self,
        cx: &mut Context<'_>,
        mut admit: impl FnMut(time::Instant) -> Admission<T>,
    ) -> Poll<Result<T, NoTurn>> {
        loop {
            let standing = self.lines.stand(self.key, &self.ticket, cx.waker());
            let now = Instant::now();
            let ask_at = match standing {
                Standing::Out => return Poll::Ready(Err(NoTurn::TurnedOut)),
                Standing::Behind => Some(self.deadline),
                // Also at the deadline, for a timer is up to a millisecond late.
                Standing::First => match admit(now.into_std()) {
                    Admission::Taken(taken) => {
                        self.leave(Exit::Served);
                        return Poll::Ready(Ok(taken));
                    }
                    Admission::In(wait) => now.checked_add(wait),
                    Admission::WhenTold => Some(self.deadline),
                },
            };
            // Who is known to be too late is told so now, and not after it has waited for nothing.
            let Some(ask_at) = ask_at.filter(|&ask_at| ask_at <= self.deadline && now < self.deadline) else {
                self.leave(Exit::Left);
                return Poll::Ready(Err(NoTurn::TooLate));
            };
            ready!(self.timer.poll_until(ask_at, cx));
        }
    }

    fn leave(&self, exit: Exit) {
        self.lines.remove(self.key, &self.ticket, exit);
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.leave(Exit::Left);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::Future;
    use std::pin::{Pin, pin};

    use futures_util::FutureExt;
    use futures_util::future::join;
    use futures_util::stream::{FuturesUnordered, StreamExt};

    use super::*;
    use crate::{Algorithm, Allowance, Limits};

    const MINUTE: Duration = Duration::from_mins(1);

    fn join_line(lines: &Arc<SharedLines>, priority: i32, wait: Duration) -> Waiting {
        lines.join(b"", priority, b"", Instant::now() + wait).unwrap()
    }

    fn is_pending(future: &mut Pin<&mut impl Future>) -> bool {
        future.as_mut().now_or_never().is_none()
    }

    fn when_told<T>(_: time::Instant) -> Admission<T> {
        Admission::WhenTold
    }

    /// One at a time, as long as somebody waits for it.
    fn take(free: &Cell<usize>) -> Admission<()> {
        match free.get().checked_sub(1) {
            Some(left) => {
                free.set(left);
                Admission::Taken(())
            }
            None => Admission::WhenTold,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn calls_go_at_the_rate_of_the_limit_and_only_the_first_asks() {
        let per = Duration::from_secs(1);
        let limits = Limits::new(Allowance { algorithm: Algorithm::Gcra, amount: 10, per, burst: 1 }, 1);
        let (lines, asked, start) = (SharedLines::new(20), Cell::new(0), Instant::now());
        assert!(limits.take(b"", start.into_std()).is_allowed);
        let admit = |now| {
            asked.set(asked.get() + 1);
            let decision = limits.take(b"", now);
            if decision.is_allowed { Admission::Taken(()) } else { Admission::In(decision.retry_after) }
        };
        let calls = (0..20).map(|number| {
            let waiting = join_line(&lines, 0, MINUTE);
            async move { waiting.admitted(admit).await.map(|()| (number, start.elapsed().as_millis())) }
        });
        let calls: FuturesUnordered<_> = calls.collect();
        let ends: Vec<_> = calls.map(Result::unwrap).collect().await;
        let expected: Vec<_> = (0..20_u32).map(|number| (number, u128::from(number + 1) * 100)).collect();
        assert_eq!((ends, asked.get()), (expected, 2 * 20), "each is told when, and let through then");
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_longer_than_asked() {
        let (lines, start) = (SharedLines::new(2), Instant::now());
        let first = join_line(&lines, 0, Duration::from_secs(3)).admitted(when_told::<()>);
        let second = join_line(&lines, 0, Duration::from_secs(2)).admitted(when_told::<()>);
        let (first, (second, after)) = join(first, second.map(|end| (end, start.elapsed()))).await;
        assert_eq!((second, after), (Err(NoTurn::TooLate), Duration::from_secs(2)));
        assert_eq!((first, start.elapsed()), (Err(NoTurn::TooLate), Duration::from_secs(3)));
        assert_eq!(lines.waiting(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn who_will_be_too_late_is_told_so_at_once() {
        let (lines, start) = (SharedLines::new(3), Instant::now());
        let [first, second, third] = [1, 2, 3].map(|seconds| {
            let wait = Duration::from_secs(seconds);
            join_line(&lines, 0, wait).admitted(|_| Admission::<()>::In(Duration::from_millis(2500)))
        });
        let mut third = pin!(third);
        assert!(is_pending(&mut third));
        assert_eq!(join(first, second).await, (Err(NoTurn::TooLate), Err(NoTurn::TooLate)));
        assert_eq!(start.elapsed(), Duration::ZERO);
        assert!(is_pending(&mut third));
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_turned_out_is_told_at_once() {
        let (lines, start) = (SharedLines::new(1), Instant::now());
        let low = join_line(&lines, 0, MINUTE).admitted(when_told::<()>);
        let high = async {
            assert_eq!(lines.join(b"", 0, b"", start + MINUTE).unwrap_err().waiting, 1);
            join_line(&lines, 1, MINUTE).admitted(|_| Admission::Taken(7)).await
        };
        assert_eq!(join(low, high).await, (Err(NoTurn::TurnedOut), Ok(7)));
        assert_eq!(start.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn a_first_that_goes_away_once_woken_wakes_the_next() {
        let (lines, free, start) = (SharedLines::new(3), Cell::new(0), Instant::now());
        let mut first = Box::pin(join_line(&lines, 0, MINUTE).admitted(|_| take(&free)));
        assert!((&mut first).now_or_never().is_none());
        let second = join_line(&lines, 0, MINUTE).admitted(|_| take(&free));
        let go_away = async {
            free.set(1);
            lines.wake(b"");
            drop(first);
        };
        // In this order: the second waits before the first is woken.
        assert_eq!(join(second, go_away).await, (Ok(()), ()));
        assert_eq!(start.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn several_that_become_free_at_once_are_all_taken() {
        let (lines, free, start) = (SharedLines::new(9), Cell::new(0), Instant::now());
        // Each is polled only when it is woken itself.
        let mut calls: FuturesUnordered<_> =
            (0..9).map(|_| join_line(&lines, 0, MINUTE).admitted(|_| take(&free))).collect();
        assert!(calls.next().now_or_never().is_none());
        free.set(9);
        lines.wake(b"");
        assert!(calls.by_ref().all(async |end| end.is_ok()).await);
        assert_eq!((free.get(), start.elapsed()), (0, Duration::ZERO));
    }

    #[tokio::test]
    async fn a_first_that_was_overtaken_asks_no_more() {
        let (lines, free) = (SharedLines::new(2), Cell::new(0));
        let low = join_line(&lines, 0, MINUTE).admitted(|_| take(&free));
        let mut low = pin!(low);
        assert!(is_pending(&mut low));
        let high = join_line(&lines, 1, MINUTE).admitted(|_| take(&free));
        let mut high = pin!(high);
        free.set(1);
        assert!(is_pending(&mut low));
        assert!(!lines.is_empty(b"") && lines.is_empty(b"another"));
        assert!(!is_pending(&mut high) && is_pending(&mut low));
    }

    #[test]
    fn it_may_move_between_cores() {
        fn is_send<T: Send + 'static>() {}
        is_send::<Waiting>();
    }
}
