//! Several cores ask one `Limits`: each looks, works while the others go on, and gives its
//! response only where `take` lets it. What is given is exactly what the allowance permits.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use guard::{Algorithm, Allowance, LimitDecision, Limits};

use crate::Random;

const SEEDS: u64 = 3000;
const STEPS: usize = 300;
const CORES: usize = 5;
const KEYS: [&[u8]; 3] = [b"", b"one", b"another"];

/// What stands between a core and the response it has made.
trait Guard {
    fn new(allowance: Allowance) -> Self;
    fn peek(&self, key: &[u8], now: Instant) -> LimitDecision;
    /// Whether the response is given. `seen` is what the core was told when it looked.
    fn take(&self, key: &[u8], now: Instant, seen: LimitDecision) -> bool;
}

impl Guard for Limits {
    fn new(allowance: Allowance) -> Self {
        Limits::new(allowance, 100)
    }

    fn peek(&self, key: &[u8], now: Instant) -> LimitDecision {
        self.peek(key, now)
    }

    fn take(&self, key: &[u8], now: Instant, _seen: LimitDecision) -> bool {
        self.take(key, now).is_allowed
    }
}

/// Counts, and always lets through.
struct Open(Limits);

impl Guard for Open {
    fn new(allowance: Allowance) -> Self {
        Open(Guard::new(allowance))
    }

    fn peek(&self, key: &[u8], now: Instant) -> LimitDecision {
        LimitDecision { is_allowed: true, ..self.0.peek(key, now) }
    }

    fn take(&self, key: &[u8], now: Instant, _seen: LimitDecision) -> bool {
        self.0.take(key, now);
        true
    }
}

/// Looks, and takes what it has seen at its word.
struct Trusting(Limits);

impl Guard for Trusting {
    fn new(allowance: Allowance) -> Self {
        Trusting(Guard::new(allowance))
    }

    fn peek(&self, key: &[u8], now: Instant) -> LimitDecision {
        self.0.peek(key, now)
    }

    fn take(&self, key: &[u8], now: Instant, seen: LimitDecision) -> bool {
        self.0.take(key, now);
        seen.is_allowed
    }
}

/// Takes for looking too, so that half of what there is goes nowhere.
struct Wasteful(Limits);

impl Guard for Wasteful {
    fn new(allowance: Allowance) -> Self {
        Wasteful(Guard::new(allowance))
    }

    fn peek(&self, key: &[u8], now: Instant) -> LimitDecision {
        self.0.take(key, now)
    }

    fn take(&self, key: &[u8], now: Instant, _seen: LimitDecision) -> bool {
        self.0.take(key, now).is_allowed
    }
}

/// Several cores before one guard.
struct World<G> {
    random: Random,
    allowance: Allowance,
    guard: G,
    start: Instant,
    /// In nanoseconds since the start.
    now: u64,
    /// What each core works on: the key, and what it saw.
    cores: [Option<(usize, LimitDecision)>; CORES],
    /// When responses were given, by key.
    given: [Vec<u64>; KEYS.len()],
    steps: Vec<Step>,
}

/// What a core did, for the story.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    now: u64,
    core: usize,
    key: usize,
    did: Did,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Did {
    Look { is_allowed: bool },
    Take { is_given: bool },
}

impl<G: Guard> World<G> {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let algorithm = [Algorithm::Gcra, Algorithm::Fixed, Algorithm::Sliding][random.below(3) as usize];
        let amount = 1 + random.below(40);
        // A multiple, so that what saturates a rate is a whole number at each moment.
        let per = Duration::from_nanos(amount * (1 + random.below(30)));
        let allowance = Allowance { algorithm, amount, per, burst: 1 + random.below(6) };
        World {
            random,
            allowance,
            guard: G::new(allowance),
            start: Instant::now(),
            now: 0,
            cores: [None; CORES],
            given: Default::default(),
            steps: Vec::new(),
        }
    }

    fn draw(&mut self, below: u64) -> u64 {
        self.random.below(below)
    }

    fn moment(&self) -> Instant {
        self.start + Duration::from_nanos(self.now)
    }

    fn story(&self, end: &str) -> String {
        let steps: Vec<_> = self.steps.iter().map(|step| format!("{step:?}")).collect();
        format!("{:?}\n{}\n{end}", self.allowance, steps.join("\n"))
    }

    /// One core does what is next for it, or time goes on. The error is the story.
    fn step(&mut self) -> Result<(), String> {
        if self.draw(4) == 0 {
            let spread = [3, 30, 2000][self.draw(3) as usize];
            self.now += self.draw(spread);
        }
        let (core, key) = (self.draw(CORES as u64) as usize, self.draw(KEYS.len() as u64) as usize);
        self.act(core, key).map(drop)
    }

    /// A core that is idle looks; one that works is done. Whether it was refused.
    fn act(&mut self, core: usize, key: usize) -> Result<bool, String> {
        let now = self.moment();
        let Some((key, seen)) = self.cores[core].take() else {
            let seen = self.guard.peek(KEYS[key], now);
            self.steps.push(Step {
                now: self.now,
                core,
                key,
                did: Did::Look { is_allowed: seen.is_allowed },
            });
            if seen.is_allowed {
                self.cores[core] = Some((key, seen));
            } else {
                self.check(key, false)?;
            }
            return Ok(!seen.is_allowed);
        };
        let is_given = self.guard.take(KEYS[key], now, seen);
        self.steps.push(Step { now: self.now, core, key, did: Did::Take { is_given } });
        self.check(key, is_given)?;
        if is_given {
            self.given[key].push(self.now);
        }
        Ok(!is_given)
    }

    /// That this one was given rightly, or refused rightly.
    fn check(&self, key: usize, is_given: bool) -> Result<(), String> {
        let given = &self.given[key];
        if is_given && is_too_much(&self.allowance, given, self.now) {
            return Err(self.story(&format!("more than allowed: {given:?}, and another at {}", self.now)));
        }
        // What groups cost: see `Algorithm::Sliding`.
        let is_grouped = self.allowance.algorithm == Algorithm::Sliding && self.allowance.amount > 16;
        let precision = if is_grouped { self.allowance.per.as_nanos().div_ceil(16) as u64 } else { 0 };
        let least = Allowance { per: self.allowance.per + Duration::from_nanos(precision), ..self.allowance };
        if !is_given && !is_too_much(&least, given, self.now) {
            return Err(self.story(&format!("fewer than allowed: {given:?}, and refused at {}", self.now)));
        }
        Ok(())
    }

    /// All cores want one key without end. Time goes on only when nobody is let through. Checks the sum at each moment.
    fn saturate(&mut self) -> Result<(), String> {
        let (key, per) = (self.draw(KEYS.len() as u64) as usize, self.allowance.per.as_nanos() as u64);
        while self.now <= 3 * per {
            let mut refused_in_a_row = 0;
            while refused_in_a_row < CORES || self.cores.iter().any(Option::is_some) {
                let core = self.draw(CORES as u64) as usize;
                let is_refused = self.act(core, key)?;
                refused_in_a_row = if is_refused { refused_in_a_row + 1 } else { 0 };
            }
            let Allowance { algorithm, amount, burst, .. } = self.allowance;
            let due = match algorithm {
                Algorithm::Gcra => burst + amount * self.now / per,
                Algorithm::Fixed | Algorithm::Sliding => amount * (1 + self.now / per),
            };
            let given = self.given[key].len() as u64;
            if given != due {
                return Err(self.story(&format!("{given} given until {}, {due} due", self.now)));
            }
            self.now += per / self.allowance.amount;
        }
        Ok(())
    }
}

