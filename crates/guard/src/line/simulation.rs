//! Simulation: calls that join, wait, are dropped and are let through, on one thread, drawn from a seed. A model that is too
//! slow for anything else says what has to come of each. A failure is told as its seed, and comes again.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::time::Instant;

use super::{Admission, NoTurn, SharedLines, Waiting};
use crate::{Algorithm, Allowance, Limits};

const SEEDS: u64 = 600;
const STEPS: usize = 250;
const KEYS: [&[u8]; 2] = [b"one", b"another"];
const GROUPS: [&[u8]; 3] = [b"", b"a", b"b"];
const MILLISECOND: Duration = Duration::from_millis(1);

/// What the first of each line asks.
enum Limit {
    /// How many places are free for each key, and taken.
    Places([Cell<usize>; KEYS.len()], [Cell<usize>; KEYS.len()]),
    Rate(Limits),
}

impl Limit {
    fn admit(&self, key: usize, now: std::time::Instant) -> Admission<()> {
        match self {
            Limit::Places(free, taken) => match free[key].get().checked_sub(1) {
                Some(left) => {
                    free[key].set(left);
                    taken[key].set(taken[key].get() + 1);
                    Admission::Taken(())
                }
                None => Admission::WhenTold,
            },
            Limit::Rate(limits) => {
                let decision = limits.take(KEYS[key], now);
                if decision.is_allowed { Admission::Taken(()) } else { Admission::In(decision.retry_after) }
            }
        }
    }

    /// In how long one would be let through; `None`: nobody knows.
    fn in_how_long(&self, key: usize) -> Option<Duration> {
        match self {
            Limit::Places(free, _) => (free[key].get() > 0).then_some(Duration::ZERO),
            Limit::Rate(limits) => Some(limits.peek(KEYS[key], Instant::now().into_std()).retry_after),
        }
    }
}

#[derive(Debug, Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Relaxed);
    }
}

/// One that waits, as the model has it.
#[derive(Clone, Copy, Debug)]
struct Entry {
    id: usize,
    key: usize,
    group: usize,
    priority: i32,
}

/// In which order all are to be served, by counting through everything.
#[derive(Default)]
struct Model {
    size: usize,
    /// As they came.
    waiting: Vec<Entry>,
    /// Groups as they take turns.
    rings: BTreeMap<(usize, i32), Vec<usize>>,
}

impl Model {
    fn of_key(&self, key: usize) -> impl Iterator<Item = &Entry> {
        self.waiting.iter().filter(move |entry| entry.key == key)
    }

    fn of_group(&self, key: usize, priority: i32, group: usize) -> impl Iterator<Item = &Entry> {
        self.of_key(key).filter(move |entry| entry.priority == priority && entry.group == group)
    }

    fn first(&self, key: usize) -> Option<usize> {
        let highest = self.of_key(key).map(|entry| entry.priority).max()?;
        let group = self.rings[&(key, highest)][0];
        self.of_group(key, highest, group).next().map(|entry| entry.id)
    }

    /// By serving all of them in turn.
    fn last(&self, key: usize) -> Option<Entry> {
        let lowest = self.of_key(key).map(|entry| entry.priority).min()?;
        let mut queues: Vec<Vec<Entry>> = self.rings[&(key, lowest)]
            .iter()
            .map(|&group| self.of_group(key, lowest, group).copied().collect())
            .collect();
        let mut last = None;
        while queues.iter().any(|queue| !queue.is_empty()) {
            for queue in queues.iter_mut().filter(|queue| !queue.is_empty()) {
                last = Some(queue.remove(0));
            }
        }
        last
    }

    /// Who has to go for this one; an error where it is this one.
    fn join(&mut self, new: Entry) -> Result<Option<usize>, ()> {
        let mut turned_out = None;
        if self.waiting.len() >= self.size {
            let (own, other) = (self.of_key(new.key).count() + 1, self.of_key(1 - new.key).count());
            let from = if other > own { 1 - new.key } else { new.key };
            let last = self.last(from).ok_or(())?;
            let count = |group| self.of_group(from, last.priority, group).count();
            let is_before = new.priority > last.priority
                || new.priority == last.priority && count(new.group) + 1 < count(last.group);
            if from == new.key && !is_before {
                return Err(());
            }
            turned_out = Some(last.id);
            self.leave(last.id);
        }
        self.waiting.push(new);
        let ring = self.rings.entry((new.key, new.priority)).or_default();
        if !ring.contains(&new.group) {
            ring.push(new.group);
        }
        Ok(turned_out)
    }

