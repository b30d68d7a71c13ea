//! Stale answers: when the origin is gone (RFC 9111 §4.2.4), while it is asked, and when it fails (RFC 5861).

use testkit::{Fleetfoot, Gate, Origin, Script, ok, status};

use crate::setup::{cached, cached_with, each};

fn stale(more: &str) -> Script {
    ok(&format!("Cache-Control: max-age=90\nAge: 100\nETag: \"one\"\n{more}"), "stale")
}

/// Has a stale answer stored.
fn stored(cache: &str, more: &str) -> (Origin, Fleetfoot) {
    let origin = Origin::start();
    origin.on("GET /").reply(stale(more));
    let fleetfoot = cached_with(&origin, cache);
    assert_eq!(fleetfoot.get("/").text(), "stale");
    (origin, fleetfoot)
}

#[test]
fn a_dead_origin_leaves_the_stale_answer() {
    let (origin, fleetfoot) = stored("ttl: origin", "");
    origin.stop();
    let answer = fleetfoot.get("/");
    assert_eq!((answer.status, answer.text().as_str()), (200, "stale"));
    assert!(answer.age().is_some_and(|age| age >= 100));
}

#[test]
fn an_origin_that_breaks_off_leaves_the_stale_answer() {
    let (origin, fleetfoot) = stored("ttl: origin", "");
    origin.on("GET /").reply(Script::new().close());
    assert_eq!(fleetfoot.get("/").text(), "stale");
    assert_eq!(fleetfoot.get("/other").status, 404, "and is asked again for other things");
}

#[test]
fn unless_the_origin_forbade_it() {
    let rows = [
        "Cache-Control: must-revalidate",
        "Cache-Control: proxy-revalidate",
        "Cache-Control: s-maxage=90",
        "Cache-Control: no-cache",
    ];
    each(rows.map(|row| (row, row)), |_, forbidden| {
        for cache in ["ttl: origin", "ttl: origin, stale: 1h, if_error: 1h"] {
            let (origin, fleetfoot) = stored(cache, forbidden);
            origin.stop();
            let answer = fleetfoot.get("/");
            assert!(matches!(answer.status, 502 | 504), "{answer:?}");
        }
    });
}

#[test]
fn an_error_is_an_answer_unless_stale_if_error_says_otherwise() {
    for (cache, more, kept) in [
        ("ttl: origin", "", false),
        ("ttl: origin", "Cache-Control: stale-if-error=600", true),
        ("ttl: origin", "Cache-Control: stale-if-error=5", false),
        ("ttl: origin, if_error: 1h", "", true),
        ("ttl: origin, if_error: 5s", "", false),
        ("ttl: origin, if_error: 1h", "Cache-Control: stale-if-error=0", false),
        ("ttl: origin, if_error: 1h", "Cache-Control: must-revalidate", false),
    ] {
        for error in
            ["500 Internal Server Error", "502 Bad Gateway", "503 Service Unavailable", "504 Gateway Timeout"]
        {
            let (origin, fleetfoot) = stored(cache, more);
            origin.on("GET /").reply(status(error, "", "failed"));
            let answer = fleetfoot.get("/");
            let expected = if kept { "stale" } else { "failed" };
            assert_eq!(answer.text(), expected, "{error} with {cache:?} and {more:?}: {answer:?}");
        }
    }
}

#[test]
fn stale_if_error_covers_garbage_too() {
    let (origin, fleetfoot) = stored("ttl: origin, if_error: 1h", "");
    origin.on("GET /").reply(Script::from("garbage\r\n\r\n").close());
    assert_eq!(fleetfoot.get("/").text(), "stale");
}

#[test]
fn a_client_error_is_an_answer_even_so() {
    let (origin, fleetfoot) = stored("ttl: origin, if_error: 1h", "");
    origin.on("GET /").reply(status("404 Not Found", "", "gone"));
    assert_eq!(fleetfoot.get("/").status, 404);
}

