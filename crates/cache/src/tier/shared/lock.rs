//! Lock: a key that this instance has to itself while it asks the origin, or may have: where the reply to the claim was
//! lost, nobody knows. So it is called by a token that is drawn before, and taken for a moment only; who knows that it has
//! it keeps it for longer (`writer`). Made by `turn`.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use super::names::Names;
use super::tier::SharedTier;

/// See the module.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Lock {
    /// Its name in Redis.
    pub(crate) name: String,
    /// What stands there while it is ours.
    pub(crate) token: String,
}

impl Lock {
    pub(crate) fn draw(tier: &SharedTier, names: &Names) -> Self {
        static DRAWN: AtomicU64 = AtomicU64::new(0);
        let token = format!("{:x}-{:x}", tier.instance, DRAWN.fetch_add(1, Relaxed));
        Lock { name: names.lock(), token }
    }
}

/// For how long it is taken at first: a claim and what keeps it both fit in, however slow their replies.
pub(crate) fn lease(tier: &SharedTier) -> Duration {
    (tier.redis.plan().timeout * 3).min(tier.plan().lock)
}

/// How long its holder waits before it keeps it: most answers are there by then.
pub(crate) fn kept_after(tier: &SharedTier) -> Duration {
    lease(tier) / 3
}
