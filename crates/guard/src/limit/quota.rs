//! Quota: an allowance in whole numbers that divide without a fault. Made once; read by what is known of each key.

use std::time::Duration;

use super::Allowance;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quota {
    pub(super) amount: u64,
    /// Nanoseconds; at least one.
    pub(super) per: u64,
    /// At least one.
    pub(super) burst: u64,
}

impl Quota {
    pub(super) fn new(allowance: &Allowance) -> Self {
        let per = u64::try_from(allowance.per.as_nanos()).unwrap_or(u64::MAX);
        Quota { amount: allowance.amount, per: per.max(1), burst: allowance.burst.max(1) }
    }
}

/// From one moment to another; none where that is over.
pub(super) fn between(from: u64, to: u64) -> Duration {
    Duration::from_nanos(to.saturating_sub(from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::Algorithm;

    #[test]
    fn what_cannot_be_counted_is_the_nearest_that_can() {
        let allowance = Allowance { algorithm: Algorithm::Gcra, amount: 1, per: Duration::ZERO, burst: 0 };
        let Quota { per, burst, .. } = Quota::new(&allowance);
        assert_eq!((per, burst), (1, 1));
        assert_eq!(Quota::new(&Allowance { per: Duration::MAX, ..allowance }).per, u64::MAX);
    }
}
