//! The world: one step after the other, and what must be true of each answer.
//!
//! A fresh answer, for each of its keys: the line is live by what it was told. The version is not older than the newest
//! one announced. It was there at some moment of the line's life, and at some moment of the last `SILENCE`. It has not
//! expired. A stale one was there at some moment of the last `MOST`, whatever was announced since, and has not expired. And
//! an answer that is shared is not older than what was announced when it was asked for.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use message::Timestamp;

use super::redis::{KEYS, NEVER, Redis};
use crate::{Ticket, Tracked, TrackedFigures};

const SILENCE: u64 = 200;
const MOST: u64 = 300;
/// Reads by their keys. A name is the index.
const READS: [&[usize]; 12] =
    [&[0], &[1], &[2], &[3], &[4], &[5], &[6], &[7], &[0, 1], &[2, 3, 4], &[5, 5, 0], &[7, 6, 5, 4, 3]];

/// What is done wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    /// The counts are those of when the answer came, not of before the read was sent: what a cache without a guard does.
    StampsTakenLate,
    /// The same with the number of the line's life.
    LifeTakenLate,
    DeadlineForgotten,
    /// A read under way is shared whatever was announced since it was sent.
    SharedBlindly,
    /// A ping confirms as of its answer.
    ConfirmedLate,
}

/// What happened in worlds without a failure.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) fresh: u64,
    pub(super) stale: u64,
    pub(super) shared: u64,
    pub(super) figures: TrackedFigures,
}

/// Which version of which key was seen.
type Answer = Arc<[(usize, usize)]>;

/// A read under way.
struct Read {
    name: usize,
    ticket: Ticket,
    sent: u64,
    /// What Redis answered, and when the first of it expires as far as one can tell.
    answer: Option<(Answer, u64)>,
    /// What the last who shares it may expect.
    least: Least,
}

/// What was known when a question was asked.
#[derive(Clone)]
struct Least {
    announced: [usize; KEYS],
    life_since: u64,
}

/// What we sent on the line and is not answered.
#[derive(Clone, Copy)]
enum Command {
    Track { asked: u64 },
    Ping { asked: u64 },
}

/// What is on its way to us on the line, in order.
enum Push {
    Agreed { asked: u64 },
    Pong { asked: u64 },
    Changed { key: usize, version: usize },
    Flushed { versions: [usize; KEYS] },
}

/// See the module.
pub(super) struct World {
    random: u64,
    fault: Fault,
    story: String,
    now: u64,
    redis: Redis,
    tracked: Tracked<Answer>,
    under_way: Vec<Read>,
    /// Whether our end of the line believes in it.
    is_open: bool,
    /// Whether [`Tracked::connected`] was called, and [`Tracked::disconnected`] was not since.
    is_live: bool,
    /// Whether Redis announces. Our end may be open still when its end is gone.
    is_told: bool,
    command: Option<(Command, bool)>,
    pushes: VecDeque<Push>,
    known: Least,
    fresh: u64,
    stale: u64,
    shared: u64,
}

impl World {
    pub(super) fn new(seed: u64, fault: Fault) -> Self {
        let mut world = World {
            random: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
            fault,
            story: String::new(),
            now: 1_000_000,
            redis: Redis::new(),
            tracked: Tracked::shaped(0, 2, Duration::ZERO, Duration::ZERO, seed),
            under_way: Vec::new(),
            is_open: false,
            is_live: false,
            is_told: false,
            command: None,
            pushes: VecDeque::new(),
            known: Least { announced: [0; KEYS], life_since: 0 },
            fresh: 0,
            stale: 0,
            shared: 0,
        };
        // Room for five answers or for all; counters that are shared by many, by some or by none.
        let bytes = [12_000, 100_000][world.draw(2)];
        let counters = [4, 16, 4096][world.draw(3)];
        world.tracked = Tracked::shaped(
            bytes,
            counters,
            Duration::from_millis(SILENCE),
            Duration::from_millis(MOST),
            seed,
        );
        world
    }

    /// What happened, line by line.
    pub(super) fn story(&self) -> String {
        self.story.clone()
    }

    /// Something happens. The error is the story.
    pub(super) fn step(&mut self) -> Result<(), String> {
        let outcome = self.happen().and_then(|()| self.look_at_all());
        outcome.map_err(|failure| format!("{}{failure}", self.story))
    }

    fn happen(&mut self) -> Result<(), String> {
        match self.draw(200) {
            0..30 => self.wait(),
            30..40 => self.write(),
            40 => self.flush_all(),
            41..43 => self.announce_expired(),
            43..85 => self.ask(),
            85..115 => self.reach_redis(),
            115..147 => self.answer()?,
            147..150 => self.ask_stale()?,
            150..157 => self.send_ping(),
            157..167 => self.reach_line(),
            167..190 => self.deliver(),
            190 if self.draw(2) == 0 => self.cut(),
            190 => self.lose(),
            _ => self.connect(),
        }
        Ok(())
    }

