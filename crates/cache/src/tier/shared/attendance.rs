//! Attendance: which other instances there are, as their heartbeats say, and which of them have fallen silent. Pure; time is
//! an argument. Kept by `news`.
//!
//! An instance writes a heartbeat when it has nothing left to tell, so each says: whatever I purged before this, you have
//! been told. Of one that is silent nobody knows what it has purged since.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Attendance {
    others: HashMap<u64, Other>,
}

#[derive(Debug)]
struct Other {
    heard_at: Instant,
    is_missing: bool,
}

/// What has changed, for the log.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Changes {
    /// These have fallen silent.
    pub(super) missing: Vec<u64>,
    /// These have been silent for so long that they are taken for gone.
    pub(super) gone: Vec<u64>,
}

/// Heartbeats in the time after which everything is doubted: two may be late.
const BEATS: u32 = 4;
/// But no more seldom than that, so that a Redis that takes nothing is noticed soon.
const SELDOM: Duration = Duration::from_secs(5);
/// Whoever is silent for so many times as long is taken for gone: it may have been killed.
const GONE: u32 = 10;
/// Instances that are known at once; whoever comes later is not missed.
const MOST: usize = 4096;

/// How often an instance says that it has told everything.
pub(super) fn interval(unheard: Duration) -> Duration {
    (unheard / BEATS).min(SELDOM)
}

impl Attendance {
    /// A heartbeat of that moment. Whether its sender was missing, or is new.
    pub(super) fn heard(&mut self, from: u64, at: Instant) -> bool {
        if self.others.len() >= MOST && !self.others.contains_key(&from) {
            return false;
        }
        match self.others.get_mut(&from) {
            Some(other) => {
                other.heard_at = other.heard_at.max(at);
                std::mem::take(&mut other.is_missing)
            }
            None => self.others.insert(from, Other { heard_at: at, is_missing: false }).is_none(),
        }
    }

    /// It has told everything and will purge nothing more.
    pub(super) fn left(&mut self, from: u64) {
        self.others.remove(&from);
    }

    /// As of when it is certain that whatever others purged was told, if there are others. A heartbeat may have been on its
    /// way for as long as one takes to be due.
    pub(super) fn vouched_at(&self, unheard: Duration) -> Option<Instant> {
        let oldest = self.others.values().map(|other| other.heard_at).min()?;
        oldest.checked_sub(interval(unheard))
    }

    pub(super) fn missing(&self) -> usize {
        self.others.values().filter(|other| other.is_missing).count()
    }

    /// Who has fallen silent by now.
    pub(super) fn look(&mut self, now: Instant, unheard: Duration) -> Changes {
        let mut changes = Changes::default();
        self.others.retain(|from, other| {
            let silent = now.saturating_duration_since(other.heard_at);
            if silent >= unheard * GONE {
                changes.gone.push(*from);
                return false;
            }
            if silent + interval(unheard) >= unheard && !other.is_missing {
                other.is_missing = true;
                changes.missing.push(*from);
            }
            true
        });
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNHEARD: Duration = Duration::from_secs(4);
    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn the_oldest_heartbeat_is_what_can_be_vouched_for() {
        let (mut attendance, start) = (Attendance::default(), Instant::now() + UNHEARD);
        assert_eq!(attendance.vouched_at(UNHEARD), None, "alone");
        assert!(attendance.heard(1, start));
        assert!(attendance.heard(2, start + SECOND));
        assert!(!attendance.heard(2, start), "out of order");
        assert_eq!(attendance.vouched_at(UNHEARD), Some(start - SECOND));
        attendance.left(1);
        assert_eq!(attendance.vouched_at(UNHEARD), Some(start));
    }

    #[test]
    fn who_is_silent_is_missing_until_it_is_back_or_gone() {
        let (mut attendance, start) = (Attendance::default(), Instant::now());
        attendance.heard(1, start);
        assert_eq!(attendance.look(start + SECOND * 2, UNHEARD), Changes::default());
        let missing = Changes { missing: vec![1], gone: vec![] };
        assert_eq!(attendance.look(start + SECOND * 3, UNHEARD), missing);
        assert_eq!(attendance.look(start + SECOND * 4, UNHEARD), Changes::default(), "told once");
        assert_eq!(attendance.missing(), 1);
        assert!(attendance.heard(1, start + SECOND * 5));
        assert_eq!((attendance.missing(), attendance.heard(1, start + SECOND * 6)), (0, false));
        let gone = Changes { missing: vec![], gone: vec![1] };
        assert_eq!(attendance.look(start + UNHEARD * 12, UNHEARD), gone);
        assert_eq!(attendance.vouched_at(UNHEARD), None);
    }
}
