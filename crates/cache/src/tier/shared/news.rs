//! News: the purges of the other instances, heard as they happen. Runs on the shared tier's thread, for ever.
//!
//! What was missed while the connection was gone is read from the stream afterwards; where the stream itself is gone
//! (Redis was emptied, restarted, or failed over to a server that lacked some of it), nobody can say what was purged, and
//! everything in memory is made stale. So it is, again and again, while nothing is heard for long (`doubt`): neither purges
//! nor the heartbeats of the others, which come the same way.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Weak};
use std::time::Duration;

use message::{Clock, Error, Kind, Result, Timestamp};
use redis_link::{Cmd, Dedicated, Link, Value, cmd};
use tokio::task::spawn_local;
use tokio::time::Instant;

use super::doubt::{Heard, doubt, make_stale};
use super::message::{Message, Told, beats, position, streams, text, told};
use super::names;
use super::positions::Position;
use super::scripts::{ENTER, NOW};
use super::telling::Telling;
use super::tier::SharedTier;
use crate::purge::Purge;
use crate::store::Store;

/// How long one reading of the stream waits for news; then the stream itself is looked after.
const BLOCK: Duration = Duration::from_millis(500);
/// Most that is read at once.
const BATCH: usize = 1000;
/// Until the next try to connect, at first; then twice as long each time, up to [`LONGEST_PAUSE`].
const PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

struct News {
    store: Weak<Store>,
    tier: Arc<SharedTier>,
    link: Link,
    telling: Rc<Telling>,
    heard: Rc<Heard>,
    /// The last heartbeat read.
    beats: Cell<Position>,
}

/// What the server's clock showed at a moment of ours, for telling how old a heartbeat is that was not heard as it came.
#[derive(Clone, Copy)]
struct Dial {
    millis: u64,
    at: Instant,
}

