//! Log line: what one line of the access log tells, before it is text or JSON.

use http::{StatusCode, Version};
use message::{Client, Error, Timestamp};

use crate::{CacheResult, Exchange};

/// One line; `exchange` is `None` for what was refused before it became a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogLine<'a> {
    pub(crate) now: Timestamp,
    pub(crate) client: &'a Client,
    pub(crate) status: StatusCode,
    pub(crate) error: Option<&'a Error>,
    pub(crate) exchange: Option<&'a Exchange<'a>>,
}

impl<'a> LogLine<'a> {
    /// The line of a finished exchange.
    pub(crate) fn of(now: Timestamp, exchange: &'a Exchange<'a>) -> Self {
        LogLine {
            now,
            client: exchange.client,
            status: exchange.status,
            error: exchange.error,
            exchange: Some(exchange),
        }
    }

    pub(crate) fn result(&self) -> CacheResult {
        CacheResult::of(self.exchange.and_then(|exchange| exchange.cache.as_ref()))
    }

    /// The client's address as it is usually written: an IPv4 address that came in over IPv6 is an IPv4 address.
    pub(crate) fn address(&self) -> std::net::IpAddr {
        self.client.address.ip().to_canonical()
    }
}

/// As in a request line, `HTTP/1.1`.
pub(crate) fn version_word(version: Version) -> &'static str {
    match version {
        Version::HTTP_09 => "HTTP/0.9",
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_11 => "HTTP/1.1",
        Version::HTTP_2 => "HTTP/2",
        Version::HTTP_3 => "HTTP/3",
        _ => "HTTP/?",
    }
}
