//! Scene: one exchange, built up field by field, for the tests beside it.

use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use message::{Fields, Timestamp};
use rules::{Exchange, NotStored, Policy, RequestDirectives, Reuse, Terms};

/// Sun, 06 Nov 1994 08:49:37 GMT: when every exchange here takes place.
pub(crate) const NOW: Timestamp = Timestamp::from_secs(784_111_777);
pub(crate) const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
pub(crate) const MINUTE_LATER: &str = "Sun, 06 Nov 1994 08:50:37 GMT";
pub(crate) const HOUR_EARLIER: &str = "Sun, 06 Nov 1994 07:49:37 GMT";

/// A request and its answer. GET and 200 unless changed.
#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) method: Method,
    pub(crate) request: HeaderMap,
    pub(crate) status: StatusCode,
    pub(crate) response: HeaderMap,
    pub(crate) policy: Policy,
    pub(crate) personal: bool,
}

/// An answer with these fields.
pub(crate) fn answer(lines: &[(&'static str, &str)]) -> Scene {
    Scene {
        method: Method::GET,
        request: HeaderMap::new(),
        status: StatusCode::OK,
        response: fields(lines),
        policy: Policy::default(),
        personal: false,
    }
}

/// An answer with this `Cache-Control` and nothing else.
pub(crate) fn cache_control(value: &str) -> Scene {
    answer(&[("cache-control", value)])
}

pub(crate) fn fields(lines: &[(&'static str, &str)]) -> HeaderMap {
    let mut map = HeaderMap::new();
    for (name, value) in lines {
        map.append(HeaderName::from_static(name), HeaderValue::from_str(value).expect("a valid value"));
    }
    map
}

/// What a request with this `Cache-Control` says.
pub(crate) fn asks(value: &str) -> RequestDirectives {
    RequestDirectives::of(Fields::Map(&fields(&[("cache-control", value)])))
}

/// A request that says nothing.
pub(crate) fn plain() -> RequestDirectives {
    RequestDirectives::default()
}

/// This many seconds after the answer came.
pub(crate) fn after(seconds: u64) -> Timestamp {
    Timestamp::from_millis(NOW.as_millis() + seconds * 1000)
}

impl Scene {
    pub(crate) fn asked_with(mut self, lines: &[(&'static str, &str)]) -> Self {
        self.request = fields(lines);
        self
    }

    pub(crate) fn status(mut self, code: u16) -> Self {
        self.status = StatusCode::from_u16(code).expect("a valid status");
        self
    }

    pub(crate) fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    pub(crate) fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Stored for one user alone.
    pub(crate) fn personal(mut self) -> Self {
        self.personal = true;
        self
    }

    pub(crate) fn exchange(&self) -> Exchange<'_> {
        Exchange {
            method: &self.method,
            request: Fields::Map(&self.request),
            status: self.status,
            response: &self.response,
            personal: self.personal,
            requested_at: NOW,
            received_at: NOW,
            skew: message::Skew::NONE,
        }
    }

    pub(crate) fn terms(&self) -> Result<Terms, NotStored> {
        Terms::of(&self.exchange(), &self.policy)
    }

    /// The terms of an answer that must have been stored.
    pub(crate) fn stored(&self) -> Terms {
        self.terms().expect("this answer is stored")
    }

    /// The lifetime in seconds, or why there is none.
    pub(crate) fn lifetime(&self) -> Result<u64, NotStored> {
        self.terms().map(|terms| terms.lifetime().as_secs())
    }

    /// What a plain request gets so many seconds later.
    pub(crate) fn reuse_after(&self, seconds: u64) -> Reuse {
        self.stored().reuse(&plain(), false, after(seconds))
    }
}