    fn wait(&mut self) {
        let long = if self.draw(20) == 0 { 150 } else { 8 };
        self.now += self.draw(long) as u64;
        self.redis.expire(self.now);
    }

    fn write(&mut self) {
        let key = self.draw(KEYS);
        let expires = if self.draw(3) == 0 { self.now + 1 + self.draw(100) as u64 } else { NEVER };
        let version = self.redis.write(key, self.now, expires);
        self.tell(format_args!("key {key} becomes {version}, expires {expires}"));
        self.push(Push::Changed { key, version });
    }

    fn flush_all(&mut self) {
        let versions = std::array::from_fn(|key| self.redis.write(key, self.now, NEVER));
        self.tell(format_args!("FLUSHALL: {versions:?}"));
        self.push(Push::Flushed { versions });
    }

    fn announce_expired(&mut self) {
        if let Some((key, version)) = self.redis.expired.pop() {
            self.tell(format_args!("key {key} is deleted as expired, {version}"));
            self.push(Push::Changed { key, version });
        }
    }

    /// A request: answered from what is held, or with a read that is under way, or with one of its own.
    fn ask(&mut self) {
        let read = self.draw(READS.len());
        if self.tracked.get(&[read as u8], self.timestamp()).is_some() {
            return;
        }
        let (tracked, blindly) = (&self.tracked, self.fault == Fault::SharedBlindly);
        let may_share =
            |other: &&mut Read| other.name == read && (blindly || tracked.is_valid(&other.ticket));
        if let Some(other) = self.under_way.iter_mut().find(may_share) {
            other.least = self.known.clone();
            self.shared += 1;
            self.tell(format_args!("read {read} is shared"));
        } else if self.under_way.len() < 12 {
            let ticket = self.begin(read);
            self.tell(format_args!("read {read} is sent"));
            let least = self.known.clone();
            self.under_way.push(Read { name: read, ticket, sent: self.now, answer: None, least });
        }
    }

    fn reach_redis(&mut self) {
        if self.under_way.is_empty() {
            return;
        }
        let index = self.draw(self.under_way.len());
        let (redis, now, reading) = (&self.redis, self.now, &mut self.under_way[index]);
        if reading.answer.is_none() {
            let keys = READS[reading.name].iter();
            let answer: Answer = keys.map(|&key| (key, redis.newest(key))).collect();
            // Redis says how long the key has left; we count that from when we asked.
            let left = answer.iter().map(|&(key, version)| redis.version(key, version).expires).min();
            let deadline = left.filter(|&at| at != NEVER).map_or(NEVER, |at| reading.sent + (at - now));
            let line = format!("read {} reaches Redis: {answer:?}", reading.name);
            reading.answer = Some((answer, deadline));
            self.tell(format_args!("{line}"));
        }
    }

    fn answer(&mut self) -> Result<(), String> {
        let answered = |reading: &Read| reading.answer.is_some();
        let Some(index) = self.under_way.iter().position(answered) else { return Ok(()) };
        // Any of those that are answered.
        let index = (index + self.draw(4)).min(self.under_way.len() - 1);
        if !answered(&self.under_way[index]) {
            return Ok(());
        }
        let Read { name: read, sent, ticket, answer, least, .. } = self.under_way.swap_remove(index);
        let (answer, deadline) = answer.expect("it was just looked at");
        for &(key, version) in &*answer {
            self.is_known(key, version, &least)
                .map_err(|failure| format!("shared read {read}: {failure}"))?;
        }
        let late = self.begin(read);
        let ticket = match self.fault {
            Fault::StampsTakenLate => Ticket { stamps: late.stamps, ..ticket },
            Fault::LifeTakenLate => Ticket { life: late.life, ..ticket },
            _ => ticket,
        };
        let deadline = Some(deadline).filter(|&at| at != NEVER && self.fault != Fault::DeadlineForgotten);
        let deadline = deadline.map(Timestamp::from_millis);
        let inserted =
            self.tracked.insert(ticket, &[read as u8], answer, 2000, Timestamp::from_millis(sent), deadline);
        self.tell(format_args!("read {read} is answered: {inserted:?}"));
        Ok(())
    }

    fn ask_stale(&mut self) -> Result<(), String> {
        for read in 0..READS.len() {
            if let Some((answer, _)) = self.tracked.stale(&[read as u8], self.timestamp()) {
                self.stale += 1;
                self.is_young(&answer, MOST).map_err(|failure| format!("stale read {read}: {failure}"))?;
            }
        }
        Ok(())
    }

    fn look_at_all(&mut self) -> Result<(), String> {
        for read in 0..READS.len() {
            if let Some(answer) = self.tracked.get(&[read as u8], self.timestamp()) {
                self.fresh += 1;
                if !self.is_live {
                    return Err(format!("fresh read {read}: there is no line"));
                }
                self.is_right(&answer, SILENCE).map_err(|failure| format!("fresh read {read}: {failure}"))?;
            }
        }
        Ok(())
    }

