//! Fields: limits told in fields with a number each: the limit, what remains, when it is whole again.

use std::time::Duration;

use http::HeaderMap;
use message::Timestamp;

use super::{SaidQuota, count, draft, name, one, reset};
use crate::list;

/// The names of the fields of one quota.
struct Names {
    limit: &'static str,
    remaining: &'static str,
    /// The first that can be read counts.
    resets: &'static [&'static str],
    /// They stand beside them and say which quota it is, where there are several under these names.
    which: &'static [&'static str],
}

impl Names {
    const fn new(limit: &'static str, remaining: &'static str, resets: &'static [&'static str]) -> Self {
        Names { limit, remaining, resets, which: &[] }
    }
}

/// OpenAI and Groq (`x-…-requests`), Anthropic, Twitter (`x-rate-limit-…`), Discord (`…-reset-after`, `…-bucket`), GitHub
/// (`…-resource`), and all who do as the drafts before the seventh or as everybody did before them.
const ALL: [Names; 9] = [
    Names::new("ratelimit-limit", "ratelimit-remaining", &["ratelimit-reset"]),
    Names {
        which: &["x-ratelimit-bucket", "x-ratelimit-resource"],
        ..Names::new(
            "x-ratelimit-limit",
            "x-ratelimit-remaining",
            &["x-ratelimit-reset-after", "x-ratelimit-reset"],
        )
    },
    Names::new("x-rate-limit-limit", "x-rate-limit-remaining", &["x-rate-limit-reset"]),
    Names::new(
        "x-ratelimit-limit-requests",
        "x-ratelimit-remaining-requests",
        &["x-ratelimit-reset-requests"],
    ),
    Names::new("x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens", &["x-ratelimit-reset-tokens"]),
    Names::new(
        "anthropic-ratelimit-requests-limit",
        "anthropic-ratelimit-requests-remaining",
        &["anthropic-ratelimit-requests-reset"],
    ),
    Names::new(
        "anthropic-ratelimit-tokens-limit",
        "anthropic-ratelimit-tokens-remaining",
        &["anthropic-ratelimit-tokens-reset"],
    ),
    Names::new(
        "anthropic-ratelimit-input-tokens-limit",
        "anthropic-ratelimit-input-tokens-remaining",
        &["anthropic-ratelimit-input-tokens-reset"],
    ),
    Names::new(
        "anthropic-ratelimit-output-tokens-limit",
        "anthropic-ratelimit-output-tokens-remaining",
        &["anthropic-ratelimit-output-tokens-reset"],
    ),
];

/// Adds what they say.
pub(super) fn read(fields: &HeaderMap, now: Timestamp, out: &mut Vec<SaidQuota>) {
    out.extend(ALL.iter().filter_map(|names| names.read(fields, now)));
}

impl Names {
    fn read(&self, fields: &HeaderMap, now: Timestamp) -> Option<SaidQuota> {
        let remaining = count(one(fields, self.remaining)?)?;
        let (limit, window) = match one(fields, self.limit) {
            Some(text) => {
                let (limit, window) = limit(text)?;
                (Some(limit), window.or_else(|| draft::window_of(limit, fields)))
            }
            None => (None, None),
        };
        let said = |name: &&'static str| one(fields, name).and_then(|text| reset::read(text, now));
        let reset = self.resets.iter().find_map(said).or(window)?;
        let which: Vec<_> = self.which.iter().map(|name| one(fields, name)).collect();
        Some(SaidQuota { name: name((self.remaining, which)), limit, remaining, reset, window })
    }
}

/// The limit that counts now, first, and how long it is for where the policies behind it say that: `100, 100;w=60, 5000;w=3600`
/// (up to the fifth draft, and Envoy).
fn limit(text: &str) -> Option<(u64, Option<Duration>)> {
    let mut members = list::members(text.as_bytes()).map(|member| {
        let mut parts = std::str::from_utf8(member).ok()?.split(';').map(str::trim);
        let amount = count(parts.next()?)?;
        let window = parts.find_map(|part| part.strip_prefix("w=")).and_then(count);
        Some((amount, window.map(Duration::from_secs)))
    });
    let (limit, window) = members.next()??;
    let policy = members.flatten().find(|(amount, window)| *amount == limit && window.is_some());
    Some((limit, window.or(policy.and_then(|(_, window)| window))))
}
