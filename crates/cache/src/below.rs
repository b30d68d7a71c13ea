//! Below: a call to what lies behind the cache. It gets a trip of its own. If a cache answered down there, its status is added
//! to the response's `Cache-Status`, as an origin's cache would have added it (RFC 9211 §2).

use http::HeaderName;
use message::{Call, Request, Response, Result, Trip};

const CACHE_STATUS: HeaderName = HeaderName::from_static("cache-status");

pub(crate) async fn ask(call: &impl Call, request: Request) -> Result<Response> {
    let mut trip = Trip::default();
    let mut response = call.call(request, &mut trip).await?;
    if let Some(status) = trip.cache {
        response.fields.append(CACHE_STATUS, status.to_value());
    }
    Ok(response)
}
