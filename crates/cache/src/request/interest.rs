//! Interest: which of a request's fields concern the cache, found in one pass.

use bytes::Bytes;
use expression::{Context, Given, Json};
use message::Fields;
use plan::{CachePolicy, Condition, Conditions};
use rules::{Mode, RequestDirectives, alike};

use crate::key::keying::Look;

/// Which fields are there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Interest(u16);

const AUTHORIZATION: u16 = 1;
const DIRECTIVES: u16 = 1 << 1;
/// If-None-Match, If-Modified-Since: evaluated against the stored answer.
const CONDITION: u16 = 1 << 2;
/// If-Match, If-Unmodified-Since: only the origin can tell.
const ORIGIN_CONDITION: u16 = 1 << 3;
const RANGE: u16 = 1 << 4;
const UPGRADE: u16 = 1 << 5;
const COOKIE: u16 = 1 << 6;
/// What the policy's `bypass` names.
const BYPASS: u16 = 1 << 7;
/// Somebody is logged in, as `skip_for` says.
const LOGGED_IN: u16 = 1 << 8;
/// The same, where nobody said who is logged in and everything is stored by force.
const SEEMS_LOGGED_IN: u16 = 1 << 9;
/// What the policy goes by is there in a spelling that only some servers read.
const MISSPELT: u16 = 1 << 10;

impl Interest {
    pub(crate) fn of(look: &Look<'_>) -> Self {
        let policy = look.policy;
        let interest = match look.request.fields {
            Fields::Wire(lines) => lines.iter().fold(0, |all, line| all | seen(line.name.as_bytes(), policy)),
            Fields::Map(map) => map.keys().fold(0, |all, name| all | seen(name.as_str().as_bytes(), policy)),
        };
        Interest(interest | conditions(look, interest))
    }

    /// The answer to give is not the stored one as it is: 304, 206, 412, 416.
    pub(crate) fn shapes_the_answer(self) -> bool {
        self.0 & (CONDITION | RANGE) != 0
    }

    /// Why nothing stored can answer, in a word: the origin must decide.
    pub(crate) fn bypass(self) -> Option<&'static str> {
        match self.0 & (ORIGIN_CONDITION | UPGRADE | BYPASS | LOGGED_IN | SEEMS_LOGGED_IN | MISSPELT) {
            0 => None,
            UPGRADE => Some("upgrade"),
            ORIGIN_CONDITION => Some("condition"),
            several if several & LOGGED_IN != 0 => Some("skip-for"),
            several if several & BYPASS != 0 => Some("bypass"),
            several if several & MISSPELT != 0 => Some("spelling"),
            several if several & SEEMS_LOGGED_IN != 0 && self.authorization() => Some("has-authorization"),
            several if several & SEEMS_LOGGED_IN != 0 => Some("has-cookie"),
            _ => Some("condition"),
        }
    }

    pub(crate) fn authorization(self) -> bool {
        self.0 & AUTHORIZATION != 0
    }

    pub(crate) fn cookie(self) -> bool {
        self.0 & COOKIE != 0
    }

    pub(crate) fn range(self) -> bool {
        self.0 & RANGE != 0
    }

    /// The request's directives, where the policy honours them.
    pub(crate) fn directives(self, fields: Fields<'_>, policy: &CachePolicy) -> RequestDirectives {
        if self.0 & DIRECTIVES == 0 || !policy.rules.heeds_clients() {
            return RequestDirectives::default();
        }
        RequestDirectives::of(fields)
    }
}

/// One field of the request.
fn seen(name: &[u8], policy: &CachePolicy) -> u16 {
    let named = |conditions: &Conditions, bit| if conditions.names(name) { bit } else { 0 };
    let misspelt = if policy.counted.is_taken_for_one(name) { MISSPELT } else { 0 };
    interest_in(name) | named(&policy.bypass, BYPASS) | named(&policy.skip_for, LOGGED_IN) | misspelt
}

/// What cannot be told from one field's name.
fn conditions(look: &Look<'_>, seen: u16) -> u16 {
    let policy = look.policy;
    let mut found = 0;
    for (conditions, bit) in [(&policy.bypass, BYPASS), (&policy.skip_for, LOGGED_IN)] {
        let has_cookies = conditions.has_cookies() && seen & COOKIE != 0;
        if (has_cookies || conditions.has_expressions())
            && conditions.all().iter().any(|one| holds(one, look))
        {
            found |= bit;
        }
    }
    let has_other = |name: &String| alike::has_other_cookie(look.request.fields, name);
    if seen & COOKIE != 0 && policy.counted.cookies().iter().any(has_other) {
        found |= MISSPELT;
    }
    if policy.rules.mode == Mode::Force && policy.skip_for.is_empty() {
        let telling = if policy.rules.cookies_keyed { AUTHORIZATION } else { AUTHORIZATION | COOKIE };
        found |= if seen & telling == 0 { 0 } else { SEEMS_LOGGED_IN };
    }
    found
}

fn holds(condition: &Condition, look: &Look<'_>) -> bool {
    match condition {
        Condition::Header(_) => false, // looked for by name already
        Condition::Cookie(name) => alike::has_cookie(look.request.fields, name),
        // Once the content is there.
        Condition::Holds(_) if condition.reads_content() => false,
        Condition::Holds(expression) => expression.holds(&look.context()),
    }
}

