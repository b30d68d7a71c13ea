//! Origin: what the origin says to a request when asked for it, and what a cache makes of that.

use http::{HeaderMap, HeaderName};
use message::{Call, Clock, Fields, Request, Response, Result, Trip};
use plan::CachePolicy;
use policy::Layer;
use rules::{Exchange, LifetimeFrom, Terms};
use serde::Serialize;

use super::Explanation;

/// What the origin said that matters to a cache.
#[derive(Clone, Debug, Serialize)]
pub struct OriginAnswer {
    /// The status.
    pub status: u16,
    /// The fields that decide.
    pub fields: Vec<(String, String)>,
    /// Freshness lifetime in seconds, and where it comes from.
    pub lifetime: Option<(u64, &'static str)>,
    /// Its age on arrival, in seconds.
    pub age: Option<u32>,
    /// What it would be filed under.
    pub tags: Vec<String>,
}

/// The fields of an answer that caching depends on.
const DECISIVE: [&str; 11] = [
    "cache-control",
    "cdn-cache-control",
    "expires",
    "date",
    "age",
    "etag",
    "last-modified",
    "vary",
    "set-cookie",
    "pragma",
    "content-length",
];

/// Asks, and concludes.
pub(super) async fn ask(
    source: &impl Call,
    layers: &[Layer],
    policy: &CachePolicy,
    mut request: Request,
    personal: bool,
    explanation: &mut Explanation,
) -> Result<()> {
    let authority = request.authority.clone();
    // As the cache asks: for the whole answer, whatever part or condition the client names.
    rules::validate::remove_conditions(&mut request.parts_mut().fields);
    let asked = request.head_only();
    for layer in layers {
        layer.change(&mut request).await?;
    }
    let requested_at = Clock::now();
    let Response { status, fields, .. } = source.call(request, &mut Trip::default()).await?;
    let exchange = Exchange {
        method: &asked.method,
        request: Fields::Map(&asked.fields),
        status,
        response: &fields,
        personal,
        requested_at,
        received_at: Clock::now(),
        skew: Clock::skew(),
    };
    let terms = Terms::of(&exchange, &policy.rules);
    let lifetime = terms.as_ref().ok().zip(LifetimeFrom::of(&exchange, &policy.rules));
    explanation.answer = Some(OriginAnswer {
        status: status.as_u16(),
        fields: decisive(&fields),
        lifetime: lifetime.map(|(terms, from)| (terms.lifetime().as_secs(), from.word())),
        age: terms.as_ref().ok().map(|terms| terms.age(exchange.received_at)),
        tags: plain_tags(&rules::tags::of(&fields, &policy.tags, &authority)),
    });
    explanation.stored = Some(terms.is_ok());
    explanation.verdict = match &terms {
        Err(reason) => format!("not stored ({}): {}", reason.word(), reason.sentence()),
        Ok(terms) if terms.is_fresh(exchange.received_at) => {
            let from = lifetime.map_or("its validator", |(_, from)| from.word());
            let left = terms.fresh_for(exchange.received_at);
            let (lifetime, age) = (terms.lifetime().as_secs(), terms.age(exchange.received_at));
            format!("stored, fresh for {left} s: lifetime {lifetime} s from {from}, less an age of {age} s")
        }
        Ok(_) => {
            "stored, but stale at once: every use asks the origin whether it is still good (RFC 9111 §4.3)"
                .to_owned()
        }
    };
    Ok(())
}

/// Joined tags, one by one.
pub(super) fn plain_tags(joined: &str) -> Vec<String> {
    joined.split('\n').filter(|tag| rules::tags::is_plain(tag)).map(str::to_owned).collect()
}

/// The fields of an answer that caching depends on, without what is a client's secret.
pub(super) fn decisive(fields: &HeaderMap) -> Vec<(String, String)> {
    let words = |name: &'static str| {
        let values = fields.get_all(HeaderName::from_static(name)).into_iter();
        values.map(move |value| {
            // A cookie's value may be a secret; that there is one is all that matters.
            let value =
                if name == "set-cookie" { "…".into() } else { String::from_utf8_lossy(value.as_bytes()) };
            (name.to_owned(), value.into_owned())
        })
    };
    DECISIVE.into_iter().flat_map(words).collect()
}
