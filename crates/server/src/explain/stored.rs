//! Stored: what the cache has for a request, its freshness in figures, and what may be done with it.

use cache::{Entry, Look};
use http::Method;
use http::header::AUTHORIZATION;
use message::{Clock, Fields, Timestamp};
use rules::{Exchange, LifetimeFrom, RequestDirectives, Reuse, Why};
use serde::Serialize;

use super::origin::{decisive, plain_tags};

/// A stored answer, for people.
#[derive(Clone, Debug, Serialize)]
pub struct Stored {
    /// The status.
    pub status: u16,
    /// Bytes of content.
    pub length: u64,
    /// The fields that decide.
    pub fields: Vec<(String, String)>,
    /// The fields of `Vary` it was chosen by, as this request has them; empty where it is for all.
    pub variant: Vec<(String, String)>,
    /// What it is filed under.
    pub tags: Vec<String>,
    /// Roughly how often it was used.
    pub hits: u32,
    /// How fresh it is, in figures: `age 3 = 1 (Age/apparent) + 2 resident; lifetime 5 from max-age
    /// (RFC 9111 §5.2.2.1); fresh for 2 s`. What it had on arrival is the larger of `Age` and the time since `Date` (§4.2.3).
    pub arithmetic: String,
    /// What a cache does with it for this request, in a sentence that names the rule.
    pub verdict: String,
}

impl Stored {
    pub(super) fn of(entry: &Entry, look: &Look<'_>, now: Timestamp) -> Self {
        let fields = entry.fields();
        let asked = look.request.fields;
        let selecting = |name: &http::HeaderName| {
            let value = match name {
                &AUTHORIZATION | &http::header::COOKIE => "…".into(),
                name => String::from_utf8_lossy(asked.first(name).unwrap_or(b"-")),
            };
            (name.to_string(), value.into_owned())
        };
        Stored {
            status: entry.status().as_u16(),
            length: entry.body().len() as u64,
            fields: decisive(&fields),
            variant: entry
                .variant()
                .map_or_else(Vec::new, |variant| variant.names.iter().map(selecting).collect()),
            tags: plain_tags(entry.tags()),
            hits: entry.hits(),
            arithmetic: arithmetic(entry, look, now),
            verdict: verdict(entry, look, now),
        }
    }
}

fn arithmetic(entry: &Entry, look: &Look<'_>, now: Timestamp) -> String {
    let terms = entry.terms();
    let (age, on_arrival) = (terms.age(now), terms.age(terms.received_at()));
    let exchange = Exchange {
        method: &Method::GET,
        request: look.request.fields,
        status: entry.status(),
        response: &entry.fields(),
        personal: false,
        requested_at: terms.received_at(),
        received_at: terms.received_at(),
        skew: Clock::skew(),
    };
    let from = LifetimeFrom::of(&exchange, &look.policy.rules).map_or("its policy", LifetimeFrom::word);
    let fresh_for = terms.fresh_for(now);
    let left = if terms.is_fresh(now) {
        format!("fresh for {fresh_for} s")
    } else {
        format!("stale for {} s", fresh_for.unsigned_abs())
    };
    let resident = age.saturating_sub(on_arrival);
    let lifetime = terms.lifetime().as_secs();
    format!(
        "age {age} = {on_arrival} (Age/apparent) + {resident} resident; lifetime {lifetime} from {from}; {left}"
    )
}

fn verdict(entry: &Entry, look: &Look<'_>, now: Timestamp) -> String {
    let asked: Fields<'_> = look.request.fields;
    let directives = if look.policy.rules.heeds_clients() {
        RequestDirectives::of(asked)
    } else {
        RequestDirectives::default()
    };
    let terms = entry.terms();
    match terms.reuse(&directives, asked.has(&AUTHORIZATION), now) {
        Reuse::Fresh => {
            format!(
                "a hit: answered with what is stored, fresh for {} s (RFC 9111 §4.2)",
                terms.fresh_for(now)
            )
        }
        Reuse::Stale => "a hit, stale: the request's max-stale allows it (RFC 9111 §5.2.1.2)".to_owned(),
        Reuse::StaleWhileRevalidate => {
            "a hit, stale, and refreshed in the background: stale-while-revalidate (RFC 5861 §3)".to_owned()
        }
        Reuse::NotForThisRequest => {
            "the origin is asked: the request carries Authorization and what is stored is not \
             for sharing (RFC 9111 §3.5)"
                .to_owned()
        }
        Reuse::Validate(why) => {
            format!("the origin is asked whether what is stored is still good: {}", because(why))
        }
    }
}

fn because(why: Why) -> &'static str {
    match why {
        Why::Stale => "its lifetime is over (RFC 9111 §4.3)",
        Why::NoCache => "it says no-cache (RFC 9111 §5.2.2.4)",
        Why::RequestNoCache => "the request says no-cache (RFC 9111 §5.2.1.4)",
        Why::RequestMaxAge => "it is older than the request's max-age (RFC 9111 §5.2.1.1)",
        Why::RequestMinFresh => {
            "it is not fresh for as long as the request's min-fresh asks (RFC 9111 §5.2.1.3)"
        }
    }
}
