//! Reflection: which of a request's fields an answer repeats although it does not say that it depends on them.
//!
//! An origin that puts a request field into its answer and does not name it in `Vary` hands one client's value to all
//! others through a shared cache: by mistake, or because somebody wanted that (web cache poisoning). No RFC asks a cache
//! to look; but a value that stands in the answer has plainly shaped it, so it is taken for a selecting field (RFC 9111
//! §4.1), as if `Vary` named it. This is a safety net, not a proof: what an origin computes from a field, without
//! repeating it, only the origin knows.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

use http::header::{
    CONTENT_RANGE, ETAG, HeaderMap, HeaderName, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE,
    IF_UNMODIFIED_SINCE, LAST_MODIFIED, RANGE, VARY,
};
use memchr::memmem;

/// Bytes of content that are looked through: who reflects, does so near the beginning.
pub const LOOKED_THROUGH: usize = 256 * 1024;
/// Shorter values stand in answers by chance: `en`, `gzip`, `1`.
const TELLING: usize = 8;
/// No client has so many; what comes after them is taken for repeated, so that nobody can have us search for long.
const MOST: usize = 32;
/// Longer ones are not escaped and looked for in all their forms.
const LONGEST: usize = 4 * 1024;

/// A number that is the same for two requests to one host when no answer could tell them apart by a reflected field.
pub fn fingerprint(request: &HeaderMap, authority: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    for (name, value) in telling(request, authority).filter(|(name, _)| !is_of_a_part(name)) {
        name.as_str().hash(&mut hasher);
        value.hash(&mut hasher);
    }
    hasher.finish()
}

/// The names of the request's fields whose value stands in the answer's fields or content, as it is or escaped as HTML
/// or for a URL. `authority`: the host that was asked. `is_keyed`: those that the key holds already, which are not looked
/// for. `content`: decoded; no more than [`LOOKED_THROUGH`] bytes are looked at.
pub fn reflected(
    request: &HeaderMap,
    authority: &str,
    is_keyed: impl Fn(&HeaderName) -> bool,
    response: &HeaderMap,
    content: &[u8],
) -> Vec<HeaderName> {
    let content = &content[..content.len().min(LOOKED_THROUGH)];
    let mut names: Vec<HeaderName> = Vec::new();
    for (index, (name, value)) in telling(request, authority).enumerate() {
        let is_new = names.last() != Some(name) && !is_keyed(name);
        let stands = || forms(value).iter().any(|form| stands_in(form, name, response, content));
        if is_new && (index >= MOST || stands()) {
            names.push(name.clone());
        }
    }
    names
}

/// Fields that could be told apart in an answer. Not ids of one exchange, which origins repeat in good faith and which
/// would make every request its own variant; nor where a client comes from, when that is a plain address of the same
/// host, since pages link to one another.
fn telling<'r>(
    request: &'r HeaderMap,
    authority: &'r str,
) -> impl Iterator<Item = (&'r HeaderName, &'r [u8])> {
    let values = request.iter().map(|(name, value)| (name, value.as_bytes()));
    values.filter(move |(name, value)| {
        let is_of_the_exchange = names_an_exchange(name.as_str()) && is_id(value);
        let is_link = *name == http::header::REFERER && is_plain_address(value, authority);
        let is_left_out = CONDITIONS.contains(name) || is_of_the_exchange || is_link;
        value.len() >= TELLING && !is_left_out
    })
}

/// What a client holds of an answer already: the origin gets ours in their place.
const CONDITIONS: [HeaderName; 4] = [IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_UNMODIFIED_SINCE];

/// What part of it a client wants, which the origin gets where nothing is stored.
fn is_of_a_part(name: &HeaderName) -> bool {
    *name == RANGE || *name == IF_RANGE
}

fn names_an_exchange(name: &str) -> bool {
    const NAMES: [&str; 14] = [
        "baggage",
        "b3",
        "cf-ray",
        "correlation-id",
        "request-id",
        "sentry-trace",
        "traceparent",
        "tracestate",
        "uber-trace-id",
        "x-amzn-trace-id",
        "x-cloud-trace-context",
        "x-correlation-id",
        "x-request-id",
        "x-trace-id",
    ];
    NAMES.contains(&name) || name.starts_with("x-b3-") || name.starts_with("x-datadog-")
}

/// What an id looks like: nothing that could mean something where it is repeated.
fn is_id(value: &[u8]) -> bool {
    value.len() <= 128 && value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._-:=;,".contains(byte))
}

/// `https://host/path` of unremarkable characters, on the host that was asked.
fn is_plain_address(value: &[u8], authority: &str) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/.-_~".contains(byte);
    let after_scheme = value.strip_prefix(b"https://").or_else(|| value.strip_prefix(b"http://"));
    after_scheme
        .and_then(|rest| rest.strip_prefix(authority.as_bytes()))
        .is_some_and(|path| path.first().is_none_or(|first| *first == b'/') && path.iter().all(plain))
}

