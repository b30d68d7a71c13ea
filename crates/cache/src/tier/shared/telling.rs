//! Telling: our purges on their way to the other instances, in order, each until Redis has it; and, when all are told, a
//! heartbeat that says so. Fed by `thread`.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use redis_link::{Link, Value, pipe};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::attendance::interval;
use super::message::Message;
use super::names;
use super::scripts::{BEAT, TELL};
use super::taken::PATIENCE;
use super::tier::SharedTier;
use crate::purge::Purge;

/// See the module.
#[derive(Default)]
pub(crate) struct Telling {
    queue: RefCell<Queue>,
    added: Notify,
    /// The stream was joined (again): no pause need be kept.
    joined: Notify,
    /// The next heartbeat is the last.
    leaves: Cell<bool>,
}

/// Purges in order. Those that Redis has got stay in front until they are heard back: a server that fails may take them
/// with it.
#[derive(Default)]
struct Queue {
    messages: VecDeque<Message>,
    told: usize,
}

/// What goes to Redis in one round trip.
struct Letter {
    messages: Vec<Message>,
    /// Behind these, a heartbeat: nothing else is left to tell.
    beat: Option<Beat>,
}

#[derive(Clone, Copy, PartialEq)]
enum Beat {
    Another,
    Last,
}

/// Purges that wait while Redis is gone. More are told as one of everything.
const MOST: usize = 10_000;
/// Most that are told in one round trip.
const BATCH: usize = 100;
/// Purges that the stream keeps, about: instances that start later compare what lies in Redis with them.
const KEPT: usize = 65_536;
/// The same for heartbeats: enough to know who is missing.
const KEPT_BEATS: usize = 4096;
/// Until the next try, at first; then twice as long each time, up to [`LONGEST_PAUSE`].
const PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

impl Telling {
    pub(crate) fn add(&self, message: Message, tier: &SharedTier) {
        let mut queue = self.queue.borrow_mut();
        let folded = queue.add(message);
        if folded > 0 {
            tier.counters.purges_folded.fetch_add(folded as u64, Relaxed);
            tracing::warn!(
                "{folded} purges wait to be told to the other instances: they will be told as one of everything"
            );
        }
        tier.taken.added(queue.untold());
        self.added.notify_one();
    }

    /// Tells what is left, and then that this instance is leaving.
    pub(crate) fn leave(&self) {
        self.leaves.set(true);
        self.added.notify_one();
    }

    /// The stream has been joined (again), and what it has of us was heard: what it lacks is told once more.
    pub(crate) fn tell_again(&self, tier: &SharedTier) {
        let positions = tier.positions();
        let mut queue = self.queue.borrow_mut();
        queue.forget_heard(|epoch| positions.awaits(epoch));
        queue.told = 0;
        self.joined.notify_one();
        self.added.notify_one();
    }

    /// A heartbeat at once, where nothing is to be told nor heard back, so that the others know of this instance before it
    /// uses what they share.
    pub(crate) async fn introduce(&self, tier: &SharedTier, link: &Link) {
        if self.queue.borrow().messages.is_empty() {
            drop(send(tier, link, &self.letter(true)).await);
        }
    }

