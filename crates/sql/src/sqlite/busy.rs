//! Busy: what a statement does while somebody else has the file locked: it waits for as long as anybody waits for it. With
//! a time of its own instead it would go on after it was given up, and write what its caller was told it did not.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Between two looks at the lock.
const PAUSE: Duration = Duration::from_millis(2);

thread_local! {
    /// Tells the statement that runs on this thread that it is given up: SQLite's callback takes no value of ours.
    static STOP: RefCell<Arc<AtomicBool>> = RefCell::default();
}

/// What begins on this thread now is given up when this is set.
pub(super) fn given_up_by(stop: &Arc<AtomicBool>) {
    STOP.set(Arc::clone(stop));
}

/// Waits a little; whether to try again.
pub(super) fn wait(_tries: i32) -> bool {
    std::thread::park_timeout(PAUSE);
    !STOP.with_borrow(|stop| stop.load(Ordering::Relaxed))
}
