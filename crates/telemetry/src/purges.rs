//! Purges: how often somebody made the cache forget, by what and how. Counted by `admin` and, for `invalidate` rules,
//! by `server`.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::Family;

/// What a purge was about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PurgeKind {
    /// One URL, with all its queries or exactly.
    Url,
    /// All paths that begin so.
    Prefix,
    /// One host.
    Host,
    /// One tag.
    Tag,
    /// Everything.
    Everything,
}

impl PurgeKind {
    /// Every kind, in the order of the enum.
    pub(crate) const ALL: [PurgeKind; 5] =
        [PurgeKind::Url, PurgeKind::Prefix, PurgeKind::Host, PurgeKind::Tag, PurgeKind::Everything];

    /// The word for metrics.
    pub const fn word(self) -> &'static str {
        match self {
            PurgeKind::Url => "url",
            PurgeKind::Prefix => "prefix",
            PurgeKind::Host => "host",
            PurgeKind::Tag => "tag",
            PurgeKind::Everything => "everything",
        }
    }
}

/// Counts by kind, hard ones first. Written by every core, but far too seldom to hurt.
#[derive(Debug, Default)]
pub(crate) struct Purges([[AtomicU64; 2]; PurgeKind::ALL.len()]);

impl Purges {
    pub(crate) fn add(&self, kind: PurgeKind, soft: bool) {
        self.0[kind as usize][usize::from(soft)].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn family(&self) -> Family {
        let modes = ["hard", "soft"];
        let both = |kind| [0, 1].map(|soft| (kind, soft));
        Family::counter(
            "purges",
            "Purges by what they were about, and whether things were forgotten or made stale",
        )
        .by(
            ["scope", "mode"],
            PurgeKind::ALL.into_iter().flat_map(both).map(|(kind, soft)| {
                let count = self.0[kind as usize][soft].load(Ordering::Relaxed);
                ([kind.word(), modes[soft]], count)
            }),
        )
    }
}
