//! Server: what the scripts do at the server, in Rust: the same arithmetic, and one at a time as there. It may die, lose all it
//! had, and come back.

use std::collections::BTreeMap;

use crate::limit::fixed::Fixed;
use crate::limit::gcra::Gcra;
use crate::limit::joint::JointQuota;
use crate::limit::quota::Quota;
use crate::limit::sliding::Sliding;
use crate::limit::states::State;
use crate::limit::{Algorithm, Allowance};

/// In microseconds, of the server's clock.
pub(super) struct Server {
    quota: Quota,
    algorithm: Algorithm,
    pub(super) is_up: bool,
    ahead: u64,
    keys: BTreeMap<u64, Kept>,
    marker: Option<Marker>,
    members: BTreeMap<usize, u64>,
}

/// That the server still has what it was told: who found none, and since when all before counts as lost; zero: never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Marker {
    id: usize,
    since: u64,
}

enum Kept {
    Gcra(Gcra),
    Fixed(Fixed),
    Sliding(Sliding),
}

/// What one that asks brings along.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asking {
    pub(super) instance: usize,
    pub(super) key: u64,
    /// The marker it has seen last.
    pub(super) known: Option<usize>,
    pub(super) spent_at: u64,
}

impl Server {
    pub(super) fn new(allowance: &Allowance, ahead: u64) -> Self {
        let joint = JointQuota::new(allowance);
        let quota = Quota { amount: joint.amount(), per: joint.per(), burst: joint.burst() };
        Server {
            quota,
            algorithm: allowance.algorithm,
            is_up: true,
            ahead,
            keys: BTreeMap::new(),
            marker: None,
            members: BTreeMap::new(),
        }
    }

    pub(super) fn clock(&self, now: u64) -> u64 {
        now + self.ahead
    }

    /// All it had is gone.
    pub(super) fn empty(&mut self) {
        (self.keys, self.marker, self.members) = (BTreeMap::new(), None, BTreeMap::new());
    }

    /// Whether it is let through, and the marker that is there now.
    pub(super) fn take(&mut self, asking: &Asking, now: u64) -> (bool, usize) {
        let (now, quota) = (self.clock(now), &self.quota);
        let marker = match (self.marker, asking.known) {
            (Some(marker), None) => marker,
            (Some(marker), Some(known)) if marker.since > 0 || marker.id == known => marker,
            (None, None) => Marker { id: asking.instance, since: 0 },
            (_, Some(_)) => Marker { id: asking.instance, since: now },
        };
        self.marker = Some(marker);
        let spent_at = marker.since.max(asking.spent_at);
        let algorithm = self.algorithm;
        let kept = self.keys.entry(asking.key).or_insert_with(|| match algorithm {
            Algorithm::Gcra => Kept::Gcra(Gcra::default()),
            Algorithm::Fixed => Kept::Fixed(Fixed::default()),
            Algorithm::Sliding => Kept::Sliding(Sliding::default()),
        });
        let is_spent = spent_at > 0 && now < spent_at + quota.per;
        let is_allowed = match kept {
            Kept::Gcra(gcra) => {
                if spent_at > 0 {
                    gcra.0 = gcra.0.max(Gcra::spent(quota, spent_at).0);
                }
                gcra.take(quota, now).is_allowed
            }
            Kept::Fixed(fixed) => !is_spent && fixed.take(quota, now).is_allowed,
            Kept::Sliding(sliding) => !is_spent && sliding.take(quota, now).is_allowed,
        };
        (is_allowed, marker.id)
    }

    /// How many were heard of lately, this one among them.
    pub(super) fn beat(&mut self, instance: usize, now: u64, lately: u64) -> u64 {
        self.members.insert(instance, now);
        self.members.retain(|_, seen| now - *seen <= lately);
        self.members.len() as u64
    }
}
