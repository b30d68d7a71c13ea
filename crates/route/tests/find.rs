//! Which route takes which request: the rules by example, and against an oracle that scores every pattern.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are not inside #[test]")]

use http::Method;
use plan::{Pattern, Protection, Segment};
use proptest::prelude::*;
use route::{NoRoute, Router};
use rules::path::Target;

fn router(patterns: &[&str]) -> Router<String> {
    Router::new(patterns.iter().map(|text| {
        let pattern: Pattern = text.parse().unwrap_or_else(|reason| panic!("{text}: {reason}"));
        (pattern, Protection::default(), (*text).to_owned())
    }))
}

fn ask<'r, T>(router: &'r Router<T>, method: &Method, authority: &str, target: &str) -> Option<&'r T> {
    let fields = http::HeaderMap::new();
    let view = message::RequestView {
        method,
        scheme: message::Scheme::Http,
        authority,
        target,
        fields: message::Fields::Map(&fields),
        client: None,
    };
    router.find(method, view.host(), &Target::read(target)?).ok()
}

fn find<'r>(router: &'r Router<String>, method: &str, authority: &str, target: &str) -> Option<&'r str> {
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    ask(router, &method, authority, target).map(String::as_str)
}

/// Asks the router for each `METHOD authority target` and compares with the pattern, or `-` for none.
fn table(patterns: &[&str], cases: &[(&str, &str)]) {
    let forwards = router(patterns);
    let mut reversed = patterns.to_vec();
    reversed.reverse();
    let backwards = router(&reversed);
    for (request, expected) in cases {
        let parts: Vec<&str> = request.split(' ').collect();
        let found = find(&forwards, parts[0], parts[1], parts[2]);
        assert_eq!(found.unwrap_or("-"), *expected, "{request}");
        assert_eq!(find(&backwards, parts[0], parts[1], parts[2]), found, "the order matters for {request}");
    }
}

#[test]
fn paths() {
    table(
        &["/", "/**", "/a", "/a/", "/a/*", "/a/b", "/a/{id}/c", "/a/**", "/a/b/**"],
        &[
            ("GET h /", "/"),
            ("GET h /x", "/**"),
            ("GET h /x/y/z", "/**"),
            ("GET h /a", "/a"),
            ("GET h /a?b=c/d", "/a"),
            ("GET h /a/", "/a/"),
            ("GET h /a/x", "/a/*"),
            ("GET h /a/b", "/a/b"),
            ("GET h /a/b/", "/a/b/**"),
            ("GET h /a/b/c", "/a/b/**"),
            ("GET h /a/x/c", "/a/{id}/c"),
            ("GET h /a/x/d", "/a/**"),
            ("GET h /a//c", "/a/**"),
            ("GET h //", "/**"),
            ("GET h //a", "/**"),
            ("GET h /A", "/**"),
            ("GET h /%61", "/a"),
            ("OPTIONS h *", "/**"),
        ],
    );
    table(&["/a/**"], &[("GET h /a", "/a/**"), ("GET h /ab", "-"), ("GET h /", "-"), ("OPTIONS h *", "-")]);
    table(&["/*"], &[("GET h /", "-"), ("GET h /a", "/*"), ("GET h /a/", "-"), ("GET h /a%2fb", "/*")]);
}

#[test]
fn less_specific_patterns_are_not_hidden() {
    table(
        &["/a/b/c", "/*/b/d", "/a/**", "GET /x/y", "/x/*", "/**"],
        &[
            ("GET h /a/b/c", "/a/b/c"),
            ("GET h /a/b/d", "/a/**"),
            ("GET h /z/b/d", "/*/b/d"),
            ("GET h /x/y", "GET /x/y"),
            ("POST h /x/y", "/x/*"),
            ("GET h /z/b/e", "/**"),
        ],
    );
}

#[test]
fn methods() {
    table(
        &["GET /a", "/a", "HEAD /b", "GET /b", "GET /c", "PURGE /c"],
        &[
            ("GET h /a", "GET /a"),
            ("HEAD h /a", "GET /a"),
            ("POST h /a", "/a"),
            ("HEAD h /b", "HEAD /b"),
            ("GET h /b", "GET /b"),
            ("POST h /b", "-"),
            ("PURGE h /c", "PURGE /c"),
            ("HEAD h /c", "GET /c"),
            ("get h /c", "-"),
        ],
    );
}

