//! Trip: what happened to a request on its way, beside its response. Written by whoever did it: a cache, a source, a
//! compose. Read by whatever tells of it: `Cache-Status`, `Server-Timing`, the access log, metrics, recent requests.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use tokio::time::Instant;

use crate::{CacheStatus, Quota};

/// See the module. Each layer that keeps responses gives a trip of its own to what lies below it, since what was stored is
/// not what happened to this request.
#[derive(Clone, Debug, Default)]
pub struct Trip {
    /// The target as the client sent it, where it has been given the one form that counts: signatures are of this one.
    pub sent: Option<Box<str>>,
    /// What a cache did; `None`: none had a part in it.
    pub cache: Option<CacheStatus>,
    /// How long the end of the way took for the head of its response; `None`: no request got there.
    pub source_time: Option<Duration>,
    /// How long it has waited for its turn; `None`: it did not have to.
    pub queued: Option<Duration>,
    /// How often the end of the way was asked, where a policy may ask again; 0: nobody has counted.
    pub attempts: u32,
    /// The name of the account by which the source was asked last, where a policy has several.
    pub account: Option<Arc<str>>,
    /// What is left of each limit that it counted against, outermost first.
    pub quotas: Vec<Quota>,
    /// Whether we ask of our own accord, for the cache.
    pub is_errand: bool,
    /// By when the call under way must be done; `None`: nobody has said. Whoever waits for somebody heeds it.
    pub deadline: Option<Deadline>,
    /// Which targets of the source below may be asked, and which was.
    pub targets: Targets,
    /// Whether a policy has answered in place of the end, which was not asked: what it said tells nothing of the source.
    pub is_answered_here: bool,
    /// How long each step of a compose took, as `Server-Timing` says it. Boxed, since every request carries a trip.
    pub server_timing: Option<Box<HeaderValue>>,
}

/// Targets of a source, by their place in its list. Those beyond the sixty-fourth are not told apart.
#[derive(Clone, Copy, Debug, Default)]
pub struct Targets {
    /// Which was asked last; `None`: none, or the source has no targets.
    pub asked: Option<u8>,
    /// Those that have failed this request, a bit for each: others come first.
    pub failed: u64,
    /// Those that may not be asked, a bit for each.
    pub barred: u64,
}

impl Targets {
    /// None but these may not be asked.
    pub fn bar(&mut self, targets: impl IntoIterator<Item = usize>) {
        self.barred = targets.into_iter().fold(0, |barred, target| barred | bit(target));
    }

    /// Whether one may be asked.
    pub fn may_ask(&self, target: usize) -> bool {
        self.barred & bit(target) == 0
    }

    /// Whether one has failed this request.
    pub fn has_failed(&self, target: usize) -> bool {
        self.failed & bit(target) != 0
    }

    /// The one that was asked last has failed this request.
    pub fn note_failure(&mut self) {
        self.failed |= self.asked.map_or(0, |target| bit(usize::from(target)));
    }
}

fn bit(target: usize) -> u64 {
    1_u64.checked_shl(u32::try_from(target).unwrap_or(u32::MAX)).unwrap_or(0)
}

/// A moment by which a call must be done.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    /// The moment.
    pub at: Instant,
    /// How long the call was given for it.
    pub within: Duration,
    /// Which layer of the stack has set it, by its place: that one counts who misses it.
    pub layer: usize,
}

impl Trip {
    /// That of the same call made once more beside this one: what it has to heed, and nothing that has happened.
    #[must_use]
    pub fn beside(&self) -> Trip {
        let Trip { is_errand, deadline, targets, .. } = *self;
        Trip { is_errand, deadline, targets, ..Trip::default() }
    }

    /// What happened to the call that was made [`beside`](Self::beside) is what has happened here.
    pub fn take_over(&mut self, other: Trip) {
        let Trip { cache, source_time, attempts, targets, server_timing, quotas, is_answered_here, .. } =
            other;
        (self.cache, self.source_time, self.targets) = (cache, source_time, targets);
        self.is_answered_here = is_answered_here;
        (self.attempts, self.server_timing) = (attempts, server_timing);
        for quota in quotas {
            self.tell(quota);
        }
    }

    /// Notes what is left of a limit. Who is asked again counts again, and the last word holds.
    pub fn tell(&mut self, quota: Quota) {
        match self.quotas.iter_mut().find(|told| told.policy.name == quota.policy.name) {
            Some(told) => *told = quota,
            None => self.quotas.push(quota),
        }
    }
}
