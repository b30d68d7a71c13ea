//! A fleet before a provider with a rule of its own, in virtual time: several instances that do not talk to each other,
//! answers that take 20 to 200 ms, and nobody who tells them the rule. All is drawn from a seed, so it comes again.

mod provider;

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Admission, Learnt, LearntCall};
use provider::{Answer, Provider, Rule, Tells};

const LONGEST: Duration = Duration::from_mins(1);
const SEEDS: u64 = 6;

/// What is tried.
#[derive(Clone, Copy, Debug)]
struct Scene {
    rule: Rule,
    tells: Tells,
    limit: u64,
    window: f64,
    instances: usize,
    /// Calls of one instance at once.
    at_once: usize,
    /// Seconds after which another instance joins.
    joining: f64,
    seconds: f64,
    /// What the limit is from a moment on.
    change: Option<(f64, u64)>,
    /// Whether instances hear what they are told.
    learns: bool,
}

const SCENE: Scene = Scene {
    rule: Rule::Fixed,
    tells: Tells::Nothing,
    limit: 100,
    window: 60.0,
    instances: 1,
    at_once: 10,
    joining: 0.0,
    seconds: 1800.0,
    change: None,
    learns: true,
};

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
struct Outcome {
    /// When each was let through, and to whom.
    given: Vec<(f64, usize)>,
    refused: Vec<f64>,
}

enum Event {
    Wake(usize),
    Arrive(usize, LearntCall),
    Answered(usize, LearntCall, Answer),
}

/// At a moment; of several at one, in this order.
struct Due(f64, u64, Event);

struct World {
    random: u64,
    start: Instant,
    provider: Provider,
    instances: Vec<Instance>,
    due: BinaryHeap<Reverse<Due>>,
    events: u64,
}

struct Instance {
    learnt: Arc<Learnt>,
    under_way: usize,
    wakes: f64,
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Due {}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

impl World {
    fn new(scene: &Scene, seed: u64) -> Self {
        let mut random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let instances = (0..scene.instances)
            .map(|_| Instance { learnt: Learnt::new(LONGEST), under_way: 0, wakes: f64::INFINITY })
            .collect();
        let mut world = World {
            provider: Provider {
                rule: scene.rule,
                tells: scene.tells,
                limit: scene.limit,
                window: scene.window,
                began: -scene.window * draw(&mut random),
                used: VecDeque::new(),
            },
            random,
            start: Instant::now(),
            instances,
            due: BinaryHeap::new(),
            events: 0,
        };
        for instance in 0..scene.instances {
            let begins = scene.joining * instance as f64 + 2.0 * world.draw();
            world.plan(begins, Event::Wake(instance));
        }
        world
    }

    fn draw(&mut self) -> f64 {
        draw(&mut self.random)
    }

    fn plan(&mut self, at: f64, event: Event) {
        self.events += 1;
        self.due.push(Reverse(Due(at, self.events, event)));
    }

    fn run(mut self, scene: &Scene) -> Outcome {
        let mut outcome = Outcome { given: Vec::new(), refused: Vec::new() };
        while let Some(Reverse(Due(now, _, event))) = self.due.pop().filter(|due| due.0.0 < scene.seconds) {
            if let Some((_, limit)) = scene.change.filter(|change| now >= change.0) {
                self.provider.limit = limit;
            }
            let instance = match event {
                Event::Wake(instance) => instance,
                Event::Arrive(instance, call) => {
                    let answer = self.provider.ask(now);
                    if answer.is_refused {
                        outcome.refused.push(now);
                    } else {
                        outcome.given.push((now, instance));
                    }
                    let back = now + self.way();
                    self.plan(back, Event::Answered(instance, call, answer));
                    continue;
                }
                Event::Answered(instance, call, answer) => {
                    self.instances[instance].under_way -= 1;
                    if scene.learns {
                        call.heard(&answer.heard(), self.moment(now));
                    }
                    instance
                }
            };
            self.call(scene, instance, now);
        }
        outcome
    }

    /// An instance makes as many calls as it may.
    fn call(&mut self, scene: &Scene, instance: usize, now: f64) {
        if self.instances[instance].wakes <= now {
            self.instances[instance].wakes = f64::INFINITY;
        }
        while self.instances[instance].under_way < scene.at_once {
            match self.instances[instance].learnt.take(self.moment(now)) {
                Admission::Taken(call) => {
                    self.instances[instance].under_way += 1;
                    let arrives = now + self.way();
                    self.plan(arrives, Event::Arrive(instance, call));
                }
                Admission::In(wait) => {
                    // Timers are exact to a millisecond.
                    let wakes = now + wait.as_secs_f64().max(0.001) + 0.001 * self.draw();
                    if wakes < self.instances[instance].wakes {
                        self.instances[instance].wakes = wakes;
                        self.plan(wakes, Event::Wake(instance));
                    }
                    return;
                }
                Admission::WhenTold => unreachable!("time is all there is to wait for"),
            }
        }
    }

    /// Half of 20 to 200 ms.
    fn way(&mut self) -> f64 {
        0.01 + 0.09 * self.draw()
    }

