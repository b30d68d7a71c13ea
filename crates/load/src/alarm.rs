//! Alarm: a deadline that costs next to nothing to move.
//!
//! Setting a timer for each request would be the dearest thing a client does. The deadlines of one client only ever
//! move into the future, so one timer is left running, and when it goes off early it is set again.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use tokio::time::{Sleep, sleep_until};

/// See the module.
pub(crate) struct Alarm(Pin<Box<Sleep>>);

impl Alarm {
    /// Must be called within a runtime.
    pub(crate) fn new() -> Self {
        // Due at once, so that the first poll sets it to a real deadline.
        Alarm(Box::pin(sleep_until(Instant::now().into())))
    }

    /// Ready once `deadline` has passed. Deadlines must not go backwards.
    pub(crate) fn poll(&mut self, deadline: Instant, context: &mut Context<'_>) -> Poll<()> {
        while self.0.as_mut().poll(context).is_ready() {
            if Instant::now() >= deadline {
                return Poll::Ready(());
            }
            self.0.as_mut().reset(deadline.into());
        }
        Poll::Pending
    }
}
