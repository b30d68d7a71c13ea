//! What shares promise, word for word, and next to a model with a bucket for what overflows.

use proptest::prelude::*;

use super::*;
use crate::{Algorithm, Limits};

fn allowance(amount: u64, per: u64, burst: u64) -> Allowance {
    Allowance { algorithm: Algorithm::Gcra, amount, per: Duration::from_nanos(per), burst }
}

fn taken(shares: &Shares, group: usize, now: Instant) -> u64 {
    (0..10_000).take_while(|_| shares.take(group, now).is_allowed).count() as u64
}

/// The same with a bucket for what overflows, a nanosecond at a time.
struct Buckets {
    amount: u64,
    parts: Vec<u64>,
    most: Vec<u64>,
    groups: Vec<u64>,
    common: u64,
    call: u64,
    burst: u64,
}

impl Buckets {
    fn new(allowance: &Allowance, tenths: &[u64]) -> Self {
        let (per, all) = (allowance.per.as_nanos() as u64, tenths.len() as u64);
        let burst = allowance.burst.max(all);
        let most: Vec<_> = tenths.iter().map(|tenths| per * (10 + tenths * (burst - all))).collect();
        let common = 10 * per * burst - most.iter().sum::<u64>();
        let parts = tenths.to_vec();
        Buckets { amount: allowance.amount, parts, groups: most.clone(), most, common, call: 10 * per, burst }
    }

    fn tick(&mut self) {
        self.common += self.amount * (10 - self.parts.iter().sum::<u64>());
        for (group, stock) in self.groups.iter_mut().enumerate() {
            *stock += self.amount * self.parts[group];
            let overflow = stock.saturating_sub(self.most[group]);
            *stock -= overflow;
            self.common += overflow;
        }
        let whole = self.common + self.groups.iter().sum::<u64>();
        self.common -= whole.saturating_sub(self.call * self.burst);
    }

    fn take(&mut self, group: usize) -> bool {
        let own = self.groups[group].min(self.call);
        let is_allowed = own + self.common >= self.call;
        if is_allowed {
            self.groups[group] -= own;
            self.common -= self.call - own;
        }
        is_allowed
    }
}

/// Tenths of each group, which may leave something to anybody.
fn tenths() -> impl Strategy<Value = Vec<u64>> {
    proptest::collection::vec(0..7_u64, 1..5)
        .prop_filter("no more than all", |tenths| tenths.iter().sum::<u64>() <= 10)
}

fn of(tenths: &[u64]) -> Vec<f64> {
    tenths.iter().map(|&tenths| tenths as f64 / 10.0).collect()
}

/// Which group asks, and how long is waited before.
fn calls() -> impl Strategy<Value = Vec<(usize, u64)>> {
    let wait = prop_oneof![6 => Just(0), 3 => 0..20_u64, 1 => 0..400_u64];
    proptest::collection::vec((0..4_usize, wait), 1..200)
}

