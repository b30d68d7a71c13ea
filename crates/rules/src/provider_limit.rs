//! ProviderLimit: what a response says of its provider's own limits: a wait it asks for, and what is left of quotas.
//!
//! In: the status and the fields of a response. Out: [`Said`]; `guard` keeps a pace by it. There is no standard yet, so this
//! reads what providers do: `Retry-After` (RFC 9110 §10.2.3), `RateLimit` (draft-ietf-httpapi-ratelimit-headers, the current
//! one and those before it), and the `X-RateLimit-*` that came before and their many spellings. What is nonsense (negative,
//! absurd, torn, two lines that contradict each other) says nothing.
//!
//! `draft` reads structured fields, `fields` those with a number each, `leaky` those that give no time, and `reset` a time in
//! all the ways it is written.

mod draft;
mod fields;
mod leaky;
mod reset;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use http::header::{AGE, DATE};
use http::{HeaderMap, HeaderName, StatusCode};
use message::Timestamp;

use crate::date::FieldDate;
use crate::retry_after;

/// Quotas of one response. Those that name the most give four.
const MOST_QUOTAS: usize = 8;
/// Nobody's quota lasts longer than a year.
const LONGEST: Duration = Duration::from_hours(366 * 24);
/// Calls, tokens or bytes. More is as good as no limit.
const MOST: f64 = 1e12;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// The call was refused for its provider's limit: 429 (RFC 6585 §4), or 403 with `Retry-After`, as GitHub does it.
    pub is_refused: bool,
    /// So long nobody is to call: of a call that was refused, and of 503. Never zero; whoever waits caps it.
    pub pause: Option<Duration>,
    /// At most 8, each of another name.
    pub quotas: Vec<SaidQuota>,
}

/// What is left of one quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SaidQuota {
    /// Tells it from others of the same provider, also in later responses to this process; it means nothing else.
    pub name: u64,
    /// The whole quota; no less than what remains.
    pub limit: Option<u64>,
    /// What may still be used: calls or, of a quota of tokens, those. None: a call is refused.
    pub remaining: u64,
    /// Until it is whole again, or as the provider has it: some say when a bit of it is.
    pub reset: Duration,
    /// How long it is for, where that is said.
    pub window: Option<Duration>,
}

impl Said {
    /// Reads a response. `now`: by the wall clock; the response's own `Date`, where it has one, is what dates in it are
    /// compared with, as it is by the same clock.
    pub fn of(status: StatusCode, fields: &HeaderMap, now: Timestamp) -> Self {
        let now = FieldDate::of(fields, &DATE).at().unwrap_or(now);
        // From a cache on the way: what remained when somebody else asked.
        let is_old = fields.get(AGE).is_some_and(|age| age != "0");
        let quotas = if is_old { Vec::new() } else { quotas(fields, now) };
        let wait = wait(fields, now);
        let is_refused = match status {
            StatusCode::TOO_MANY_REQUESTS => true,
            StatusCode::FORBIDDEN => wait.is_some(),
            _ => false,
        };
        let used_up = quotas.iter().filter(|quota| quota.remaining == 0).map(|quota| quota.reset).max();
        let pause = match status {
            StatusCode::SERVICE_UNAVAILABLE => wait,
            _ if is_refused => wait.or(used_up),
            _ => None,
        };
        Said { is_refused, pause: pause.filter(|pause| !pause.is_zero()), quotas }
    }
}

/// What is asked for in words of its own.
fn wait(fields: &HeaderMap, now: Timestamp) -> Option<Duration> {
    // Azure and OpenAI say it more exactly beside it, and Shopify writes fractions.
    let milliseconds = || one(fields, "retry-after-ms").and_then(number);
    let seconds = || one(fields, "retry-after").and_then(number);
    milliseconds()
        .and_then(|milliseconds| reset::duration(milliseconds / 1000.0))
        .or_else(|| retry_after(fields, now))
        .or_else(|| seconds().and_then(reset::duration))
}

/// Each once; those that are said twice, and not alike, not at all.
fn quotas(fields: &HeaderMap, now: Timestamp) -> Vec<SaidQuota> {
    let mut all = Vec::new();
    draft::read(fields, &mut all);
    fields::read(fields, now, &mut all);
    leaky::read(fields, &mut all);
    all.retain(SaidQuota::makes_sense);
    let mut quotas: Vec<SaidQuota> = Vec::new();
    for quota in &all {
        let is_known = quotas.iter().any(|known| known.name == quota.name);
        let is_contradicted = all.iter().any(|other| other.name == quota.name && other != quota);
        if !is_known && !is_contradicted && quotas.len() < MOST_QUOTAS {
            quotas.push(*quota);
        }
    }
    quotas
}

impl SaidQuota {
    fn makes_sense(&self) -> bool {
        self.limit.is_none_or(|limit| limit > 0 && self.remaining <= limit)
            && self.reset <= LONGEST
            && self.window.is_none_or(|window| !window.is_zero() && window <= LONGEST)
    }
}

/// The name of a quota, made of all that tells it from others.
fn name(parts: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    hasher.finish()
}

/// A field's one value, trimmed; `None` where its lines differ.
fn one<'a>(fields: &'a HeaderMap, name: &'static str) -> Option<&'a str> {
    let mut lines = fields.get_all(HeaderName::from_static(name)).iter();
    let line = lines.next()?;
    if lines.any(|other| other != line) {
        return None;
    }
    line.to_str().ok().map(str::trim)
}

/// Digits, with a fraction or without (Reddit counts calls in halves), and no more than matters.
fn number(text: &str) -> Option<f64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number: f64 = if is_plain { text.parse().ok()? } else { return None };
    number.is_finite().then_some(number)
}

/// A whole number of calls.
fn count(text: &str) -> Option<u64> {
    number(text).filter(|number| *number <= MOST).map(|number| number as u64)
}

#[cfg(test)]
mod tests;
