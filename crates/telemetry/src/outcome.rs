//! Outcome: the one word that metrics and logs use for what the cache made of a request.

use message::{CacheOutcome, CacheStatus};

/// The one word for what the cache did with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CacheResult {
    /// Answered from a fresh entry.
    Hit,
    /// Answered from an entry past its lifetime, as the rules allow.
    Stale,
    /// The entry was past its lifetime and the origin confirmed it (304).
    Revalidated,
    /// Fetched from the origin, alone or together with others.
    Miss,
    /// Sent past the cache: the method or the policy wants it so.
    Pass,
    /// The cache had no part in it: a route without a cache, a refused request.
    None,
}

impl CacheResult {
    /// Every result, in the order of the enum.
    pub(crate) const ALL: [CacheResult; 6] = [
        CacheResult::Hit,
        CacheResult::Stale,
        CacheResult::Revalidated,
        CacheResult::Miss,
        CacheResult::Pass,
        CacheResult::None,
    ];

    /// The result that a `Cache-Status` amounts to.
    pub fn of(status: Option<&CacheStatus>) -> Self {
        match status.and_then(CacheStatus::outcome) {
            Some(CacheOutcome::Hit) => CacheResult::Hit,
            Some(CacheOutcome::Stale) => CacheResult::Stale,
            Some(CacheOutcome::Revalidated) => CacheResult::Revalidated,
            Some(CacheOutcome::Miss) => CacheResult::Miss,
            Some(CacheOutcome::Uncacheable) => CacheResult::Pass,
            None => CacheResult::None,
        }
    }

    /// The word for metrics and logs.
    pub const fn word(self) -> &'static str {
        match self {
            CacheResult::Hit => "hit",
            CacheResult::Stale => "stale",
            CacheResult::Revalidated => "revalidated",
            CacheResult::Miss => "miss",
            CacheResult::Pass => "pass",
            CacheResult::None => "none",
        }
    }
}

#[cfg(test)]
mod tests {
    use message::Fwd;

    use super::*;

    const NOTHING: CacheStatus = CacheStatus {
        hit: false,
        fwd: None,
        fwd_status: None,
        ttl: None,
        stored: false,
        collapsed: false,
        detail: None,
    };

    fn forwarded(fwd: Fwd, status: u16) -> CacheStatus {
        CacheStatus { fwd: Some(fwd), fwd_status: Some(status), ..NOTHING }
    }

    #[test]
    fn each_status_has_its_word() {
        let hit = CacheStatus { hit: true, ttl: Some(5), ..NOTHING };
        let in_vain = CacheStatus { ttl: Some(-3), ..forwarded(Fwd::Stale, 503) };
        for (status, word) in [
            (hit, "hit"),
            (CacheStatus { ttl: Some(0), ..hit }, "hit"),
            (CacheStatus { ttl: Some(-1), ..hit }, "stale"),
            (in_vain, "stale"),
            (forwarded(Fwd::Stale, 304), "revalidated"),
            (forwarded(Fwd::Request, 304), "revalidated"),
            (forwarded(Fwd::Stale, 200), "miss"),
            (forwarded(Fwd::UriMiss, 200), "miss"),
            (forwarded(Fwd::VaryMiss, 404), "miss"),
            (forwarded(Fwd::Method, 201), "pass"),
            (forwarded(Fwd::Bypass, 304), "pass"),
            (NOTHING, "none"),
        ] {
            assert_eq!(CacheResult::of(Some(&status)).word(), word, "{status:?}");
        }
        assert_eq!(CacheResult::of(None), CacheResult::None);
    }
}
