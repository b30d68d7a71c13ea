//! Timer: limits how long one thing may wait. Kept and used again for each wait, since setting a timer further off costs
//! much less than making one.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

/// See the module. Not running at first, and not even made before something has to wait.
#[derive(Debug, Default)]
pub struct Timer {
    /// Set for the deadline, or for an earlier one that has been put off meanwhile.
    sleep: Option<Pin<Box<Sleep>>>,
    /// None: not running.
    deadline: Option<Instant>,
}

impl Timer {
    /// Ready when this was asked for `limit` long without a [`stop`](Self::stop) in between.
    pub fn poll(&mut self, limit: Duration, cx: &mut Context<'_>) -> Poll<()> {
        let deadline = *self.deadline.get_or_insert_with(|| Instant::now() + limit);
        self.poll_until(deadline, cx)
    }

    /// Ready at this moment. Whoever asked last is woken then, and may be woken before.
    pub fn poll_until(&mut self, deadline: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
        // Moving a sleep in the runtime's wheel costs more than to wake up for nothing once a minute and look again.
        if sleep.deadline() > deadline {
            sleep.as_mut().reset(deadline);
        }
        loop {
            ready!(sleep.as_mut().poll(cx));
            if sleep.deadline() >= deadline {
                return Poll::Ready(());
            }
            sleep.as_mut().reset(deadline);
        }
    }

    /// There was progress: the next wait starts from zero.
    pub fn stop(&mut self) {
        self.deadline = None;
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn progress_starts_the_wait_anew() {
        let limit = Duration::from_secs(10);
        let mut timer = Timer::default();
        let start = Instant::now();
        let quick = tokio::time::timeout(Duration::from_secs(9), poll_fn(|cx| timer.poll(limit, cx))).await;
        assert!(quick.is_err());
        timer.stop();
        poll_fn(|cx| timer.poll(limit, cx)).await;
        assert_eq!(start.elapsed(), Duration::from_secs(19));
        timer.stop();
        poll_fn(|cx| timer.poll(limit, cx)).await;
        assert_eq!(start.elapsed(), Duration::from_secs(29));
    }
}
