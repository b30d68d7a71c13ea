//! THREATS C to E with two clients and an origin that puts everything it is told into its answer, fields and content, and
//! calls that good for a minute: what the first client said must not reach the second one, be it from what is stored or
//! because both asked at once.

use testkit::{Answer, Gate, Origin, Received, Script, ok};

use crate::setup::{cached_with, each, until_taken_up};

/// What the first client slips in.
const EVIL: &str = "evil7731";

/// The usual policy, and one that counts and ignores a bit of everything.
const POLICIES: [&str; 2] = [
    "ttl: origin",
    "ttl: origin, bypass: [Bypass-Cache], skip_for: [{ cookie: session }], tags: [Cache-Tag], compress: true, \
     key: { query: { except: [utm_*] }, sort: true, headers: [X-Tenant], cookies: [currency], encodings: fold, \
     languages: [en, de] }",
];

/// An origin's answer that holds all of the request.
pub(super) fn reflection(request: &Received) -> Script {
    let mut fields = format!(
        "Cache-Control: max-age=60\nSeen-Method: {}\nSeen-Target: {}\n",
        request.method, request.target
    );
    for (name, value) in &request.head.fields {
        fields.extend(["Seen-", name, ": ", value, "\n"]);
    }
    ok(&fields, [&request.raw[..], &request.body].concat())
}

pub(super) fn reflecting() -> Origin {
    let origin = Origin::start();
    origin.on("*").answer(reflection);
    origin
}

/// Whether any of it stands in this answer.
pub(super) fn tells(answer: &Answer, secret: &str) -> bool {
    let text = format!("{}{:?}{:?}", answer.text(), answer.head, answer.trailers);
    // The id of the exchange is any sixteen digits, and may hold the secret by chance.
    let id =
        answer.field("X-Request-Id").filter(|id| id.len() == 16 && id.bytes().all(|b| b.is_ascii_hexdigit()));
    text.replace(id.unwrap_or("\0"), "").contains(secret)
}

pub(super) fn request(target: &str, fields: &str) -> String {
    let mut head = format!("GET {target} HTTP/1.1\r\nHost: example.test\r\n");
    for line in fields.lines().map(str::trim).filter(|line| !line.is_empty()) {
        head.push_str(line);
        head.push_str("\r\n");
    }
    head + "\r\n"
}

/// The second client's answers after the first one's, and while the origin still works on that.
fn seconds(policy: &str, first: &str, second: &str) -> [Answer; 2] {
    [ask_one_after_another(policy, first, second), ask_at_once(policy, first, second)]
}

fn ask_one_after_another(policy: &str, first: &str, second: &str) -> Answer {
    let origin = reflecting();
    let fleetfoot = cached_with(&origin, policy);
    let _whatever_it_is = fleetfoot.connect().send(first).try_answer_to(method(first));
    fleetfoot.connect().ask(second)
}

fn method(request: &str) -> &str {
    request.split(' ').next().unwrap_or_default()
}

fn ask_at_once(policy: &str, first: &str, second: &str) -> Answer {
    let (origin, gate) = (Origin::start(), Gate::new());
    let held = gate.clone();
    origin.on("*").answer(move |request| Script::new().wait(&held).then(reflection(request)));
    let fleetfoot = cached_with(&origin, policy);
    let (mut leader, mut follower) = (fleetfoot.connect(), fleetfoot.connect());
    leader.send(first);
    until_taken_up(&fleetfoot);
    follower.send(second);
    until_taken_up(&fleetfoot);
    gate.open();
    let _whatever_it_is = leader.try_answer_to(method(first));
    follower.read_answer()
}

/// Tells the story of each row under each policy: the first client's fields, the second client without them.
fn nothing_is_passed_on<'a>(rows: impl IntoIterator<Item = (&'a str, &'a str)>) {
    let rows = rows.into_iter().flat_map(|row| POLICIES.map(|policy| (row, policy)));
    let rows = rows.map(|((name, fields), policy)| (format!("{name} under {policy}"), (fields, policy)));
    each(rows, |_, (fields, policy)| {
        for answer in seconds(policy, &request("/", fields), &request("/", "")) {
            assert_eq!(answer.status, 200);
            assert!(!tells(&answer, EVIL), "{}", answer.text());
        }
    });
}

#[test]
fn who_the_first_client_claims_to_be_reaches_nobody() {
    let fields = [
        "X-Forwarded-Host",
        "X-Forwarded-Proto",
        "X-Forwarded-Scheme",
        "X-Forwarded-Port",
        "X-Forwarded-Server",
        "X_Forwarded_Host",
        "Forwarded",
        "X-Host",
        "X-Original-URL",
        "X-Rewrite-URL",
        "X-HTTP-Method-Override",
        "True-Client-IP",
        "Client-IP",
        "Proxy",
        "Proxy-Authorization",
        "Keep-Alive",
        "Expect",
    ];
    let lines = fields.map(|name| (name, format!("{name}: {EVIL}")));
    nothing_is_passed_on(lines.iter().map(|(name, line)| (*name, line.as_str())));
    nothing_is_passed_on([("nominated", "Connection: X-Thing\nX-Thing: evil7731")]);
}

