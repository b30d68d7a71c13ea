//! Joint: a limit that all instances count together, in a Redis. In: a core's way there, and what a call counts against. Out: what is
//! said of the call, within the time that the plan gives a reply. Shared by all cores; used by `limit`. A task on the control
//! thread ([`heartbeat`]) says that this instance is there, and finds a Redis that is back.
//!
//! `script` is what runs in Redis, `names` what things are called there, `markers` how a Redis that lost them is noticed. What is done
//! while Redis cannot be asked is decided by [`guard::Joint`]. Why it is so: decision 0024.

mod markers;
mod names;
mod script;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::{Duration, Instant};

use guard::{Count, Delays, Joint, JointQuota, LimitDecision, Way};
use message::{Error, Kind, Result};
use plan::{Algorithm, WhenGone};
use redis_link::{Link, Value};

use super::TOO_MANY;
use crate::remedies::queue::Queue;
use crate::stack::explain::{Then, Told, spoken};
use markers::Markers;
use names::Names;
use script::Script;

/// How often an instance says that it is there.
const BEAT: Duration = Duration::from_secs(1);
/// A marker is kept for no shorter.
const KEEP: Duration = Duration::from_hours(24);

/// See the module.
#[derive(Debug)]
pub struct JointLimit {
    shared: plan::SharedLimit,
    policy: String,
    algorithm: Algorithm,
    quota: JointQuota,
    joint: Joint,
    names: Names,
    markers: Markers,
    count: Script,
    heartbeat: Script,
    /// What tells this instance from the others.
    instance: u64,
}

/// What is said of a call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Said {
    /// By all instances together.
    Together(LimitDecision),
    /// By this one for itself.
    Alone(LimitDecision),
    /// It passes, and is not counted.
    Uncounted,
    /// It is refused, since nobody can count it.
    Unavailable,
}

impl Said {
    /// What it is refused with, for now.
    pub(super) fn refused(self) -> Option<LimitDecision> {
        match self {
            Said::Together(decision) | Said::Alone(decision) => Some(decision).filter(|it| !it.is_allowed),
            Said::Uncounted | Said::Unavailable => None,
        }
    }
}

impl JointLimit {
    pub(super) fn new(limit: &plan::Limit, shared: &plan::SharedLimit) -> Self {
        use std::hash::BuildHasher;
        let (allowance, redis) = (limit.allowance(), &shared.redis);
        let quota = JointQuota::new(&allowance);
        let lag = redis.rest + redis.connect_timeout + redis.timeout + BEAT;
        let window = Duration::from_micros(quota.window());
        JointLimit {
            policy: limit.name.clone(),
            algorithm: limit.algorithm,
            quota,
            joint: Joint::new(allowance, limit.keys, Delays { answer: redis.timeout, lag }),
            names: Names::of(limit, shared),
            markers: Markers::new(KEEP.max(window.saturating_mul(2))),
            count: Script::counting(limit.algorithm),
            heartbeat: Script::heartbeat(),
            // A hasher's seed is as random as a number drawn needs to be.
            instance: foldhash::quality::RandomState::default().hash_one(std::process::id()) | 1,
            shared: shared.clone(),
        }
    }

    /// What the plan says of it.
    pub fn plan(&self) -> &plan::SharedLimit {
        &self.shared
    }

    /// Whether calls are counted in Redis now.
    pub fn is_together(&self) -> bool {
        self.joint.is_together()
    }

    /// How many instances were seen lately.
    pub fn instances(&self) -> u64 {
        self.joint.instances()
    }

    pub(super) fn keys(&self) -> (u64, u64) {
        self.joint.keys()
    }

    /// Counts a call.
    pub(super) async fn take(&self, link: &Link, key: &[u8]) -> Said {
        let now = Instant::now();
        let is_local = self.shared.when_gone == WhenGone::Local;
        let spent_at = match self.joint.way(now) {
            Way::Alone => return self.gone(key, now),
            // Otherwise nothing was counted alone.
            Way::Settling(limits) if is_local => {
                let own = limits.take(key, now);
                if !own.is_allowed {
                    return Said::Alone(own);
                }
                0
            }
            Way::Together(spent_at) if is_local => spent_at,
            Way::Together(_) | Way::Settling(_) => 0,
        };
        match self.count(link, key, spent_at).await {
            Ok(decision) => {
                self.joint.answered(Instant::now());
                Said::Together(decision)
            }
            Err(error) => {
                self.failed(&error);
                self.gone(key, Instant::now())
            }
        }
    }

    /// Nobody knows whether the call was counted: if it was, one is lost.
    fn gone(&self, key: &[u8], now: Instant) -> Said {
        match self.shared.when_gone {
            WhenGone::Local => Said::Alone(self.joint.take_alone(key, now).unwrap_or_else(|| self.unasked())),
            WhenGone::Refuse => Said::Unavailable,
            WhenGone::Allow => Said::Uncounted,
        }
    }

    /// What is said of a call that nobody could be asked about; in a moment somebody may be.
    pub(super) fn unasked(&self) -> LimitDecision {
        let reset = Duration::from_micros(self.quota.window());
        LimitDecision { is_allowed: false, remaining: 0, reset, retry_after: BEAT }
    }

    fn failed(&self, error: &Error) {
        if self.joint.failed(Instant::now()) {
            let does = match self.shared.when_gone {
                WhenGone::Local => "this instance keeps to its part of the limit",
                WhenGone::Refuse => "calls are refused",
                WhenGone::Allow => "calls pass uncounted",
            };
            tracing::warn!("policy {}: the shared limit cannot be counted: {does}; {error}", self.policy);
        }
    }

