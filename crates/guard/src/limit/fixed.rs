//! Fixed: so many in a window. A window begins with the first that is let through after the last one has ended. Used by
//! `states`.
//!
//! Windows that all keys share were rejected: all who were refused would come back at the same moment, and a key that
//! nothing is known of would not be one whose quota is full.

use std::time::Duration;

use super::LimitDecision;
use super::quota::{Quota, between};
use super::states::State;

/// The newest window of a key. One in which nothing was taken is none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fixed {
    pub(super) start: u64,
    pub(super) taken: u64,
}

impl Fixed {
    /// The window at this moment, which may be a new one. A moment before the newest window counts as in it.
    fn at(self, quota: &Quota, now: u64) -> Self {
        let is_over = self.taken == 0 || now.saturating_sub(self.start) >= quota.per;
        if is_over { Fixed { start: now, taken: 0 } } else { self }
    }
}

impl State for Fixed {
    fn spent(quota: &Quota, at: u64) -> Self {
        Fixed { start: at, taken: quota.amount }
    }

    fn verdict(&self, quota: &Quota, now: u64) -> LimitDecision {
        let window = self.at(quota, now);
        let left = quota.amount.saturating_sub(window.taken);
        let reset = between(now, window.start.saturating_add(quota.per));
        LimitDecision {
            is_allowed: left > 0,
            remaining: left.saturating_sub(1),
            reset,
            retry_after: if left > 0 { Duration::ZERO } else { reset },
        }
    }

    fn count(&mut self, quota: &Quota, now: u64) {
        *self = self.at(quota, now);
        self.taken += 1;
    }

    fn full_at(&self, quota: &Quota) -> u64 {
        self.start.saturating_add(quota.per)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_begins_with_the_first_in_it() {
        let quota = Quota { amount: 2, per: 100, burst: 1 };
        let mut fixed = Fixed::default();
        assert!(fixed.take(&quota, 1050).is_allowed && fixed.take(&quota, 1149).is_allowed);
        let refused = fixed.take(&quota, 1149);
        assert_eq!((refused.is_allowed, refused.retry_after.as_nanos()), (false, 1));
        assert_eq!(fixed.take(&quota, 1170).remaining, 1);
        assert_eq!((fixed.full_at(&quota), fixed.verdict(&quota, 1200).reset.as_nanos()), (1270, 70));
    }
}
