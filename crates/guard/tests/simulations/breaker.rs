//! Many callers before one breaker, and a target that dies and comes back. Each takes a passage, calls, and says after a
//! while what came of it, or goes away in silence.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use guard::{BreakerRule, Opened, Opens, Passage, SharedBreaker};

use crate::Random;

const SEEDS: u64 = 150;
const CALLERS: usize = 20;
/// In milliseconds, as all times here.
const END: u64 = 30_000;
/// A caller asks again so long after it had its answer or its refusal, at most.
const GAP: u64 = 60;
/// So long a call may take: until its timeout.
const LONGEST_CALL: u64 = 500;

/// What stands between the callers and the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guard {
    Breaker,
    /// Whoever is refused calls all the same.
    Nothing,
    /// Whoever is refused while a probe is under way calls too.
    Herd,
}

/// When a breaker opens, from all that it was told, and nothing else.
struct Model {
    opens: Opens,
    /// When the first call ended: slices are counted from there.
    first: Option<u64>,
    /// Since it was last closed: when each ended, and whether it failed.
    told: Vec<(u64, bool)>,
}

impl Model {
    fn is_enough(&self, now: u64) -> bool {
        match self.opens {
            Opens::InARow(most) => {
                let in_a_row = self.told.iter().rev().take_while(|(_, is_failure)| *is_failure).count();
                in_a_row as u64 >= u64::from(most)
            }
            Opens::Share { share, window, fewest } => {
                let first = self.first.unwrap_or(now);
                let slice = |at: u64| (at - first) / (window.as_millis() as u64 / 10);
                let counted: Vec<_> =
                    self.told.iter().filter(|(at, _)| slice(*at) + 10 > slice(now)).collect();
                let failures = counted.iter().filter(|(_, is_failure)| *is_failure).count() as f64;
                counted.len() as u64 >= u64::from(fewest) && failures / counted.len() as f64 >= share - 1e-9
            }
        }
    }
}

/// From when the breaker has opened until it has closed.
struct Outage {
    /// No probe may begin before.
    rests_until: u64,
    rest: u64,
    probes_under_way: u64,
    in_a_row: u32,
}

struct World {
    random: Random,
    guard: Guard,
    rule: BreakerRule,
    breaker: Arc<SharedBreaker>,
    start: Instant,
    now: u64,
    model: Model,
    outage: Option<Outage>,
    /// How often it has opened or closed, as the model has it.
    turns: u64,
    /// When the target dies or comes back next, and since when it is as it is.
    is_dead: bool,
    turns_at: u64,
    since: u64,
    /// Calls of a hundred that fail though the target is well.
    unlucky: u64,
    /// When each caller does what is next for it.
    agenda: BinaryHeap<Reverse<(u64, usize)>>,
    calls: [Option<Call>; CALLERS],
    reached: u64,
}

struct Call {
    /// None: nobody has let it through.
    passage: Option<Passage>,
    turns: u64,
    fails: bool,
}

impl World {
    fn new(seed: u64, guard: Guard) -> Self {
        let mut random = Random::new(seed);
        let opens = match random.below(2) {
            0 => Opens::InARow(1 + random.below(10) as u32),
            _ => Opens::Share {
                share: (1 + random.below(100)) as f64 / 100.0,
                window: Duration::from_secs([1, 5, 10][random.below(3) as usize]),
                fewest: random.below(40) as u32,
            },
        };
        let first_rest = Duration::from_millis(1 + random.below(2000));
        let longest_rest = first_rest * (1 + random.below(6) as u32);
        let rule = BreakerRule { opens, first_rest, longest_rest, probes: random.below(4) as u32 };
        let unlucky = random.below(2) * random.below(20);
        let agenda = (0..CALLERS).map(|caller| Reverse((random.below(GAP), caller))).collect();
        World {
            random,
            guard,
            rule,
            breaker: SharedBreaker::new(rule),
            start: Instant::now(),
            now: 0,
            model: Model { opens, first: None, told: Vec::new() },
            outage: None,
            turns: 0,
            is_dead: false,
            turns_at: 2000,
            since: 0,
            unlucky,
            agenda,
            calls: Default::default(),
            reached: 0,
        }
    }

    fn moment(&self) -> Instant {
        self.start + Duration::from_millis(self.now)
    }

    /// The next caller does what is next for it. The error says what went wrong.
    fn step(&mut self) -> Result<(), String> {
        let Some(Reverse((now, caller))) = self.agenda.pop() else { return Err("nobody calls".into()) };
        self.now = now;
        if now >= self.turns_at {
            self.is_dead = !self.is_dead;
            self.since = now;
            self.turns_at = now + 1 + self.random.below(12_000);
        }
        let pause = match self.calls[caller].take() {
            Some(call) => self.tell(call).map(|()| self.random.below(GAP))?,
            None => self.call(caller)?,
        };
        self.agenda.push(Reverse((now + 1 + pause, caller)));
        if self.breaker.is_closed() != self.outage.is_none() {
            return Err(format!("it is open: {}, and should not", !self.breaker.is_closed()));
        }
        let expected = (self.turns.div_ceil(2), self.turns / 2);
        if (self.breaker.opened(), self.breaker.recoveries()) != expected {
            return Err(format!("it has opened and closed {expected:?} times, and says otherwise"));
        }
        // After the longest rest a probe goes out, which may have to be waited for, and those after it, each in turn.
        let patience = self.rule.longest_rest.as_millis() as u64
            + u64::from(self.rule.probes + 1) * (LONGEST_CALL + 4 * GAP);
        if self.unlucky == 0 && !self.is_dead && now - self.since > patience && self.outage.is_some() {
            return Err("the target is back, and nobody is let through".into());
        }
        Ok(())
    }