proptest! {
    #[test]
    fn what_overflows_is_what_those_take_who_have_used_up_their_own(
        (amount, per, burst) in (1..20_u64, 1..300_u64, 1..30_u64), tenths in tenths(), calls in calls(),
    ) {
        let allowance = allowance(amount, per, burst);
        let (shares, mut buckets) = (Shares::new(&allowance, &of(&tenths)), Buckets::new(&allowance, &tenths));
        let mut now = Instant::now();
        for (group, wait) in calls {
            now += Duration::from_nanos(wait);
            (0..wait).for_each(|_| buckets.tick());
            let is_allowed = buckets.take(group.min(tenths.len() - 1));
            prop_assert_eq!(shares.take(group, now).is_allowed, is_allowed);
        }
    }

    #[test]
    fn all_together_never_have_more_than_the_limit_and_each_never_less_than_its_share_alone(
        (amount, per, burst) in (1..5_u64, 1..300_u64, 0..5_u64), tenths in tenths(), calls in calls(),
    ) {
        let all = tenths.len() as u64;
        let allowance = allowance(10 * amount, per, all + 10 * burst);
        let (shares, limits) = (Shares::new(&allowance, &of(&tenths)), Limits::new(allowance, 1));
        let alone: Vec<_> = tenths
            .iter()
            .map(|tenths| Allowance { amount: amount * tenths, burst: 1 + burst * tenths, ..allowance })
            .map(|share| Limits::new(share, 1))
            .collect();
        let (mut now, mut given) = (Instant::now(), vec![(0, 0); tenths.len()]);
        for (group, wait) in calls {
            now += Duration::from_nanos(wait);
            let group = group.min(tenths.len() - 1);
            if shares.take(group, now).is_allowed {
                prop_assert!(limits.take(b"", now).is_allowed, "more than the limit");
                given[group].0 += 1;
            }
            given[group].1 += u64::from(alone[group].take(b"", now).is_allowed);
            prop_assert!(given[group].0 >= given[group].1, "less than its share: {:?}", given);
        }
    }

    #[test]
    fn what_is_said_is_true(
        (amount, per, burst) in (1..20_u64, 1..300_u64, 1..30_u64), tenths in tenths(), calls in calls(),
    ) {
        let just_before = |wait: Duration| wait.saturating_sub(Duration::from_nanos(1));
        let shares = Shares::new(&allowance(amount, per, burst), &of(&tenths));
        let mut now = Instant::now();
        for (group, wait) in calls {
            now += Duration::from_nanos(wait);
            let foretold = shares.peek(group, now);
            let decision = shares.take(group, now);
            prop_assert_eq!(decision, foretold);
            prop_assert_eq!(decision.is_allowed, decision.retry_after.is_zero());
            let next = shares.peek(group, now);
            prop_assert_eq!(next.is_allowed, decision.remaining > 0, "it counts down, one by one");
            prop_assert_eq!(next.remaining, decision.remaining.saturating_sub(1));
            if !next.is_allowed {
                prop_assert!(shares.peek(group, now + next.retry_after).is_allowed);
                prop_assert!(!shares.peek(group, now + just_before(next.retry_after)).is_allowed);
            }
            let most = shares.groups[shares.known(group)].most;
            let own = (most / shares.call) as u64;
            prop_assert!(shares.peek(group, now + decision.reset).remaining + 1 >= own);
            if !decision.reset.is_zero() && most.is_multiple_of(shares.call) {
                let before = shares.peek(group, now + just_before(decision.reset));
                prop_assert!(!before.is_allowed || before.remaining + 1 < own);
            }
        }
    }

    #[test]
    fn a_clock_that_goes_backwards_lets_no_more_through(
        tenths in tenths(), moments in proptest::collection::vec((0..4_usize, 0..2000_u64), 1..200),
    ) {
        let (allowance, start) = (allowance(3, 100, 8), Instant::now());
        let (shares, limits) = (Shares::new(&allowance, &of(&tenths)), Limits::new(allowance, 1));
        let mut latest = 0;
        for (group, moment) in moments {
            latest = latest.max(moment);
            let now = start + Duration::from_nanos(moment);
            let decision = shares.take(group, now);
            if decision.is_allowed {
                prop_assert!(limits.take(b"", start + Duration::from_nanos(latest)).is_allowed);
            } else {
                prop_assert!(shares.peek(group, now + decision.retry_after).is_allowed);
            }
        }
    }

    #[test]
    fn no_number_makes_it_panic(
        amount in prop_oneof![Just(0), Just(1), any::<u64>()],
        per in prop_oneof![Just(0), Just(1), Just(u64::MAX), any::<u64>()],
        burst in prop_oneof![Just(0), Just(u64::MAX), any::<u64>()],
        shares in proptest::collection::vec(prop_oneof![0.0..1.0, any::<f64>()], 0..6),
        waits in proptest::collection::vec((any::<usize>(), any::<u64>()), 1..20),
    ) {
        let shares = Shares::new(&allowance(amount, per, burst), &shares);
        let start = Instant::now();
        for (group, wait) in waits {
            let now = start + Duration::from_nanos(wait);
            prop_assert_eq!(shares.peek(group, now), shares.take(group, now));
            shares.take(group % 6, now);
        }
    }

    #[test]
    fn parts_are_no_more_than_all(shares in proptest::collection::vec(any::<f64>(), 0..9)) {
        prop_assert!(parts(&shares).iter().sum::<u64>() <= PARTS);
    }
}