    async fn count(&self, link: &Link, key: &[u8], spent_at: u64) -> Result<LimitDecision> {
        let names = self.names.counted(key);
        let known = self.markers.known(names.part, Instant::now());
        let arguments = self.arguments(known, spent_at);
        let arguments: Vec<&[u8]> = arguments.iter().map(String::as_bytes).collect();
        let reply = self.run(link, &self.count, &[&names.count, &names.marker], &arguments).await?;
        let (marker, count) = read(&reply).ok_or_else(|| self.unusable())?;
        self.markers.see(names.part, marker, Instant::now());
        Ok(self.quota.decision(&count))
    }

    /// What the script of the algorithm takes.
    fn arguments(&self, known: Option<u64>, spent_at: u64) -> Vec<String> {
        let mut arguments = vec![
            self.quota.window().to_string(),
            known.map_or_else(String::new, |marker| format!("{marker:x}")),
            format!("{:x}", self.instance),
            self.markers.keep().as_millis().to_string(),
            spent_at.to_string(),
            self.quota.amount().to_string(),
        ];
        match self.algorithm {
            Algorithm::Gcra => {
                let ((step, step_parts), (most, most_parts)) = (self.quota.interval(), self.quota.most());
                arguments.extend([step, step_parts, most, most_parts].map(|number| number.to_string()));
            }
            Algorithm::Fixed => {}
            Algorithm::Sliding => arguments.push(self.quota.group().to_string()),
        }
        arguments
    }

    /// Says that this instance is there, and hears how many are.
    async fn beat(&self, link: &Link) {
        let lately = Joint::LATELY;
        let arguments =
            [format!("{:x}", self.instance), lately.as_micros().to_string(), lately.as_millis().to_string()];
        let arguments = arguments.each_ref().map(String::as_bytes);
        let reply = self.run(link, &self.heartbeat, &[&self.names.instances()], &arguments).await;
        match reply.and_then(|reply| seen(&reply).ok_or_else(|| self.unusable())) {
            Ok((clock, instances)) => {
                if self.joint.seen(Instant::now(), instances, clock) {
                    tracing::info!("policy {}: the limit is shared again, by {instances}", self.policy);
                }
            }
            Err(error) => self.failed(&error),
        }
    }

    /// Within the time that the plan gives a reply: a connection that has to be made first is made behind the call's back.
    async fn run(&self, link: &Link, script: &Script, keys: &[&str], arguments: &[&[u8]]) -> Result<Value> {
        let most = self.shared.redis.timeout;
        let late = |_| {
            let name = &self.shared.redis.name;
            Err(Error::new(Kind::SourceTimeout, format!("source {name}: no reply within {most:?}")))
        };
        tokio::time::timeout(most, script.run(link, keys, arguments)).await.unwrap_or_else(late)
    }

    fn unusable(&self) -> Error {
        let name = &self.shared.redis.name;
        Error::new(Kind::MalformedResponse, format!("source {name}: a script's reply is none of ours"))
    }

    /// What would become of a call, for people; Redis is not asked.
    pub(super) fn explain(&self, key: &[u8], queue: Option<&Queue>, within: Option<Duration>) -> Told {
        let (source, instances) = (&self.shared.redis.name, self.instances());
        let Some(own) = self.joint.peek_alone(key, Instant::now()) else {
            let told =
                format!("counted in `{source}` by all instances, {instances} seen lately; not asked here");
            return Told::new(told, Then::Passes);
        };
        let Told { effect, then } = match (self.shared.when_gone, queue) {
            (WhenGone::Local, _) if own.is_allowed => {
                let told = format!("lets it pass by this instance's part, {} left after it", own.remaining);
                Told::new(told, Then::Passes)
            }
            (WhenGone::Local, Some(queue)) => queue.explain(key, own.retry_after, within, TOO_MANY),
            (WhenGone::Local, None) => {
                let wait = spoken(own.retry_after);
                let told = format!("refused with {TOO_MANY}, this instance's part is used up for {wait}");
                Told::new(told, Then::Refused)
            }
            (WhenGone::Refuse, _) => Told::new("refused with 503", Then::Refused),
            (WhenGone::Allow, _) => Told::new("passes uncounted", Then::Passes),
        };
        Told::new(format!("`{source}` cannot be asked: {effect}"), then)
    }
}

/// Says again and again that this instance is there, as long as it is polled. For one task of each instance.
pub async fn heartbeat(joint: Arc<JointLimit>, link: Link) {
    loop {
        joint.beat(&link).await;
        tokio::time::sleep(BEAT).await;
    }
}

fn read(reply: &Value) -> Option<(u64, Count)> {
    let Value::Array(reply) = reply else { return None };
    let [is_allowed, marker, now, a, b, c] = &reply[..] else { return None };
    let Value::BulkString(marker) = marker else { return None };
    let marker = u64::from_str_radix(std::str::from_utf8(marker).ok()?, 16).ok()?;
    let before = [whole(a)?, whole(b)?, whole(c)?];
    let count = Count { is_allowed: whole(is_allowed)? == 1, now: whole(now)?, before };
    Some((marker, count))
}

fn seen(reply: &Value) -> Option<(u64, u64)> {
    let Value::Array(reply) = reply else { return None };
    let [clock, instances] = &reply[..] else { return None };
    Some((whole(clock)?, whole(instances)?))
}

fn whole(value: &Value) -> Option<u64> {
    let Value::Int(number) = value else { return None };
    u64::try_from(*number).ok()
}
