//! Under way: a call that somebody waits for, given up at the deadline that timeouts have set. In: the call and the trip's
//! deadline. Out: what came of it, or that it is late. Made by `stack`.

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use guard::Timer;
use message::{Deadline, Error, Kind, Result, Retry};
use tokio::time::Instant;

use crate::remedies::outcomes::Outcome;
use crate::remedies::timeout::TimeoutLayer;
use crate::stack::layer::Layer;

/// See the module. The call is boxed, so that a stack of any height is one type.
pub(crate) struct UnderWay<'a, T> {
    call: Pin<Box<dyn Future<Output = Result<T>> + 'a>>,
    deadline: Option<Deadline>,
    timers: &'a Timers,
    /// `None`: it has not had to wait yet.
    timer: Option<Lent<'a>>,
}

/// What the calls of one stack wait with.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    /// Those of calls that are over, for those to come: to set one further off costs a tenth of making one and taking it
    /// back. The deadlines of one stack are about equally far off.
    spare: RefCell<Vec<Timer>>,
    /// Layers that set deadlines, with their places. Whoever gives a call up tells them: if they were to look at what becomes
    /// of each call, those that are in time would have to pay for it.
    timeouts: Box<[(usize, TimeoutLayer)]>,
}

/// So many wait for calls to come; there are never more than there were calls at once.
const SPARE: usize = 256;

/// A timer, given back on drop.
struct Lent<'a> {
    timers: &'a Timers,
    timer: Timer,
}

/// Whoever asks may ask again where that does no harm: nobody knows how far the call got.
pub(crate) fn late(within: Duration) -> Error {
    Error::new(Kind::SourceTimeout, format!("not done within {within:?}")).retry(Retry::IfIdempotent)
}

impl<'a, T> UnderWay<'a, T> {
    /// Given up at the deadline, if there is one.
    pub(crate) fn new(
        call: impl Future<Output = Result<T>> + 'a,
        deadline: Option<Deadline>,
        timers: &'a Timers,
    ) -> Self {
        UnderWay { call: Box::pin(call), deadline, timers, timer: None }
    }
}

impl<T> Future for UnderWay<'_, T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<T>> {
        let UnderWay { call, deadline, timers, timer } = &mut *self;
        if let Poll::Ready(outcome) = call.as_mut().poll(cx) {
            return Poll::Ready(outcome);
        }
        let Some(deadline) = deadline else { return Poll::Pending };
        let lent = timer.get_or_insert_with(|| timers.lend());
        lent.timer.poll_until(deadline.at, cx).map(|()| Err(timers.late(*deadline)))
    }
}

impl Timers {
    /// For these layers.
    pub(crate) fn of(layers: &[Layer]) -> Self {
        let timeouts = layers.iter().enumerate().filter_map(|(place, layer)| match layer {
            Layer::Timeout(timeout) => Some((place, timeout.clone())),
            _ => None,
        });
        Timers { spare: RefCell::default(), timeouts: timeouts.collect() }
    }

    /// A call has missed a deadline.
    pub(crate) fn late(&self, deadline: Deadline) -> Error {
        self.count_late(deadline);
        late(deadline.within)
    }

    /// Whoever gives a call up for another reason than that its source is late says so itself.
    pub(crate) fn count_late(&self, deadline: Deadline) {
        if let Some((_, timeout)) = self.timeouts.iter().find(|(place, _)| *place == deadline.layer) {
            timeout.outcomes.count(Outcome::Late);
        }
    }

    /// Ready at this moment.
    pub(crate) fn until(&self, moment: Instant) -> impl Future<Output = ()> {
        let mut lent = self.lend();
        poll_fn(move |cx| lent.timer.poll_until(moment, cx))
    }

    fn lend(&self) -> Lent<'_> {
        Lent { timers: self, timer: self.spare.borrow_mut().pop().unwrap_or_default() }
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let mut spare = self.timers.spare.borrow_mut();
        if spare.len() < SPARE {
            spare.push(std::mem::take(&mut self.timer));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn each_call_has_its_own_time_whoever_had_the_timer_before() {
        let timers = Timers::default();
        let within = Duration::from_secs(10);
        let under_way = |call| {
            UnderWay::new(call, Some(Deadline { at: Instant::now() + within, within, layer: 0 }), &timers)
        };
        let quick = || -> Pin<Box<dyn Future<Output = Result<()>>>> {
            Box::pin(async {
                tokio::time::sleep(Duration::from_secs(9)).await;
                Ok(())
            })
        };
        for _ in 0..3 {
            assert!(under_way(quick()).await.is_ok());
        }
        let start = Instant::now();
        let (late, other) = tokio::join!(under_way(Box::pin(pending())), under_way(quick()));
        assert_eq!(late.unwrap_err().kind(), Kind::SourceTimeout);
        assert!(other.is_ok());
        assert_eq!(start.elapsed(), within);
        assert_eq!(timers.spare.borrow().len(), 2, "as many as there were at once");
    }
}
