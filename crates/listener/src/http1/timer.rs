//! Timer: one deadline per connection that may change with every request at next to no cost.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use tokio::task::coop::unconstrained;
use tokio::time::{Instant, Sleep, sleep_until};

/// A sleep that is moved only when it has to be: a later deadline is looked at when the earlier one has passed, so
/// that a busy connection touches the runtime's timer wheel once per timeout and not once per request.
///
/// To be polled by one task only: while the sleep is armed early enough, its waker is not renewed.
#[derive(Debug, Default)]
pub(super) struct Timer {
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Timer {
    /// Ready once `deadline` has passed.
    pub(super) fn poll(&mut self, deadline: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let sleep = match &mut self.sleep {
            Some(sleep) if !sleep.is_elapsed() && sleep.deadline() <= deadline => return Poll::Pending,
            Some(sleep) => {
                if sleep.deadline() != deadline {
                    sleep.as_mut().reset(deadline);
                }
                sleep
            }
            empty => empty.insert(Box::pin(sleep_until(deadline))),
        };
        // Not counted against the task's budget: were it refused for that, the sleep would not be armed.
        pin!(unconstrained(sleep.as_mut())).poll(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn deadlines_may_move_both_ways() {
        let start = Instant::now();
        let after = |secs| start + Duration::from_secs(secs);
        let mut timer = Timer::default();
        let mut pending =
            async |deadline| poll_fn(|cx| Poll::Ready(timer.poll(deadline, cx).is_pending())).await;
        assert!(pending(after(10)).await);
        assert!(pending(after(20)).await);
        assert!(pending(after(5)).await);
        poll_fn(|cx| timer.poll(after(6), cx)).await;
        assert_eq!(start.elapsed().as_secs(), 6, "armed for five, moved to six");
        poll_fn(|cx| timer.poll(after(6), cx)).await;
        poll_fn(|cx| timer.poll(after(9), cx)).await;
        assert_eq!(start.elapsed().as_secs(), 9);
    }
}
