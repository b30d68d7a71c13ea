//! Errand: a GET of our own on one core, through the same rooms as a client's, to the last byte of its content. Its
//! content goes nowhere; what it is for is what the cache keeps of it.

use std::rc::Rc;
use std::time::Duration;

use admin::{Errand, Fetched, Purpose};
use http::header::USER_AGENT;
use http::{HeaderMap, HeaderValue, Method, StatusCode, Version};
use http_body::Body as _;
use message::{Client, Request, RequestParts, Scheme, Trip};

use crate::walk::handler::CoreHandler;

/// From the start to the last byte.
const LONGEST: Duration = Duration::from_mins(1);

/// How we call ourselves where no client does.
pub(crate) const AGENT: HeaderValue = HeaderValue::from_static("fleetfoot");

/// Runs it. Counted as an errand, and as no client's request.
pub(crate) async fn run(core: Rc<CoreHandler>, errand: Errand) -> Fetched {
    core.recorder.errand(match errand.purpose {
        Purpose::Warm => telemetry::Errand::Warm,
        Purpose::Refresh => telemetry::Errand::Refresh,
    });
    let mut fetched = Fetched {
        url: errand.place.url(),
        status: None,
        cache: telemetry::CacheResult::None.word(),
        stored: false,
        bytes: 0,
        error: None,
    };
    if tokio::time::timeout(LONGEST, fetch(&core, errand, &mut fetched)).await.is_err() {
        fetched.error = Some(format!("not done within {} s", LONGEST.as_secs()));
    }
    fetched
}

async fn fetch(core: &CoreHandler, errand: Errand, fetched: &mut Fetched) {
    let place = errand.place;
    let request = request(Method::GET, place.scheme, &place.authority, &place.target, errand.fields);
    let mut trip = Trip::default();
    let outcome = Box::pin(core.walk_ours(request, &mut trip)).await;
    fetched.cache = telemetry::CacheResult::of(trip.cache.as_ref()).word();
    fetched.stored = trip.cache.is_some_and(|status| status.stored);
    let mut response = match outcome {
        Ok(response) => response,
        Err(error) => {
            fetched.status = Some(response::status_of(error.kind()).as_u16());
            fetched.error = Some(error.to_string());
            return;
        }
    };
    fetched.status = Some(response.status.as_u16());
    if response.status == StatusCode::SWITCHING_PROTOCOLS {
        return;
    }
    let body = &mut response.body;
    while let Some(frame) = std::future::poll_fn(|cx| std::pin::Pin::new(&mut *body).poll_frame(cx)).await {
        match frame {
            Ok(frame) => fetched.bytes += frame.data_ref().map_or(0, |data| data.len() as u64),
            Err(error) => return fetched.error = Some(error.to_string()),
        }
    }
}

/// A request that no client sent.
pub(crate) fn request(
    method: Method,
    scheme: Scheme,
    authority: &str,
    target: &str,
    mut fields: HeaderMap,
) -> Request {
    fields.entry(USER_AGENT).or_insert(AGENT);
    Request::new(RequestParts {
        method,
        scheme,
        authority: authority.into(),
        target: target.into(),
        version: Version::HTTP_11,
        fields,
        client: Client::NOBODY,
    })
}
