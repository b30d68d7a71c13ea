//! Timer: limits how long one thing may wait. Kept with a connection and used again for each wait, since setting a
//! timer further off costs much less than making one.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

/// See the module. Not running at first, and not even made before something has to wait.
#[derive(Default)]
pub(super) struct Timer {
    sleep: Option<Pin<Box<Sleep>>>,
    running: bool,
}

impl Timer {
    /// Ready when this was asked for `limit` long without a [`stop`](Self::stop) in between.
    pub(super) fn poll(&mut self, limit: Duration, cx: &mut Context<'_>) -> Poll<()> {
        if !self.running {
            self.running = true;
            match &mut self.sleep {
                Some(sleep) => sleep.as_mut().reset(Instant::now() + limit),
                None => self.sleep = Some(Box::pin(tokio::time::sleep(limit))),
            }
        }
        match &mut self.sleep {
            Some(sleep) => sleep.as_mut().poll(cx),
            None => Poll::Pending,
        }
    }

    /// There was progress: the next wait starts from zero. The sleep itself stays set; a wake-up for nothing, once a
    /// minute, is cheaper than taking it off each time.
    pub(super) fn stop(&mut self) {
        self.running = false;
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
