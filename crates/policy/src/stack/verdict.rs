//! Verdict: what an answer, or an error, says of trying again. The one place that judges; whoever retries asks here.

use std::time::Duration;

use http::{HeaderMap, StatusCode};
use message::{Ask, Clock, Result, Retry, Trip};

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It counts, whatever it says.
    Final,
    /// Another try may do better, and not sooner than this.
    Again(Duration),
}

impl Verdict {
    /// Under a rule. `is_idempotent`: asking twice does no harm.
    pub(crate) fn of<Q: Ask>(
        outcome: &Result<Q::Answer>,
        rule: &plan::Retry,
        is_idempotent: bool,
    ) -> Verdict {
        let may_repeat = is_idempotent || rule.any_method;
        match outcome {
            Ok(answer) => {
                let head = Q::head_of(answer).filter(|(status, _)| rule.on.statuses.contains(status));
                match head {
                    Some((_, fields)) if may_repeat => {
                        Verdict::Again(rules::retry_after(fields, Clock::date()).unwrap_or_default())
                    }
                    _ => Verdict::Final,
                }
            }
            Err(error) => {
                // Whatever else failed may have reached the source.
                let is_harmless = may_repeat || error.may_retry() == Retry::Always;
                if is_harmless && rule.on.errors.contains(&error.kind()) {
                    Verdict::Again(Duration::ZERO)
                } else {
                    Verdict::Final
                }
            }
        }
    }
}

/// Whether the target did its work; `None`: it says nothing of the target, for it never got the call, or was not the one that
/// broke it off.
pub(crate) fn is_well<Q: Ask>(
    outcome: &Result<Q::Answer>,
    trip: &Trip,
    failures: &plan::Failures,
) -> Option<bool> {
    match outcome {
        Ok(_) if trip.is_answered_here => None,
        Ok(answer) => {
            let has_failed = |(status, _): (StatusCode, &HeaderMap)| failures.statuses.contains(&status);
            Some(!Q::head_of(answer).is_some_and(has_failed))
        }
        Err(error) => failures.errors.contains(&error.kind()).then_some(false),
    }
}