    /// Tells whatever is added, until it leaves.
    pub(crate) async fn tell_on(self: Rc<Self>, tier: Arc<SharedTier>, link: Link) {
        let every = interval(tier.plan().unheard);
        let (mut beat_at, mut pause, mut has_complained) = (Instant::now(), PAUSE, false);
        loop {
            let letter = self.letter(Instant::now() >= beat_at);
            if letter.is_empty() {
                tokio::select! {
                    () = self.added.notified() => {}
                    () = tokio::time::sleep_until(beat_at) => {}
                }
                continue;
            }
            let tried = Instant::now();
            let sent = tokio::time::timeout(PATIENCE.min(every), send(&tier, &link, &letter)).await;
            match sent.unwrap_or_else(|_| Err("Redis does not answer in time".to_owned())) {
                Ok(()) => {
                    self.sent(&tier, &letter);
                    if std::mem::take(&mut has_complained) {
                        tracing::info!("Redis takes what this instance purges again, and tells the others");
                    }
                    pause = PAUSE;
                    match letter.beat {
                        Some(Beat::Last) => return tier.taken.leave(),
                        Some(Beat::Another) => beat_at = tried + every,
                        None => {}
                    }
                }
                Err(why) => {
                    tier.taken.refused(tried, why);
                    if let Some(why) = tier.taken.overdue().filter(|_| !has_complained) {
                        has_complained = true;
                        tracing::warn!(
                            "Redis does not take what this instance purges, so the others do not hear of it: {why}"
                        );
                    }
                    tokio::select! {
                        () = tokio::time::sleep(pause) => {}
                        () = self.joined.notified() => {}
                    }
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
    }

    fn letter(&self, is_due: bool) -> Letter {
        let queue = self.queue.borrow();
        let messages = queue.next();
        let is_all = messages.len() == queue.untold();
        let beat = if self.leaves.get() { Some(Beat::Last) } else { is_due.then_some(Beat::Another) };
        Letter { messages, beat: beat.filter(|_| is_all) }
    }

    fn sent(&self, tier: &SharedTier, letter: &Letter) {
        tier.counters.purges_told.fetch_add(letter.messages.len() as u64, Relaxed);
        let positions = tier.positions();
        let mut queue = self.queue.borrow_mut();
        queue.tell(&letter.messages);
        queue.forget_heard(|epoch| positions.awaits(epoch));
        tier.taken.took(letter.messages.last().map_or(0, |message| message.epoch), queue.untold());
    }
}

impl Letter {
    fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.beat.is_none()
    }
}

impl Queue {
    /// Says how many had to be taken together.
    fn add(&mut self, message: Message) -> usize {
        if self.messages.len() < MOST {
            self.messages.push_back(message);
            return 0;
        }
        *self = Queue::default();
        self.messages.push_back(Message { purge: Purge::EVERYTHING, ..message });
        MOST + 1
    }

    fn next(&self) -> Vec<Message> {
        self.messages.iter().skip(self.told).take(BATCH).cloned().collect()
    }

    fn untold(&self) -> usize {
        self.messages.len() - self.told
    }

    /// These are told, unless they were taken together with others meanwhile, or are to be told once more.
    fn tell(&mut self, told: &[Message]) {
        for message in told {
            self.told += usize::from(self.messages.get(self.told) == Some(message));
        }
    }

    fn forget_heard(&mut self, awaits: impl Fn(u64) -> bool) {
        while self.told > 0 && self.messages.front().is_some_and(|message| !awaits(message.epoch)) {
            self.messages.pop_front();
            self.told -= 1;
        }
    }
}

/// Sends it; the error says why not all was taken. Some may have been told all the same: told twice they purge twice.
async fn send(tier: &SharedTier, link: &Link, letter: &Letter) -> Result<(), String> {
    let generation = tier.positions().generation();
    if generation == 0 {
        return Err("the stream of purges has not been joined yet".to_owned());
    }
    let prefix = &tier.plan().prefix;
    let (stream, life) = (names::purges(prefix), names::generation(prefix));
    let mut pipeline = pipe();
    for message in &letter.messages {
        let eval = pipeline.cmd("EVAL").arg(TELL).arg(2).arg(&stream).arg(&life).arg(generation).arg(KEPT);
        for (name, value) in message.to_fields() {
            eval.arg(name).arg(value);
        }
    }
    if let Some(beat) = letter.beat {
        let last = u8::from(beat == Beat::Last);
        let eval = pipeline.cmd("EVAL").arg(BEAT).arg(3).arg(&stream).arg(&life).arg(names::beats(prefix));
        eval.arg(generation).arg(KEPT_BEATS).arg(tier.instance).arg(last);
    }
    let sent = letter.messages.len() + usize::from(letter.beat.is_some());
    let replies = link.ask_all(&pipeline).await.map_err(|error| error.to_string())?;
    let is_taken = |reply: &Value| matches!(reply, Value::BulkString(_));
    if replies.len() == sent && replies.iter().all(is_taken) {
        return Ok(());
    }
    Err("the stream of purges has begun anew".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::purge::Scope;

    fn message(epoch: u64) -> Message {
        Message { from: 1, epoch, purge: Purge { scope: Scope::Tag("t".into()), soft: false } }
    }

    fn epochs(queue: &Queue) -> Vec<u64> {
        queue.next().iter().map(|message| message.epoch).collect()
    }

    #[test]
    fn what_is_told_and_not_heard_back_is_told_again() {
        let mut queue = Queue::default();
        assert!((1..=3).all(|epoch| queue.add(message(epoch)) == 0));
        let next = queue.next();
        queue.tell(&next);
        assert_eq!(queue.add(message(4)), 0);
        assert_eq!(epochs(&queue), [4]);
        queue.forget_heard(|epoch| epoch > 1);
        queue.told = 0;
        assert_eq!(epochs(&queue), [2, 3, 4]);
    }

    #[test]
    fn too_many_are_told_as_one_of_everything() {
        let mut queue = Queue::default();
        assert!((1..=MOST as u64).all(|epoch| queue.add(message(epoch)) == 0));
        let under_way = queue.next();
        assert_eq!(queue.add(message(77_777)), MOST + 1);
        queue.tell(&under_way);
        assert_eq!(queue.next(), [Message { purge: Purge::EVERYTHING, ..message(77_777) }]);
    }
}