#[test]
fn parts_are_as_near_as_can_be() {
    assert_eq!(parts(&[0.6, 0.3, 0.1]), [600_000, 300_000, 100_000]);
    assert_eq!(parts(&[1.0 / 3.0; 3]), [333_333, 333_334, 333_333]);
    assert_eq!(parts(&[3.0, 1.0]), [500_000, 500_000], "one alone is no more than all");
    assert_eq!(parts(&[f64::NAN, -1.0, 0.5]), [0, 0, 500_000]);
    assert_eq!(parts(&[]), [PARTS]);
}

const SECOND: Duration = Duration::from_secs(1);
const MILLISECOND: Duration = Duration::from_millis(1);

/// 100/s: 60 % for checkout, 30 % for batch, 10 % for others. With a burst of 103 they have 61, 31 and 11 at once.
fn teams() -> Shares {
    Shares::new(&Allowance { per: SECOND, ..allowance(100, 0, 103) }, &[0.6, 0.3, 0.1])
}

#[test]
fn who_is_alone_has_its_burst_and_then_all_of_the_rate() {
    let (shares, start) = (teams(), Instant::now());
    assert_eq!(taken(&shares, 1, start), 31);
    let given: u64 =
        (1..=10_000).map(|millisecond| taken(&shares, 1, start + millisecond * MILLISECOND)).sum();
    assert_eq!(given, 1000);
}

#[test]
fn who_comes_back_has_its_burst_at_once_and_its_share_from_then_on() {
    let (shares, start) = (teams(), Instant::now());
    for millisecond in 0..5000 {
        taken(&shares, 1, start + millisecond * MILLISECOND);
    }
    assert_eq!(taken(&shares, 0, start + 5 * SECOND), 61);
    let mut given = [0, 0];
    for millisecond in 5001..=15_000 {
        let now = start + millisecond * MILLISECOND;
        given[1] += taken(&shares, 1, now);
        given[0] += taken(&shares, 0, now);
    }
    assert_eq!(given, [666, 334], "all of ten seconds: what the others leave goes to both by their shares");
}

#[test]
fn what_is_in_no_share_and_for_whom_there_is_none_is_shared_too() {
    let start = Instant::now();
    let shares = Shares::new(&Allowance { per: SECOND, ..allowance(100, 0, 12) }, &[0.5, 0.0]);
    // Two with a call each, half of the other ten for the first, the rest for anybody.
    assert_eq!((taken(&shares, 1, start), taken(&shares, 0, start)), (6, 6));
    assert_eq!(taken(&shares, 9, start + SECOND), 6, "who is not known is one of the others");
    assert_eq!(taken(&shares, 1, start + SECOND + 50 * MILLISECOND), 5, "all of the rate: the first is full");
}

#[test]
fn a_burst_comes_to_one_call_for_each() {
    let (shares, start) = (Shares::new(&allowance(1, 100, 1), &[0.98, 0.01, 0.01]), Instant::now());
    assert_eq!([0, 1, 2].map(|group| taken(&shares, group, start)), [1, 1, 1]);
    assert_eq!(taken(&shares, 0, start + Duration::from_nanos(300)), 2, "its own one, and what is nobody's");
}

#[test]
fn threads_that_take_at_one_moment_get_exactly_what_is_there() {
    let (shares, now) = (&teams(), Instant::now());
    let given: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..6).map(|thread| scope.spawn(move || taken(shares, thread % 3, now))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(given.iter().sum::<u64>(), 103);
}