/// Why a request goes past the cache for what its content is, in a word; `None`: it does not.
pub(crate) fn content_bypass(look: &Look<'_>, content: &Bytes) -> Option<&'static str> {
    let policy = look.policy;
    let asked = [(&policy.skip_for, "skip-for"), (&policy.bypass, "bypass")];
    if !asked.iter().any(|(conditions, _)| conditions.reads_content()) {
        return None;
    }
    let given = match Json::check(content.clone()) {
        Some(json) => Given::Json(json),
        None if content.is_empty() => Given::Nothing,
        None => return Some("content-unclear"),
    };
    let context = Context { values: &[given], ..look.context() };
    let of_content = |(conditions, word): &(&Conditions, &'static str)| {
        conditions.all().iter().find_map(|condition| match condition {
            Condition::Holds(expression) if condition.reads_content() => match expression.decide(&context) {
                Ok(holds) => holds.then_some(*word),
                Err(_) => Some("content-unclear"),
            },
            _ => None,
        })
    };
    asked.iter().find_map(of_content)
}

/// Dispatches on the length before comparing: most names are of no interest and cost one jump.
fn interest_in(name: &[u8]) -> u16 {
    let is = |word: &str| name.eq_ignore_ascii_case(word.as_bytes());
    match name.len() {
        5 if is("range") => RANGE,
        6 if is("cookie") => COOKIE,
        6 if is("pragma") => DIRECTIVES,
        7 if is("upgrade") => UPGRADE,
        8 if is("if-match") => ORIGIN_CONDITION,
        13 if is("authorization") => AUTHORIZATION,
        13 if is("cache-control") => DIRECTIVES,
        13 if is("if-none-match") => CONDITION,
        17 if is("if-modified-since") => CONDITION,
        19 if is("if-unmodified-since") => ORIGIN_CONDITION,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, Method};
    use message::{RequestView, Scheme};

    use super::*;

    fn interest(policy: &CachePolicy, lines: &[(&'static str, &'static str)]) -> Interest {
        let lines: Vec<_> =
            lines.iter().map(|(name, value)| httparse::Header { name, value: value.as_bytes() }).collect();
        let request = RequestView {
            method: &Method::GET,
            scheme: Scheme::Http,
            authority: "a.example",
            target: "/",
            fields: Fields::Wire(&lines),
            client: None,
        };
        Interest::of(&Look { request: &request, policy, names: &[], source: "api" })
    }

    #[test]
    fn names_are_found_whatever_their_case() {
        let policy = CachePolicy::default();
        let found =
            interest(&policy, &[("HOST", "x"), ("rAnGe", "x"), ("Authorization", "x"), ("Ranges", "x")]);
        assert!(found.range() && found.authorization() && found.shapes_the_answer());
        assert_eq!(found.bypass(), None);
        assert_eq!(interest(&policy, &[("Upgrade", "x")]).bypass(), Some("upgrade"));
        assert_eq!(interest(&policy, &[("If-Match", "x")]).bypass(), Some("condition"));
    }

    #[test]
    fn presence_is_enough_for_bypass_and_skip_for() {
        let header = |name| Condition::Header(HeaderName::from_static(name));
        let policy = CachePolicy {
            bypass: Conditions::new(vec![header("bypass-cache")]),
            skip_for: Conditions::new(vec![Condition::Cookie("id".to_owned()), header("authorization")]),
            ..CachePolicy::default()
        };
        for (line, why) in [
            (("Bypass-Cache", ""), Some("bypass")),
            (("Bypass-Caches", ""), None),
            (("Authorization", "x"), Some("skip-for")),
            (("Bypass_Cache", "x"), Some("bypass")),
            (("Cookie", "a=1; id=2"), Some("skip-for")),
            (("Cookie", "a=1;id =2"), Some("skip-for")),
            (("Cookie", "ID=2"), Some("skip-for")),
            (("Cookie", "id"), Some("skip-for")),
            (("Cookie", "a=1; idx=2; xid=3; a=id=4"), None),
        ] {
            assert_eq!(interest(&policy, &[line]).bypass(), why, "{line:?}");
        }
    }

    #[test]
    fn what_only_some_servers_take_for_what_counts_goes_past_the_cache() {
        let per = expression::Template::parse("${cookie.user}", None).unwrap();
        let key = plan::KeyPolicy {
            headers: vec![HeaderName::from_static("x-tenant")],
            fold_encodings: true,
            ..plan::KeyPolicy::default()
        };
        let mut policy = CachePolicy { key, per: Some(per), ..CachePolicy::default() };
        policy.counted = plan::Counted::of(&policy);
        for (line, why) in [
            (("X-Tenant", "a"), None),
            (("X_Tenant", "a"), Some("spelling")),
            (("x.tenant", "a"), Some("spelling")),
            (("Accept_Encoding", "br"), Some("spelling")),
            (("X_Other", "a"), None),
            (("Cookie", "user=a; b=c"), None),
            (("Cookie", "user=a; USER=b"), Some("spelling")),
            (("Cookie", "user =a"), Some("spelling")),
        ] {
            assert_eq!(interest(&policy, &[line]).bypass(), why, "{line:?}");
        }
    }

    #[test]
    fn force_is_never_for_those_who_seem_to_be_logged_in() {
        let rules = rules::Policy { mode: Mode::Force, ..rules::Policy::default() };
        let mut policy = CachePolicy { rules, ..CachePolicy::default() };
        for (line, why) in [(("Cookie", "a=1"), "has-cookie"), (("Authorization", "x"), "has-authorization")]
        {
            assert_eq!(interest(&policy, &[line]).bypass(), Some(why), "{line:?}");
        }
        assert_eq!(interest(&policy, &[]).bypass(), None);
        policy.rules.cookies_keyed = true;
        assert_eq!(interest(&policy, &[("Cookie", "a=1")]).bypass(), None);
        policy.skip_for = Conditions::new(vec![Condition::Cookie("id".to_owned())]);
        assert_eq!(interest(&policy, &[("Authorization", "x")]).bypass(), None, "the policy knows who is");
    }
}
