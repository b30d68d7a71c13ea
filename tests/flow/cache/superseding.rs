//! What may take the place of a stored answer: another one for everybody, and nothing that one request alone brought
//! about.

use testkit::{Gate, Origin, RawClient, Script, ok, status};

use crate::setup::{cached, cached_with, each};

const FRESH: &str = "Cache-Control: public, max-age=600\nETag: \"one\"";

#[test]
fn a_request_does_not_unmake_a_fresh_answer_that_it_cannot_replace() {
    let rows = [
        ("refused for what it accepts", "Accept: x/y", status("406 Not Acceptable", "", "no")),
        ("one too many", "", status("429 Too Many Requests", "Retry-After: 9", "no")),
        ("forbidden", "X-Role: none", status("403 Forbidden", "Cache-Control: no-store", "no")),
        ("failed", "X-Odd: 1", status("500 Internal Server Error", "", "no")),
        ("somebody's own page", "Cookie: session=a", ok("Cache-Control: private", "no")),
        ("somebody's own page, too", "Authorization: Bearer a", ok("Cache-Control: no-store", "no")),
        ("somebody's own cookie", "Cookie: session=a", ok("Set-Cookie: a=b", "no")),
        ("a debug page", "X-Debug: 1", ok("Cache-Control: no-store", "no")),
        (
            "somebody's own confirmation",
            "Cookie: session=a",
            testkit::not_modified("Cache-Control: no-store"),
        ),
    ];
    each(rows.iter().map(|row| (row.0, row)), |_, (_, fields, answer)| {
        let origin = Origin::start();
        origin.on("GET /").reply(ok(FRESH, "kept"));
        let fleetfoot = cached(&origin);
        fleetfoot.get("/");
        origin.on("GET /").reply(answer.clone());
        let fields = format!("{fields}\nCache-Control: no-cache");
        fleetfoot.get_with("/", fields.trim_start());
        assert_eq!(origin.count("GET /"), 2);
        for _ in 0..3 {
            let hit = fleetfoot.get("/");
            assert!(hit.is_hit() && hit.text() == "kept", "{hit:?}");
        }
    });
}

#[test]
fn who_comes_after_a_refusal_still_shares_a_fetch() {
    let origin = Origin::start();
    let gate = Gate::new();
    let stale = ok("Cache-Control: max-age=90\nAge: 100\nETag: \"one\"", "old");
    origin.on("GET /").replies([stale, status("406 Not Acceptable", "", "no")]);
    let fleetfoot = cached(&origin);
    fleetfoot.get("/");
    assert_eq!(fleetfoot.get_with("/", "Accept: x/y\nCache-Control: no-cache").status, 406);
    origin.on("GET /").reply(Script::new().wait(&gate).then(ok(FRESH, "new")));
    let mut clients: Vec<RawClient> = (0..40).map(|_| fleetfoot.connect()).collect();
    for client in &mut clients {
        client.send("GET / HTTP/1.1\r\nHost: example.test\r\n\r\n");
    }
    origin.wait_for(3, "GET /");
    crate::setup::until_taken_up(&fleetfoot);
    gate.open();
    assert!(clients.iter_mut().all(|client| client.read_answer().text() == "new"));
    assert_eq!(origin.count("GET /"), 3);
}

#[test]
fn what_is_kept_for_failures_outlives_a_refusal() {
    let stale = ok("Cache-Control: max-age=90\nAge: 100\nETag: \"one\"", "kept");
    for refused in ["429 Too Many Requests", "403 Forbidden", "400 Bad Request", "501 Not Implemented"] {
        let origin = Origin::start();
        let failed = status("503 Service Unavailable", "", "down");
        origin.on("GET /").replies([stale.clone(), status(refused, "", "no"), failed]);
        let fleetfoot = cached_with(&origin, "ttl: origin, if_error: 1h");
        fleetfoot.get("/");
        assert_eq!(fleetfoot.get("/").text(), "no", "{refused}");
        assert_eq!(fleetfoot.get("/").text(), "kept", "{refused}");
    }
}

#[test]
fn a_head_of_another_version_leaves_what_is_kept_for_failures() {
    let origin = Origin::start();
    let stale = ok("Cache-Control: max-age=90\nAge: 100\nETag: \"one\"", "kept");
    origin.on("GET /").replies([stale, status("503 Service Unavailable", "", "down")]);
    origin.on("HEAD /").reply("HTTP/1.1 200 OK\r\nETag: \"two\"\r\nContent-Length: 3\r\n\r\n");
    let fleetfoot = cached_with(&origin, "ttl: origin, if_error: 1h");
    fleetfoot.get("/");
    fleetfoot.send("HEAD", "/", "Accept: x/y");
    assert_eq!(fleetfoot.get("/").text(), "kept");
}

#[test]
fn what_the_resource_has_become_takes_the_place_of_what_it_was() {
    let stale = ok("Cache-Control: max-age=90\nAge: 100\nETag: \"one\"", "old");
    for answer in [
        ok("Cache-Control: no-store", "x"),
        ok("Cache-Control: private", "x"),
        status("404 Not Found", "Cache-Control: no-store", "x"),
        status("410 Gone", "", "x"),
        status("302 Found", "Location: /b", "x"),
    ] {
        let origin = Origin::start();
        let failed = status("503 Service Unavailable", "", "down");
        origin.on("GET /").replies([stale.clone(), answer, failed]);
        let fleetfoot = cached_with(&origin, "ttl: origin, if_error: 1h");
        fleetfoot.get("/");
        assert_eq!(fleetfoot.get("/").text(), "x");
        assert_eq!(fleetfoot.get("/").text(), "down", "what it was is gone");
    }
}

/// Many origins name `Origin` in `Vary` to those alone who send it.
#[test]
fn a_variant_leaves_the_default_to_those_who_prefer_nothing() {
    let origin = Origin::start();
    origin.on("/").answer(|request| match request.field("Origin") {
        Some(site) => ok("Cache-Control: max-age=600\nVary: Origin", site),
        None => ok("Cache-Control: max-age=600\nETag: \"one\"", "default"),
    });
    let fleetfoot = cached(&origin);
    fleetfoot.get("/");
    for site in ["http://a.test", "http://b.test"] {
        let fields = format!("Origin: {site}\nCache-Control: no-cache");
        assert_eq!(fleetfoot.get_with("/", &fields).text(), site);
    }
    let hit = fleetfoot.get("/");
    assert!(hit.is_hit() && hit.text() == "default", "{hit:?}");
    assert_eq!(fleetfoot.get_with("/", "Origin: http://a.test").text(), "http://a.test");
    // Whoever prefers something that is not there is not given the default.
    assert_eq!(fleetfoot.get_with("/", "Origin: http://c.test").text(), "http://c.test");
    assert_eq!(origin.count("GET /"), 4);
}