#[test]
fn hosts() {
    table(
        &["a.com/x", "*.a.com/**", "*.b.a.com/x", "/x", "[::1]/x", "127.0.0.1/x", "GET a.com/**"],
        &[
            ("GET a.com /x", "a.com/x"),
            ("GET a.com:8080 /x", "a.com/x"),
            ("GET a.com /y", "GET a.com/**"),
            ("POST a.com /y", "-"),
            ("GET c.a.com /x", "*.a.com/**"),
            ("GET c.a.com:1 /y", "*.a.com/**"),
            ("GET c.b.a.com /x", "*.b.a.com/x"),
            ("GET c.b.a.com /y", "*.a.com/**"),
            ("GET b.a.com /x", "*.a.com/**"),
            ("GET xa.com /x", "/x"),
            ("GET com /x", "/x"),
            ("GET [::1]:80 /x", "[::1]/x"),
            ("GET [::1] /x", "[::1]/x"),
            ("GET [::2] /x", "/x"),
            ("GET 127.0.0.1:80 /x", "127.0.0.1/x"),
        ],
    );
}

#[test]
fn misleading_paths_are_never_matched() {
    table(
        &["/**", "/static/**"],
        &[
            ("GET h /static/../account", "-"),
            ("GET h /static/..%2faccount", "-"),
            ("GET h /static/%2e%2e/account", "-"),
            ("GET h /static\\..\\account", "-"),
            ("GET h /a%00.css", "-"),
            ("GET h /a?x=/../", "/**"),
            ("GET h /a?x=%00", "/**"),
        ],
    );
}

#[test]
fn of_equal_patterns_the_first_stays() {
    let routes = [("/{a}", 1), ("/{b}", 2)]
        .map(|(text, route)| (text.parse::<Pattern>().unwrap(), Protection::default(), route));
    let router = Router::new(routes);
    assert_eq!(ask(&router, &Method::GET, "h", "/x"), Some(&1));
}

/// How well a pattern fits, by the rules as the documentation words them; `None`: not at all. The greatest wins.
fn score(pattern: &Pattern, method: &Method, host: &str, path: &str) -> Option<(usize, Vec<u8>, u8)> {
    let host = match pattern.host.as_deref() {
        None => 0,
        Some(exact) if exact == host => usize::MAX,
        Some(wildcard) => {
            let suffix = wildcard.strip_prefix('*')?;
            host.ends_with(suffix).then_some(suffix.len())?
        }
    };
    let mut segments: Vec<&str> = path.split('/').skip(1).collect();
    let mut ranks = Vec::new();
    for segment in &pattern.path {
        match segment {
            Segment::Rest => {
                ranks.push(1);
                segments.clear();
            }
            _ if segments.is_empty() => return None,
            Segment::Literal(literal) if literal == segments[0] => {
                ranks.push(3);
                segments.remove(0);
            }
            Segment::One(_) if !segments[0].is_empty() => {
                ranks.push(2);
                segments.remove(0);
            }
            Segment::Literal(_) | Segment::One(_) => return None,
        }
    }
    if !segments.is_empty() {
        return None;
    }
    // A pattern that ends goes before one that goes on with `**`.
    if pattern.path.last() != Some(&Segment::Rest) {
        ranks.push(2);
    }
    let method = match &pattern.method {
        None => 0,
        Some(named) if named == method => 2,
        Some(named) if named == Method::GET && method == Method::HEAD => 1,
        Some(_) => return None,
    };
    Some((host, ranks, method))
}