#[test]
fn cookies_and_credentials_reach_nobody() {
    nothing_is_passed_on([
        ("a cookie", "Cookie: id=evil7731"),
        ("a counted cookie", "Cookie: currency=evil7731"),
        ("a counted one twice", "Cookie: currency=EUR; currency=evil7731"),
        ("a counted one in quotes", "Cookie: currency=\"evil7731; a=b\""),
        ("two lines", "Cookie: currency=EUR\nCookie: id=evil7731"),
        ("no name", "Cookie: evil7731"),
        ("an empty name", "Cookie: =evil7731; currency="),
        ("a comma for a semicolon", "Cookie: currency=EUR, currency=evil7731"),
        ("a logged in one", "Cookie: session=evil7731"),
        ("credentials", "Authorization: Bearer evil7731"),
        ("both", "Authorization: Bearer evil7731\nCookie: session=evil7731"),
    ]);
    let rows = ["Bypass-Cache: evil7731", "X-Tenant: evil7731", "X-Tenant: a\nX-Tenant: evil7731"];
    each(rows.map(|fields| (fields, fields)), |_, fields| {
        for answer in seconds(POLICIES[1], &request("/", fields), &request("/", "")) {
            assert!(!tells(&answer, EVIL), "{}", answer.text());
        }
    });
}

#[test]
fn conditions_reach_nobody() {
    nothing_is_passed_on([
        ("If-None-Match", "If-None-Match: \"evil7731\""),
        ("If-Match", "If-Match: \"evil7731\""),
        ("If-Range alone", "If-Range: \"evil7731\""),
        ("If-Modified-Since", "If-Modified-Since: evil7731"),
        ("If-Unmodified-Since", "If-Unmodified-Since: evil7731"),
    ]);
}

#[test]
fn another_method_or_content_reaches_nobody() {
    let rows = [
        ("a GET with content", "GET / HTTP/1.1\r\nHost: example.test\r\nContent-Length: 8\r\n\r\nevil7731"),
        (
            "a GET in chunks",
            "GET / HTTP/1.1\r\nHost: example.test\r\nTransfer-Encoding: chunked\r\n\r\n8\r\nevil7731\r\n0\r\n\r\n",
        ),
        ("a HEAD", "HEAD / HTTP/1.1\r\nHost: example.test\r\nCookie: a=evil7731\r\n\r\n"),
        ("a POST", "POST / HTTP/1.1\r\nHost: example.test\r\nContent-Length: 8\r\n\r\nevil7731"),
        (
            "a QUERY",
            "QUERY / HTTP/1.1\r\nHost: example.test\r\nContent-Type: a/b\r\nContent-Length: 8\r\n\r\nevil7731",
        ),
        ("a method of its own", "EVIL7731 / HTTP/1.1\r\nHost: example.test\r\n\r\n"),
        ("in lower case", "get / HTTP/1.1\r\nHost: example.test\r\nCookie: a=evil7731\r\n\r\n"),
    ];
    let rows = rows.into_iter().flat_map(|row| POLICIES.map(|policy| (row.0, (row.1, policy))));
    each(rows, |_, (first, policy)| {
        for answer in seconds(policy, first, &request("/", "")) {
            assert!(!tells(&answer, EVIL) && !tells(&answer, "EVIL7731"), "{answer:?}");
            assert!(answer.text().starts_with("GET / "), "{answer:?}");
        }
    });
}

#[test]
fn however_a_host_is_written_nobody_else_sees_it() {
    let rows = [
        ("another", "GET / HTTP/1.1\r\nHost: evil7731.test\r\n\r\n"),
        ("in capitals", "GET / HTTP/1.1\r\nHost: EXAMPLE.test\r\n\r\n"),
        ("with a port", "GET / HTTP/1.1\r\nHost: example.test:7731\r\n\r\n"),
        ("with its own port", "GET / HTTP/1.1\r\nHost: example.test:80\r\n\r\n"),
        ("with a dot", "GET / HTTP/1.1\r\nHost: example.test.\r\n\r\n"),
        ("in the target", "GET http://evil7731.test/ HTTP/1.1\r\nHost: example.test\r\n\r\n"),
        ("in Host only", "GET http://example.test/ HTTP/1.1\r\nHost: evil7731.test\r\n\r\n"),
        ("twice", "GET / HTTP/1.1\r\nHost: example.test\r\nHost: evil7731.test\r\n\r\n"),
        ("folded", "GET / HTTP/1.1\r\nHost: example.test\r\n evil7731\r\n\r\n"),
        ("with a user", "GET / HTTP/1.1\r\nHost: evil7731@example.test\r\n\r\n"),
    ];
    let rows = rows.into_iter().flat_map(|row| POLICIES.map(|policy| (row.0, (row.1, policy))));
    each(rows, |_, (first, policy)| {
        for answer in seconds(policy, first, &request("/", "")) {
            for told in ["7731", "EXAMPLE", "example.test:", "example.test."] {
                assert!(!tells(&answer, told), "{told} in {answer:?}");
            }
        }
    });
}

