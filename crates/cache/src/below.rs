//! Below: asking what lies behind the cache. What happened there is no part of what happened here, save that a cache below is
//! told of as any cache before us is: in `Cache-Status` of what it gave (RFC 9211 §2).

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
