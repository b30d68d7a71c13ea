//! Reflection: which of a request's fields an answer repeats although it does not say that it depends on them.
//!
//! An origin that puts a request field into its answer and does not name it in `Vary` hands one client's value to all
//! others through a shared cache: by mistake, or because somebody wanted that (web cache poisoning). No RFC asks a cache
//! to look; but a value that stands in the answer has plainly shaped it, so it is taken for a selecting field (RFC 9111
//! §4.1), as if `Vary` named it. This is a safety net, not a proof: what an origin computes from a field, without
//! repeating it, only the origin knows.
//!
//! The values, in pieces (`needles`), and the answer are brought into one form (`normal`), and all are looked for in one
//! pass (`automaton`): the work is bounded by the length of both, whatever they hold.

mod automaton;
mod needles;
mod normal;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;

use http::header::{
    CONTENT_RANGE, ETAG, HeaderMap, HeaderName, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE,
    IF_UNMODIFIED_SINCE, LAST_MODIFIED, RANGE, VARY,
};

use automaton::{Automaton, Found};
use needles::Needles;

/// Bytes of content that are looked through: who reflects, does so near the beginning.
pub const LOOKED_THROUGH: usize = 256 * 1024;
/// Fields that are looked for; no client has so many.
const MOST_FIELDS: usize = Found::BITS as usize - 1;
/// The bit after those of fields.
const ADDRESS: u8 = MOST_FIELDS as u8;
/// Bytes of values that are looked for.
const MOST_BYTES: usize = 64 * 1024;

/// What comes from the client in what an origin is asked: all of it may stand in the answer.
#[derive(Clone, Copy, Debug)]
pub struct ClientInput<'r> {
    /// The fields of the request.
    pub fields: &'r HeaderMap,
    /// The host that is asked, with its port.
    pub authority: &'r str,
    /// The client's address, as far as it tells it from others: see [`ClientInput::new`].
    address: Option<IpAddr>,
}

/// What an answer repeats of its request.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Reflected {
    /// Names of fields.
    pub fields: Vec<HeaderName>,
    /// Whether it repeats the client's address, which an origin reads in `X-Forwarded-For` and the like. No field of the
    /// request holds it, so that it cannot select an answer among several.
    pub address: bool,
}

impl<'r> ClientInput<'r> {
    /// `client`: where it connects from. That address tells nobody from others where it is of this machine, as behind a
    /// proxy on the same one; nor where it is the host that is asked, which pages name in good faith.
    pub fn new(fields: &'r HeaderMap, authority: &'r str, client: IpAddr) -> Self {
        let address = client.to_canonical();
        let host = needles::without_port(authority.as_bytes());
        let host = str::from_utf8(host).ok().map(|host| host.trim_matches(['[', ']']).parse());
        let is_nobody = address.is_loopback() || address.is_unspecified() || host == Some(Ok(address));
        ClientInput { fields, authority, address: (!is_nobody).then_some(address) }
    }
}

impl Reflected {
    /// Whether the answer repeats nothing of its request.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty() && !self.address
    }
}

/// A number that is the same for two requests to one host when no answer could tell them apart by what it repeats.
pub fn fingerprint(input: &ClientInput<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    input.address.hash(&mut hasher);
    for (name, value) in telling(input).filter(|(name, _)| !is_of_a_part(name)) {
        name.as_str().hash(&mut hasher);
        value.hash(&mut hasher);
    }
    hasher.finish()
}

/// What of the request stands in the answer's fields or content, a telling piece of it, in whatever letter case and escaped
/// in whatever way. `is_keyed`: fields that the key holds already, which are not looked for. `content`: decoded; no more
/// than [`LOOKED_THROUGH`] bytes are looked at.
///
/// Where there is more to look for than anybody needs, the rest is taken for found: the answer is the asker's own.
pub fn reflected(
    input: &ClientInput<'_>,
    is_keyed: impl Fn(&HeaderName) -> bool,
    response: &HeaderMap,
    content: &[u8],
) -> Reflected {
    let sought = Sought::of(input, is_keyed);
    let found = sought.in_answer(response, &content[..content.len().min(LOOKED_THROUGH)]);
    let is_found = |at: usize| at >= MOST_FIELDS || found >> at & 1 == 1;
    let names = sought.names.into_iter().enumerate();
    Reflected {
        fields: names.filter(|(at, _)| is_found(*at)).map(|(_, name)| name.clone()).collect(),
        address: found >> ADDRESS & 1 == 1,
    }
}

