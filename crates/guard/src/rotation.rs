//! Rotation: which of several comes next: in turn, by weight, past those that rest. Shared by all cores.
//!
//! In: the time, and who is to be left alone until when. Out: the number of the next one. The smooth weighted round robin of nginx
//! (Igor Sysoev, `ngx_http_upstream_round_robin.c`): with weights 5, 1, 1 it gives a a b a c a a, and not five times the same in a row.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// See the module.
#[derive(Debug)]
pub struct Rotation(Mutex<Box<[Member]>>);

#[derive(Debug)]
struct Member {
    weight: i64,
    /// How far it is ahead of its share (below zero) or behind.
    current: i64,
    /// Left alone until then.
    rests: Option<Instant>,
    /// Only where there is no other until then.
    avoided: Option<Instant>,
}

impl Rotation {
    /// So many, each with its weight, of which none is zero.
    pub fn new(weights: impl IntoIterator<Item = u32>) -> Self {
        let member =
            |weight: u32| Member { weight: weight.max(1).into(), current: 0, rests: None, avoided: None };
        Rotation(Mutex::new(weights.into_iter().map(member).collect()))
    }

    /// The next one, which is counted; `None`: all rest. Those that are avoided come only where all others rest.
    pub fn choose(&self, now: Instant) -> Option<usize> {
        let mut members = self.members();
        let chosen = next(&mut members, |member| !member.is_resting(now) && !member.is_avoided(now));
        chosen.or_else(|| next(&mut members, |member| !member.is_resting(now)))
    }

    /// Leaves one alone until then, or as long as was said before.
    pub fn rest(&self, index: usize, until: Instant) {
        let member = &mut self.members()[index];
        member.rests = member.rests.max(Some(until));
    }

    /// Asks one only where there is no other until then.
    pub fn avoid(&self, index: usize, until: Instant) {
        let member = &mut self.members()[index];
        member.avoided = member.avoided.max(Some(until));
    }

    /// One does well: whoever avoided it need not.
    pub fn forgive(&self, index: usize) {
        self.members()[index].avoided = None;
    }

    /// Whether one is left alone or avoided.
    pub fn is_aside(&self, index: usize, now: Instant) -> bool {
        let member = &self.members()[index];
        member.is_resting(now) || member.is_avoided(now)
    }

    /// Whether one is left alone.
    pub fn is_resting(&self, index: usize, now: Instant) -> bool {
        self.members()[index].is_resting(now)
    }

    /// When the first one is there again; `None`: one is there now.
    pub fn first_back(&self, now: Instant) -> Option<Instant> {
        let members = self.members();
        if members.iter().any(|member| !member.is_resting(now)) {
            return None;
        }
        members.iter().filter_map(|member| member.rests).min()
    }

    /// A poisoned lock is as good as another: what runs under it leaves nothing half done.
    fn members(&self) -> MutexGuard<'_, Box<[Member]>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Member {
    fn is_resting(&self, now: Instant) -> bool {
        self.rests.is_some_and(|until| now < until)
    }

    fn is_avoided(&self, now: Instant) -> bool {
        self.avoided.is_some_and(|until| now < until)
    }
}

