//! Callers before one or several limits on what is in flight, and a server that has more to do than it can: it makes calls
//! wait, or refuses them. In virtual time; calls come at random, and those that get no permit are gone.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use guard::{Concurrency, InFlight, Outcome, Permit};

use crate::Random;

const SEEDS: u64 = 2;
/// Microseconds, as all times here.
const SECOND: u64 = 1_000_000;
/// A call takes so long on average.
const SERVICE: f64 = 50_000.0;
/// A refusal takes so long.
const REFUSAL: u64 = 1000;
const ADAPTIVE: Concurrency = Concurrency::Adaptive { least: 1, most: 1000, first: 10 };

/// How long calls take, around the same mean.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Jitter {
    /// Within a tenth of it.
    Steady,
    /// Exponential: as long again as the mean, on average, above or below it.
    Exponential,
    /// Log-normal, its sigma one: one in a hundred takes ten times as long as the median.
    LogNormal,
    /// One in a hundred takes fifty times as long as the others.
    Stragglers,
    /// One in ten takes ninety times as long as the others.
    Mixed,
}

/// What the server does with what is more than it can work on.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Excess {
    Waits,
    /// With 429, at once.
    Refused,
}

#[derive(Clone, Debug)]
struct Scene {
    excess: Excess,
    jitter: Jitter,
    /// How many calls the server works on at once: at first, and from the middle on.
    workers: [usize; 2],
    /// How much longer than usual each takes, likewise.
    slowness: [f64; 2],
    /// Calls come so many times as fast as the server can work at first.
    load: f64,
    /// So many calls fail with 503 whatever the load, likewise.
    unlucky: [f64; 2],
    limits: Vec<Concurrency>,
    /// Those after the first begin so much later, one after another.
    late: u64,
    seconds: u64,
}

const SCENE: Scene = Scene {
    excess: Excess::Waits,
    jitter: Jitter::Steady,
    workers: [20, 20],
    slowness: [1.0, 1.0],
    load: 1.5,
    unlucky: [0.0, 0.0],
    limits: Vec::new(),
    late: 0,
    seconds: 120,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// For the limit of this number.
    Comes(usize),
    Ends(usize),
    Look,
}

struct Call {
    permit: Permit,
    since: u64,
    /// What it takes of the server; none is refused.
    work: Option<u64>,
}

struct World {
    random: Random,
    scene: Scene,
    limits: Vec<Arc<InFlight>>,
    agenda: BinaryHeap<Reverse<(u64, u64, Event)>>,
    calls: HashMap<usize, Call>,
    sent: usize,
    busy: usize,
    waiting: VecDeque<usize>,
    /// Told so many times, to keep events of one moment in order.
    told: u64,
    now: u64,
    /// Each tenth of a second: what the limits are.
    looks: Vec<Vec<u32>>,
    /// Likewise: how many calls have ended, and how many of them were drops.
    ended: Vec<(u64, u64)>,
}

impl World {
    fn new(seed: u64, scene: Scene) -> Self {
        let rules = if scene.limits.is_empty() { vec![ADAPTIVE] } else { scene.limits.clone() };
        let limits: Vec<_> = rules.into_iter().map(|rule| InFlight::new(rule, || ())).collect();
        let mut world = World {
            random: Random::new(seed),
            scene,
            limits,
            agenda: BinaryHeap::new(),
            calls: HashMap::new(),
            sent: 0,
            busy: 0,
            waiting: VecDeque::new(),
            told: 0,
            now: 0,
            looks: Vec::new(),
            ended: vec![(0, 0)],
        };
        for number in 0..world.limits.len() {
            world.later(number as u64 * world.scene.late, Event::Comes(number));
        }
        world.later(0, Event::Look);
        world
    }