const PATTERN: &str =
    "((GET|HEAD|POST) )?(a\\.b|b|\\*\\.b|\\*\\.a\\.b)?((/(a|b|\\*|\\{x\\}|)){1,3}(/\\*\\*)?|/\\*\\*)";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn agrees_with_the_oracle(
        texts in prop::collection::vec(PATTERN, 1..24),
        requests in prop::collection::vec(("GET|HEAD|POST|PUT", "b|a\\.b|c\\.b|c\\.a\\.b|ab|c", "(/(a|b|c|)){1,4}|\\*"), 1..24),
    ) {
        let patterns: Vec<Pattern> = texts.iter().filter_map(|text| text.parse().ok()).collect();
        let routes = patterns.iter().cloned().enumerate().map(|(index, pattern)| (pattern, Protection::default(), index));
        let router = Router::new(routes);
        for (method, host, target) in &requests {
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            let best = patterns
                .iter()
                .enumerate()
                .filter_map(|(index, pattern)| Some((score(pattern, &method, host, target)?, index)))
                // The first of equal ones.
                .max_by(|(one, first), (other, second)| one.cmp(other).then(second.cmp(first)))
                .map(|(_, index)| index);
            prop_assert_eq!(
                ask(&router, &method, host, target).map(|index| &patterns[*index].text),
                best.map(|index| &patterns[index].text),
                "{} {} {}", method, host, target
            );
        }
    }

    /// A pattern that was accepted can be reached: no literal of it is refused by the router.
    #[test]
    fn accepted_patterns_are_reachable(path in "(/([a.%;\\\\*~25eEfFcC0]|%2e|%2f|%5c|%00|%c0|%ae|%25|\\.\\.){0,6}){1,4}") {
        if let Ok(pattern) = path.parse::<Pattern>() {
            let example: String = pattern
                .path
                .iter()
                .map(|segment| match segment {
                    Segment::Literal(literal) => format!("/{literal}"),
                    Segment::One(_) | Segment::Rest => "/x".to_owned(),
                })
                .collect();
            prop_assert!(Target::read(&example).is_some(), "{}", example);
        }
    }

    #[test]
    fn never_panics(texts in prop::collection::vec(PATTERN, 0..8), authority in "\\PC{0,20}", target in "\\PC{0,40}") {
        let patterns = texts.iter().filter_map(|text| text.parse::<Pattern>().ok());
        let router = Router::new(patterns.map(|pattern| (pattern, Protection::default(), ())));
        let _ = ask(&router, &Method::GET, &authority, &target);
    }
}

/// Many placeholders must not make a long path slow: every step is gone down once.
#[test]
fn no_catastrophic_backtracking() {
    let patterns: Vec<String> = (0..1024_u32)
        .map(|bits| {
            (0..10).fold(String::new(), |path, bit| path + if bits >> bit & 1 == 1 { "/a" } else { "/*" })
                + "/end"
        })
        .collect();
    let texts: Vec<&str> = patterns.iter().map(String::as_str).collect();
    let router = router(&texts);
    let long = "/a".repeat(8000);
    let start = std::time::Instant::now();
    for _ in 0..100 {
        assert_eq!(find(&router, "GET", "h", &long), None);
    }
    assert!(start.elapsed() < std::time::Duration::from_secs(5), "{:?}", start.elapsed());
}

/// A router of a file's routes, each with its `match`.
fn guarded(routes: &str) -> Router<String> {
    let text = format!(
        "sources: {{ api: http://127.0.0.1:1 }}\n\
         policies:\n  members: {{ signed: {{ keys: {{ main: AAECAwQFBgcICQoLDA0ODw== }} }} }}\n  \
         mine: {{ cache: {{ per: \"${{header('X-User')}}\" }} }}\n  live: {{ cache: {{ ttl: 5s }} }}\n\
         routes:\n{}",
        routes
            .lines()
            .map(|line| format!("  - {{ {}, proxy: api }}\n", line.trim()))
            .collect::<Vec<_>>()
            .concat()
    );
    let plan = plan::compile(&text, "test.yaml").unwrap_or_else(|faults| panic!("{faults}"));
    let protections = Protection::of(&plan.routes);
    Router::new(plan.routes.iter().zip(protections).map(|(route, protection)| {
        let pattern = route.pattern.clone();
        let text = pattern.text.clone();
        (pattern, protection, text)
    }))
}

fn asked<'r>(router: &'r Router<String>, method: &str, target: &str) -> Result<&'r str, NoRoute> {
    let target = Target::read(target).expect("not refused before it has a route");
    router.find(&Method::from_bytes(method.as_bytes()).unwrap(), "h", &target).map(String::as_str)
}