/// Of those that are fit, the one that is furthest behind its share.
fn next(members: &mut [Member], is_fit: impl Fn(&Member) -> bool) -> Option<usize> {
    let mut total = 0;
    let mut best: Option<usize> = None;
    for index in 0..members.len() {
        if !is_fit(&members[index]) {
            continue;
        }
        members[index].current += members[index].weight;
        total += members[index].weight;
        if best.is_none_or(|best| members[index].current > members[best].current) {
            best = Some(index);
        }
    }
    let best = best?;
    members[best].current -= total;
    Some(best)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn chosen(rotation: &Rotation, now: Instant, times: usize) -> Vec<usize> {
        (0..times).filter_map(|_| rotation.choose(now)).collect()
    }

    #[test]
    fn equals_take_turns_and_weights_are_spread_out() {
        let now = Instant::now();
        assert_eq!(chosen(&Rotation::new([1, 1, 1]), now, 6), [0, 1, 2, 0, 1, 2]);
        assert_eq!(chosen(&Rotation::new([5, 1, 1]), now, 7), [0, 0, 1, 0, 2, 0, 0]);
    }

    #[test]
    fn who_rests_is_passed_over_and_told_when_all_do() {
        let (rotation, now) = (Rotation::new([1, 1]), Instant::now());
        rotation.rest(0, now + 5 * SECOND);
        assert_eq!((chosen(&rotation, now, 2), rotation.first_back(now)), (vec![1, 1], None));
        rotation.rest(1, now + 2 * SECOND);
        rotation.rest(1, now + SECOND);
        assert_eq!((rotation.choose(now), rotation.first_back(now)), (None, Some(now + 2 * SECOND)));
        assert_eq!(chosen(&rotation, now + 2 * SECOND, 2), [1, 1]);
        assert_eq!(rotation.first_back(now + 5 * SECOND), None);
    }

    #[test]
    fn who_is_avoided_comes_where_there_is_no_other() {
        let (rotation, now) = (Rotation::new([1, 1]), Instant::now());
        rotation.avoid(0, now + 5 * SECOND);
        assert_eq!(chosen(&rotation, now, 3), [1, 1, 1]);
        rotation.rest(1, now + SECOND);
        assert_eq!((chosen(&rotation, now, 2), rotation.first_back(now)), (vec![0, 0], None));
        rotation.forgive(0);
        assert!(!rotation.is_aside(0, now) && rotation.is_aside(1, now));
    }

    #[test]
    fn many_cores_share_one_rotation() {
        let (rotation, now) = (Rotation::new([3, 2, 1]), Instant::now());
        let mut counts = [0; 3];
        let all = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| chosen(&rotation, now, 60))).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        for index in all {
            counts[index] += 1;
        }
        assert_eq!(counts, [120, 80, 40]);
    }

    proptest! {
        /// Each cycle, as long as the weights are together, has each as often as it weighs.
        #[test]
        fn weights_are_exact_over_a_cycle(weights in proptest::collection::vec(1..20_u32, 1..10), cycles in 1..4_usize) {
            let (rotation, now) = (Rotation::new(weights.iter().copied()), Instant::now());
            let total: u32 = weights.iter().sum();
            for _ in 0..cycles {
                let chosen = chosen(&rotation, now, total as usize);
                for (index, weight) in weights.iter().enumerate() {
                    prop_assert_eq!(chosen.iter().filter(|chosen| **chosen == index).count(), *weight as usize);
                }
            }
        }

        /// Whatever rests when: nobody is chosen before it is back, somebody is chosen whenever somebody is back, and whoever
        /// is told to come at `first_back` is let in.
        #[test]
        fn who_rests_is_not_chosen_and_comes_back_when_due(
            count in 1..6_usize,
            events in proptest::collection::vec((any::<bool>(), 0..6_usize, 0..5000_u64, 0..800_u64), 1..200),
        ) {
            let (rotation, start) = (Rotation::new(vec![1; count]), Instant::now());
            let mut back = vec![start; count];
            let mut now = start;
            for (rests, index, length, passed) in events {
                now += Duration::from_millis(passed);
                if rests {
                    let (index, until) = (index % count, now + Duration::from_millis(length));
                    rotation.rest(index, until);
                    back[index] = back[index].max(until);
                }
                let first = *back.iter().min().unwrap();
                let chosen = rotation.choose(now);
                prop_assert_eq!(chosen.is_some(), first <= now);
                prop_assert!(chosen.is_none_or(|chosen| back[chosen] <= now));
                prop_assert_eq!(rotation.first_back(now), (first > now).then_some(first));
                prop_assert!(rotation.choose(first.max(now)).is_some());
            }
        }
    }
}
