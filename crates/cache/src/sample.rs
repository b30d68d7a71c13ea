//! Sample: an answer that is fresh for a minute, for the unit tests of this crate.

use http::{HeaderMap, HeaderValue, Method, StatusCode};
use message::{Fields, Timestamp};
use rules::{Exchange, Policy, Terms};

use crate::entry::Draft;
use crate::entry::tags::Tags;
use crate::tier::memory_account::{Content, MemoryAccount};

/// Its fields.
pub(crate) fn fields() -> HeaderMap {
    HeaderMap::from_iter([(http::header::CACHE_CONTROL, HeaderValue::from_static("max-age=60"))])
}

/// Its terms.
pub(crate) fn terms() -> Terms {
    let exchange = Exchange {
        method: &Method::GET,
        request: Fields::Map(&HeaderMap::new()),
        status: StatusCode::OK,
        response: &fields(),
        personal: false,
        requested_at: Timestamp::from_secs(1),
        received_at: Timestamp::from_secs(1),
        skew: message::Skew::NONE,
    };
    Terms::of(&exchange, &Policy::default()).unwrap()
}

/// Content that counts, but with nothing else.
pub(crate) fn content(bytes: &[u8]) -> Content {
    MemoryAccount::new(0).hold(0).copied(bytes)
}

/// The whole of it, but for its content.
pub(crate) fn draft() -> Draft {
    Draft {
        status: StatusCode::OK,
        fields: fields(),
        terms: terms(),
        variant: None,
        tags: Tags::default(),
        client_lifetime: None,
        encodable: false,
        since: 0,
    }
}
