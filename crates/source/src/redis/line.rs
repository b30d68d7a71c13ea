//! Line: one Redis as one core reads from it. In: a read and its arguments. Out: an answer: held, asked for, or what
//! was so lately where Redis is gone.
//!
//! ```text
//! tracked:  held ──► answer            miss ─► ticket ─► ask ─► insert ─► answer
//! replica:  in step ─► replica ─┐                  └─ gone ─► held, stale
//! central: ─────────────────────┴─► ask ─► answer  └─ gone ─► remembered, or the replica as it was
//! ```

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use message::{CacheStatus, Clock, Error, Fwd, Kind, Result, Timestamp};
use plan::{Read, Topology};
use redis_link::Link;
use tracked::Inserted;

use super::ask::{Outcome, ask, ask_together};
use super::kept_answer::KeptAnswer;
use super::shared_redis::{Mode, SharedRedis};
use super::tracked_answers::TrackedAnswers;
use crate::read::{AnsweredRead, ReadAsked, Scratch};

/// See the module. Clones share the connections.
#[derive(Clone)]
pub struct RedisLine {
    shared: Arc<SharedRedis>,
    /// With the life of the tracking line in which it was made: see [`RedisLine::primary`].
    primary: Rc<RefCell<(u64, Link)>>,
    replica: Option<Link>,
}

impl RedisLine {
    /// One core's way to it. Nothing is connected before the first read.
    pub fn new(shared: Arc<SharedRedis>) -> Self {
        let primary = Rc::new(RefCell::new((0, Link::new(Arc::clone(&shared.primary)))));
        let replica = match &shared.mode {
            Mode::Replica { replica, .. } => Some(Link::new(Arc::clone(replica))),
            Mode::Central | Mode::Tracked(_) => None,
        };
        RedisLine { shared, primary, replica }
    }

    /// What it shares with those of other cores.
    pub fn shared(&self) -> &Arc<SharedRedis> {
        &self.shared
    }

    /// Whether it holds what it has read.
    pub(crate) fn holds(&self) -> bool {
        matches!(self.shared.mode, Mode::Tracked(_))
    }

    /// What is held for the arguments in `scratch`, which has their key afterwards.
    pub(crate) fn fresh(&self, read: &Read, now: Timestamp, scratch: &mut Scratch) -> Option<AnsweredRead> {
        let Mode::Tracked(held) = &self.shared.mode else { return None };
        read.key(&scratch.arguments, &mut scratch.key);
        let kept = held.get(&scratch.key, now)?;
        let cache = Some(hit(&kept, now));
        Some(AnsweredRead { rendered: kept.rendered, until: kept.until, stale: None, cache })
    }

    /// Answers. `scratch` has the arguments.
    pub(crate) async fn answer(&self, read: &Read, scratch: &mut Scratch) -> Result<AnsweredRead> {
        read.key(&scratch.arguments, &mut scratch.key);
        match &self.shared.mode {
            Mode::Tracked(held) if read.keys(&scratch.arguments).all(|key| held.covers(key)) => {
                self.tracked(held, read, scratch).await
            }
            // Redis does not tell about it, or nobody listens: nothing is held.
            Mode::Central | Mode::Replica { .. } | Mode::Tracked(_) => self.asked(read, scratch).await,
        }
    }

    /// Answers several reads at once. `None`: not all of them can go there together, or that failed as a whole; then each
    /// is for itself.
    pub(crate) async fn answer_together(&self, asked: &[ReadAsked]) -> Option<Vec<Result<AnsweredRead>>> {
        let is_cluster = matches!(self.shared.plan.topology, Topology::Cluster(_));
        if !matches!(self.shared.mode, Mode::Central) || is_cluster {
            return None;
        }
        let kept = ask_together(&self.primary(), asked).await?;
        let answered = asked.iter().zip(kept).map(|(asked, kept)| {
            let kept = kept?;
            if let Some(remembered) = &self.shared.remembered {
                let mut key = Vec::new();
                asked.read.key(&asked.arguments, &mut key);
                remembered.put(&key, kept.clone());
            }
            Ok(AnsweredRead { rendered: kept.rendered, until: kept.until, stale: None, cache: None })
        });
        Some(answered.collect())
    }