/// Fields that are neither taken off nor part of the usual key: only the origin can say, in `Vary`, that they matter.
const LEFT_TO_VARY: [&str; 24] = [
    "Accept",
    "Accept-Charset",
    "Accept-Encoding",
    "Accept-Language",
    "User-Agent",
    "Origin",
    "Referer",
    "Range",
    "If-Range",
    "Cache-Control",
    "Pragma",
    "Via",
    "Authorization-Info",
    "X-Api-Key",
    "X-Auth-Token",
    "X-Csrf-Token",
    "X-Requested-With",
    "X-Original-Uri",
    "X-Http-Host-Override",
    "X-Remote-User",
    "Fastly-Host",
    "Access-Control-Request-Headers",
    "Sec-CH-UA",
    "X-Anything",
];

/// `Range` must be one, and `If-Range` stand beside one.
fn line(name: &str) -> String {
    match name {
        "Range" => "Range: bytes=0-7731".to_owned(),
        "If-Range" => format!("Range: bytes=0-0\nIf-Range: \"{EVIL}\""),
        _ => format!("{name}: {EVIL}"),
    }
}

#[test]
fn a_field_in_vary_reaches_nobody_who_did_not_send_it() {
    each(LEFT_TO_VARY.map(|name| (name, name)), |_, name| {
        let origin = Origin::start();
        origin
            .on("*")
            .answer(move |request| ok(&format!("Cache-Control: max-age=60\nVary: {name}"), &request.raw));
        let fleetfoot = cached_with(&origin, "ttl: origin");
        fleetfoot.get_with("/", &line(name));
        assert!(!tells(&fleetfoot.get("/"), "7731"));
        assert!(!tells(&fleetfoot.get("/"), "7731"));
    });
}

#[test]
fn a_field_in_the_key_reaches_nobody_who_did_not_send_it() {
    let rows = [
        ("Origin", "key: { headers: [Origin] }"),
        ("X-Api-Key", "key: { headers: [X-Api-Key] }"),
        ("X-Anything", "key: { by: \"${header('X-Anything')}\" }"),
        ("User-Agent", "key: { headers: [User-Agent] }"),
        ("Accept-Language", "key: { languages: [en, de] }"),
        ("Accept-Encoding", "key: { encodings: fold }"),
        ("Accept-Encoding", "compress: true"),
    ];
    each(rows, |name, words| {
        for answer in seconds(&format!("ttl: origin, {words}"), &request("/", &line(name)), &request("/", ""))
        {
            assert!(!tells(&answer, "7731"), "{words}: {answer:?}");
        }
    });
}

#[test]
fn a_field_that_an_answer_repeats_reaches_nobody_who_did_not_send_it() {
    let lines = LEFT_TO_VARY.map(line);
    nothing_is_passed_on(lines.iter().map(|line| (line.as_str(), line.as_str())));
}

#[test]
fn what_only_looks_like_an_id_or_a_link_reaches_nobody_who_did_not_send_it() {
    nothing_is_passed_on([
        ("an id that is none", "X-Correlation-Id: <script>evil7731</script>"),
        ("the id of a trace", "Traceparent: <evil7731>"),
        ("another site's address", "Referer: https://evil7731.test/"),
    ]);
}

/// What an origin makes of a value.
type Make = fn(&str) -> String;

/// Short values, and values that an origin changes, cannot be seen in an answer: that is what `Vary` is for.
#[test]
fn what_an_origin_makes_of_a_field_is_told_apart_by_vary() {
    let makes: [(&str, Make, &str); 5] = [
        ("a short value", str::to_owned, "z7731"),
        ("in capitals", str::to_uppercase, "evil7731"),
        ("a part of it", |value| value[..8].to_owned(), "evil7731,more"),
        ("far behind", |value| "x".repeat(300 * 1024) + value, "evil7731"),
        ("turned round", |value| value.chars().rev().collect(), "evil7731"),
    ];
    each(makes.map(|(name, make, value)| (name, (make, value))), |_, (make, value)| {
        let origin = Origin::start();
        origin.on("*").answer(move |request| {
            let made = request.field("X-Anything").map(make).unwrap_or_default();
            ok("Cache-Control: max-age=60\nVary: X-Anything", made)
        });
        let fleetfoot = cached_with(&origin, "ttl: origin");
        let first = fleetfoot.get_with("/", &format!("X-Anything: {value}")).text();
        assert_ne!(fleetfoot.get("/").text(), first);
    });
}