    fn run(mut self) -> Self {
        while let Some(Reverse((now, _, event))) = self.agenda.pop()
            && now < self.scene.seconds * SECOND
        {
            self.now = now;
            match event {
                Event::Comes(number) => self.comes(number),
                Event::Ends(call) => self.ends(call),
                Event::Look => {
                    self.looks.push(self.limits.iter().map(|limit| limit.limit()).collect());
                    self.ended.push(self.ended[self.ended.len() - 1]);
                    self.later(SECOND / 10, Event::Look);
                }
            }
        }
        self
    }

    fn later(&mut self, after: u64, event: Event) {
        self.told += 1;
        self.agenda.push(Reverse((self.now + after, self.told, event)));
    }

    /// Which half of the scene is on.
    fn half(&self) -> usize {
        usize::from(self.now >= self.scene.seconds * SECOND / 2)
    }

    fn comes(&mut self, number: usize) {
        let share = self.limits.len() as f64 / (self.scene.load * self.scene.workers[0] as f64);
        let gap = -self.random.unit().ln() * SERVICE * share;
        self.later(gap as u64, Event::Comes(number));
        let Some(permit) = self.limits[number].try_take() else { return };
        let is_unlucky = self.random.unit() < self.scene.unlucky[self.half()];
        let is_full = self.busy >= self.scene.workers[self.half()];
        let is_refused = is_unlucky || is_full && self.scene.excess == Excess::Refused;
        let work = (!is_refused).then(|| self.work());
        self.sent += 1;
        self.calls.insert(self.sent, Call { permit, since: self.now, work });
        match work {
            None => self.later(REFUSAL, Event::Ends(self.sent)),
            Some(_) if is_full => self.waiting.push_back(self.sent),
            Some(work) => self.begin(self.sent, work),
        }
    }

    fn work(&mut self) -> u64 {
        let unit = self.random.unit();
        let factor = match self.scene.jitter {
            Jitter::Steady => 0.9 + 0.2 * unit,
            Jitter::Exponential => -unit.ln(),
            // By the method of Box and Muller.
            Jitter::LogNormal => {
                let normal = (-2.0 * unit.ln()).sqrt() * (std::f64::consts::TAU * self.random.unit()).cos();
                (normal - 0.5).exp()
            }
            Jitter::Stragglers if unit < 0.01 => 50.0 / 1.49,
            Jitter::Stragglers => 1.0 / 1.49,
            Jitter::Mixed if unit < 0.1 => 9.1,
            Jitter::Mixed => 0.1,
        };
        (SERVICE * self.scene.slowness[self.half()] * factor) as u64
    }

    fn begin(&mut self, call: usize, work: u64) {
        self.busy += 1;
        self.later(work, Event::Ends(call));
    }

    fn ends(&mut self, number: usize) {
        let call = self.calls.remove(&number).expect("it ends once");
        let last = self.ended.len() - 1;
        self.ended[last].0 += 1;
        if call.work.is_none() {
            self.ended[last].1 += 1;
            call.permit.done(Outcome::Dropped);
            return;
        }
        call.permit.done(Outcome::Success { took: Duration::from_micros(self.now - call.since) });
        self.busy -= 1;
        while self.busy < self.scene.workers[self.half()]
            && let Some(next) = self.waiting.pop_front()
        {
            let work = self.calls[&next].work.expect("what is refused does not wait");
            self.begin(next, work);
        }
    }

    /// The limit of this number between two seconds, on average.
    fn mean(&self, number: usize, from: usize, to: usize) -> f64 {
        let looks = &self.looks[10 * from..10 * to];
        looks.iter().map(|limits| f64::from(limits[number])).sum::<f64>() / looks.len() as f64
    }

    /// The share of the time between two seconds that the limit was further from what the server works on than a fifth of
    /// it, or than one.
    fn astray(&self, from: usize, to: usize) -> f64 {
        let (looks, due) = (&self.looks[10 * from..10 * to], self.workers(from) as f64);
        let is_astray = |limits: &&Vec<u32>| (f64::from(limits[0]) - due).abs() > (0.2 * due).max(1.0);
        looks.iter().filter(is_astray).count() as f64 / looks.len() as f64
    }

