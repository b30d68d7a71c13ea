//! Patience: looks again and again until something is so, for what cannot be waited for otherwise.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::DEADLINE;

/// Looks every few milliseconds; panics with `what` after [`DEADLINE`].
pub fn wait_until(what: &str, mut reached: impl FnMut() -> bool) {
    let start = Instant::now();
    while !reached() {
        assert!(start.elapsed() < DEADLINE, "not {what} within {DEADLINE:?}");
        let (_never_sends, nothing) = mpsc::channel::<()>();
        let _a_moment = nothing.recv_timeout(Duration::from_millis(5));
    }
}
