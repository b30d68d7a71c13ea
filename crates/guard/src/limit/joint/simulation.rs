//! Several instances with clocks of their own, one server that dies, comes back, and may come back with nothing: calls in flight
//! at once, replies that get lost. However it goes, no more is let through than the limit. All is drawn from a seed.
//!
//! What an instance does with [`Joint`] is written here as the layer does it; the server is `server`.

mod server;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::{Delays, Joint, Way};
use crate::limit::{Algorithm, Allowance};
use server::{Asking, Server};

const SEEDS: u64 = 200;
const SECOND: u64 = 1_000_000;
const PER: u64 = SECOND;
const BEAT: u64 = PER / 5;
/// Who counts alone leaves the server in peace for so long at most: longer than a window, or hardly at all.
const RESTS: [u64; 2] = [2 * PER, PER / 10];
const KEYS: u64 = 2;
const STEP: u64 = PER / 60;
const FLIGHT: u64 = 3000;

/// xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % bound
    }

    fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }
}

struct Instance {
    joint: Joint,
    /// What its own clock shows at zero.
    zero: Instant,
    known: Option<usize>,
    next_beat: u64,
    /// Lost in a row, so that no more are than one may think are lost by chance.
    lost: u64,
}

/// A call on its way to the server.
struct Flight {
    asking: Asking,
    arrives_at: u64,
}

/// What may go wrong.
#[derive(Clone, Copy)]
struct Weather {
    dies: bool,
    empties: bool,
    loses: bool,
    /// Who notices that the server is gone.
    noticed_by: NoticedBy,
}

/// Those who count alone while others do not add their parts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NoticedBy {
    All,
    /// It is gone for a moment only.
    Some,
    /// One is cut off for as long as anything runs.
    One,
}

struct World {
    random: Random,
    allowance: Allowance,
    weather: Weather,
    rest: u64,
    server: Server,
    instances: Vec<Instance>,
    now: u64,
    flights: Vec<Flight>,
    /// When calls were let through, by key; at the server, when it counted them.
    passed: BTreeMap<u64, Vec<u64>>,
    passed_alone: u64,
    /// The server changes its mind then.
    turns_at: u64,
}

impl World {
    fn new(seed: u64, algorithm: Algorithm, weather: Weather) -> Self {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let count = 2 + random.below(4);
        let amount = count * (1 + random.below(8)) + random.below(count);
        let burst = count * (1 + random.below(4));
        let allowance = Allowance { algorithm, amount, per: Duration::from_micros(PER), burst };
        let rest = RESTS[random.below(2) as usize];
        let answer = Duration::from_micros(STEP + FLIGHT);
        let delays = Delays { answer, lag: Duration::from_micros(rest + BEAT) };
        let start = Instant::now();
        let instances = (0..count).map(|_| Instance {
            joint: Joint::new(allowance, 100, delays),
            zero: start + Duration::from_secs(random.below(1000)),
            known: None,
            next_beat: 0,
            lost: 0,
        });
        let instances: Vec<_> = instances.collect();
        let server = Server::new(&allowance, SECOND * (1 + random.below(1000)));
        let turns_at = 3 * PER + random.below(3 * PER);
        let mut world = World {
            random,
            allowance,
            weather,
            rest,
            server,
            instances,
            now: 0,
            flights: Vec::new(),
            passed: BTreeMap::new(),
            passed_alone: 0,
            turns_at,
        };
        // Twice, so that each has heard of all.
        for number in (0..world.instances.len()).chain(0..world.instances.len()) {
            world.beat(number);
        }
        world
    }

    fn reaches(&self, number: usize) -> bool {
        self.server.is_up && !(self.weather.noticed_by == NoticedBy::One && number == 0 && self.now > 2 * PER)
    }

    fn moment(&self, number: usize) -> Instant {
        self.instances[number].zero + Duration::from_micros(self.now)
    }

    fn beat(&mut self, number: usize) {
        let (moment, is_heard) = (self.moment(number), self.reaches(number));
        self.instances[number].next_beat = self.now + BEAT;
        if is_heard {
            let seen = self.server.beat(number, self.now, Joint::LATELY.as_micros() as u64);
            self.instances[number].joint.seen(moment, seen, self.server.clock(self.now));
        } else {
            self.instances[number].joint.failed(moment);
            if !self.instances[number].joint.is_together() {
                self.instances[number].next_beat += self.random.below(self.rest);
            }
        }
    }

    /// A call comes to an instance.
    fn call(&mut self, number: usize, key: u64) {
        let moment = self.moment(number);
        let spent_at = match self.instances[number].joint.way(moment) {
            Way::Alone => return self.alone(number, key),
            Way::Together(spent_at) => spent_at,
            Way::Settling(limits) => {
                if !limits.take(&key.to_be_bytes(), moment).is_allowed {
                    return;
                }
                0
            }
        };
        let asking = Asking { instance: number, key, known: self.instances[number].known, spent_at };
        let arrives_at = self.now + self.random.below(FLIGHT);
        self.flights.push(Flight { asking, arrives_at });
    }

    fn alone(&mut self, number: usize, key: u64) {
        let moment = self.moment(number);
        let decision = self.instances[number].joint.take_alone(&key.to_be_bytes(), moment);
        if decision.is_some_and(|decision| decision.is_allowed) {
            self.passed_alone += 1;
            self.pass(key);
        }
    }