    /// From this second on.
    fn workers(&self, from: usize) -> usize {
        self.scene.workers[usize::from(2 * from >= self.scene.seconds as usize)]
    }

    /// Calls that have ended between two seconds, and drops among them.
    fn ended(&self, from: usize, to: usize) -> (f64, f64) {
        let ((calls_before, drops_before), (calls, drops)) = (self.ended[10 * from], self.ended[10 * to - 1]);
        ((calls - calls_before) as f64, (drops - drops_before) as f64)
    }

    /// The share of the time between two seconds that the server worked.
    fn worked(&self, from: usize, to: usize) -> f64 {
        let (calls, drops) = self.ended(from, to);
        let half = usize::from(from >= self.scene.seconds as usize / 2);
        let (workers, slowness) = (self.scene.workers[half] as f64, self.scene.slowness[half]);
        (calls - drops) * SERVICE * slowness / SECOND as f64 / (to - from) as f64 / workers
    }
}

const ALL: [Jitter; 5] =
    [Jitter::Steady, Jitter::Exponential, Jitter::LogNormal, Jitter::Stragglers, Jitter::Mixed];

/// From here on it has had time to settle.
const SETTLED: usize = 20;

fn worlds(scene: &Scene) -> impl Iterator<Item = World> {
    (1..=SEEDS).map(|seed| World::new(seed, scene.clone()).run())
}

/// Whether the limit has settled at what the server works on, from a second to another, and what it is.
fn settles(world: &World, from: usize, to: usize) -> (bool, String) {
    let (mean, worked) = (world.mean(0, from, to), world.worked(from, to));
    let ((calls, drops), due) = (world.ended(from, to), world.workers(from) as f64);
    let is_refused = world.scene.excess == Excess::Refused;
    // Where most calls are short, one that waits for a long one makes it fall deeper than it has to.
    let share = if world.scene.jitter == Jitter::Mixed { 0.3 } else { 0.2 };
    // A try at one more shows in the mean.
    let most = if is_refused { due + 0.1 } else { (1.0 + share) * due };
    let is_settled = mean <= most && mean >= (1.0 - share) * due && worked > 0.6;
    let told = format!("{:?}: {mean:.1}, worked {worked:.2}, dropped {:.4}", world.scene, drops / calls);
    (is_settled && !(is_refused && drops > 0.01 * calls), told)
}

fn assert_settles(world: &World, from: usize, to: usize) {
    let (is_settled, told) = settles(world, from, to);
    assert!(is_settled, "{told}");
}

#[test]
fn a_server_that_makes_calls_wait_gets_as_many_as_it_works_on() {
    for jitter in ALL {
        for (workers, seconds) in [(10, 120), (30, 60), (100, 30)] {
            let scene = Scene { jitter, workers: [workers; 2], seconds, ..SCENE };
            for world in worlds(&scene) {
                assert_settles(&world, SETTLED, seconds as usize);
                let most = if jitter == Jitter::Steady { 0.15 } else { 0.5 };
                let astray = world.astray(SETTLED, seconds as usize);
                assert!(astray < most || jitter == Jitter::Mixed, "{scene:?}: {astray}");
            }
        }
    }
}

#[test]
fn a_server_that_refuses_calls_refuses_no_more_than_one_in_a_hundred() {
    for jitter in [Jitter::Steady, Jitter::LogNormal] {
        for (workers, seconds) in [(2, 240), (5, 100), (20, 50), (100, 30)] {
            let scene = Scene { excess: Excess::Refused, jitter, workers: [workers; 2], seconds, ..SCENE };
            for world in worlds(&scene) {
                assert_settles(&world, SETTLED, seconds as usize);
            }
        }
    }
}

#[test]
fn without_a_limit_that_adapts_the_simulation_finds_too_many_and_too_few() {
    for excess in [Excess::Waits, Excess::Refused] {
        for fixed in [5, 100] {
            let scene = Scene { excess, limits: vec![Concurrency::Fixed(fixed)], seconds: 30, ..SCENE };
            assert!(worlds(&scene).all(|world| !settles(&world, SETTLED, 30).0));
        }
    }
}