    /// How long until it is done, or until the caller asks again.
    fn call(&mut self, caller: usize) -> Result<u64, String> {
        let now = self.moment();
        let rest = self.breaker.rest(now);
        let passage = self.breaker.pass(|| now);
        let is_let_through = match self.guard {
            Guard::Breaker => passage.is_some(),
            Guard::Nothing => true,
            Guard::Herd => {
                passage.is_some() || self.outage.as_ref().is_some_and(|outage| outage.probes_under_way > 0)
            }
        };
        if passage.is_none()
            && rest.is_zero()
            && self.outage.as_ref().is_none_or(|outage| outage.probes_under_way == 0)
        {
            return Err("refused without a reason".into());
        }
        if !is_let_through {
            return Ok(self.random.below(GAP));
        }
        if let Some(outage) = &mut self.outage {
            if outage.probes_under_way > 0 {
                return Err("two probes are under way".into());
            }
            if self.now < outage.rests_until {
                return Err(format!("a probe at {}, before {}", self.now, outage.rests_until));
            }
            outage.probes_under_way += 1;
            self.reached += u64::from(self.is_dead);
        }
        let fails = self.is_dead || self.random.below(100) < self.unlucky;
        self.calls[caller] = Some(Call { passage, turns: self.turns, fails });
        let most = if self.random.below(4) == 0 { LONGEST_CALL } else { 30 };
        Ok(self.random.below(most))
    }

    /// Says what came of a call.
    fn tell(&mut self, call: Call) -> Result<(), String> {
        let now = self.moment();
        let is_news = call.turns == self.turns;
        let is_told = self.random.below(10) > 0;
        let (mut has_closed, mut opened) = (false, Opened::No);
        match call.passage {
            Some(passage) if is_told && call.fails => opened = passage.failed(now),
            Some(passage) if is_told => has_closed = passage.succeeded(|| now),
            passage => drop(passage),
        }
        let (mut should_close, mut should_open) = (false, Opened::No);
        match &mut self.outage {
            Some(outage) if is_news => {
                outage.probes_under_way -= 1;
                if is_told && call.fails {
                    let longest = self.rule.longest_rest.as_millis() as u64;
                    outage.rest = (2 * outage.rest).min(longest);
                    outage.rests_until = self.now + outage.rest;
                    outage.in_a_row = 0;
                    should_open = Opened::Again;
                } else if is_told {
                    outage.in_a_row += 1;
                    should_close = outage.in_a_row >= self.rule.probes;
                }
            }
            None if is_news && is_told => {
                self.model.first.get_or_insert(self.now);
                self.model.told.push((self.now, call.fails));
                if call.fails && self.model.is_enough(self.now) {
                    should_open = Opened::Newly;
                }
            }
            Some(_) | None => {}
        }
        if should_open == Opened::Newly {
            let rest = self.rule.first_rest.as_millis() as u64;
            let rests_until = self.now + rest;
            self.outage = Some(Outage { rests_until, rest, probes_under_way: 0, in_a_row: 0 });
        }
        if should_close {
            self.outage = None;
            self.model.told.clear();
        }
        self.turns += u64::from(should_close) + u64::from(should_open == Opened::Newly);
        if (has_closed, opened) == (should_close, should_open) {
            return Ok(());
        }
        Err(format!(
            "it said {:?}, and should have said {:?}",
            (has_closed, opened),
            (should_close, should_open)
        ))
    }
}

/// Runs one seed: how often it has opened, and how many calls have reached the dead target since; or what went wrong.
fn run(seed: u64, guard: Guard) -> Result<(u64, u64), String> {
    let mut world = World::new(seed, guard);
    while world.now < END {
        let done = world.step();
        done.map_err(|error| format!("seed {seed}, {:?}, at {} ms: {error}", world.rule, world.now))?;
    }
    Ok((world.breaker.opened(), world.reached))
}

#[test]
fn it_opens_by_its_rule_and_a_dead_target_costs_one_call_a_rest() {
    let (mut opened, mut reached) = (0, 0);
    for seed in 0..SEEDS {
        let (times, calls) = run(seed, Guard::Breaker).unwrap_or_else(|error| panic!("{error}"));
        (opened, reached) = (opened + times, reached + calls);
    }
    println!("opened {opened} times; {reached} calls reached the dead target after that");
    assert!(opened > SEEDS && reached > SEEDS, "the target dies, and is probed");
}

#[test]
fn without_a_guard_the_simulation_finds_calls_to_the_dead_target() {
    let found = |guard, what: &str| {
        (0..SEEDS).filter_map(|seed| run(seed, guard).err()).any(|error| error.contains(what))
    };
    assert!(found(Guard::Nothing, "a probe at"));
    assert!(found(Guard::Herd, "two probes"));
}

#[test]
fn a_seed_is_replayed() {
    (0..20).for_each(|seed| assert_eq!(run(seed, Guard::Breaker), run(seed, Guard::Breaker)));
}
