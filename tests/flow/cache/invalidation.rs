//! Unsafe methods make stored answers unusable: RFC 9111 §4.4.

use testkit::{Fleetfoot, Origin, ok, status};

use crate::setup::{cached, each};

/// Whether what is stored for `/kept` survives this exchange with `/changed` (or another target).
fn survives(method: &str, target: &str, answer: &str, fields: &str) -> bool {
    let origin = Origin::start();
    origin.on("GET /kept").reply(ok("Cache-Control: max-age=600", "x"));
    origin.on(&format!("{method} {target}")).reply(status(answer, fields, ""));
    let fleetfoot = cached(&origin);
    fleetfoot.get("/kept");
    assert!(fleetfoot.get("/kept").is_hit());
    fleetfoot
        .connect()
        .ask(format!("{method} {target} HTTP/1.1\r\nHost: example.test\r\nContent-Length: 0\r\n\r\n"));
    fleetfoot.get("/kept").is_hit()
}

#[test]
fn an_unsafe_method_that_succeeds_invalidates_its_target() {
    for method in ["POST", "PUT", "DELETE", "PATCH", "UNKNOWN"] {
        assert!(!survives(method, "/kept", "200 OK", ""), "{method}");
        assert!(!survives(method, "/kept", "303 See Other", "Location: /elsewhere"), "{method}");
    }
}

#[test]
fn a_write_over_a_route_without_a_cache_invalidates_what_another_route_stored() {
    let origin = Origin::start();
    origin.on("GET /kept").reply(ok("Cache-Control: max-age=600", "x"));
    origin.on("POST /kept").reply(status("200 OK", "", ""));
    let fleetfoot = Fleetfoot::start(&format!(
        "listen: {{ http: 127.0.0.1:0, admin: 127.0.0.1:0 }}\ncores: 1\n\
         sources: {{ api: {{ http: \"http://{}\" }} }}\n\
         policies: {{ cached: {{ cache: {{ ttl: origin }} }} }}\n\
         routes: [ {{ match: GET /**, proxy: api, use: cached }}, {{ match: /**, proxy: api }} ]\n",
        origin.address()
    ));
    fleetfoot.get("/kept");
    assert!(fleetfoot.get("/kept").is_hit());
    fleetfoot.connect().ask("POST /kept HTTP/1.1\r\nHost: example.test\r\nContent-Length: 0\r\n\r\n");
    assert!(!fleetfoot.get("/kept").is_hit());
}

#[test]
fn one_that_fails_or_is_safe_does_not() {
    for answer in ["400 Bad Request", "404 Not Found", "500 Internal Server Error"] {
        assert!(survives("POST", "/kept", answer, ""), "{answer}");
    }
    assert!(survives("OPTIONS", "/kept", "200 OK", ""));
    assert!(survives("POST", "/changed", "200 OK", ""));
}

#[test]
fn location_and_content_location_of_the_same_origin_go_too() {
    let rows = [
        ("Location: /kept", false),
        ("Content-Location: /kept", false),
        ("Location: http://example.test/kept", false),
        ("Location: kept", false),
        ("Location: ./a/../kept", false),
        ("Location: http://other.test/kept", true),
        ("Location: http://example.test:81/kept", true),
        ("Location: https://example.test/kept", true),
        ("Content-Location: //other.test/kept", true),
        ("Location: /other", true),
    ];
    each(rows.map(|row| (row.0, row)), |_, (fields, kept)| {
        assert_eq!(survives("POST", "/changed", "201 Created", fields), kept);
    });
}

#[test]
fn all_variants_of_the_target_go() {
    let origin = Origin::start();
    origin.on("GET /").reply(ok("Cache-Control: max-age=600\nVary: X-A", "x"));
    origin.on("POST /").reply(ok("", ""));
    let fleetfoot = cached(&origin);
    let variants = ["X-A: 1", "X-A: 2"];
    for fields in variants {
        fleetfoot.get_with("/", fields);
    }
    fleetfoot.send("POST", "/", "");
    for fields in variants {
        assert!(!fleetfoot.get_with("/", fields).is_hit(), "{fields}");
    }
}
