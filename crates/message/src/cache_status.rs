//! CacheStatus: what the cache did with a request, as the field of that name says it (RFC 9211).

use http::HeaderValue;

/// What happened. `hit` and `fwd` exclude each other.
#[allow(clippy::struct_excessive_bools)] // each is a parameter of the field
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStatus {
    /// Answered from the cache, without asking the origin.
    pub hit: bool,
    /// Why the origin was asked. Not written where `hit` is set.
    pub fwd: Option<Fwd>,
    /// What the origin answered, where it differs from what the client gets.
    pub fwd_status: Option<u16>,
    /// Seconds of freshness left; negative when stale.
    pub ttl: Option<i64>,
    /// The origin's answer was stored.
    pub stored: bool,
    /// The request was answered together with another one.
    pub collapsed: bool,
    /// Anything else, in a word.
    pub detail: Option<&'static str>,
}

/// Why a request went on to the origin (RFC 9211 §2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fwd {
    /// The cache was not to handle it.
    Bypass,
    /// Its method cannot be answered from a cache.
    Method,
    /// Nothing is stored for its URI.
    UriMiss,
    /// What is stored for its URI is for other requests (`Vary`).
    VaryMiss,
    /// Nothing stored fits, for no reason in particular.
    Miss,
    /// It would not have what is stored, fresh though it is.
    Request,
    /// What is stored is stale.
    Stale,
    /// What is stored holds only some of the ranges.
    Partial,
}

impl Fwd {
    /// The token of RFC 9211.
    pub const fn word(&self) -> &'static str {
        match self {
            Fwd::Bypass => "bypass",
            Fwd::Method => "method",
            Fwd::UriMiss => "uri-miss",
            Fwd::VaryMiss => "vary-miss",
            Fwd::Miss => "miss",
            Fwd::Request => "request",
            Fwd::Stale => "stale",
            Fwd::Partial => "partial",
        }
    }
}

/// What the cache made of a request, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CacheOutcome {
    /// Answered from a fresh entry.
    Hit,
    /// Answered from an entry past its lifetime, as the rules allow.
    Stale,
    /// The entry was past its lifetime and the origin confirmed it (304).
    Revalidated,
    /// Looked for and fetched from the origin, alone or together with others.
    Miss,
    /// Not looked for: the method or the policy wants it so.
    Uncacheable,
}

impl CacheOutcome {
    /// As Cloud CDN writes it.
    pub const fn word(self) -> &'static str {
        match self {
            CacheOutcome::Hit => "hit",
            CacheOutcome::Stale => "stale",
            CacheOutcome::Revalidated => "revalidated",
            CacheOutcome::Miss => "miss",
            CacheOutcome::Uncacheable => "uncacheable",
        }
    }
}

/// How the cache names itself.
const NAME: &[u8] = b"fleetfoot";
/// A structured integer has at most fifteen digits (RFC 9651 §3.3.1).
const LARGEST_INTEGER: i64 = 999_999_999_999_999;

impl CacheStatus {
    /// The detail of an answer that stands in for one that failed (RFC 5861 §4).
    pub const STALE_IF_ERROR: &str = "stale-if-error";

    /// Whether the answer stands in for one that failed.
    pub fn stands_in(&self) -> bool {
        self.detail == Some(Self::STALE_IF_ERROR)
    }

    /// Answered from the cache, with so many seconds of freshness left.
    pub fn hit(ttl: i64) -> Self {
        CacheStatus { hit: true, ttl: Some(ttl), ..CacheStatus::default() }
    }

    /// The origin is asked, for this reason.
    pub fn forward(fwd: Fwd) -> Self {
        CacheStatus { fwd: Some(fwd), ..CacheStatus::default() }
    }

    /// With a word on why.
    #[must_use]
    pub fn because(self, detail: &'static str) -> Self {
        CacheStatus { detail: Some(detail), ..self }
    }

    /// The origin answered with this.
    #[must_use]
    pub fn answered(self, status: http::StatusCode) -> Self {
        CacheStatus { fwd_status: Some(status.as_u16()), ..self }
    }

    /// What it amounts to; `None` where the cache had no part in it.
    pub fn outcome(&self) -> Option<CacheOutcome> {
        Some(match self.fwd {
            // Past its lifetime, also after asking in vain: then `fwd` and a negative lifetime stand together.
            _ if self.ttl.is_some_and(|ttl| ttl < 0) => CacheOutcome::Stale,
            _ if self.hit => CacheOutcome::Hit,
            Some(Fwd::Bypass | Fwd::Method) => CacheOutcome::Uncacheable,
            Some(Fwd::Stale | Fwd::Request) if self.fwd_status == Some(304) => CacheOutcome::Revalidated,
            Some(_) => CacheOutcome::Miss,
            None => return None,
        })
    }

    /// As the value of a field.
    pub fn to_value(&self) -> HeaderValue {
        let mut text = Vec::with_capacity(64);
        self.write(&mut text);
        HeaderValue::from_bytes(&text).expect("tokens, digits and separators are a valid field value")
    }