#[test]
fn stale_while_revalidate_answers_at_once_and_refreshes_behind() {
    for (cache, more) in
        [("ttl: origin", "Cache-Control: stale-while-revalidate=600"), ("ttl: origin, stale: 10m", "")]
    {
        let (origin, mut fleetfoot) = stored(cache, more);
        let gate = Gate::new();
        origin.on("GET /").reply(Script::new().wait(&gate).then(ok("Cache-Control: max-age=600", "fresh")));
        // The origin holds its answer, yet these come back: nobody waits, and only one asks.
        for _ in 0..3 {
            let answer = fleetfoot.get("/");
            assert_eq!(answer.text(), "stale");
            assert!(answer.is_hit(), "{answer:?}");
        }
        origin.wait_for(2, "GET /");
        gate.open();
        fleetfoot.wait_until("refreshed", |fleetfoot| fleetfoot.get("/").text() == "fresh");
        assert_eq!(origin.count("GET /"), 2);
    }
}

#[test]
fn stale_while_revalidate_has_an_end() {
    let (origin, fleetfoot) = stored("ttl: origin", "Cache-Control: stale-while-revalidate=5");
    origin.on("GET /").reply(ok("Cache-Control: max-age=600", "fresh"));
    assert_eq!(fleetfoot.get("/").text(), "fresh");
}

#[test]
fn a_refresh_that_fails_leaves_the_stale_answer() {
    let (origin, fleetfoot) = stored("ttl: origin, stale: 10m", "");
    origin.on("GET /").reply(Script::new().close());
    for _ in 0..3 {
        assert_eq!(fleetfoot.get("/").text(), "stale");
    }
}

#[test]
fn a_refreshing_client_may_leave_without_hurting_the_refresh() {
    let (origin, mut fleetfoot) = stored("ttl: origin, stale: 10m", "");
    let gate = Gate::new();
    origin.on("GET /").reply(Script::new().wait(&gate).then(ok("Cache-Control: max-age=600", "fresh")));
    let mut client = fleetfoot.connect();
    assert_eq!(client.ask("GET / HTTP/1.1\r\nHost: example.test\r\n\r\n").text(), "stale");
    client.reset();
    origin.wait_for(2, "GET /");
    gate.open();
    fleetfoot.wait_until("refreshed", |fleetfoot| fleetfoot.get("/").text() == "fresh");
}

#[test]
fn stale_is_said() {
    let (origin, fleetfoot) = stored("ttl: origin", "");
    origin.stop();
    let status = fleetfoot.get("/").cache_status();
    assert!(status.contains("ttl=-") || status.contains("fwd=stale"), "{status:?}");
    let fresh = {
        let origin = Origin::start();
        origin.on("*").reply(ok("Cache-Control: max-age=600", "x"));
        let fleetfoot = cached(&origin);
        fleetfoot.get("/");
        fleetfoot.get("/").cache_status()
    };
    assert!(!fresh.contains("ttl=-"), "{fresh:?}");
}

#[test]
fn none_means_none_also_when_the_origin_is_gone() {
    for fields in ["", "Cache-Control: stale-if-error=600"] {
        let (origin, fleetfoot) = stored("ttl: origin, if_error: 0s", "");
        origin.on("GET /").reply(Script::new().close());
        assert_eq!(fleetfoot.get_with("/", fields).status, 502, "it breaks off");
        origin.stop();
        assert_eq!(fleetfoot.get_with("/", fields).status, 502, "it is gone");
    }
}

#[test]
fn unset_means_a_day_at_most_when_the_origin_is_gone() {
    for (age, status) in [(90 + 86_300, 200), (90 + 86_500, 502)] {
        let origin = Origin::start();
        origin
            .on("GET /")
            .reply(ok(&format!("Cache-Control: max-age=90\nAge: {age}\nETag: \"one\""), "stale"));
        let fleetfoot = cached(&origin);
        fleetfoot.get("/");
        origin.stop();
        assert_eq!(fleetfoot.get("/").status, status, "of age {age}");
    }
}
