//! Recent: what happened to the requests answered last on routes with a cache, fresh hits aside. Remembered at their end
//! by `observed`; asked by `GET /explain?id=`.
//!
//! A ring for each core, whose lock is contended only while somebody asks.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use http::{HeaderValue, Method, StatusCode};
use message::{CacheStatus, Error, Scheme, Timestamp};
use serde::Serialize;

use crate::walk::sentence;

/// Requests remembered by each core.
pub(crate) const KEPT: usize = 1024;

/// Bytes of a target that are remembered.
const LONGEST_TARGET: usize = 2048;

/// What is remembered of a request.
#[derive(Clone, Debug)]
pub(crate) struct RecentRequest {
    pub(crate) id: HeaderValue,
    pub(crate) at: Timestamp,
    pub(crate) method: Method,
    pub(crate) scheme: Scheme,
    pub(crate) authority: Box<str>,
    /// As sent; secrets are left out when it is told.
    pub(crate) target: Box<str>,
    pub(crate) route: std::sync::Arc<str>,
    pub(crate) status: StatusCode,
    pub(crate) cache: Option<CacheStatus>,
    pub(crate) error: Option<Error>,
    pub(crate) duration: Duration,
    pub(crate) source_time: Option<Duration>,
}

/// A record as it is told.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Told {
    id: String,
    /// RFC 3339, in UTC.
    time: String,
    seconds_ago: u64,
    method: String,
    url: String,
    route: String,
    status: u16,
    /// As the field of RFC 9211 says it, in whatever form the client got it.
    cache_status: Option<String>,
    /// In a word.
    cache: &'static str,
    stored: bool,
    /// What came of it, in a sentence that names the rule.
    verdict: String,
    error: Option<String>,
    duration_ms: f64,
    source_ms: Option<f64>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Recent(Box<[Mutex<Ring>]>);

#[derive(Debug, Default)]
struct Ring {
    records: Vec<RecentRequest>,
    /// Where the next one goes once the ring is full.
    next: usize,
}

impl Recent {
    pub(crate) fn new(cores: usize) -> Self {
        Recent(std::iter::repeat_with(Mutex::default).take(cores).collect())
    }

    /// Remembers, and forgets the oldest of this core.
    pub(crate) fn remember(&self, core: usize, mut record: RecentRequest) {
        shorten(&mut record.target);
        let mut ring = self.0[core].lock().unwrap_or_else(PoisonError::into_inner);
        let Ring { records, next } = &mut *ring;
        if records.len() < KEPT {
            records.push(record);
        } else {
            records[*next] = record;
            *next = (*next + 1) % KEPT;
        }
    }

    /// The latest request of this id, which clients may choose.
    pub(crate) fn find(&self, id: &str, now: Timestamp) -> Option<Told> {
        let of_core = |ring: &Mutex<Ring>| {
            let ring = ring.lock().unwrap_or_else(PoisonError::into_inner);
            ring.records.iter().filter(|record| record.id == *id).max_by_key(|record| record.at).cloned()
        };
        self.0.iter().filter_map(of_core).max_by_key(|record| record.at).map(|record| record.told(now))
    }

    /// How long requests are remembered, in words.
    pub(crate) fn describe(&self) -> String {
        format!(
            "the last {KEPT} requests of each of the {} cores, on routes with a cache and answered otherwise than by a \
             fresh hit",
            self.0.len()
        )
    }
}

fn shorten(target: &mut Box<str>) {
    if target.len() > LONGEST_TARGET {
        *target = format!("{}…", &target[..target.floor_char_boundary(LONGEST_TARGET)]).into();
    }
}

impl RecentRequest {
    fn told(self, now: Timestamp) -> Told {
        let millis = |time: Duration| time.as_micros() as f64 / 1e3;
        let written = |status: &CacheStatus| {
            let mut text = Vec::new();
            status.write(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        };
        let url = format!("{}://{}{}", self.scheme.as_str(), self.authority, self.target);
        Told {
            id: String::from_utf8_lossy(self.id.as_bytes()).into_owned(),
            time: telemetry::date(self.at),
            seconds_ago: now.since(self.at).as_secs(),
            method: self.method.to_string(),
            url: telemetry::redacted(&url),
            route: self.route.to_string(),
            status: self.status.as_u16(),
            cache_status: self.cache.as_ref().map(written),
            cache: telemetry::CacheResult::of(self.cache.as_ref()).word(),
            stored: self.cache.is_some_and(|status| status.stored),
            verdict: sentence::of_outcome(self.cache.as_ref(), self.error.as_ref()),
            error: self.error.as_ref().map(ToString::to_string),
            duration_ms: millis(self.duration),
            source_ms: self.source_time.map(millis),
        }
    }
}

#[cfg(test)]
mod tests {
    use message::Fwd;

    use super::*;

    fn record(id: &'static str, at: u64) -> RecentRequest {
        RecentRequest {
            id: HeaderValue::from_static(id),
            at: Timestamp::from_secs(at),
            method: Method::GET,
            scheme: Scheme::Http,
            authority: "a.test".into(),
            target: "/x?token=5EC4E7".into(),
            route: "GET /**".into(),
            status: StatusCode::OK,
            cache: Some(CacheStatus::forward(Fwd::UriMiss).because("no-store")),
            error: None,
            duration: Duration::from_millis(3),
            source_time: Some(Duration::from_millis(2)),
        }
    }

    #[test]
    fn the_latest_of_an_id_is_told_without_secrets() {
        let recent = Recent::new(2);
        recent.remember(0, record("a", 10));
        recent.remember(1, record("a", 20));
        recent.remember(0, record("b", 30));
        let told = recent.find("a", Timestamp::from_secs(25)).unwrap();
        assert_eq!((told.seconds_ago, told.url.as_str()), (5, "http://a.test/x?token=…"));
        assert!(told.verdict.contains("no-store (RFC 9111 §5.2.2.5)"), "{}", told.verdict);
        assert!(recent.find("c", Timestamp::from_secs(25)).is_none());
    }

    #[test]
    fn the_oldest_give_way() {
        let recent = Recent::new(1);
        recent.remember(0, record("first", 1));
        for at in 0..KEPT as u64 {
            recent.remember(0, record("other", at));
        }
        assert!(recent.find("first", Timestamp::default()).is_none());
        assert_eq!(recent.0[0].lock().unwrap().records.len(), KEPT);
    }

    #[test]
    fn a_long_target_is_cut() {
        let recent = Recent::new(1);
        recent.remember(0, RecentRequest { target: "ü".repeat(20_000).into(), ..record("long", 1) });
        assert!(recent.find("long", Timestamp::default()).unwrap().url.len() < 3000);
    }
}
