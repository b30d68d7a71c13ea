//! Shares: one limit for several groups. Each is sure of its share; what one leaves unused, the others may take.
//!
//! In: a group and the time. Out: a [`LimitDecision`]. A hierarchical token bucket: the whole is filled at the rate of the
//! limit, and what comes in is dealt to the buckets of the groups. What a full bucket does not hold is anybody's who has used
//! up its own. Called by layers, from all cores.
//!
//! There is no bucket for that: it is what the whole has beyond what the groups have. So a group may take what is not the
//! others', a whole that is not full loses nothing, and the whole is the limit without shares to the last token. A bucket of
//! fixed size for it was rejected: with all of the burst dealt out it would hold nothing, and what overflows would be lost.
//!
//! For [`Algorithm::Gcra`](super::Algorithm) alone: in a window, what a group has left unused is known only when it is over.

#[cfg(test)]
mod tests;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::quota::{Quota, between};
use super::{Allowance, LimitDecision};
use crate::beginning::Beginning;

/// So many are the whole limit: a tenth is a whole number of them.
const PARTS: u64 = 1_000_000;
/// With it, what there is of everything fits into 128 bits, and sums of it too.
const MOST_BURST: u64 = 1 << 40;

/// See the module. A nanosecond brings so many tokens to each group as it has parts times the amount of the limit, and a
/// call takes `PARTS` times the nanoseconds that the amount is for. So nothing is ever rounded.
#[derive(Debug)]
pub struct Shares {
    amount: u64,
    whole: Bucket,
    /// The last one is of all others.
    groups: Box<[Bucket]>,
    /// What a call takes.
    call: u128,
    beginning: Beginning,
    stock: Mutex<Stock>,
}

/// How a bucket is filled.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// In each nanosecond.
    gain: u128,
    most: u128,
}

/// What there is.
#[derive(Debug)]
struct Stock {
    /// In nanoseconds since the beginning.
    at: u64,
    /// At least as much as all groups have.
    whole: u128,
    groups: Box<[u128]>,
}

impl Bucket {
    fn after(self, elapsed: u64, stock: u128) -> u128 {
        stock.saturating_add(self.gain.saturating_mul(u128::from(elapsed))).min(self.most)
    }
}

impl Shares {
    /// Shares of this allowance, whose algorithm does not count: 0.3 is three tenths. The last is that of all others. They
    /// count to a millionth. What is below zero, or not a number, is none; more than one together are made one. What is in
    /// no share is anybody's.
    ///
    /// Of the burst, each group has one call, so that a small share comes to one too, and its share of what is left: of 103
    /// for three groups, one with three tenths has 31 at once. A burst counts as no fewer than there are groups.
    pub fn new(allowance: &Allowance, shares: &[f64]) -> Self {
        let parts = parts(shares);
        let Quota { amount, per, burst } = Quota::new(allowance);
        let all = parts.len() as u64;
        let burst = burst.min(MOST_BURST).max(all);
        let call = u128::from(per) * u128::from(PARTS);
        let bucket = |parts: u64| Bucket {
            gain: u128::from(amount) * u128::from(parts),
            most: call + u128::from(per) * u128::from(parts) * u128::from(burst - all),
        };
        let whole = Bucket { gain: u128::from(amount) * u128::from(PARTS), most: call * u128::from(burst) };
        let groups: Box<[Bucket]> = parts.into_iter().map(bucket).collect();
        let stock =
            Stock { at: 0, whole: whole.most, groups: groups.iter().map(|group| group.most).collect() };
        Shares { amount, whole, groups, call, beginning: Beginning::default(), stock: Mutex::new(stock) }
    }

    /// What [`Shares::take`] would say now, field by field. It takes nothing, so it promises nothing.
    pub fn peek(&self, group: usize, now: Instant) -> LimitDecision {
        if self.amount == 0 {
            return LimitDecision::NEVER;
        }
        self.decision(&self.lock(), self.known(group), self.beginning.nanoseconds(now))
    }

    /// Takes one for this group, counted from zero, where that is allowed; a group that has no share is one of the others.
    /// `remaining` and `reset` are the group's: until as many may come at once as it can have of its own. Otherwise as
    /// [`Limits::take`](super::Limits::take).
    pub fn take(&self, group: usize, now: Instant) -> LimitDecision {
        if self.amount == 0 {
            return LimitDecision::NEVER;
        }
        let (group, now) = (self.known(group), self.beginning.nanoseconds(now));
        let mut stock = self.lock();
        self.move_on(&mut stock, now);
        let decision = self.decision(&stock, group, now);
        if decision.is_allowed {
            stock.whole -= self.call;
            // Its own first. The rest is nobody's, or it would not be allowed.
            stock.groups[group] = stock.groups[group].saturating_sub(self.call);
        }
        decision
    }