    fn moment(&self, now: f64) -> Instant {
        self.start + Duration::from_secs_f64(now)
    }
}

/// xorshift64*; below one.
fn draw(random: &mut u64) -> f64 {
    *random ^= *random >> 12;
    *random ^= *random << 25;
    *random ^= *random >> 27;
    (random.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as f64 / f64::from(1_u32 << 31)
}

impl Scene {
    fn run(&self, seed: u64) -> Outcome {
        World::new(self, seed).run(self)
    }

    /// Of what the provider would have given from then on: what was asked for and given. Of all calls: those refused.
    fn figures(&self, outcome: &Outcome, from: f64) -> (f64, f64) {
        let given = outcome.given.iter().filter(|(at, _)| *at >= from).count() as f64;
        let refused = outcome.refused.iter().filter(|at| **at >= from).count() as f64;
        let limit = self.change.filter(|change| from >= change.0).map_or(self.limit, |change| change.1);
        (given / (limit as f64 * (self.seconds - from) / self.window), refused / (given + refused))
    }

    /// The least share of what was given from then on, and the greatest.
    fn shares(&self, outcome: &Outcome, from: f64) -> (f64, f64) {
        let given: Vec<_> = outcome.given.iter().filter(|(at, _)| *at >= from).collect();
        let of =
            |instance| given.iter().filter(|(_, to)| *to == instance).count() as f64 / given.len() as f64;
        (0..self.instances)
            .map(of)
            .fold((1.0, 0.0), |(least, most), share| (share.min(least), share.max(most)))
    }
}

/// Of all seeds: what was used and refused on average, the least used, and the most refused.
fn figures(scene: &Scene, from: f64) -> [f64; 4] {
    let figures = (0..SEEDS).map(|seed| scene.figures(&scene.run(seed), from));
    let (mut sums, mut least, mut most) = ((0.0, 0.0), f64::INFINITY, 0.0_f64);
    for (used, refused) in figures {
        sums = (sums.0 + used, sums.1 + refused);
        (least, most) = (least.min(used), most.max(refused));
    }
    [sums.0 / SEEDS as f64, sums.1 / SEEDS as f64, least, most]
}

/// What is promised, after the first three minutes: at least 95 % of what the provider gives is used, and no more than
/// one call in a hundred is refused, by a fleet that always wants more.
fn is_kept(scene: &Scene) {
    let [used, refused, least, most] = figures(scene, 180.0);
    let Scene { rule, tells, instances, .. } = scene;
    println!(
        "{:8} {:16} {instances}: used {used:.3} (least {least:.3}), refused {refused:.4} (most {most:.4})",
        format!("{rule:?}"),
        format!("{tells:?}")
    );
    assert!(used >= 0.95 && refused <= 0.01, "{scene:?}");
    assert!(least >= 0.93 && most <= 0.015, "{scene:?}");
}

#[test]
fn of_a_provider_that_says_no_more_than_too_many_almost_all_is_used_and_hardly_any_call_refused() {
    for rule in [Rule::Fixed, Rule::Sliding, Rule::Bucket] {
        for instances in [1, 2, 4] {
            is_kept(&Scene { rule, instances, ..SCENE });
        }
    }
}

#[test]
fn of_a_provider_that_says_what_remains_almost_all_is_used_and_hardly_any_call_refused() {
    for tells in [Tells::More, Tells::MoreRoundedDown, Tells::Whole] {
        for rule in [Rule::Fixed, Rule::Sliding] {
            for instances in [1, 2, 4] {
                is_kept(&Scene { rule, tells, instances, ..SCENE });
            }
        }
    }
}

#[test]
fn whoever_learns_nothing_is_refused_almost_always() {
    let (_, refused) = SCENE.figures(&Scene { learns: false, seconds: 300.0, ..SCENE }.run(1), 180.0);
    assert!(refused > 0.9, "{refused}");
}

#[test]
fn those_who_share_a_quota_that_is_announced_share_it_evenly_also_with_whoever_joins() {
    for (rule, least) in [(Rule::Fixed, 0.2), (Rule::Sliding, 0.05)] {
        let joining =
            Scene { rule, tells: Tells::Whole, instances: 4, joining: 300.0, seconds: 3600.0, ..SCENE };
        for seed in 0..SEEDS {
            let shares = joining.shares(&joining.run(seed), 1800.0);
            assert!(shares.0 > least, "{rule:?}, seed {seed}: {shares:?}");
        }
    }
}

#[test]
fn a_limit_that_changes_is_found_again() {
    for tells in [Tells::Nothing, Tells::Whole] {
        for rule in [Rule::Fixed, Rule::Sliding] {
            let raised = Scene { rule, tells, change: Some((600.0, 300)), seconds: 3600.0, ..SCENE };
            let [used, refused, ..] = figures(&raised, 1800.0);
            assert!(used > 0.95 && refused < 0.01, "{raised:?}: {used} {refused}");
            let lowered = Scene { instances: 2, change: Some((600.0, 50)), ..raised };
            let [used, refused, ..] = figures(&lowered, 1800.0);
            // Some of few are kept in reserve for a while, for those that were refused at first.
            assert!(used > 0.88 && refused < 0.01, "{lowered:?}: {used} {refused}");
        }
    }
}

#[test]
fn in_long_windows_a_refusal_does_not_spoil_the_pace_of_hours() {
    for (tells, rule) in [(Tells::Nothing, Rule::Fixed), (Tells::More, Rule::Sliding)] {
        let seconds = 4.0 * 3600.0;
        let scene = Scene { tells, rule, instances: 4, limit: 1000, window: 3600.0, seconds, ..SCENE };
        let [used, refused, ..] = figures(&scene, seconds / 2.0);
        assert!(used > 0.9 && refused < 0.05, "{scene:?}: {used} {refused}");
    }
}

#[test]
fn a_seed_is_replayed_call_by_call() {
    let scene = Scene { instances: 4, seconds: 300.0, ..SCENE };
    assert_eq!(scene.run(3), scene.run(3));
    assert_ne!(scene.run(3), scene.run(4));
}
