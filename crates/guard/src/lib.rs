//! What keeps a call from doing harm, to its target and to everybody else: breakers, how many calls are under way, lines in
//! which calls wait for their turn, backoff, limits on how often something is done, budgets for retries, whose turn it is
//! among several, when to fetch anew what expires, and how long calls usually take.
//!
//! In: the time, and what became of calls. Out: whether the next may go, and when. Nothing here knows what a call is:
//! sources, Redis links and policies share these. Decisions take the time as an argument, and what is random too, so that
//! simulations replay. Only `Places::take_within`, `Waiting` and `Timer` wait, on tokio's clock, which tests can stop.

mod backoff;
mod beginning;
mod breaker;
mod budget;
mod concurrency;
mod fingerprint;
mod learnt;
mod limit;
mod line;
mod percentile;
mod places;
mod queue;
mod renewal;
mod rotation;
mod shared_breaker;
mod timer;

pub use backoff::Backoff;
pub use breaker::{BreakerRule, Opens};
pub use budget::Budget;
pub use concurrency::{Concurrency, InFlight, Outcome, Permit};
pub use learnt::{
    Heard, HeardQuota, Learnt, LearntByOwner, LearntCall, LearntFigures, OwnersFigures, QuotaLeft,
};
pub use limit::{Algorithm, Allowance, Count, Delays, Joint, JointQuota, LimitDecision, Limits, Shares, Way};
pub use line::{Admission, Full, NoTurn, SharedLines, Waiting};
pub use percentile::Percentile;
pub use places::{NoPlace, Place, Places};
pub use queue::{Queue, Waiter};
pub use renewal::Renewal;
pub use rotation::Rotation;
pub use shared_breaker::{Opened, Passage, SharedBreaker};
pub use timer::Timer;
