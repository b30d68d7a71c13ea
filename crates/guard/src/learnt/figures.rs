//! Figures: what is known of a provider now, for people and for metrics. In: what was learnt, and the time. Out: numbers; nothing
//! is taken. Used by `learnt` and `by_owner`.

use std::time::Duration;

use super::tally::Tally;
use super::{Known, Learnt, Moment};

/// What is known for one owner of a quota.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LearntFigures {
    /// So long nobody may call, as the provider has asked.
    pub pause: Option<Duration>,
    /// How long a call would have to wait, for whatever reason.
    pub wait: Option<Duration>,
    /// Calls a second that may be made; none where nothing is left. `None`: there is no pace to keep.
    pub per_second: Option<f64>,
    /// The scarcest of the quotas that have been announced.
    pub quota: Option<QuotaLeft>,
}

/// What is left of a quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotaLeft {
    /// Calls that may still be made; those under way are taken off.
    pub remaining: u64,
    /// The whole quota.
    pub limit: u64,
    /// Until it is taken for whole again.
    pub reset: Duration,
}

/// What is known for all owners of a quota at one source.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OwnersFigures {
    /// Owners that may not call, as the provider has asked.
    pub paused: u64,
    /// Calls a second that may be made for the owner with the slowest pace; `None`: there is none to keep.
    pub per_second: Option<f64>,
}

impl LearntFigures {
    pub(super) fn of(known: &Known, tally: &Tally, longest: Duration, now: Moment) -> Self {
        let until = |then: Moment| Duration::try_from_secs_f64(then - now).unwrap_or(longest);
        let per_second = known.pace(tally, now).0.per_second;
        let left = known.quotas.iter().filter_map(|quota| {
            let (remaining, limit, ends) = quota.figures(tally, now)?;
            Some(QuotaLeft { remaining, limit, reset: until(ends) })
        });
        let share = |left: &QuotaLeft| left.remaining as f64 / left.limit as f64;
        LearntFigures {
            pause: known.pause.filter(|pause| now < *pause).map(until),
            wait: known.admit(tally, longest.as_secs_f64(), now).err().map(until),
            per_second: per_second.is_finite().then_some(per_second),
            quota: left.min_by(|one, other| share(one).total_cmp(&share(other))),
        }
    }
}

impl OwnersFigures {
    pub(super) fn of<'a>(
        owners: impl Iterator<Item = impl AsRef<Learnt> + 'a>,
        now: std::time::Instant,
    ) -> Self {
        owners.fold(OwnersFigures::default(), |all, learnt| {
            let LearntFigures { pause, per_second, .. } = learnt.as_ref().figures(now);
            let slower = match (all.per_second, per_second) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            };
            OwnersFigures { paused: all.paused + u64::from(pause.is_some()), per_second: slower }
        })
    }
}