/// Whether one more, now, is more than the allowance has in some interval. From all that was given, and nothing else.
fn is_too_much(allowance: &Allowance, given: &[u64], now: u64) -> bool {
    let per = allowance.per.as_nanos() as u64;
    match allowance.algorithm {
        Algorithm::Gcra => {
            let intervals = given.iter().rev().zip(2_u64..);
            let most = |since: u64| allowance.burst + allowance.amount * (now - since) / per;
            intervals.into_iter().any(|(&since, count)| count > most(since))
        }
        Algorithm::Fixed => {
            let mut window: &[u64] = given;
            while let Some(&first) = window.first() {
                match window.iter().position(|&moment| moment - first >= per) {
                    Some(next) => window = &window[next..],
                    None if now - first >= per => return false,
                    None => return window.len() as u64 >= allowance.amount,
                }
            }
            false
        }
        Algorithm::Sliding => {
            given.iter().filter(|&&since| now - since < per).count() as u64 >= allowance.amount
        }
    }
}

/// Runs one seed. What was done with demand that comes and goes, and with demand without end; or the story of what went
/// wrong.
fn run<G: Guard>(seed: u64) -> Result<(Vec<Step>, Vec<Step>), String> {
    let mut world = World::<G>::new(seed);
    (0..STEPS).try_for_each(|_| world.step())?;
    let mut saturated = World::<G>::new(seed);
    saturated.saturate()?;
    Ok((world.steps, saturated.steps))
}

fn find<G: Guard>(seeds: u64) -> Option<(u64, String)> {
    (0..seeds).find_map(|seed| run::<G>(seed).err().map(|story| (seed, story)))
}

#[test]
fn several_cores_give_exactly_what_is_allowed() {
    if let Some((seed, story)) = find::<Limits>(SEEDS) {
        panic!("seed {seed}:\n{story}");
    }
}

#[test]
fn a_seed_is_replayed_step_by_step() {
    (0..20).for_each(|seed| assert_eq!(run::<Limits>(seed), run::<Limits>(seed)));
}

#[test]
fn without_a_guard_the_simulation_finds_too_many() {
    println!("{}", fails::<Open>("more than allowed"));
}

#[test]
fn with_a_look_taken_at_its_word_the_simulation_finds_too_many() {
    println!("{}", fails::<Trusting>("more than allowed"));
}

#[test]
fn with_a_look_that_takes_the_simulation_finds_too_few() {
    println!("{}", fails::<Wasteful>("fewer than allowed"));
}

/// Says the seed, and what went wrong.
fn fails<G: Guard>(because: &str) -> String {
    let (seed, story) = find::<G>(SEEDS).expect("the simulation must find this");
    let last = story.lines().last().unwrap_or_default();
    assert!(last.contains(because), "seed {seed}: {last}");
    assert_eq!(run::<G>(seed).as_ref(), Err(&story), "a seed fails again");
    format!("seed {seed}: {last}")
}

#[test]
fn threads_that_take_at_one_moment_get_exactly_what_is_there() {
    const THREADS: usize = 8;
    let now = Instant::now();
    for (algorithm, due) in [(Algorithm::Gcra, 700), (Algorithm::Fixed, 1000), (Algorithm::Sliding, 1000)] {
        let per = Duration::from_secs(1);
        let limits = Limits::new(Allowance { algorithm, amount: 1000, per, burst: 700 }, 100);
        let together = Barrier::new(THREADS);
        let hammer = |key: &[u8]| {
            together.wait();
            (0..1000).filter(|_| limits.peek(key, now).is_allowed && limits.take(key, now).is_allowed).count()
        };
        for key in KEYS {
            let given: usize = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(|| hammer(key))).collect();
                threads.into_iter().map(|thread| thread.join().expect("no thread panics")).sum()
            });
            assert_eq!(given, due, "{algorithm:?}");
        }
    }
}