#[test]
fn no_spelling_gets_round_a_route() {
    let router = guarded("match: /members/**, use: members\nmatch: /me, use: members\nmatch: /**");
    for path in
        ["/members", "/members/a", "/%6dembers/a", "/members/a;x", "/members//a", "/members/A%2Fb", "/%6d%65"]
    {
        let expected = if path.contains("embers") { "/members/**" } else { "/me" };
        assert_eq!(asked(&router, "GET", path), Ok(expected), "{path}");
    }
    for path in [
        "//members/a",
        "///members",
        "/members%2fa",
        "/members%2Fa%2Fb",
        "/members%5ca",
        "/members%c0%afa",
        "/members;x/a",
        "/members;x",
        "/members%3bx/a",
        "/;x/members/a",
        "/MEMBERS/a",
        "/Members",
        "/%4dembers/a",
        "//MEMBERS;x%2Fa",
        "/%2fmembers/a",
        "/%6dembers/%",
        "/me/",
        "/Me//",
        "/me;a=b",
        "/me%2F",
    ] {
        assert_eq!(asked(&router, "GET", path), Err(NoRoute::Ambiguous), "{path}");
        assert_eq!(asked(&router, "GETX", path), Err(NoRoute::Ambiguous), "{path}");
    }
    for path in [
        "/files/a%2Fb",
        "/files/A;b/",
        "//files",
        "/a%2Fmembers",
        "/me/x",
        "/membersx",
        "/x/me/",
        "/",
        "//",
        "*",
    ] {
        assert_eq!(asked(&router, "GET", path), Ok("/**"), "{path}");
    }
}

#[test]
fn what_is_written_in_capitals_or_with_a_slash_is_protected_as_well() {
    let router = guarded(
        "match: /API/**, use: members\nmatch: /shop/, use: members\nmatch: /a!b, use: members\nmatch: /**",
    );
    for path in ["/api/x", "/Api", "/shop", "/SHOP/", "/a%21b"] {
        assert_eq!(asked(&router, "GET", path), Err(NoRoute::Ambiguous), "{path}");
    }
    for (path, route) in [("/API/x", "/API/**"), ("/shop/", "/shop/"), ("/a!b", "/a!b"), ("/apis", "/**")] {
        assert_eq!(asked(&router, "GET", path), Ok(route), "{path}");
    }
}

#[test]
fn only_what_a_request_would_get_round_counts() {
    // Where nothing is stored, nobody else gets it.
    let router = guarded("match: GET /products/**, use: live\nmatch: /**");
    assert_eq!(asked(&router, "GET", "/Products/7"), Ok("/**"));
    // What is stored for everybody here is one user's there.
    let router = guarded("match: /me/**, use: mine\nmatch: /**, use: live");
    assert_eq!(asked(&router, "GET", "/Me/x"), Err(NoRoute::Ambiguous));
    // A route inside another: its resources are not those of a segment with a slash in it.
    let router = guarded("match: \"/users/{id}\", use: live\nmatch: \"/users/{id}/secret\"");
    assert_eq!(asked(&router, "GET", "/users/1%2Fsecret"), Err(NoRoute::Ambiguous));
    assert_eq!(asked(&router, "GET", "/users/1%2F2"), Ok("/users/{id}"));
    // A write that would leave something behind; a read leaves nothing.
    let router = guarded("match: \"/items/{id}\", invalidate: { prefix: /lists/ }\nmatch: /**");
    assert_eq!(asked(&router, "PUT", "/Items/7"), Err(NoRoute::Ambiguous));
    assert_eq!(asked(&router, "GET", "/Items/7"), Ok("/**"));
    // All alike: nothing is looked at twice.
    let router = guarded("match: /a/**, use: members\nmatch: /**, use: members");
    assert_eq!(asked(&router, "GET", "/A//x%2F"), Ok("/**"));
}

/// Whatever is in a path, looking at it in all ways takes no longer than a request may.
#[test]
fn a_path_of_many_readings_is_bounded() {
    let router = guarded("match: \"/{a}/{b}/{c}/members\", use: members\nmatch: /**");
    let start = std::time::Instant::now();
    for _ in 0..100 {
        let _ = asked(&router, "GET", &format!("/{}", "A%2F%5C;x//%c0%af".repeat(500)));
    }
    assert!(start.elapsed() < std::time::Duration::from_secs(20), "{:?}", start.elapsed());
}
