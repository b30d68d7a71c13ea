//! Replica: whether the replica nearby is in step with its primary. One task for all cores looks at both every now and
//! then and says until when the replica may be asked; so nothing has to be told when the task itself is late.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use message::{Clock, Timestamp};
use redis_link::{Link, Value, cmd};

use super::lag::Lag;
use super::replication::Replication;

/// How often both are looked at: four times within what is allowed, but no more than this.
const LEAST_PAUSE: Duration = Duration::from_millis(25);
/// And no less.
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

/// What all cores know of the replica. Moments are milliseconds as [`Timestamp`]; zero: none.
#[derive(Debug, Default)]
pub(super) struct Standing {
    /// Until then it is certainly no further behind than allowed.
    in_step_until: AtomicU64,
    /// It has all that its primary had then.
    has_all_of: AtomicU64,
    /// How far it had come when that was found.
    come_to: AtomicU64,
    /// Whether what it has is an older state of what the primary has, and no other.
    may_stand_in: AtomicBool,
}

impl Standing {
    /// Whether it may be asked in place of the primary.
    pub(super) fn is_in_step(&self, now: Timestamp) -> bool {
        now.as_millis() < self.in_step_until.load(Relaxed)
    }

    /// How old what it has is at most, where it may be asked because the primary is gone.
    pub(super) fn stands_in(&self, now: Timestamp, max_stale: Duration) -> Option<Duration> {
        let has_all_of = self.has_all_of.load(Relaxed);
        let age = now.since(Timestamp::from_millis(has_all_of));
        (has_all_of > 0 && self.may_stand_in.load(Relaxed) && age <= max_stale).then_some(age)
    }

    fn found(&self, lag: &Lag, near: Option<&Replication>, now: Timestamp, max_lag: Duration) {
        let (is_linked, place) = match near {
            Some(Replication::Replica { is_linked, place: Some(place) }) => (*is_linked, Some(place)),
            Some(_) => (false, None),
            // Nothing is known beyond what was: a moment ends by itself.
            None => return self.in_step_until.store(0, Relaxed),
        };
        let behind = place.and_then(|place| lag.of_replica(place, now));
        self.may_stand_in.store(place.is_some_and(|place| lag.is_of(place)), Relaxed);
        let until = if let Some(behind) = behind {
            // Also where that is less than it was: a server that was killed starts with what its file has.
            self.has_all_of.store(now.minus(behind).as_millis(), Relaxed);
            self.come_to.store(place.map_or(0, |place| place.offset), Relaxed);
            if is_linked && behind <= max_lag {
                now + max_lag.saturating_sub(behind)
            } else {
                Timestamp::default()
            }
        } else {
            if place.is_none_or(|place| place.offset < self.come_to.load(Relaxed)) {
                self.has_all_of.store(0, Relaxed);
            }
            Timestamp::default()
        };
        self.in_step_until.store(until.as_millis(), Relaxed);
    }
}

/// Looks at both for ever.
pub(super) async fn watch(
    primary: Arc<redis_link::SharedLink>,
    replica: Arc<redis_link::SharedLink>,
    standing: Arc<Standing>,
    max_lag: Duration,
) {
    let name = primary.plan().name.clone();
    let (primary, replica) = (Link::new(primary), Link::new(replica));
    let pause = (max_lag / 4).clamp(LEAST_PAUSE, LONGEST_PAUSE);
    let mut lag = Lag::default();
    let mut was_in_step = None;
    loop {
        // Before it is asked: what it had then is no more than what it says.
        let asked_at = Clock::now();
        let (main, near) = tokio::join!(look(&primary), look(&replica));
        if let Some(Replication::Master(place)) = &main {
            lag.primary_at(place, asked_at);
        }
        let now = Clock::now();
        standing.found(&lag, near.as_ref(), now, max_lag);
        let is_in_step = standing.is_in_step(now);
        if was_in_step != Some(is_in_step) {
            if is_in_step {
                tracing::info!("source {name}: the replica is in step, and read from");
            } else {
                tracing::warn!("source {name}: the replica is not in step, and not read from");
            }
            was_in_step = Some(is_in_step);
        }
        tokio::time::sleep(pause).await;
    }
}

