//! Trip: what happened to a request on its way, beside its response. Written by whoever did it: a cache, a source, a
//! compose. Read by whatever tells of it: `Cache-Status`, `Server-Timing`, the access log, metrics, recent requests.

use std::time::Duration;

use http::HeaderValue;

use crate::CacheStatus;

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
    /// How long each step of a compose took, as `Server-Timing` says it. Boxed, since every request carries a trip.
    pub server_timing: Option<Box<HeaderValue>>,
}
