//! Samples: exchanges for this crate's tests.

use std::time::Duration;

use http::{Method, StatusCode, Version};
use message::{CacheStatus, Client, Error, Fwd, Scheme, Timestamp};

use crate::Exchange;

/// 2026-02-03T04:05:06.789Z.
pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_770_091_506_789);

const NOTHING: CacheStatus = CacheStatus {
    hit: false,
    fwd: None,
    fwd_status: None,
    ttl: None,
    stored: false,
    collapsed: false,
    detail: None,
};

/// What an exchange borrows, owned.
pub(crate) struct Sample {
    pub(crate) client: Client,
    pub(crate) authority: String,
    pub(crate) target: String,
    pub(crate) duration: Duration,
    pub(crate) source_time: Option<Duration>,
    pub(crate) cache: Option<CacheStatus>,
    pub(crate) error: Option<Error>,
    pub(crate) id: Option<&'static str>,
    pub(crate) user_agent: Vec<u8>,
    pub(crate) referer: Vec<u8>,
}

pub(crate) fn client() -> Client {
    Client {
        address: "[::ffff:192.0.2.7]:5000".parse().unwrap(),
        local: "[::1]:80".parse().unwrap(),
        trusted: false,
    }
}

impl Sample {
    /// Answered from a fresh entry.
    pub(crate) fn hit() -> Self {
        Sample {
            client: client(),
            authority: "api.test".to_owned(),
            target: "/items?id=7&token=5EC4E7".to_owned(),
            duration: Duration::from_nanos(12_345),
            source_time: None,
            cache: Some(CacheStatus { hit: true, ttl: Some(4), ..NOTHING }),
            error: None,
            id: None,
            user_agent: b"test/1".to_vec(),
            referer: b"https://a.test/?key=5EC4E7".to_vec(),
        }
    }

    /// Fetched from the source.
    pub(crate) fn miss() -> Self {
        let cache = CacheStatus {
            fwd: Some(Fwd::UriMiss),
            fwd_status: Some(206),
            collapsed: true,
            detail: Some("range"),
            ..NOTHING
        };
        Sample {
            duration: Duration::from_micros(201_340),
            source_time: Some(Duration::from_millis(200)),
            cache: Some(cache),
            id: Some("00f1e2d3c4b5a697"),
            ..Self::hit()
        }
    }

    pub(crate) fn exchange(&self) -> Exchange<'_> {
        Exchange {
            client: &self.client,
            method: &Method::GET,
            scheme: Scheme::Https,
            authority: &self.authority,
            target: &self.target,
            version: Version::HTTP_11,
            status: StatusCode::OK,
            bytes: 1024,
            duration: self.duration,
            head_time: self.duration,
            source_time: self.source_time,
            queued: None,
            attempts: 0,
            account: None,
            cache: self.cache,
            error: self.error.as_ref(),
            route: Some("/items"),
            id: self.id,
            user_agent: Some(&self.user_agent),
            referer: Some(&self.referer),
        }
    }
}
