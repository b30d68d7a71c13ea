//! Controls: what a policy says besides lifetimes, and what that makes of one request.

use cache::{Look, Shown};
use http::{Method, StatusCode};
use plan::{CachePolicy, Condition, StatusForm};
use serde::Serialize;

/// A control, as it is called in the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Control {
    /// The word of the configuration.
    pub name: &'static str,
    /// What it makes of this request.
    pub effect: String,
}

impl Control {
    pub(super) fn new(name: &'static str, effect: impl Into<String>) -> Self {
        Control { name, effect: effect.into() }
    }
}

/// Those that the policy sets.
pub(super) fn of(look: &Look<'_>, shown: &Shown) -> Vec<Control> {
    let policy = look.policy;
    let mut controls = Vec::new();
    let mut add = |name, effect: String| controls.push(Control::new(name, effect));
    let holds = |set: bool| if set { "holds" } else { "does not hold" };
    if !policy.bypass.is_empty() {
        add(
            "bypass",
            format!("{} ({})", holds(shown.bypass == Some("bypass")), conditions(policy.bypass.all())),
        );
    }
    if !policy.skip_for.is_empty() {
        let holds = holds(shown.bypass == Some("skip-for"));
        add("skip_for", format!("{holds} ({})", conditions(policy.skip_for.all())));
    }
    if policy.per.is_some() {
        let effect =
            if shown.personal { "keyed per user" } else { "no user in this request: treated as anonymous" };
        add("per", effect.to_owned());
    }
    if let Some(client) = policy.rules.client_ttl {
        add("client_ttl", format!("clients are told {} s at most", client.as_secs()));
    }
    if !policy.rules.by_status.is_empty() {
        let shown = |(status, ttl): &(StatusCode, std::time::Duration)| {
            format!("{}: {} s", status.as_u16(), ttl.as_secs())
        };
        add("negative", policy.rules.by_status.iter().map(shown).collect::<Vec<_>>().join(", "));
    }
    if let Some(share) = policy.jitter {
        add("jitter", format!("up to {:.0} % of a lifetime is taken off", share * 100.0));
    }
    if let Some(share) = policy.early {
        add("early", format!("what is used is refreshed in the last {:.0} % of its lifetime", share * 100.0));
    }
    if let Some(compress) = &policy.compress {
        let chosen = rules::encoding::choose(look.request.fields, &compress.encodings);
        add(
            "compress",
            match chosen {
                Some(encoding) => {
                    format!("this client gets {}, where the answer is worth it", encoding.word())
                }
                None => "this client gets the content as it is".to_owned(),
            },
        );
    }
    if !policy.tags.is_empty() {
        let names: Vec<_> = policy.tags.iter().map(http::HeaderName::as_str).collect();
        add("tags", format!("read from {}, which clients do not get", names.join(", ")));
    }
    if policy.shared {
        add(
            "tier",
            "answers are shared with other instances; what they hold is not looked at here".to_owned(),
        );
    }
    match policy.status_form {
        StatusForm::Field => {}
        StatusForm::Word => add("cache_status", "one word, with Cache-ID".to_owned()),
        StatusForm::Off => add("cache_status", "not sent".to_owned()),
    }
    controls
}

fn conditions(all: &[Condition]) -> String {
    let shown = |condition: &Condition| match condition {
        Condition::Header(name) => format!("field {name}"),
        Condition::Cookie(name) => format!("cookie {name}"),
        Condition::Holds(_) => "an expression".to_owned(),
    };
    all.iter().map(shown).collect::<Vec<_>>().join(", ")
}

/// Whether requests of this method are answered from the cache by their content.
pub(super) fn reads_content(policy: &CachePolicy, method: &Method) -> bool {
    match method.as_str() {
        "QUERY" => policy.body_keys.query,
        "POST" => policy.body_keys.post,
        _ => false,
    }
}

/// Why the cache is passed, in a sentence.
pub(super) fn bypass(why: &str) -> &'static str {
    match why {
        "bypass" => "the policy's `bypass` holds",
        "skip-for" => "the policy's `skip_for` holds",
        "has-cookie" => {
            "with `mode: force`, a cookie that is no part of the key may be of somebody who is logged in: write `skip_for` \
             to say who is, or `key: { cookies: [] }`"
        }
        "has-authorization" => {
            "with `mode: force`, `Authorization` is of somebody who is logged in: write `skip_for` to say otherwise"
        }
        "spelling" => {
            "a field or cookie that the policy goes by came in a spelling that some servers take for it and others do not, or \
             a cookie twice"
        }
        "condition" => "If-Match and If-Unmodified-Since are for the origin to decide (RFC 9110 §13.2.1)",
        "upgrade" => "the request asks for another protocol (RFC 9110 §7.8)",
        _ => "the request is one that a cache does not answer",
    }
}