/// What is looked for of a request.
struct Sought<'r> {
    /// The first [`MOST_FIELDS`] have a bit each.
    names: Vec<&'r HeaderName>,
    needles: Needles,
    /// Those for which there was no room.
    left_out: Found,
}

impl<'r> Sought<'r> {
    fn of(input: &ClientInput<'r>, is_keyed: impl Fn(&HeaderName) -> bool) -> Self {
        let mut sought = Sought { names: Vec::new(), needles: Needles::default(), left_out: 0 };
        if let Some(address) = input.address {
            sought.needles.add_address(address, ADDRESS);
        }
        let host = needles::without_port(input.authority.as_bytes());
        let mut bytes = 0;
        for (name, value) in telling(input).filter(|(name, _)| !is_keyed(name)) {
            if sought.names.last() != Some(&name) {
                sought.names.push(name);
            }
            let field = sought.names.len() - 1;
            bytes += value.len();
            let is_in =
                bytes <= MOST_BYTES && field < MOST_FIELDS && sought.needles.add(value, host, field as u8);
            if !is_in {
                sought.left_out |= Found::from(1_u8).checked_shl(field as u32).unwrap_or(0);
            }
        }
        sought
    }

    /// The bits of the fields that are repeated.
    fn in_answer(&self, response: &HeaderMap, content: &[u8]) -> Found {
        if self.names.is_empty() && self.needles.is_empty() {
            return 0;
        }
        let automaton = Automaton::new(self.needles.iter());
        let mut text = Vec::with_capacity(content.len());
        normal::push(content, &mut text);
        let mut found = self.left_out | automaton.search(&text);
        for (name, value) in response.iter().filter(|(name, _)| **name != VARY) {
            text.clear();
            normal::push(value.as_bytes(), &mut text);
            let in_field = automaton.search(&text);
            // An origin answers a part, and the condition on it, with these in good faith.
            let answers_a_part = [CONTENT_RANGE, ETAG, LAST_MODIFIED].contains(name);
            found |= if answers_a_part { in_field & !self.of_a_part() } else { in_field };
        }
        found
    }

    /// The bits of the fields that ask for a part.
    fn of_a_part(&self) -> Found {
        let fields = self.names.iter().take(MOST_FIELDS).enumerate().filter(|(_, name)| is_of_a_part(name));
        fields.fold(0, |bits, (at, _)| bits | 1 << at)
    }
}

