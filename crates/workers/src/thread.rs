//! Thread: takes one job after the other until the queue is closed. Started by `workers`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::workers::SharedWork;

/// See the module. The state is made when the first job needs it, and anew after a panic, which may have left it half
/// changed; nothing else of what a job had is seen again.
pub(crate) fn run<S>(shared: &Arc<SharedWork<S>>) {
    let mut state = None;
    while let Some(mut job) = shared.queue.next() {
        shared.counters.begun();
        let work = || job.run(state.get_or_insert_with(|| (shared.make_state)()));
        if catch_unwind(AssertUnwindSafe(work)).is_err() {
            shared.counters.panicked();
            state = None;
        }
        shared.queue.ended();
        job.answer();
    }
}
