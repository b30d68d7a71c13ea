//! Standing: how an instance stands to the server that it counts at with others. Pure. Used by `joint`, under a lock.
//!
//! Why no quota is handed out twice, where all instances lose the server at once:
//!
//! - **Together → alone.** The last call that the server let through was before the first failure. The part begins spent then,
//!   so in windows nothing is let through alone within one window of it, and with GCRA the parts go on at the rate.
//! - **Alone → together.** The server does not know of what was let through alone. Until all instances are back (`lag`), each
//!   keeps to its part as well, whose windows are longer by the time that the server may take to count a call. In windows for one window more: then the last that was let through alone has left it. With GCRA
//!   the burst that the server has saved up meanwhile is taken off: each key counts as spent as of the end of `lag`.
//! - **Alone for so short that nobody can have let anything through**, as when a connection breaks: there is nothing to wait for.
//!   The server was there when this instance heard of it last, so the others lost it no sooner; and they are back within `lag`.
//!
//! Where one loses the server and another does not, as they do for less than three heartbeats, the one that counts alone adds its
//! part to the limit: nobody can tell the others.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::part::part;
use super::{Delays, Joint, JointQuota, Way};
use crate::limit::{Algorithm, Allowance, LimitDecision, Limits};

/// So many questions in a row that fail mean that the server is gone: one reply may be lost.
const FAILURES: u32 = 3;

/// See the module.
#[derive(Debug)]
pub(super) struct Standing {
    allowance: Allowance,
    keys: usize,
    delays: Delays,
    /// The most that were heard of lately, and when; `None`: the server was never reached.
    instances: Option<(u64, Instant)>,
    /// When the server was heard of last.
    heard_at: Option<Instant>,
    /// In a row, since then.
    failures: u32,
    phase: Phase,
    /// For [`Way::Together`], and until when it matters: a server that takes over may have another clock.
    spent_at: Option<(u64, Instant)>,
}

#[derive(Debug)]
enum Phase {
    Together,
    Alone {
        limits: Arc<Limits>,
        /// From when on this instance, or another one, may have let something through alone; `None`: it has already.
        passes_from: Option<Instant>,
    },
    Settling {
        limits: Arc<Limits>,
        until: Instant,
    },
}

impl Standing {
    pub(super) fn new(allowance: Allowance, keys: usize, delays: Delays) -> Self {
        Standing {
            allowance,
            keys,
            delays,
            instances: None,
            heard_at: None,
            failures: 0,
            phase: Phase::Together,
            spent_at: None,
        }
    }

    pub(super) fn way(&mut self, now: Instant) -> Way {
        match &self.phase {
            Phase::Alone { .. } => return Way::Alone,
            Phase::Settling { limits, until } if now < *until => return Way::Settling(Arc::clone(limits)),
            Phase::Settling { .. } => self.phase = Phase::Together,
            Phase::Together => {}
        }
        self.spent_at = self.spent_at.filter(|(_, until)| now < *until);
        Way::Together(self.spent_at.map_or(0, |(at, _)| at))
    }

    pub(super) fn answered(&mut self, now: Instant) {
        (self.heard_at, self.failures) = (Some(now), 0);
    }

    pub(super) fn failed(&mut self, now: Instant) -> bool {
        self.failures = self.failures.saturating_add(1);
        if self.is_alone() || self.failures < FAILURES {
            return false;
        }
        let instances = self.instances.map(|(instances, _)| instances);
        let part = part(&self.allowance, instances, self.delays.answer);
        // What was let through alone before has not been waited out.
        let is_settling = matches!(&self.phase, Phase::Settling { until, .. } if now < *until);
        let heard_at = self.heard_at.filter(|_| !is_settling);
        let passes_from = heard_at.and_then(|heard_at| heard_at.checked_add(first_after(&part)));
        let limits = Arc::new(Limits::spent(part, self.keys, now));
        self.phase = Phase::Alone { limits, passes_from };
        true
    }

    pub(super) fn seen(&mut self, now: Instant, instances: u64, clock: u64) -> bool {
        // A server that has lost everything has forgotten them too.
        let most = self.instances.filter(|(most, at)| *most > instances && now < *at + Joint::LATELY);
        self.instances = most.or(Some((instances, now)));
        self.answered(now);
        let Phase::Alone { limits, passes_from } = &self.phase else { return false };
        let lag = self.delays.lag;
        let is_near = |from: Instant| now.checked_add(lag).is_none_or(|all_back| from <= all_back);
        self.phase = if passes_from.is_none_or(is_near) {
            let is_gcra = self.allowance.algorithm == Algorithm::Gcra;
            let window = if is_gcra { Duration::ZERO } else { self.allowance.per };
            if is_gcra {
                self.spent_at = self.spent_at_end_of_lag(now, clock);
            }
            match now.checked_add(self.delays.lag.saturating_add(window)) {
                Some(until) => Phase::Settling { limits: Arc::clone(limits), until },
                None => Phase::Together,
            }
        } else {
            Phase::Together
        };
        true
    }

