//! Exchange: one finished request and its answer, as `server` hands it to the recorder.

use std::time::Duration;

use http::{Method, StatusCode, Version};
use message::{CacheStatus, Client, Error, Scheme};

/// One finished exchange, borrowed from wherever its parts live.
#[derive(Clone, Copy, Debug)]
pub struct Exchange<'a> {
    /// Who asked.
    pub client: &'a Client,
    /// The method, case as sent.
    pub method: &'a Method,
    /// `http` or `https`, as the client sees it.
    pub scheme: Scheme,
    /// Host and port.
    pub authority: &'a str,
    /// Path and query as sent. Secrets in the query are left out of the log, see [`AccessLog`](crate::AccessLog).
    pub target: &'a str,
    /// The version the client spoke.
    pub version: Version,
    /// The status sent.
    pub status: StatusCode,
    /// Content bytes sent, without head and framing.
    pub bytes: u64,
    /// From the head's last byte received to the last byte handed over.
    pub duration: Duration,
    /// The part of it until the answer's head was ready: what follows is up to the client, and to the source once more.
    pub head_time: Duration,
    /// The part of that spent waiting for the source; `None` when none was asked.
    pub source_time: Option<Duration>,
    /// How long it waited for its turn in the queue of a policy; `None`: it did not have to.
    pub queued: Option<Duration>,
    /// How often the source was asked; 0: nobody counted.
    pub attempts: u32,
    /// By which account the source was asked last, where a policy has several.
    pub account: Option<&'a str>,
    /// What the cache did; `None` when it had no part in it.
    pub cache: Option<CacheStatus>,
    /// Why there was no proper answer.
    pub error: Option<&'a Error>,
    /// The pattern of the route, as written in the config.
    pub route: Option<&'a str>,
    /// What `X-Request-Id` of the answer says; `None` where it has none.
    pub id: Option<&'a str>,
    /// The client's `User-Agent`, as sent.
    pub user_agent: Option<&'a [u8]>,
    /// The client's `Referer`, as sent.
    pub referer: Option<&'a [u8]>,
}

impl Exchange<'_> {
    /// What we added ourselves: the time until the head was ready, without the wait for the source.
    pub fn overhead(&self) -> Duration {
        self.head_time.saturating_sub(self.source_time.unwrap_or_default())
    }
}