    fn leave(&mut self, id: usize) -> Entry {
        let place = self.waiting.iter().position(|entry| entry.id == id).expect("it waits");
        let entry = self.waiting.remove(place);
        if self.of_group(entry.key, entry.priority, entry.group).next().is_none() {
            let ring = self.rings.get_mut(&(entry.key, entry.priority)).expect("its group has a turn");
            ring.retain(|&group| group != entry.group);
        }
        entry
    }

    fn serve(&mut self, id: usize) {
        let entry = self.leave(id);
        let ring = self.rings.get_mut(&(entry.key, entry.priority)).expect("it has been there");
        if let Some(place) = ring.iter().position(|&group| group == entry.group) {
            let group = ring.remove(place);
            ring.push(group);
        }
    }
}

/// A call in the lines.
struct Call {
    id: usize,
    key: usize,
    deadline: Instant,
    waiting: Waiting,
    woken: Arc<Woken>,
    is_turned_out: bool,
}

struct World {
    random: u64,
    lines: Arc<SharedLines>,
    limit: Limit,
    model: Model,
    calls: Vec<Call>,
    ids: usize,
    /// What came of calls: let through, too late, turned out, refused.
    ends: [usize; 4],
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let limit = if draw(&mut random, 2) == 0 {
            Limit::Places([Cell::new(1), Cell::new(3)], Default::default())
        } else {
            let (amount, burst) = (1 + draw(&mut random, 3), 1 + draw(&mut random, 3));
            let per = MILLISECOND * (amount * (1 + draw(&mut random, 6))) as u32;
            Limit::Rate(Limits::new(Allowance { algorithm: Algorithm::Gcra, amount, per, burst }, 10))
        };
        let size = 1 + draw(&mut random, 12) as usize;
        World {
            random,
            lines: SharedLines::new(size),
            limit,
            model: Model { size, ..Model::default() },
            calls: Vec::new(),
            ids: 0,
            ends: [0; 4],
        }
    }

    fn draw(&mut self, below: usize) -> usize {
        draw(&mut self.random, below as u64) as usize
    }

    async fn step(&mut self) {
        match self.draw(10) {
            0..5 => self.come(),
            5 if !self.calls.is_empty() => self.go_away(),
            6 | 7 => self.free_a_place(),
            8 => {
                let milliseconds = self.draw(12) as u32;
                tokio::time::advance(MILLISECOND * milliseconds).await;
            }
            _ => {}
        }
        // Often something else happens before those who were woken come.
        match self.draw(3) {
            0 => self.settle(),
            1 => drop(self.poll_one()),
            _ => {}
        }
    }

    /// As a layer does it.
    fn come(&mut self) {
        let (key, group, priority) =
            (self.draw(KEYS.len()), self.draw(GROUPS.len()), [-1, 0, 7][self.draw(3)]);
        assert_eq!(self.lines.is_empty(KEYS[key]), self.model.of_key(key).next().is_none());
        let now = Instant::now();
        if self.lines.is_empty(KEYS[key])
            && let Admission::Taken(()) = self.limit.admit(key, now.into_std())
        {
            return;
        }
        let deadline = now + MILLISECOND * (1 + self.draw(80) as u32);
        let joined = self.lines.join(KEYS[key], priority, GROUPS[group], deadline);
        self.ids += 1;
        let expected = self.model.join(Entry { id: self.ids, key, group, priority });
        assert_eq!(joined.is_ok(), expected.is_ok());
        let (Ok(waiting), Ok(turned_out)) = (joined, expected) else {
            self.ends[3] += 1;
            return;
        };
        for call in self.calls.iter_mut().filter(|call| Some(call.id) == turned_out) {
            call.is_turned_out = true;
            assert!(call.woken.0.load(Relaxed), "told at once");
        }
        let woken = Arc::new(Woken(AtomicBool::new(true)));
        self.calls.push(Call { id: self.ids, key, deadline, waiting, woken, is_turned_out: false });
    }

    fn go_away(&mut self) {
        let place = self.draw(self.calls.len());
        let call = self.calls.swap_remove(place);
        if !call.is_turned_out {
            self.model.leave(call.id);
        }
    }

    fn free_a_place(&mut self) {
        let key = self.draw(KEYS.len());
        if let Limit::Places(free, taken) = &self.limit
            && let Some(left) = taken[key].get().checked_sub(1)
        {
            taken[key].set(left);
            free[key].set(free[key].get() + 1);
            self.lines.wake(KEYS[key]);
        }
    }

    /// Polls one of those that were woken. Whether there was one.
    fn poll_one(&mut self) -> bool {
        let woken: Vec<_> =
            (0..self.calls.len()).filter(|&place| self.calls[place].woken.0.load(Relaxed)).collect();
        if woken.is_empty() {
            return false;
        }
        let place = woken[self.draw(woken.len())];
        let (call, limit, model) = (&mut self.calls[place], &self.limit, &self.model);
        call.woken.0.store(false, Relaxed);
        let waker = Waker::from(Arc::clone(&call.woken));
        let (now, in_how_long) = (Instant::now(), limit.in_how_long(call.key));
        let polled = call.waiting.poll_admitted(&mut Context::from_waker(&waker), |now| {
            assert_eq!(model.first(call.key), Some(call.id), "only the first asks");
            limit.admit(call.key, now)
        });
        let Poll::Ready(end) = polled else {
            assert!(!call.is_turned_out && now < call.deadline);
            return true;
        };
        match end {
            Ok(()) => {
                self.ends[0] += 1;
                self.model.serve(call.id);
            }
            Err(NoTurn::TooLate) => {
                self.ends[1] += 1;
                let would_be = self.model.first(call.key) == Some(call.id)
                    && in_how_long.is_some_and(|wait| now + wait > call.deadline);
                assert!(now >= call.deadline || would_be, "too late before its time");
                self.model.leave(call.id);
            }
            Err(NoTurn::TurnedOut) => {
                self.ends[2] += 1;
                assert!(call.is_turned_out);
            }
        }
        self.calls.swap_remove(place);
        true
    }

    /// All that were woken come, in any order. After that nobody waits for nothing.
    fn settle(&mut self) {
        while self.poll_one() {}
        let now = Instant::now();
        assert_eq!(self.lines.waiting(), self.calls.len());
        for (key, name) in KEYS.iter().enumerate() {
            let waiting = self.calls.iter().filter(|call| call.key == key);
            assert!(waiting.clone().all(|call| call.deadline > now), "longer than until its deadline");
            assert_eq!(self.lines.waiting_for(name), waiting.clone().count());
            if waiting.count() > 0 {
                assert_ne!(self.limit.in_how_long(key), Some(Duration::ZERO), "the limit would let one pass");
            }
        }
    }

    /// Nobody comes any more. All that wait are served, or it is too late for them, whatever the last of them were at.
    async fn end(&mut self) {
        for _ in 0..100 {
            self.settle();
            self.free_a_place();
            tokio::time::advance(MILLISECOND).await;
        }
        self.settle();
        assert!(self.calls.is_empty() && self.lines.waiting() == 0);
    }
}

/// xorshift64*.
fn draw(random: &mut u64, below: u64) -> u64 {
    *random ^= *random >> 12;
    *random ^= *random << 25;
    *random ^= *random >> 27;
    (random.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % below
}

/// What came of calls.
fn run(seed: u64) -> [usize; 4] {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let all = async {
        let mut world = World::new(seed);
        for _ in 0..STEPS {
            world.step().await;
        }
        world.end().await;
        world.ends
    };
    // All calls are polled by one task, which would be told to yield.
    runtime.block_on(tokio::task::unconstrained(all))
}

#[test]
fn each_is_served_in_its_turn_and_nobody_waits_for_nothing() {
    let mut ends = [0; 4];
    for seed in 0..SEEDS {
        let outcome = std::panic::catch_unwind(|| run(seed));
        let of_seed = outcome.unwrap_or_else(|_| panic!("seed {seed}"));
        ends = std::array::from_fn(|end| ends[end] + of_seed[end]);
    }
    assert!(ends.iter().all(|&count| count > 1000), "each of these happens often: {ends:?}");
}

#[test]
fn a_seed_is_replayed() {
    (0..10).for_each(|seed| assert_eq!(run(seed), run(seed)));
}