    fn land(&mut self) {
        let (landing, flying) =
            std::mem::take(&mut self.flights).into_iter().partition(|flight| flight.arrives_at <= self.now);
        self.flights = flying;
        let landing: Vec<Flight> = landing;
        for Flight { asking, .. } in landing {
            let number = asking.instance;
            let is_lost = self.weather.loses && self.instances[number].lost < 2 && self.random.one_in(8);
            self.instances[number].lost = if is_lost { self.instances[number].lost + 1 } else { 0 };
            let reply = self.reaches(number).then(|| self.server.take(&asking, self.now));
            match reply.filter(|_| !is_lost) {
                Some((is_allowed, marker)) => {
                    self.instances[number].known = Some(marker);
                    self.instances[number].joint.answered(self.moment(number));
                    if is_allowed {
                        self.pass(asking.key);
                    }
                }
                // Whether it was counted or not: it is not made.
                None => drop(self.instances[number].joint.failed(self.moment(number))),
            }
        }
    }

    fn pass(&mut self, key: u64) {
        let now = self.now;
        let parts = if self.weather.noticed_by == NoticedBy::All { 1 } else { 2 };
        let Allowance { algorithm, amount, burst, .. } = self.allowance;
        let passed = self.passed.entry(key).or_default();
        passed.push(now);
        let lately = passed.iter().rev().take_while(|&&at| now - at < PER).count() as u64;
        match algorithm {
            Algorithm::Sliding => assert!(lately <= amount * parts, "{lately} of {amount}"),
            Algorithm::Fixed => assert!(lately <= 2 * amount * parts, "{lately} of {amount}"),
            Algorithm::Gcra => {
                for (&since, count) in passed.iter().rev().zip(1..) {
                    let most = (burst + amount * (now - since) / PER + 1) * parts;
                    assert!(count <= most, "{count} in {} us, burst {burst} and {amount}", now - since);
                }
            }
        }
    }

    fn turn(&mut self) {
        if self.now < self.turns_at {
            return;
        }
        let least = if self.weather.noticed_by == NoticedBy::Some { PER / 10 } else { PER };
        self.turns_at = self.now + least + self.random.below(6 * PER);
        let came_up = self.weather.dies && {
            self.server.is_up = !self.server.is_up;
            self.server.is_up
        };
        if self.weather.empties && (came_up || !self.weather.dies) && self.random.one_in(2) {
            self.server.empty();
        }
    }

    fn run(&mut self, until: u64) {
        while self.now < until {
            self.now += self.random.below(STEP);
            self.turn();
            self.land();
            for number in 0..self.instances.len() {
                if self.instances[number].next_beat <= self.now {
                    self.beat(number);
                }
            }
            for _ in 0..self.random.below(4) {
                let count = self.instances.len() as u64;
                // Some have more to do than others.
                let number = self.random.below(count).min(self.random.below(count)) as usize;
                let key = self.random.below(KEYS);
                self.call(number, key);
            }
        }
    }

    fn all_passed(&self) -> usize {
        self.passed.values().map(Vec::len).sum()
    }
}

fn each_algorithm(weather: Weather, then: impl Fn(World, u64)) {
    for algorithm in [Algorithm::Gcra, Algorithm::Fixed, Algorithm::Sliding] {
        for seed in 0..SEEDS {
            println!("{algorithm:?}, seed {seed}");
            then(World::new(seed, algorithm, weather), seed);
        }
    }
}

const CALM: Weather = Weather { dies: false, empties: false, loses: false, noticed_by: NoticedBy::All };

/// How many are let through at least in so many windows in which more than enough come: the first wait of a part may take as many
/// windows as there are instances.
fn enough(world: &World, windows: u64) -> usize {
    (world.allowance.amount * KEYS * windows / 2) as usize
}

#[test]
fn together_they_do_as_much_as_the_limit_and_no_more() {
    each_algorithm(Weather { loses: true, ..CALM }, |mut world, _| {
        // One after the other, so that there is always one too many.
        world.run(6 * PER);
        assert_eq!(world.passed_alone, 0);
        let all = world.all_passed();
        assert!(all >= enough(&world, 3), "{all} of {}", world.allowance.amount);
    });
}

#[test]
fn through_its_death_and_return_they_do_no_more_than_the_limit() {
    each_algorithm(Weather { dies: true, loses: true, ..CALM }, |mut world, _| world.run(60 * PER));
}

#[test]
fn a_server_that_lost_everything_hands_out_nothing_twice() {
    each_algorithm(Weather { empties: true, ..CALM }, |mut world, _| world.run(20 * PER));
    each_algorithm(Weather { dies: true, empties: true, loses: true, ..CALM }, |mut world, _| {
        world.run(60 * PER);
    });
}

#[test]
fn one_that_is_cut_off_adds_no_more_than_its_part() {
    each_algorithm(
        Weather { dies: true, loses: true, noticed_by: NoticedBy::One, ..CALM },
        |mut world, _| {
            world.run(20 * PER);
        },
    );
}

#[test]
fn what_not_all_notice_adds_no_more_than_the_parts_of_those_who_do() {
    let weather = Weather { dies: true, empties: true, loses: true, noticed_by: NoticedBy::Some };
    each_algorithm(weather, |mut world, _| world.run(60 * PER));
}

#[test]
fn nobody_starves_while_it_is_gone_and_after() {
    each_algorithm(CALM, |mut world, _| {
        world.run(2 * PER);
        world.server.is_up = false;
        world.run(6 * PER);
        // Each has its part, on a key that nobody has used.
        for number in 0..world.instances.len() {
            let before = world.passed_alone;
            world.call(number, 100);
            assert_eq!(world.passed_alone, before + 1, "{number}");
        }
        world.server.is_up = true;
        let came_up = world.now;
        world.run(came_up + world.rest + BEAT + 4 * PER);
        assert!(world.instances.iter().all(|instance| instance.joint.is_together()));
        for number in 0..world.instances.len() {
            let before = world.all_passed();
            world.call(number, 200 + number as u64);
            world.now += FLIGHT;
            world.land();
            assert!(world.all_passed() > before, "{number}");
        }
    });
}
