//! Telling: our purges on their way to the other instances, in order, each until Redis has it. Fed by `thread`.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use redis_link::{Link, Value, pipe};
use tokio::sync::Notify;

use super::message::Message;
use super::names;
use super::scripts::TELL;
use super::tier::SharedTier;
use crate::purge::Purge;

/// See the module.
#[derive(Default)]
pub(crate) struct Telling {
    queue: RefCell<Queue>,
    added: Notify,
}

/// Purges in order. Those that Redis has got stay in front until they are heard back: a server that fails may take them
/// with it.
#[derive(Default)]
struct Queue {
    messages: VecDeque<Message>,
    told: usize,
}

/// Purges that wait while Redis is gone. More are told as one of everything.
const MOST: usize = 10_000;
/// Most that are told in one round trip.
const BATCH: usize = 100;
/// Purges that the stream keeps, about: instances that start later compare what lies in Redis with them.
const KEPT: usize = 65_536;
/// Until the next try.
const PAUSE: Duration = Duration::from_millis(50);

impl Telling {
    pub(crate) fn add(&self, message: Message) {
        self.queue.borrow_mut().add(message);
        self.added.notify_one();
    }

    /// The stream has been joined (again), and what it has of us was heard: what it lacks is told once more.
    pub(crate) fn tell_again(&self, tier: &SharedTier) {
        let positions = tier.positions();
        let mut queue = self.queue.borrow_mut();
        queue.forget_heard(|epoch| positions.awaits(epoch));
        queue.told = 0;
        self.added.notify_one();
    }

    /// Tells whatever is added, for ever.
    pub(crate) async fn tell_on(self: Rc<Self>, tier: Arc<SharedTier>, link: Link) {
        loop {
            let next = self.queue.borrow().next();
            if next.is_empty() {
                self.added.notified().await;
                continue;
            }
            if tell(&tier, &link, &next).await {
                tier.counters.purges_told.fetch_add(next.len() as u64, Relaxed);
                let positions = tier.positions();
                let mut queue = self.queue.borrow_mut();
                queue.tell(&next);
                queue.forget_heard(|epoch| positions.awaits(epoch));
            } else {
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

impl Queue {
    fn add(&mut self, message: Message) {
        if self.messages.len() >= MOST {
            *self = Queue::default();
            self.messages.push_back(Message { purge: Purge::EVERYTHING, ..message });
        } else {
            self.messages.push_back(message);
        }
    }

    fn next(&self) -> Vec<Message> {
        self.messages.iter().skip(self.told).take(BATCH).cloned().collect()
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

/// Whether they are told. They are not while Redis is gone, or while the life of the stream is not known. Some may have
/// been told all the same: told twice they purge twice.
async fn tell(tier: &SharedTier, link: &Link, messages: &[Message]) -> bool {
    let generation = tier.positions().generation();
    if generation == 0 {
        return false;
    }
    let prefix = &tier.plan().prefix;
    let (stream, life) = (names::purges(prefix), names::generation(prefix));
    let mut pipeline = pipe();
    for message in messages {
        let eval = pipeline.cmd("EVAL").arg(TELL).arg(2).arg(&stream).arg(&life).arg(generation).arg(KEPT);
        for (name, value) in message.to_fields() {
            eval.arg(name).arg(value);
        }
    }
    let replies = link.ask_all(&pipeline).await;
    replies.is_ok_and(|replies| {
        replies.len() == messages.len() && replies.iter().all(|reply| matches!(reply, Value::BulkString(_)))
    })
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
        (1..=3).for_each(|epoch| queue.add(message(epoch)));
        let next = queue.next();
        queue.tell(&next);
        queue.add(message(4));
        assert_eq!(epochs(&queue), [4]);
        queue.forget_heard(|epoch| epoch > 1);
        queue.told = 0;
        assert_eq!(epochs(&queue), [2, 3, 4]);
    }

    #[test]
    fn too_many_are_told_as_one_of_everything() {
        let mut queue = Queue::default();
        (1..=MOST as u64).for_each(|epoch| queue.add(message(epoch)));
        let under_way = queue.next();
        queue.add(message(77_777));
        queue.tell(&under_way);
        assert_eq!(queue.next(), [Message { purge: Purge::EVERYTHING, ..message(77_777) }]);
    }
}