    fn known(&self, group: usize) -> usize {
        group.min(self.groups.len() - 1)
    }

    fn move_on(&self, stock: &mut Stock, now: u64) {
        let elapsed = now.saturating_sub(stock.at);
        stock.at += elapsed;
        stock.whole = self.whole.after(elapsed, stock.whole);
        for (group, stock) in self.groups.iter().zip(&mut stock.groups) {
            *stock = group.after(elapsed, *stock);
        }
    }

    fn decision(&self, stock: &Stock, group: usize, now: u64) -> LimitDecision {
        // A moment before the newest that was told counts as that.
        let latest = now.max(stock.at);
        let elapsed = latest - stock.at;
        let free = self.whole.after(elapsed, stock.whole) - self.held(stock, group, elapsed);
        let until = |free, wanted| {
            between(now, latest.saturating_add(self.wait(stock, group, elapsed, free, wanted)))
        };
        let own = self.groups[group].most;
        match free.checked_sub(self.call) {
            Some(left) => LimitDecision {
                is_allowed: true,
                remaining: u64::try_from(left / self.call).unwrap_or(u64::MAX),
                reset: until(left, own),
                retry_after: Duration::ZERO,
            },
            None => LimitDecision {
                is_allowed: false,
                remaining: 0,
                reset: until(free, own),
                retry_after: until(free, self.call),
            },
        }
    }

    /// What all but this group have, and what is theirs only.
    fn held(&self, stock: &Stock, group: usize, elapsed: u64) -> u128 {
        self.others(stock, group).map(|(bucket, stock)| bucket.after(elapsed, stock)).sum()
    }

    fn others(&self, stock: &Stock, group: usize) -> impl Iterator<Item = (Bucket, u128)> {
        let all = self.groups.iter().copied().zip(stock.groups.iter().copied());
        all.enumerate().filter(move |&(number, _)| number != group).map(|(_, other)| other)
    }

    /// How many nanoseconds until a group that is free to take so much now may take so much as is wanted, which is no more
    /// than it can have of its own. Each bucket of the others that is full adds to what comes in, so this goes from one that
    /// becomes full to the next. The whole does not become full before: then all that is not the others' is enough.
    fn wait(&self, stock: &Stock, group: usize, elapsed: u64, free: u128, wanted: u128) -> u64 {
        let whole = free + self.held(stock, group, elapsed);
        let mut wait = 0_u64;
        loop {
            let (mut held, mut gain, mut next_full) = (0, self.whole.gain, u64::MAX);
            for (bucket, stock) in self.others(stock, group) {
                let stock = bucket.after(elapsed.saturating_add(wait), stock);
                held += stock;
                if stock < bucket.most && bucket.gain > 0 {
                    gain -= bucket.gain;
                    next_full = next_full.min(nanoseconds(bucket.most - stock, bucket.gain));
                }
            }
            let has = whole.saturating_add(self.whole.gain.saturating_mul(u128::from(wait)));
            let missing = (wanted + held).saturating_sub(has);
            if missing == 0 || wait == u64::MAX {
                return wait;
            }
            wait = wait.saturating_add(nanoseconds(missing, gain).min(next_full));
        }
    }

    /// No code that can panic runs under the lock, so a poisoned one is as good as another.
    fn lock(&self) -> MutexGuard<'_, Stock> {
        self.stock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// In how many nanoseconds so much comes in; forever where nothing does.
fn nanoseconds(missing: u128, gain: u128) -> u64 {
    // Almost always it fits, and dividing 128 bits takes ten times as long.
    match (u64::try_from(missing), u64::try_from(gain)) {
        (_, Ok(0)) => u64::MAX,
        (Ok(missing), Ok(gain)) => missing.div_ceil(gain),
        _ => u64::try_from(missing.div_ceil(gain)).unwrap_or(u64::MAX),
    }
}

/// Whole parts that are no more than all of them together. Sums are rounded, as single shares might become too many by it.
fn parts(shares: &[f64]) -> Vec<u64> {
    let shares = shares.iter().map(|share| if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) });
    let together = shares.clone().sum::<f64>().max(1.0);
    let sums = shares.scan(0.0, |sum, share| {
        *sum += share / together;
        Some(((*sum * PARTS as f64).round() as u64).min(PARTS))
    });
    let mut before = 0;
    let mut parts: Vec<_> = sums.map(|sum| sum - std::mem::replace(&mut before, sum)).collect();
    if parts.is_empty() {
        parts.push(PARTS);
    }
    parts
}