/// Fields that could be told apart in an answer. Not ids of one exchange, which origins repeat in good faith and which
/// would make every request its own variant; nor where a client comes from, when that is a plain address of the same
/// host, since pages link to one another.
fn telling<'r>(input: &ClientInput<'r>) -> impl Iterator<Item = (&'r HeaderName, &'r [u8])> {
    let authority = input.authority;
    let values = input.fields.iter().map(|(name, value)| (name, value.as_bytes()));
    values.filter(move |(name, value)| {
        let is_of_the_exchange = names_an_exchange(name.as_str()) && is_id(value);
        let is_link = *name == http::header::REFERER && is_plain_address(value, authority);
        let is_left_out = CONDITIONS.contains(name) || is_of_the_exchange || is_link;
        needles::may_tell(value) && !is_left_out
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

    fn input(fields: &HeaderMap) -> ClientInput<'_> {
        ClientInput::new(fields, "a.example", IpAddr::from([192, 0, 2, 7]))
    }

    fn found(
        request: &[(&'static str, &str)],
        response: &[(&'static str, &str)],
        content: &str,
    ) -> Vec<String> {
        let is_keyed = |name: &HeaderName| name == "x-keyed";
        let reflected = reflected(&input(&fields(request)), is_keyed, &fields(response), content.as_bytes());
        assert!(!reflected.address, "nothing here repeats the address");
        reflected.fields.into_iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn the_address_of_the_client_is_looked_for() {
        let is_found = |client: &str, authority: &str, content: &str| {
            let none = HeaderMap::new();
            let input = ClientInput::new(&none, authority, client.parse().unwrap());
            let in_content = reflected(&input, |_| false, &none, content.as_bytes());
            let in_field = reflected(&input, |_| false, &fields(&[("x-for", content)]), b"");
            assert_eq!(in_content, in_field);
            assert_eq!(
                fingerprint(&input)
                    != fingerprint(&ClientInput::new(&none, authority, [127, 0, 0, 1].into())),
                input.address.is_some()
            );
            in_content.address
        };
        for (client, content) in [
            ("192.0.2.7", "you come from 192.0.2.7"),
            ("::ffff:192.0.2.7", r#"{"ip":"192.0.2.7"}"#),
            ("2001:db8::7", "for=&quot;[2001:DB8::7]:80&quot;"),
            ("fe80::1", "fe80::1"),
        ] {
            assert!(is_found(client, "a.example", content), "{client} in {content}");
            assert!(!is_found(client, "a.example", "192.0.2.8 2001:db8::8"), "{client}");
        }
        assert!(!is_found("127.0.0.1", "a.example", "127.0.0.1"), "this machine");
        assert!(!is_found("0.0.0.0", "a.example", "0.0.0.0"), "nobody");
        assert!(!is_found("192.0.2.7", "192.0.2.7:8080", "http://192.0.2.7:8080/"), "the host asked");
        assert!(!is_found("2001:db8::7", "[2001:db8::7]", "http://[2001:db8::7]/"), "the host asked");
    }

    /// The forms in which pieces of a value are repeated, each by an origin that somebody runs.
    #[test]
    fn pieces_are_found_in_every_form() {
        for (value, content) in [
            ("Evil-Value-1", "you sent EVIL-VALUE-1"),
            ("a=1; b=evil-value-1; c=3", "b is evil-value-1"),
            ("first, evil-value-1", "evil-value-1"),
            ("form-data; name=\"evil-value-1\"", "evil-value-1"),
            ("//evil.example/x", r#"{"next":"\/\/evil.example\/x"}"#),
            ("<b>'\"&/", "&#60;b&#62;&#39;&#34;&#38;&#47;"),
            ("<b>'\"&/", "&#x3C;b&#x3e;&#x27;&#x22;&#x26;&#x2F;"),
            ("<b>'\"&/", "\\u003cb\\u003E'\\\"\\u0026/"),
            ("<b>'\"&/", "%3cb%3e%27%22%26%2f"),
            ("evil value", "evil+value"),
            ("<b>", "<p>&lt;b&gt;</p>"),
            ("evil.example:8443", "<a href=https://evil.example/>"),
            ("http://evil.example:8443/x", "<base href=\"http://evil.example\">"),
            ("x.io", "//x.io/"),
            ("/x", "href=\"/x/login\""),
            ("%3Cscript", "<script"),
            ("<script>", "%253Cscript%253E"),
        ] {
            assert_eq!(found(&[("x-a", value)], &[], content), ["x-a"], "{value} in {content}");
            assert!(found(&[("x-a", value)], &[], "nothing of the kind").is_empty(), "{value}");
        }
    }

    #[test]
    fn a_browser_is_told_from_no_other_by_what_all_of_them_say() {
        let browser = [
            (
                "accept",
                "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
            ),
            ("accept-language", "en-US,en;q=0.9"),
            ("accept-encoding", "gzip, deflate, br, zstd"),
            ("cache-control", "max-age=0"),
            ("sec-fetch-dest", "document"),
            ("sec-fetch-site", "same-origin"),
            ("x-forwarded-host", "a.example"),
        ];
        let response = [("content-type", "text/html"), ("referrer-policy", "same-origin")];
        let content =
            "<script>document.cookie</script> text/html https://a.example/ max-age=0 en-US gzip, deflate, br";
        assert_eq!(found(&browser, &response, content), [""; 0]);
    }

    fn numbered(count: usize, value: impl Fn(usize) -> String) -> HeaderMap {
        let name = |number| HeaderName::try_from(format!("x-{number}")).unwrap();
        (0..count).map(|number| (name(number), HeaderValue::try_from(value(number)).unwrap())).collect()
    }

    fn of_many(request: &HeaderMap, content: &str) -> Vec<HeaderName> {
        reflected(&input(request), |_| false, &HeaderMap::new(), content.as_bytes()).fields
    }

    #[test]
    fn more_than_anybody_needs_is_the_askers_own() {
        let request = numbered(130, |number| format!("evil-value-{number:03}"));
        assert_eq!(of_many(&request, "evil-value-000 evil-value-127"), ["x-0", "x-127", "x-128", "x-129"]);
        let request = numbered(20, |number| format!("evil-list-{number:03},").repeat(80));
        let names = of_many(&request, "");
        assert!(names.len() < 20 && names.contains(&HeaderName::from_static("x-19")), "{names:?}");
        let request = numbered(20, |_| "%25".repeat(2000));
        assert!(of_many(&request, "").contains(&HeaderName::from_static("x-19")));
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
            let list = |map: &HeaderMap| telling(&input(map)).map(|(n, v)| (n.clone(), v.to_vec())).collect::<Vec<_>>();
            prop_assert_eq!(fingerprint(&input(&one)) == fingerprint(&input(&other)), list(&one) == list(&other));
        }
    }
}
