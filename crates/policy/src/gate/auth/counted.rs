//! Counted: what became of the requests that one policy looked at.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthOutcome {
    /// Let in: what it carried is good.
    Ok,
    /// Let in without anything.
    Anonymous,
    /// Refused: it carried nothing.
    Missing,
    /// Refused: it is not good.
    Invalid,
    /// Refused: it was good once.
    Expired,
    /// Refused: nobody can say.
    KeysUnavailable,
}

impl AuthOutcome {
    /// Every outcome, in the order of the enum.
    pub const ALL: [AuthOutcome; 6] = [
        AuthOutcome::Ok,
        AuthOutcome::Anonymous,
        AuthOutcome::Missing,
        AuthOutcome::Invalid,
        AuthOutcome::Expired,
        AuthOutcome::KeysUnavailable,
    ];

    /// The word for metrics.
    pub const fn word(self) -> &'static str {
        match self {
            AuthOutcome::Ok => "ok",
            AuthOutcome::Anonymous => "anonymous",
            AuthOutcome::Missing => "missing",
            AuthOutcome::Invalid => "invalid",
            AuthOutcome::Expired => "expired",
            AuthOutcome::KeysUnavailable => "keys-unavailable",
        }
    }
}

/// See the module. Since the policy was made so.
#[derive(Debug, Default)]
pub(super) struct AuthCounters([AtomicU64; AuthOutcome::ALL.len()]);

/// One look at that.
#[derive(Clone, Debug)]
pub struct AuthFigures {
    /// How many requests had each outcome.
    pub outcomes: [(AuthOutcome, u64); AuthOutcome::ALL.len()],
    /// How many were let in with each API key, by the names of their owners.
    pub keys: Vec<(String, u64)>,
    /// How many signatures were checked; `None`: there are no tokens.
    pub checked: Option<u64>,
}

impl AuthCounters {
    pub(super) fn count(&self, outcome: AuthOutcome) {
        self.0[outcome as usize].fetch_add(1, Relaxed);
    }

    pub(super) fn figures(&self, keys: Vec<(String, u64)>, checked: Option<u64>) -> AuthFigures {
        let outcomes = AuthOutcome::ALL.map(|outcome| (outcome, self.0[outcome as usize].load(Relaxed)));
        AuthFigures { outcomes, keys, checked }
    }
}
