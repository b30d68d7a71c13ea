//! GCRA: a steady rate with a burst, in one number (ITU-T I.371, annex A, "virtual scheduling"). Used by `states`.

use std::time::Duration;

use super::LimitDecision;
use super::quota::Quota;
use super::states::State;

/// When the next would come if all came evenly: the "theoretical arrival time".
///
/// Its unit is a nanosecond divided by the amount. So one that is taken moves it by exactly `per`, and no interval between
/// two is ever rounded: three in a second are three, and a thousand million in a third of one are no fewer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gcra(pub(super) u128);

/// A moment in this unit. It fits, as do all products of two numbers of half the size.
fn finely(now: u64, quota: &Quota) -> u128 {
    u128::from(now) * u128::from(quota.amount)
}

/// So long that it is not too short by a fraction.
fn duration(fine: u128, quota: &Quota) -> Duration {
    // Almost always it fits, and dividing 128 bits takes ten times as long.
    Duration::from_nanos(match u64::try_from(fine) {
        Ok(fine) => fine.div_ceil(quota.amount),
        Err(_) => u64::try_from(fine.div_ceil(u128::from(quota.amount))).unwrap_or(u64::MAX),
    })
}

impl State for Gcra {
    fn spent(quota: &Quota, at: u64) -> Self {
        Gcra(finely(at, quota).saturating_add(u128::from(quota.per) * u128::from(quota.burst)))
    }

    fn verdict(&self, quota: &Quota, now: u64) -> LimitDecision {
        let (one, most) = (u128::from(quota.per), u128::from(quota.per) * u128::from(quota.burst));
        let ahead = self.0.saturating_sub(finely(now, quota));
        // Only after some hundred years of quota taken at once does it saturate.
        let with_this = ahead.saturating_add(one);
        match most.checked_sub(with_this) {
            Some(left) => LimitDecision {
                is_allowed: true,
                remaining: match u64::try_from(left) {
                    Ok(left) => left / quota.per,
                    Err(_) => u64::try_from(left / one).unwrap_or(u64::MAX),
                },
                reset: duration(with_this, quota),
                retry_after: Duration::ZERO,
            },
            None => LimitDecision {
                is_allowed: false,
                remaining: 0,
                reset: duration(ahead, quota),
                retry_after: duration(with_this - most, quota),
            },
        }
    }

    fn count(&mut self, quota: &Quota, now: u64) {
        self.0 = self.0.max(finely(now, quota)).saturating_add(u128::from(quota.per));
    }

    fn full_at(&self, quota: &Quota) -> u64 {
        u64::try_from(self.0.div_ceil(u128::from(quota.amount))).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_and_then_one_after_the_other() {
        let (quota, now) = (Quota { amount: 2, per: 100, burst: 3 }, 1000);
        let mut gcra = Gcra::default();
        let remaining: Vec<_> = (0..3).map(|_| gcra.take(&quota, now).remaining).collect();
        assert_eq!(remaining, [2, 1, 0]);
        let refused = gcra.take(&quota, now);
        assert_eq!((refused.is_allowed, refused.retry_after.as_nanos()), (false, 50));
        assert_eq!((refused.reset.as_nanos(), gcra.full_at(&quota)), (150, 1150));
        assert!(!gcra.take(&quota, now + 49).is_allowed);
        assert!(gcra.take(&quota, now + 50).is_allowed && !gcra.take(&quota, now + 50).is_allowed);
    }

    #[test]
    fn more_than_one_in_a_nanosecond_can_be_counted() {
        let quota = Quota { amount: 5, per: 2, burst: 5 };
        let mut gcra = Gcra::default();
        let given = |gcra: &mut Gcra, now| (0..10).filter(|_| gcra.take(&quota, now).is_allowed).count();
        assert_eq!((1..=5).map(|now| given(&mut gcra, now)).collect::<Vec<_>>(), [5, 2, 3, 2, 3]);
    }
}
