//! What keeps a call from doing harm, to its target and to everybody else: breakers, bounded queues, backoff.
//!
//! In: the time, and what became of calls. Out: whether the next may go, and when. Nothing here knows what a call is:
//! sources, Redis links and policies share these. Nothing reads a clock either, so that simulations replay.

mod backoff;
mod breaker;
mod places;
mod queue;
mod shared_breaker;

pub use backoff::Backoff;
pub use breaker::{Breaker, Verdict};
pub use places::{NoPlace, Place, Places};
pub use queue::{Queue, Waiter};
pub use shared_breaker::{Opened, Passage, SharedBreaker};