    async fn tracked(&self, held: &TrackedAnswers, read: &Read, scratch: &Scratch) -> Result<AnsweredRead> {
        let now = Clock::now();
        if let Some(kept) = held.get(&scratch.key, now) {
            let cache = Some(hit(&kept, now));
            return Ok(AnsweredRead { rendered: kept.rendered, until: kept.until, stale: None, cache });
        }
        let ticket = held.begin(read.keys(&scratch.arguments));
        match ask(&self.primary(), read, &scratch.arguments).await {
            Outcome::Found(kept) => {
                let stored = held.insert(ticket, &scratch.key, kept.clone());
                let status = CacheStatus::forward(Fwd::UriMiss);
                let cache = match stored {
                    Inserted::Kept => CacheStatus { stored: true, ..status },
                    Inserted::Outdated => status.because("changed-meanwhile"),
                    Inserted::NotLive => CacheStatus::forward(Fwd::Bypass).because("not-told"),
                    Inserted::TooLarge => status.because("too-large"),
                };
                Ok(AnsweredRead {
                    rendered: kept.rendered,
                    until: kept.until,
                    stale: None,
                    cache: Some(cache),
                })
            }
            Outcome::Unusable(error) => Err(error),
            Outcome::Gone(error) => match held.stale(&scratch.key, Clock::now()) {
                Some((kept, age)) => Ok(stands_in(kept, age)),
                None => Err(self.unavailable(error)),
            },
        }
    }

    async fn asked(&self, read: &Read, scratch: &Scratch) -> Result<AnsweredRead> {
        let in_step = match &self.shared.mode {
            Mode::Replica { standing, .. } => {
                self.replica.as_ref().filter(|_| standing.is_in_step(Clock::now()))
            }
            Mode::Central | Mode::Tracked(_) => None,
        };
        let mut outcome = match in_step {
            Some(replica) => ask(replica, read, &scratch.arguments).await,
            None => ask(&self.primary(), read, &scratch.arguments).await,
        };
        if in_step.is_some() && matches!(outcome, Outcome::Gone(_)) {
            outcome = ask(&self.primary(), read, &scratch.arguments).await;
        }
        match outcome {
            Outcome::Found(kept) => {
                if let Some(remembered) = &self.shared.remembered {
                    remembered.put(&scratch.key, kept.clone());
                }
                Ok(AnsweredRead { rendered: kept.rendered, until: kept.until, stale: None, cache: None })
            }
            Outcome::Unusable(error) => Err(error),
            Outcome::Gone(error) => self.without(read, scratch).await.ok_or_else(|| self.unavailable(error)),
        }
    }

    /// What stands in for a Redis that is gone: the replica as it was, or what was read last, whichever is younger.
    async fn without(&self, read: &Read, scratch: &Scratch) -> Option<AnsweredRead> {
        let now = Clock::now();
        let remembered =
            self.shared.remembered.as_ref().and_then(|remembered| remembered.get(&scratch.key, now));
        if let (Mode::Replica { standing, .. }, Some(replica)) = (&self.shared.mode, &self.replica)
            && let Some(age) = standing.stands_in(now, self.shared.plan.max_stale)
            && remembered.as_ref().is_none_or(|(_, other)| age < *other)
            && let Outcome::Found(kept) = ask(replica, read, &scratch.arguments).await
        {
            return Some(stands_in(kept, age));
        }
        remembered.map(|(kept, age)| stands_in(kept, age))
    }

    /// The way to the server, made anew with each life of the tracking line where Sentinels say who the master is: what
    /// is read must come from whoever tells when it changes.
    fn primary(&self) -> Link {
        let mut primary = self.primary.borrow_mut();
        if let (Mode::Tracked(held), Topology::Sentinel { .. }) =
            (&self.shared.mode, &self.shared.plan.topology)
            && primary.0 != held.life()
        {
            *primary = (held.life(), Link::new(Arc::clone(&self.shared.primary)));
        }
        primary.1.clone()
    }

    fn unavailable(&self, error: Error) -> Error {
        // The log has details only, and the reason is what whoever reads it looks for.
        Error::new(Kind::ReadUnavailable, format!("source {} is unavailable: {error}", self.shared.plan.name))
    }
}

fn hit(kept: &KeptAnswer, now: Timestamp) -> CacheStatus {
    let ttl = kept.until.map(|until| i64::try_from(until.since(now).as_secs()).unwrap_or(i64::MAX));
    CacheStatus { hit: true, ttl, ..CacheStatus::default() }
}

fn stands_in(kept: KeptAnswer, age: std::time::Duration) -> AnsweredRead {
    // A second too many rather than none: it is stale from the first moment on.
    let seconds = i64::try_from(age.as_secs()).unwrap_or(i64::MAX).saturating_add(1);
    let cache =
        CacheStatus { hit: true, ttl: Some(-seconds), ..CacheStatus::default() }.because("redis-gone");
    AnsweredRead { rendered: kept.rendered, until: kept.until, stale: Some(age), cache: Some(cache) }
}