    /// By the server's clock, and until when that matters: then the whole burst has come again.
    fn spent_at_end_of_lag(&self, now: Instant, clock: u64) -> Option<(u64, Instant)> {
        let lag = self.delays.lag;
        let until = lag.saturating_add(Duration::from_micros(JointQuota::new(&self.allowance).window()));
        Some((clock.checked_add(u64::try_from(lag.as_micros()).ok()?)?, now.checked_add(until)?))
    }

    pub(super) fn take_alone(&mut self, key: &[u8], now: Instant) -> Option<LimitDecision> {
        let Phase::Alone { limits, .. } = &self.phase else { return None };
        Some(limits.take(key, now))
    }

    pub(super) fn peek_alone(&self, key: &[u8], now: Instant) -> Option<LimitDecision> {
        let Phase::Alone { limits, .. } = &self.phase else { return None };
        Some(limits.peek(key, now))
    }

    pub(super) fn is_alone(&self) -> bool {
        matches!(self.phase, Phase::Alone { .. })
    }

    pub(super) fn instances(&self) -> u64 {
        self.instances.map_or(0, |(instances, _)| instances)
    }

    pub(super) fn keys(&self) -> (u64, u64) {
        match &self.phase {
            Phase::Together => (0, 0),
            Phase::Alone { limits, .. } | Phase::Settling { limits, .. } => {
                (limits.len() as u64, limits.evicted())
            }
        }
    }
}

/// How long after it was spent a part lets something through.
fn first_after(part: &Allowance) -> Duration {
    match part.algorithm {
        Algorithm::Gcra => part.per.div_f64(part.amount.max(1) as f64),
        Algorithm::Fixed | Algorithm::Sliding => part.per,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const LAG: Duration = Duration::from_secs(3);

    fn standing(algorithm: Algorithm) -> Standing {
        back_within(algorithm, LAG)
    }

    fn back_within(algorithm: Algorithm, lag: Duration) -> Standing {
        let allowance = Allowance { algorithm, amount: 10, per: SECOND, burst: 10 };
        let mut standing = Standing::new(allowance, 10, Delays { answer: Duration::ZERO, lag });
        standing.seen(Instant::now(), 2, 0);
        standing
    }

    fn lose(standing: &mut Standing, now: Instant) {
        assert_eq!([(); 4].map(|()| standing.failed(now)), [false, false, true, false]);
    }

    #[test]
    fn one_lost_reply_changes_nothing() {
        let (mut standing, now) = (standing(Algorithm::Sliding), Instant::now());
        for _ in 0..5 {
            assert!(!standing.failed(now) && !standing.failed(now));
            standing.answered(now);
        }
        assert!(matches!(standing.way(now), Way::Together(0)));
    }

    #[test]
    fn alone_it_has_half_and_not_at_once() {
        let (mut standing, now) = (standing(Algorithm::Sliding), Instant::now());
        lose(&mut standing, now);
        assert!(matches!(standing.way(now), Way::Alone));
        let passed = |standing: &mut Standing, now| {
            (0..20).filter(|_| standing.take_alone(b"", now).unwrap().is_allowed).count()
        };
        assert_eq!(passed(&mut standing, now + SECOND / 2), 0);
        assert_eq!(passed(&mut standing, now + SECOND), 5);
    }

    #[test]
    fn who_is_back_before_anything_was_let_through_goes_on_as_before() {
        let (mut standing, now) = (back_within(Algorithm::Sliding, SECOND / 2), Instant::now());
        standing.answered(now);
        lose(&mut standing, now);
        assert!(!standing.take_alone(b"", now).unwrap().is_allowed);
        assert!(standing.seen(now, 2, 7) && matches!(standing.way(now), Way::Together(0)));
    }

    #[test]
    fn what_was_let_through_alone_is_waited_out() {
        for (algorithm, settled, spent_at) in
            [(Algorithm::Sliding, LAG + SECOND, 0), (Algorithm::Gcra, LAG, 3_000_007)]
        {
            let (mut standing, now) = (standing(algorithm), Instant::now());
            lose(&mut standing, now);
            assert!(standing.take_alone(b"", now + SECOND).unwrap().is_allowed);
            let back = now + SECOND * 2;
            assert!(standing.seen(back, 2, 7));
            assert!(matches!(standing.way(back + settled.mul_f64(0.9)), Way::Settling(_)));
            assert!(matches!(standing.way(back + settled), Way::Together(at) if at == spent_at));
            assert!(
                matches!(standing.way(back + settled + SECOND * 2), Way::Together(0)),
                "a clock may change"
            );
        }
    }

    #[test]
    fn who_is_lost_again_while_it_settles_settles_anew() {
        let (mut standing, now) = (back_within(Algorithm::Fixed, SECOND / 10), Instant::now());
        lose(&mut standing, now);
        assert!(standing.take_alone(b"", now + SECOND).unwrap().is_allowed);
        standing.seen(now + SECOND, 2, 0);
        lose(&mut standing, now + SECOND.mul_f64(1.5));
        standing.seen(now + SECOND.mul_f64(1.6), 2, 0);
        assert!(matches!(standing.way(now + SECOND.mul_f64(2.0)), Way::Settling(_)));
    }
}
