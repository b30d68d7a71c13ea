//! Part: what one of so many instances may do alone, so that all of them together do no more than the limit. Used by `standing`.

use std::time::Duration;

use crate::limit::{Algorithm, Allowance};

/// A part of an allowance; nobody has ever said how many instances there are: one call at a time.
///
/// Windows: the amount divided, rounded down; where there are more instances than calls, one call in as many windows as keep the
/// rate, so that nobody starves: at worst all of them make theirs in one window. GCRA: exactly so much of the rate, and of the
/// burst at least one. A window is longer by `answer`: see [`Delays`](super::Delays).
pub(super) fn part(allowance: &Allowance, instances: Option<u64>, answer: Duration) -> Allowance {
    let Allowance { algorithm, amount, per, burst } = *allowance;
    let per = if algorithm == Algorithm::Gcra { per } else { per.saturating_add(answer) };
    let instances = instances.unwrap_or(amount).max(1);
    let longer = |times: u64| per.saturating_mul(u32::try_from(times).unwrap_or(u32::MAX));
    match algorithm {
        Algorithm::Gcra => {
            Allowance { per: longer(instances), burst: (burst / instances).max(1), ..*allowance }
        }
        Algorithm::Fixed | Algorithm::Sliding if amount >= instances => {
            Allowance { amount: amount / instances, per, ..*allowance }
        }
        Algorithm::Fixed | Algorithm::Sliding => {
            Allowance { amount: amount.min(1), per: longer(instances.div_ceil(amount.max(1))), ..*allowance }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(algorithm: Algorithm, instances: Option<u64>) -> (u64, u64, u64) {
        let whole = Allowance { algorithm, amount: 10, per: Duration::from_secs(1), burst: 6 };
        let Allowance { amount, per, burst, .. } = part(&whole, instances, Duration::ZERO);
        (amount, per.as_secs(), burst)
    }

    #[test]
    fn all_parts_together_are_no_more_than_the_whole() {
        assert_eq!(parts(Algorithm::Sliding, Some(3)), (3, 1, 6));
        assert_eq!(parts(Algorithm::Fixed, Some(25)), (1, 3, 6));
        assert_eq!(parts(Algorithm::Gcra, Some(4)), (10, 4, 1));
        assert_eq!(parts(Algorithm::Gcra, Some(0)), (10, 1, 6));
    }

    #[test]
    fn who_has_heard_of_nobody_makes_one_call_at_a_time() {
        assert_eq!(parts(Algorithm::Sliding, None), (1, 1, 6));
        assert_eq!(parts(Algorithm::Gcra, None), (10, 10, 1));
    }
}
