//! `cors`: pages of the origins that are named may read responses, hits and errors included, and each is told so itself; no
//! preflight needs a signature or reaches a source.

use testkit::{Answer, Fleetfoot, Origin, ok};

use crate::composing::support::config_with;

const APP: &str = "Origin: https://app.example.com";
const OTHER: &str = "Origin: https://evil.example";

fn shared(origin: &Origin, cors: &str, route: &str) -> Fleetfoot {
    let top = format!(
        "cores: 1\npolicies:\n  web: {{ cors: {{ {cors} }} }}\n  live: {{ cache: {{ ttl: origin }} }}\n  \
         closed: {{ signed: {{ keys: {{ main: AAAAAAAAAAAAAAAAAAAAAA== }} }} }}"
    );
    let source = format!("api: \"{}\"", origin.url());
    Fleetfoot::start(&config_with(&top, &[&source], &[route]))
}

fn allowed(answer: &Answer) -> String {
    answer.joined("Access-Control-Allow-Origin")
}

#[test]
fn each_page_is_told_itself_whoever_filled_the_cache() {
    let origin = Origin::start();
    origin.on("GET /").reply(ok(
        "Cache-Control: max-age=600\r\nAccess-Control-Allow-Origin: https://theirs.example\r\nAccess-Control-Max-Age: 1",
        "x",
    ));
    let fleetfoot = shared(
        &origin,
        "origins: [https://app.example.com, \"https://*.example.org\"], credentials: true, expose: X-Total",
        "match: /**, proxy: api, use: [web, live]",
    );
    let pages = [
        (APP, "https://app.example.com"),
        ("Origin: https://a.b.example.org", "https://a.b.example.org"),
        (OTHER, ""),
        ("Origin: https://example.org", ""),
        ("Origin: https://app.example.com.evil.example", ""),
        ("Origin: null", ""),
        ("", ""),
        (APP, "https://app.example.com"),
    ];
    for (number, (page, expected)) in pages.into_iter().enumerate() {
        let answer = fleetfoot.get_with("/", page);
        assert_eq!((answer.text().as_str(), answer.is_hit()), ("x", number > 0), "{answer:?}");
        assert_eq!(allowed(&answer), expected, "{page}: {answer:?}");
        assert_eq!(answer.has("Access-Control-Allow-Credentials"), !expected.is_empty());
        assert_eq!(answer.joined("Access-Control-Expose-Headers").is_empty(), expected.is_empty());
        assert!(!answer.has("Access-Control-Max-Age"), "what the source says of it is replaced");
        assert!(answer.joined("Vary").contains("Origin"), "{answer:?}");
    }
    assert_eq!(origin.requests().len(), 1);
}

#[test]
fn who_names_two_origins_is_told_of_none() {
    let origin = Origin::start();
    origin.on("GET /").reply(ok("Cache-Control: max-age=600", "x"));
    let cors = "origins: [https://app.example.com], credentials: true";
    let fleetfoot = shared(&origin, cors, "match: /**, proxy: api, use: [web, live]");
    let two = [format!("{APP}\r\n{OTHER}"), format!("{OTHER}\r\n{APP}"), format!("{APP}\r\n{APP}")];
    for fields in two {
        for method in ["GET", "POST"] {
            let answer = fleetfoot.send(method, "/", &fields);
            assert!(
                !answer.has("Access-Control-Allow-Origin") && answer.joined("Vary").contains("Origin"),
                "{answer:?}"
            );
        }
        let preflight =
            fleetfoot.send("OPTIONS", "/", &format!("{fields}\r\nAccess-Control-Request-Method: GET"));
        assert_eq!((preflight.status, allowed(&preflight).as_str()), (204, ""), "{preflight:?}");
    }
    assert_eq!(allowed(&fleetfoot.get_with("/", APP)), "https://app.example.com");
}

#[test]
fn a_preflight_is_answered_before_anybody_is_asked_for_anything() {
    let origin = Origin::start();
    let fleetfoot = shared(
        &origin,
        "origins: https://app.example.com, methods: [GET, PUT], headers: \"*\", max_age: 10m",
        "match: /**, proxy: api, use: [web, closed, live]",
    );
    let asked = "Access-Control-Request-Method: PUT\r\nAccess-Control-Request-Headers: x-token";
    let answer = fleetfoot.send("OPTIONS", "/a", &format!("{APP}\r\n{asked}"));
    assert_eq!((answer.status, allowed(&answer).as_str()), (204, "https://app.example.com"), "{answer:?}");
    assert_eq!(answer.joined("Access-Control-Allow-Methods"), "GET, PUT");
    assert_eq!(answer.joined("Access-Control-Allow-Headers"), "x-token");
    assert_eq!(answer.joined("Access-Control-Max-Age"), "600");
    let evil = fleetfoot.send("OPTIONS", "/a", &format!("{OTHER}\r\n{asked}"));
    assert_eq!((evil.status, allowed(&evil).as_str()), (204, ""));
    let refused = fleetfoot.get_with("/a", APP);
    assert_eq!((refused.status, allowed(&refused).as_str()), (403, "https://app.example.com"));
    assert!(origin.requests().is_empty());
}

#[test]
fn a_preflight_finds_the_route_of_the_method_it_asks_about_and_errors_can_be_read() {
    let origin = Origin::start();
    origin.stop();
    let fleetfoot = shared(&origin, "origins: \"*\"", "match: GET /a, proxy: api, use: [web]");
    let preflight = |method: &str| {
        fleetfoot.send("OPTIONS", "/a", &format!("{APP}\r\nAccess-Control-Request-Method: {method}"))
    };
    let answer = preflight("GET");
    assert_eq!((answer.status, allowed(&answer).as_str()), (204, "*"), "{answer:?}");
    assert_eq!(preflight("PUT").status, 404);
    assert_eq!(fleetfoot.send("OPTIONS", "/a", APP).status, 404, "no preflight, and no route");
    let failed = fleetfoot.get_with("/a", APP);
    assert_eq!((failed.status, allowed(&failed).as_str()), (502, "*"), "{failed:?}");
}