#[test]
fn it_follows_a_server_that_grows_shrinks_or_slows_down() {
    for excess in [Excess::Waits, Excess::Refused] {
        for jitter in [Jitter::Steady, Jitter::LogNormal] {
            for (workers, slowness) in
                [([20, 40], [1.0, 1.0]), ([40, 20], [1.0, 1.0]), ([20, 20], [1.0, 2.0])]
            {
                let scene = Scene { excess, jitter, workers, slowness, load: 2.5, seconds: 80, ..SCENE };
                for world in worlds(&scene) {
                    assert_settles(&world, SETTLED, 40);
                    assert_settles(&world, 50, 80);
                }
            }
        }
    }
}

#[test]
fn a_server_that_loses_most_of_its_workers_is_not_buried() {
    for jitter in [Jitter::Steady, Jitter::LogNormal] {
        let scene = Scene { jitter, workers: [100, 10], seconds: 100, ..SCENE };
        for world in worlds(&scene) {
            assert_settles(&world, SETTLED, 50);
            assert_settles(&world, 70, 100);
        }
    }
}

#[test]
fn too_many_to_begin_with_are_not_taken_for_normal() {
    for jitter in [Jitter::Steady, Jitter::LogNormal] {
        let limits = vec![Concurrency::Adaptive { least: 1, most: 1000, first: 200 }];
        for world in worlds(&Scene { jitter, limits, seconds: 90, ..SCENE }) {
            assert_settles(&world, 60, 90);
        }
    }
}

#[test]
fn where_nothing_waits_no_jitter_makes_it_fall() {
    for jitter in ALL {
        let limits = vec![Concurrency::Adaptive { least: 1, most: 100, first: 10 }];
        let scene = Scene { jitter, workers: [1000; 2], load: 0.15, limits, seconds: 40, ..SCENE };
        for world in worlds(&scene) {
            let mean = world.mean(0, SETTLED, 40);
            assert!(mean > 90.0, "{jitter:?}: {mean}");
        }
    }
}

#[test]
fn calls_that_fail_whatever_the_load_do_not_make_it_fall() {
    for jitter in [Jitter::Steady, Jitter::LogNormal] {
        for world in worlds(&Scene { jitter, unlucky: [0.003; 2], ..SCENE }) {
            assert_settles(&world, SETTLED, 120);
        }
    }
}

#[test]
fn an_outage_is_soon_forgotten() {
    for excess in [Excess::Waits, Excess::Refused] {
        for world in worlds(&Scene { excess, unlucky: [1.0, 0.0], seconds: 60, ..SCENE }) {
            assert!(world.mean(0, 1, 30) < 1.1, "everything is too much");
            assert_settles(&world, 40, 60);
        }
    }
}

#[test]
fn two_limits_on_one_server_share_it() {
    for excess in [Excess::Waits, Excess::Refused] {
        for jitter in [Jitter::Steady, Jitter::LogNormal] {
            let limits = vec![ADAPTIVE; 2];
            let scene =
                Scene { excess, jitter, workers: [40; 2], limits, late: 10 * SECOND, load: 2.0, ..SCENE };
            for world in worlds(&scene) {
                let [one, other] = [0, 1].map(|number| world.mean(number, 40, 120));
                let ((calls, drops), worked) = (world.ended(40, 120), world.worked(60, 120));
                assert!(one.max(other) < 2.0 * one.min(other), "{scene:?}: {one} and {other}");
                assert!(one + other < 1.4 * 40.0 && worked > 0.8 && drops <= 0.01 * calls, "{scene:?}");
            }
        }
    }
}

#[test]
fn a_seed_is_replayed() {
    let looks =
        |seed| World::new(seed, Scene { jitter: Jitter::LogNormal, seconds: 20, ..SCENE }).run().looks;
    assert_eq!(looks(1), looks(1));
    assert_ne!(looks(1), looks(2));
}