fn stands_in(form: &[u8], of: &HeaderName, response: &HeaderMap, content: &[u8]) -> bool {
    let finder = memmem::Finder::new(form);
    // An origin answers a part, and the condition on it, with these in good faith.
    let answers = |name: &HeaderName| {
        *name == VARY || (is_of_a_part(of) && [CONTENT_RANGE, ETAG, LAST_MODIFIED].contains(name))
    };
    finder.find(content).is_some()
        || response.iter().any(|(name, value)| !answers(name) && finder.find(value.as_bytes()).is_some())
}

/// The value as it is, as it stands in HTML and JSON, and as it stands in a URL; each once.
fn forms(value: &[u8]) -> Vec<Cow<'_, [u8]>> {
    let mut forms = vec![Cow::Borrowed(value)];
    if value.len() > LONGEST {
        return forms;
    }
    for escaped in [escape(value, html), escape(value, json), escape(value, percent)] {
        if !forms.iter().any(|form| **form == *escaped) {
            forms.push(Cow::Owned(escaped));
        }
    }
    forms
}

fn escape(value: &[u8], escaped: impl Fn(u8, &mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len() + 16);
    for byte in value {
        escaped(*byte, &mut out);
    }
    out
}

fn html(byte: u8, out: &mut Vec<u8>) {
    match byte {
        b'&' => out.extend(b"&amp;"),
        b'<' => out.extend(b"&lt;"),
        b'>' => out.extend(b"&gt;"),
        b'"' => out.extend(b"&quot;"),
        b'\'' => out.extend(b"&#39;"),
        other => out.push(other),
    }
}

fn json(byte: u8, out: &mut Vec<u8>) {
    if matches!(byte, b'"' | b'\\') {
        out.push(b'\\');
    }
    out.push(byte);
}

fn percent(byte: u8, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    if byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte) {
        return out.push(byte);
    }
    out.extend([b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn fields(lines: &[(&'static str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in lines {
            map.append(*name, HeaderValue::from_str(value).unwrap());
        }
        map
    }

    fn found(
        request: &[(&'static str, &str)],
        response: &[(&'static str, &str)],
        content: &str,
    ) -> Vec<String> {
        let is_keyed = |name: &HeaderName| name == "x-keyed";
        let names = reflected(&fields(request), "a.example", is_keyed, &fields(response), content.as_bytes());
        names.into_iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn a_value_that_stands_in_the_answer_has_shaped_it() {
        let agent = ("user-agent", "Mozilla/5.0 \"<x>\" & y");
        for content in [
            "you are Mozilla/5.0 \"<x>\" & y!",
            "<p>Mozilla/5.0 &quot;&lt;x&gt;&quot; &amp; y</p>",
            r#"{"agent":"Mozilla/5.0 \"<x>\" & y"}"#,
            "/?ua=Mozilla%2F5.0%20%22%3Cx%3E%22%20%26%20y",
        ] {
            assert_eq!(found(&[agent], &[], content), ["user-agent"], "{content}");
        }
        assert_eq!(found(&[agent], &[("x-echo", agent.1)], ""), ["user-agent"]);
        assert!(found(&[agent], &[("x-echo", "Mozilla/5.0")], "Mozilla/5.0").is_empty(), "not as a whole");
    }

    #[test]
    fn what_proves_nothing_is_not_looked_for() {
        for (name, value) in [
            ("accept-language", "en"),
            ("x-request-id", "0123456789abcdef"),
            ("x-b3-traceid", "0123456789abcdef"),
            ("referer", "https://a.example/a/page-1.html"),
            ("x-keyed", "something long"),
        ] {
            assert!(found(&[(name, value)], &[], value).is_empty(), "{name}");
        }
        for (name, value) in [
            ("referer", "https://a.example/?\"><script>"),
            ("referer", "https://evil.example/"),
            ("referer", "https://a.example.evil/"),
            ("x-correlation-id", "<script>alert(1)"),
        ] {
            assert_eq!(found(&[(name, value)], &[], value), [name], "{value}");
        }
    }

    #[test]
    fn only_the_beginning_is_looked_through() {
        let content = format!("{}something long", " ".repeat(LOOKED_THROUGH));
        assert!(found(&[("x-a", "something long")], &[], &content).is_empty());
    }

    proptest! {
        /// Requests of the same fingerprint have the same telling fields, so that no answer reflects one and not the other.
        #[test]
        fn fingerprints_tell_what_reflections_tell(
            one in prop::collection::vec((prop::sample::select(vec!["x-a", "x-b"]), "[a-z]{6,10}"), 0..3),
            other in prop::collection::vec((prop::sample::select(vec!["x-a", "x-b"]), "[a-z]{6,10}"), 0..3),
        ) {
            let map = |lines: &[(&'static str, String)]| {
                let mut map = HeaderMap::new();
                for (name, value) in lines {
                    map.append(*name, HeaderValue::from_str(value).unwrap());
                }
                map
            };
            let (one, other) = (map(&one), map(&other));
            let list = |map: &HeaderMap| telling(map, "a").map(|(n, v)| (n.clone(), v.to_vec())).collect::<Vec<_>>();
            prop_assert_eq!(fingerprint(&one, "a") == fingerprint(&other, "a"), list(&one) == list(&other));
        }
    }
}
