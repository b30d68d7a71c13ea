//! Leaky: limits whose provider says how much of them is used and leaves the time to its documentation, or says the window
//! alone.

use std::time::Duration;

use http::HeaderMap;

use super::{SaidQuota, count, name, one};

/// A shop's bucket leaks so that a full one is empty after this long, whatever the plan: 2 of 40 a second, 4 of 80, 20 of 400
/// (shopify.dev, REST Admin API rate limits).
const SHOPIFY: Duration = Duration::from_secs(20);

/// Adds what they say.
pub(super) fn read(fields: &HeaderMap, out: &mut Vec<SaidQuota>) {
    out.extend(shopify(fields));
    out.extend(hubspot(fields));
}

/// `X-Shopify-Shop-Api-Call-Limit: 32/40`: used, of so many.
fn shopify(fields: &HeaderMap) -> Option<SaidQuota> {
    const FIELD: &str = "x-shopify-shop-api-call-limit";
    let (used, limit) = one(fields, FIELD)?.split_once('/')?;
    let (used, limit) = (count(used)?, count(limit)?);
    let full = SHOPIFY.as_secs_f64() * used as f64 / limit.max(1) as f64;
    Some(SaidQuota {
        name: name(FIELD),
        limit: Some(limit),
        remaining: limit.saturating_sub(used),
        reset: Duration::try_from_secs_f64(full).ok()?,
        window: Some(SHOPIFY),
    })
}

/// `X-HubSpot-RateLimit-Max`, `-Remaining` and `-Interval-Milliseconds`, a window that slides. Its daily quota tells no time.
fn hubspot(fields: &HeaderMap) -> Option<SaidQuota> {
    const REMAINING: &str = "x-hubspot-ratelimit-remaining";
    let window = Duration::from_millis(count(one(fields, "x-hubspot-ratelimit-interval-milliseconds")?)?);
    Some(SaidQuota {
        name: name(REMAINING),
        limit: Some(count(one(fields, "x-hubspot-ratelimit-max")?)?),
        remaining: count(one(fields, REMAINING)?)?,
        reset: window,
        window: Some(window),
    })
}