    /// The one word that some CDNs write in place of the field: `hit`, `miss`, `stale`, `revalidated`, `uncacheable`. An
    /// answer that was looked for and may not be stored is a `miss`; what the cache had no part in is `uncacheable`.
    pub fn word(&self) -> &'static str {
        self.outcome().unwrap_or(CacheOutcome::Uncacheable).word()
    }

    /// Appends the field's value. Allocates only if `out` has no room.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(NAME);
        if self.hit {
            out.extend_from_slice(b"; hit");
        } else if let Some(fwd) = self.fwd {
            out.extend_from_slice(b"; fwd=");
            out.extend_from_slice(fwd.word().as_bytes());
        }
        if let Some(status) = self.fwd_status {
            out.extend_from_slice(b"; fwd-status=");
            write_integer(out, i64::from(status));
        }
        if let Some(ttl) = self.ttl {
            out.extend_from_slice(b"; ttl=");
            write_integer(out, ttl);
        }
        if self.stored {
            out.extend_from_slice(b"; stored");
        }
        if self.collapsed {
            out.extend_from_slice(b"; collapsed");
        }
        if let Some(detail) = self.detail {
            out.extend_from_slice(b"; detail=");
            write_detail(out, detail);
        }
    }
}

fn write_integer(out: &mut Vec<u8>, integer: i64) {
    let integer = integer.clamp(-LARGEST_INTEGER, LARGEST_INTEGER);
    out.extend_from_slice(itoa::Buffer::new().format(integer).as_bytes());
}

/// As a token where it is one, else as a string without what a string may not hold.
fn write_detail(out: &mut Vec<u8>, detail: &str) {
    if is_token(detail) {
        return out.extend_from_slice(detail.as_bytes());
    }
    out.push(b'"');
    for byte in detail.bytes().filter(|byte| matches!(byte, b' '..=b'~')) {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out.push(b'"');
}

/// `sf-token` (RFC 9651 §3.3.4).
fn is_token(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '*')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~:/".contains(&byte))
}

#[cfg(test)]
mod tests {
    use sfv::{BareItem, List, ListEntry, Parser};

    use super::*;

    fn written(status: CacheStatus) -> String {
        let mut out = Vec::new();
        status.write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn rfc9211_2_the_field_in_its_forms() {
        let none = CacheStatus::default();
        for (status, expected) in [
            (none, "fleetfoot"),
            (CacheStatus { hit: true, ttl: Some(30), ..none }, "fleetfoot; hit; ttl=30"),
            (CacheStatus { hit: true, ttl: Some(-412), ..none }, "fleetfoot; hit; ttl=-412"),
            (
                CacheStatus { fwd: Some(Fwd::UriMiss), stored: true, collapsed: true, ..none },
                "fleetfoot; fwd=uri-miss; stored; collapsed",
            ),
            (
                CacheStatus { fwd: Some(Fwd::Stale), fwd_status: Some(304), ttl: Some(5), ..none },
                "fleetfoot; fwd=stale; fwd-status=304; ttl=5",
            ),
            (
                CacheStatus { fwd: Some(Fwd::Miss), detail: Some("no-store"), ..none },
                "fleetfoot; fwd=miss; detail=no-store",
            ),
            (
                CacheStatus { detail: Some("a \"b\" \\c\u{e9}\n"), ..none },
                r#"fleetfoot; detail="a \"b\" \\c""#,
            ),
            (CacheStatus { detail: Some("5xx"), ..none }, r#"fleetfoot; detail="5xx""#),
            (CacheStatus { ttl: Some(i64::MIN), ..none }, "fleetfoot; ttl=-999999999999999"),
        ] {
            assert_eq!(written(status), expected);
            assert!(Parser::new(expected).parse::<List>().is_ok(), "{expected}");
        }
    }

    #[test]
    fn rfc9211_2_hit_and_fwd_must_not_stand_together() {
        let both = CacheStatus { hit: true, fwd: Some(Fwd::Stale), ..CacheStatus::default() };
        assert_eq!(written(both), "fleetfoot; hit");
    }

    #[test]
    fn each_status_has_its_word() {
        let none = CacheStatus::default();
        let forwarded = |fwd, status| CacheStatus { fwd: Some(fwd), fwd_status: Some(status), ..none };
        for (status, word) in [
            (CacheStatus::hit(5), "hit"),
            (CacheStatus::hit(0), "hit"),
            (CacheStatus::hit(-1), "stale"),
            (CacheStatus { ttl: Some(-3), ..forwarded(Fwd::Stale, 503) }, "stale"),
            (forwarded(Fwd::Stale, 304), "revalidated"),
            (forwarded(Fwd::Request, 304), "revalidated"),
            (forwarded(Fwd::Stale, 200), "miss"),
            (forwarded(Fwd::UriMiss, 200).because("no-store"), "miss"),
            (forwarded(Fwd::VaryMiss, 404), "miss"),
            (forwarded(Fwd::Method, 201), "uncacheable"),
            (forwarded(Fwd::Bypass, 304), "uncacheable"),
            (none, "uncacheable"),
        ] {
            assert_eq!(status.word(), word, "{status:?}");
        }
        assert_eq!(none.outcome(), None);
    }

    #[test]
    fn every_word_is_a_token() {
        for word in
            [Fwd::Bypass.word(), Fwd::VaryMiss.word(), Fwd::Request.word(), CacheStatus::STALE_IF_ERROR]
        {
            let line = written(CacheStatus { detail: Some(word), ..CacheStatus::default() });
            let list: List = Parser::new(&line).parse().unwrap();
            let ListEntry::Item(item) = &list[0] else { panic!("{line}") };
            assert!(matches!(item.params.get("detail"), Some(BareItem::Token(_))), "{line}");
        }
    }
}
