//! Retry: the layer that makes a call again where it failed and another try may do better: with full jitter between the tries,
//! within a budget that all cores share, and no later than the call must be done.
//!
//! A call that cannot be made again (its content is too long, or it is not idempotent) goes straight through.

use std::sync::Arc;
use std::time::Duration;

use guard::{Backoff, Budget};
use message::{Ask, Call, Deadline, Error, Kind, Result, Trip};
use tokio::time::Instant;

use crate::remedies::kept::Remedy;
use crate::remedies::outcomes::{Outcome, Outcomes};
use crate::stack::verdict::Verdict;

/// What all cores share of one policy's retrying.
#[derive(Debug)]
pub struct Retries {
    rule: plan::Retry,
    budget: Budget,
}

/// See the module. One for each place and core.
#[derive(Clone, Debug)]
pub struct RetryLayer {
    /// Which calls are made again.
    pub retries: Arc<Retries>,
    /// What became of them.
    pub outcomes: Arc<Outcomes>,
}

impl Remedy for Retries {
    type Rule = plan::Retry;

    fn new(rule: plan::Retry) -> Self {
        let budget = Budget::new(rule.share, rule.floor);
        Retries { rule, budget }
    }

    fn rule(&self) -> &plan::Retry {
        &self.rule
    }

    fn name(rule: &plan::Retry) -> &str {
        &rule.name
    }
}

impl RetryLayer {
    /// What it tells of.
    pub const OUTCOMES: &[Outcome] = &[Outcome::Again, Outcome::Denied];

    #[expect(clippy::manual_async_fn, reason = "the future of an async fn holds what it is given twice")]
    pub(crate) fn call<'a, Q: Ask>(
        &'a self,
        mut ask: Q,
        below: impl Call<Q> + 'a,
        trip: &'a mut Trip,
    ) -> impl Future<Output = Result<Q::Answer>> + 'a {
        async move {
            let Retries { rule, budget } = &*self.retries;
            if ask.is_sending() {
                Box::pin(ask.hold_content(rule.replay)).await?;
            }
            let is_idempotent = ask.is_idempotent();
            budget.deposit(Instant::now().into_std());
            let deadline = trip.deadline;
            // What failed before; a response is let go, so that its connection is free for the next try.
            let mut failed = None;
            let mut attempts = 1;
            loop {
                let again = if attempts < rule.attempts { ask.once_more() } else { None };
                trip.attempts = attempts;
                let outcome = below.call(ask, trip).await;
                // That of one try is not that of the next.
                trip.deadline = deadline;
                let verdict = Verdict::of::<Q>(&outcome, rule, is_idempotent);
                let (Some(again), Verdict::Again(asked_for)) = (again, verdict) else {
                    return unmasked(outcome, failed);
                };
                let Some(pause) = self.pause(asked_for, attempts, deadline) else { return outcome };
                failed = outcome.err();
                trip.targets.note_failure();
                tokio::time::sleep(pause).await;
                ask = again;
                attempts += 1;
            }
        }
    }

    /// How long to wait before the next try, after so many; `None`: there is none.
    fn pause(&self, asked_for: Duration, attempts: u32, deadline: Option<Deadline>) -> Option<Duration> {
        let Retries { rule, budget } = &*self.retries;
        // An origin may ask for any time.
        if asked_for > rule.longest {
            return None;
        }
        let backoff = Backoff::new(rule.first, rule.longest);
        // Those that were told the same are not to come back together.
        let pause = (asked_for + backoff.jittered(attempts, message::random())).min(rule.longest);
        if deadline.is_some_and(|deadline| Instant::now() + pause >= deadline.at) {
            return None;
        }
        if !budget.withdraw(Instant::now().into_std()) {
            self.outcomes.count(Outcome::Denied);
            return None;
        }
        self.outcomes.count(Outcome::Again);
        Some(pause)
    }
}

/// What a limit of ours says of another try tells nothing of the source, which failed before.
fn unmasked<T>(outcome: Result<T>, failed: Option<Error>) -> Result<T> {
    match (outcome, failed) {
        (Err(error), Some(failed)) if is_of_ours(error.kind()) => Err(failed),
        (outcome, _) => outcome,
    }
}

fn is_of_ours(kind: Kind) -> bool {
    matches!(kind, Kind::RateLimited | Kind::Overloaded | Kind::LimitUnavailable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_limit_of_ours_says_does_not_hide_what_has_failed() {
        let kind = |said: Kind| {
            let said = unmasked::<()>(Err(Error::new(said, "")), Some(Error::new(Kind::Connect, "")));
            said.unwrap_err().kind()
        };
        for ours in [Kind::RateLimited, Kind::Overloaded, Kind::LimitUnavailable] {
            assert_eq!(kind(ours), Kind::Connect, "{ours:?}");
        }
        assert_eq!(kind(Kind::BrokeOff), Kind::BrokeOff);
        assert!(unmasked(Ok(()), Some(Error::new(Kind::Connect, ""))).is_ok());
    }
}