async fn look(link: &Link) -> Option<Replication> {
    let reply = link.ask(cmd("INFO").arg("replication")).await;
    let text = match reply.inspect_err(|error| tracing::debug!("{error}")).ok()? {
        Value::BulkString(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Value::VerbatimString { text, .. } | Value::SimpleString(text) => text,
        _ => return None,
    };
    Replication::parse(&text)
}

#[cfg(test)]
mod tests {
    use super::super::replication::Place;
    use super::*;

    const MAX_LAG: Duration = Duration::from_millis(400);

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn place(offset: u64) -> Place {
        Place { stream: "a".to_owned(), offset }
    }

    fn near(is_linked: bool, offset: u64) -> Replication {
        Replication::Replica { is_linked, place: Some(place(offset)) }
    }

    #[test]
    fn it_is_asked_until_it_could_be_too_far_behind() {
        let (standing, mut lag) = (Standing::default(), Lag::default());
        assert!(!standing.is_in_step(at(1)), "nothing is known at first");
        lag.primary_at(&place(10), at(1000));
        standing.found(&lag, Some(&near(true, 10)), at(1010), MAX_LAG);
        assert!(standing.is_in_step(at(1399)));
        assert!(!standing.is_in_step(at(1400)), "should nobody look again");
    }

    #[test]
    fn whoever_is_behind_unlinked_or_a_master_is_not_asked() {
        let mut lag = Lag::default();
        lag.primary_at(&place(10), at(1000));
        lag.primary_at(&place(20), at(1500));
        let other = Place { stream: "b".to_owned(), offset: 20 };
        for wrong in [
            Some(near(false, 20)),
            Some(near(true, 10)),
            Some(Replication::Replica { is_linked: true, place: None }),
            Some(Replication::Replica { is_linked: true, place: Some(other) }),
            Some(Replication::Master(place(20))),
            None,
        ] {
            let standing = Standing::default();
            standing.found(&lag, Some(&near(true, 20)), at(1510), MAX_LAG);
            assert!(standing.is_in_step(at(1510)));
            standing.found(&lag, wrong.as_ref(), at(1511), MAX_LAG);
            assert!(!standing.is_in_step(at(1511)), "{wrong:?}");
        }
    }

    #[test]
    fn it_stands_in_with_what_it_had() {
        let (standing, mut lag) = (Standing::default(), Lag::default());
        lag.primary_at(&place(10), at(1000));
        standing.found(&lag, Some(&near(true, 10)), at(1010), MAX_LAG);
        standing.found(&lag, Some(&near(false, 10)), at(5000), MAX_LAG);
        let most = Duration::from_secs(10);
        assert_eq!(standing.stands_in(at(6000), most), Some(Duration::from_secs(5)));
        assert_eq!(standing.stands_in(at(11_001), most), None);
        standing.found(&lag, Some(&Replication::Master(place(10))), at(6001), MAX_LAG);
        assert_eq!(standing.stands_in(at(6002), most), None, "it goes its own way now");
    }

    /// Killed and started again, it has what its file has, which may be of long ago.
    #[test]
    fn a_replica_that_went_back_stands_in_with_what_it_has_now() {
        let (standing, mut lag) = (Standing::default(), Lag::default());
        let most = Duration::from_secs(10);
        lag.primary_at(&place(10), at(1000));
        lag.primary_at(&place(20), at(5000));
        standing.found(&lag, Some(&near(true, 20)), at(5010), MAX_LAG);
        standing.found(&lag, Some(&near(false, 10)), at(6000), MAX_LAG);
        assert_eq!(standing.stands_in(at(6000), most), Some(Duration::from_secs(5)), "of that moment");
        standing.found(&lag, Some(&near(false, 9)), at(6001), MAX_LAG);
        assert_eq!(standing.stands_in(at(6001), most), None, "older than anything that is known");
    }

    #[test]
    fn what_it_had_is_remembered_longer_than_the_moments_are() {
        let (standing, mut lag) = (Standing::default(), Lag::default());
        lag.primary_at(&place(10), at(1000));
        standing.found(&lag, Some(&near(true, 10)), at(1010), MAX_LAG);
        for offset in 11..10_000 {
            lag.primary_at(&place(offset), at(1000 + offset));
        }
        standing.found(&lag, Some(&near(false, 10)), at(12_000), MAX_LAG);
        let age = standing.stands_in(at(12_000), Duration::from_mins(1));
        assert_eq!(age, Some(Duration::from_secs(11)));
    }
}