    fn is_right(&self, answer: &Answer, most: u64) -> Result<(), String> {
        for &(key, version) in &**answer {
            self.is_known(key, version, &self.known)?;
        }
        self.is_young(answer, most)
    }

    /// Whether each of its keys had that version lately.
    fn is_young(&self, answer: &Answer, most: u64) -> Result<(), String> {
        for &(key, version) in &**answer {
            let seen = self.redis.version(key, version);
            if seen.end.saturating_add(most) < self.now {
                return Err(format!(
                    "key {key} at {version}, older than silence or most allows: {}",
                    seen.end
                ));
            }
            if seen.expires <= self.now {
                return Err(format!("key {key} at {version} is expired"));
            }
        }
        Ok(())
    }

    fn is_known(&self, key: usize, version: usize, least: &Least) -> Result<(), String> {
        if version < least.announced[key] {
            return Err(format!("key {key} at {version}, though {} was announced", least.announced[key]));
        }
        if self.redis.version(key, version).end < least.life_since {
            return Err(format!("key {key} at {version} is from before this life, {}", least.life_since));
        }
        Ok(())
    }

    fn connect(&mut self) {
        if !self.is_open {
            self.is_open = true;
            self.command = Some((Command::Track { asked: self.now }, false));
            self.tell(format_args!("the line is opened"));
        }
    }

    fn send_ping(&mut self) {
        if self.is_live && self.command.is_none() {
            self.command = Some((Command::Ping { asked: self.now }, false));
            self.tell(format_args!("a ping is sent"));
        }
    }

    /// A command reaches Redis, unless its end is gone.
    fn reach_line(&mut self) {
        match self.command {
            Some((Command::Track { asked }, false)) => {
                self.is_told = true;
                self.push(Push::Agreed { asked });
                self.command = None;
            }
            Some((Command::Ping { asked }, false)) if self.is_told => {
                self.push(Push::Pong { asked });
                self.command = Some((Command::Ping { asked }, true));
            }
            _ => {}
        }
    }

    fn deliver(&mut self) {
        match self.pushes.pop_front() {
            Some(Push::Agreed { asked }) => {
                self.tracked.connected(Timestamp::from_millis(asked));
                self.is_live = true;
                self.known = Least { announced: [0; KEYS], life_since: self.now };
                self.tell(format_args!("the line is live"));
            }
            Some(Push::Pong { asked }) => {
                let asked = if self.fault == Fault::ConfirmedLate { self.now } else { asked };
                self.tracked.confirmed(Timestamp::from_millis(asked));
                self.command = None;
                self.tell(format_args!("confirmed as of {asked}"));
            }
            Some(Push::Changed { key, version }) => {
                self.tracked.invalidate(&[key as u8]);
                let announced = &mut self.known.announced[key];
                *announced = version.max(*announced);
                self.tell(format_args!("key {key} is announced, {version}"));
            }
            Some(Push::Flushed { versions }) => {
                self.tracked.flush();
                for (announced, version) in self.known.announced.iter_mut().zip(versions) {
                    *announced = version.max(*announced);
                }
                self.tell(format_args!("a flush is announced"));
            }
            None => {}
        }
    }

    /// Redis' end is gone, and what was on its way. Nobody has noticed.
    fn cut(&mut self) {
        if self.is_told {
            self.is_told = false;
            self.pushes.clear();
            self.tell(format_args!("the line is cut"));
        }
    }

    /// Our end is gone.
    fn lose(&mut self) {
        self.cut();
        self.tracked.disconnected();
        (self.is_open, self.is_live, self.command) = (false, false, None);
        self.tell(format_args!("the line is lost"));
    }

    fn begin(&self, read: usize) -> Ticket {
        let names: Vec<_> = READS[read].iter().map(|&key| [key as u8]).collect();
        self.tracked.begin(names.iter().map(|name| &name[..]))
    }

    fn push(&mut self, push: Push) {
        if self.is_told {
            self.pushes.push_back(push);
        }
    }

    fn tell(&mut self, what: std::fmt::Arguments<'_>) {
        writeln!(self.story, "{} {what}", self.now).expect("a string takes everything");
    }

    fn timestamp(&self) -> Timestamp {
        Timestamp::from_millis(self.now)
    }

    /// A number below `below`: xorshift64*.
    fn draw(&mut self, below: usize) -> usize {
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        (self.random.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % below
    }
}

impl Tally {
    pub(super) fn add(&mut self, world: &World) {
        self.fresh += world.fresh;
        self.stale += world.stale;
        self.shared += world.shared;
        let figures = world.tracked.figures();
        self.figures.kept += figures.kept;
        self.figures.outdated += figures.outdated;
        self.figures.not_live += figures.not_live;
        self.figures.flushes += figures.flushes;
        self.figures.lives += figures.lives;
        self.figures.evicted += figures.evicted;
    }
}