/// Hears for ever.
pub(crate) async fn listen(store: Weak<Store>, tier: Arc<SharedTier>, link: Link, telling: Rc<Telling>) {
    let heard = Heard::new();
    let news = News { store, tier, link, telling, heard, beats: Cell::default() };
    spawn_local(doubt(Weak::clone(&news.store), Arc::clone(&news.tier), Rc::clone(&news.heard)));
    let mut pause = PAUSE;
    let mut told = String::new();
    loop {
        let Err(error) = news.hear().await;
        let heard = news.tier.hears();
        news.tier.set_hears(false);
        if news.store.strong_count() == 0 {
            return;
        }
        if heard {
            (pause, told) = (PAUSE, String::new());
        }
        // Each reason once: a wrong password, then a server that is gone.
        let reason = error.to_string();
        if reason != told {
            tracing::warn!("purges of other instances are not heard for now: {reason}");
            told = reason;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

enum Never {}

impl News {
    /// Connects, catches up, and hears until something fails.
    async fn hear(&self) -> Result<Never> {
        let mut line = self.link.dedicated().await?;
        // Before anything can be dated by it.
        let dial = self.dial(&mut line).await?;
        if !self.has_followed(&mut line).await? {
            self.enter(&mut line).await?;
        }
        // What came while we were away, before anything is used.
        while self.read(&mut line, Some(dial)).await? == BATCH {}
        // Nobody misses whom nobody knows: known first, then part of it. Where Redis does not take that, `telling` says so.
        let known = self.telling.introduce(&self.tier, &self.link);
        drop(tokio::time::timeout(BLOCK, known).await);
        self.tier.set_hears(true);
        self.telling.tell_again(&self.tier);
        tracing::info!("purges of other instances are heard");
        let mut followed_at = Instant::now();
        loop {
            self.heard.everything();
            self.read(&mut line, None).await?;
            // Others' heartbeats come also where the stream of purges is gone.
            if followed_at.elapsed() >= BLOCK {
                if !self.has_followed(&mut line).await? {
                    return Err(lost("the stream of purges is gone"));
                }
                followed_at = self.dial(&mut line).await?.at;
            }
        }
    }

    /// Reads what comes behind what was heard last: with a dial what is there, without what comes. Tells how much it was.
    async fn read(&self, line: &mut Dedicated, dial: Option<Dial>) -> Result<usize> {
        let (purges, heartbeats) = (self.stream(), names::beats(&self.tier.plan().prefix));
        let heard = self.tier.positions().heard();
        let mut read = cmd("XREAD");
        read.arg("COUNT").arg(BATCH);
        if dial.is_none() {
            read.arg("BLOCK").arg(BLOCK.as_millis() as u64);
        }
        read.arg("STREAMS").arg(&purges).arg(&heartbeats);
        read.arg(heard.to_string()).arg(self.beats.get().to_string());
        let reply = self.ask(line, &read, if dial.is_none() { BLOCK } else { Duration::ZERO }).await?;
        let other = || lost("the stream of purges is something else");
        let mut most = 0;
        // Purges first, as they were asked for: a heartbeat vouches for those before it.
        for (name, entries) in streams(reply).ok_or_else(other)? {
            most = most.max(if name == heartbeats {
                self.attend(&entries, dial)?
            } else {
                let told = told(&entries).ok_or_else(other)?;
                self.take(&told)?;
                told.len()
            });
        }
        Ok(most)
    }

    /// Notes who has told everything, and when.
    fn attend(&self, entries: &Value, dial: Option<Dial>) -> Result<usize> {
        let beats = beats(entries).ok_or_else(|| lost("the stream of heartbeats is something else"))?;
        for beat in &beats {
            let at = dial.map_or_else(Instant::now, |dial| dial.moment(beat.position));
            self.heard.beat(beat, at, &self.tier);
            self.beats.set(beat.position);
        }
        Ok(beats.len())
    }

    /// Looks at the server's clock.
    async fn dial(&self, line: &mut Dedicated) -> Result<Dial> {
        let asked_at = Clock::now();
        let reply = self.ask(line, cmd("EVAL").arg(NOW).arg(1).arg(self.stream()), Duration::ZERO).await?;
        let number = |value: &Value| text(value).and_then(|text| text.parse::<u64>().ok());
        let millis = match &reply {
            Value::Array(parts) if parts.len() == 2 => number(&parts[0])
                .zip(number(&parts[1]))
                .and_then(|(seconds, micros)| seconds.checked_mul(1000)?.checked_add(micros / 1000)),
            _ => None,
        };
        let millis = millis.ok_or_else(|| lost("the server does not tell the time"))?;
        // Rather ahead of it than behind: what is done later must have a later date.
        self.tier.set_clock(asked_at, Timestamp::from_millis(millis + 1));
        Ok(Dial { millis, at: Instant::now() })
    }

    /// Puts in force what was told.
    fn take(&self, told: &[Told]) -> Result<()> {
        let Some(store) = self.store.upgrade() else { return Err(lost("we are shutting down")) };
        let now = Clock::now();
        // Held meanwhile, so that nobody reads an answer between the mark and its position.
        let mut positions = self.tier.positions();
        for Told { position, generation, message } in told {
            if *generation != positions.generation() {
                return Err(lost("another stream of purges has begun"));
            }
            let Some(Message { from, epoch, purge }) = message else {
                positions.pass(*position);
                continue;
            };
            let is_ours = *from == self.tier.instance;
            if !(is_ours && positions.tell_ours(*position, *epoch, *purge == Purge::EVERYTHING)) {
                let epoch = store.forget_here(purge, now);
                positions.tell(*position, epoch);
                self.tier.counters.purges_heard.fetch_add(1, Relaxed);
            }
        }
        Ok(())
    }

    /// Whether what we heard last is still in the stream, so that nothing behind it is missing.
    async fn has_followed(&self, line: &mut Dedicated) -> Result<bool> {
        let (known, heard) = {
            let positions = self.tier.positions();
            (positions.generation() != 0, positions.heard())
        };
        if !known || !self.is_same_life(line).await? {
            return Ok(false);
        }
        let mut range = cmd("XRANGE");
        range.arg(self.stream()).arg(heard.to_string()).arg(heard.to_string());
        let reply = self.ask(line, &range, Duration::ZERO).await?;
        Ok(told(&reply).is_some_and(|told| !told.is_empty()))
    }

    async fn is_same_life(&self, line: &mut Dedicated) -> Result<bool> {
        let name = names::generation(&self.tier.plan().prefix);
        let reply = self.ask(line, cmd("GET").arg(name), Duration::ZERO).await?;
        let generation = text(&reply).and_then(|text| text.parse().ok());
        Ok(generation == Some(self.tier.positions().generation()))
    }

    /// Enters the stream from its beginning, or begins it. What is in memory may have been purged without our hearing.
    async fn enter(&self, line: &mut Dedicated) -> Result<()> {
        let prefix = &self.tier.plan().prefix;
        let mut enter = cmd("EVAL");
        enter.arg(ENTER).arg(2).arg(names::purges(prefix)).arg(names::generation(prefix));
        let (known, heard) = {
            let positions = self.tier.positions();
            (positions.generation(), positions.heard())
        };
        // A number that no other life has; the life we know; and what we heard of it.
        enter.arg(Clock::date().as_millis() << 12 | self.tier.instance & 0xfff);
        enter.arg(known).arg(heard.to_string());
        let reply = self.ask(line, &enter, Duration::ZERO).await?;
        let Entered { generation, floor, is_whole } =
            entered(&reply).ok_or_else(|| lost("the stream of purges is something else"))?;
        let Some(store) = self.store.upgrade() else { return Err(lost("we are shutting down")) };
        self.tier.positions().begin(generation, floor);
        // All purges of a life that is whole are told to us now. What a disk kept from before this start is fine if it
        // was stored in that life.
        let disk = store.disk.as_ref();
        if known != 0 || disk.is_some_and(|disk| !is_whole || disk.life() != generation) {
            make_stale(&store, &self.tier);
        }
        if let Some(disk) = disk {
            disk.enter(generation);
        }
        Ok(())
    }

    fn stream(&self) -> String {
        names::purges(&self.tier.plan().prefix)
    }

    /// A command, whose reply may take as long as any, and so much more.
    async fn ask(&self, line: &mut Dedicated, command: &Cmd, more: Duration) -> Result<Value> {
        // A reply that comes late costs nothing here; a line given up costs a new one.
        const PATIENCE: Duration = Duration::from_secs(1);
        line.ask(command, more + self.tier.redis.plan().timeout.max(PATIENCE)).await
    }
}

impl Dial {
    /// When that was, of what came before this was read; a moment long past at the earliest.
    fn moment(self, position: Position) -> Instant {
        let age = Duration::from_millis(self.millis.saturating_sub(position.millis));
        self.at.checked_sub(age).unwrap_or(self.at)
    }
}

/// What came of entering the stream.
struct Entered {
    generation: u64,
    /// Its first entry's place.
    floor: Position,
    /// Nothing has been dropped from it.
    is_whole: bool,
}

fn entered(reply: &Value) -> Option<Entered> {
    let Value::Array(parts) = reply else { return None };
    let [generation, first, whole] = parts.as_slice() else { return None };
    Some(Entered {
        generation: text(generation)?.parse().ok()?,
        floor: position(text(first)?.as_bytes())?,
        is_whole: *whole == Value::Int(1),
    })
}

fn lost(why: &'static str) -> Error {
    Error::new(Kind::BrokeOff, why)
}
