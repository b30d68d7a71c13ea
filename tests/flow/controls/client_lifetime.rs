//! `client_ttl`: clients keep an answer for so long at most, counted from when they get it; the cache for as long as it
//! may.

use testkit::{Answer, Gate, Origin, RawClient, Script, http_date, not_modified, ok, status};

use super::ways::{Asked, Way, each_way};
use crate::setup::{cached_with, each, until_taken_up};

/// For how many seconds a client may keep this answer: `max-age` less `Age` (RFC 9111 §4.2).
fn kept_for(answer: &Answer) -> i64 {
    assert!(!answer.has("Expires"), "{answer:?}");
    let directives = answer.joined("Cache-Control");
    let stated: Vec<i64> = directives
        .split(',')
        .filter_map(|directive| directive.trim().strip_prefix("max-age="))
        .map(|seconds| seconds.parse().expect("a number"))
        .collect();
    assert!(!directives.contains("s-maxage"), "{directives}");
    assert_eq!(stated.len(), 1, "not one max-age in {answer:?}");
    stated[0] - i64::try_from(answer.age().unwrap_or(0)).expect("a small age")
}

/// Asks twice.
fn twice(way: Way, cache: &str, fields: &str) -> [Answer; 2] {
    let origin = Origin::start();
    origin.on("*").reply(ok(fields, "x"));
    let fleetfoot = cached_with(&origin, cache);
    [(); 2].map(|()| way.get(&fleetfoot, "/", ""))
}

#[test]
fn clients_keep_an_answer_for_client_ttl_whatever_its_age() {
    let expires = format!("Expires: {}", http_date(3_600));
    let rows = [
        "Cache-Control: max-age=600",
        "Cache-Control: max-age=600\nAge: 100",
        "Cache-Control: max-age=6000\nAge: 5000",
        "Cache-Control: public, s-maxage=600, max-age=500",
        "Cache-Control: s-maxage=600\nAge: 300",
        "Cache-Control: max-age=31536000, immutable\nAge: 20",
        "CDN-Cache-Control: max-age=600",
        &expires,
        "",
    ];
    each_way(|way| {
        each(rows.map(|row| (row, row)), |_, fields| {
            for answer in twice(way, "ttl: 10m, client_ttl: 1m", fields) {
                let kept = kept_for(&answer);
                assert!((59..=60).contains(&kept), "kept for {kept} s: {answer:?}");
            }
        });
    });
}

#[test]
fn never_longer_than_here_nor_than_was_said() {
    each_way(|way| {
        for (fields, expected) in [
            ("Cache-Control: max-age=30", 30),
            ("Cache-Control: max-age=600\nAge: 570", 30),
            ("Cache-Control: s-maxage=600, max-age=10", 10),
            ("Cache-Control: s-maxage=20, max-age=600", 20),
        ] {
            for answer in twice(way, "ttl: 10m, client_ttl: 1m", fields) {
                let kept = kept_for(&answer);
                assert!((expected - 2..=expected).contains(&kept), "{fields:?}: {kept} s: {answer:?}");
            }
        }
    });
}

#[test]
fn the_cache_keeps_it_for_as_long_as_it_may() {
    each_way(|way| {
        let [_, hit] = twice(way, "ttl: origin, client_ttl: 1m", "Cache-Control: max-age=600");
        assert!(hit.ttl().is_some_and(|ttl| ttl >= 595), "{hit:?}");
    });
}

#[test]
fn other_directives_stay() {
    each_way(|way| {
        let fields = "Cache-Control: public, max-age=600, must-revalidate, extension=\"a, b\"";
        for answer in twice(way, "ttl: origin, client_ttl: 1m", fields) {
            let directives = answer.joined("Cache-Control");
            for kept in ["public", "must-revalidate", "extension=\"a, b\""] {
                assert!(directives.contains(kept), "{directives}");
            }
        }
    });
}

#[test]
fn what_clients_may_not_keep_stays_as_it_is() {
    each_way(|way| {
        for directives in ["no-store", "no-cache", "private, no-store", "no-cache, max-age=600"] {
            let [first, second] =
                twice(way, "ttl: origin, client_ttl: 1m", &format!("Cache-Control: {directives}"));
            assert_eq!(first.joined("Cache-Control"), directives);
            assert_eq!(second.joined("Cache-Control"), directives);
        }
    });
}

#[test]
fn who_waited_for_anothers_fetch_is_told_the_same() {
    each_way(|way| {
        let origin = Origin::start();
        let gate = Gate::new();
        let answer = ok("Cache-Control: max-age=600\nAge: 100", "x");
        origin.on("*").reply(Script::new().wait(&gate).then(answer));
        let fleetfoot = cached_with(&origin, "ttl: origin, client_ttl: 1m");
        let mut leader: RawClient = fleetfoot.connect();
        leader.send("GET / HTTP/1.1\r\nHost: example.test\r\n\r\n");
        origin.wait_for(1, "GET /");
        std::thread::scope(|scope| {
            let follower = scope.spawn(|| way.get(&fleetfoot, "/", ""));
            until_taken_up(&fleetfoot);
            gate.open();
            for answer in [leader.read_answer(), follower.join().expect("an answer")] {
                assert!((59..=60).contains(&kept_for(&answer)), "{answer:?}");
            }
        });
    });
}

#[test]
fn parts_and_confirmations_tell_the_same() {
    each_way(|way| {
        let origin = Origin::start();
        let fields = "Cache-Control: max-age=600\nAge: 100\nETag: \"one\"";
        origin.on("*").reply(ok(fields, "0123456789"));
        let fleetfoot = cached_with(&origin, "ttl: origin, client_ttl: 1m");
        way.get(&fleetfoot, "/", "");
        let part = way.get(&fleetfoot, "/", "Range: bytes=0-1");
        let confirmed = way.get(&fleetfoot, "/", "If-None-Match: \"one\"");
        let head = way.ask(&fleetfoot, &Asked { method: "HEAD", ..Asked::get("/", "") });
        for (answer, status) in [(part, 206), (confirmed, 304), (head, 200)] {
            assert_eq!(answer.status, status);
            assert!(answer.is_hit() && (59..=60).contains(&kept_for(&answer)), "{answer:?}");
        }
        assert_eq!(origin.requests().len(), 1);
    });
}

#[test]
fn stored_parts_and_what_they_add_up_to_tell_the_same() {
    each_way(|way| {
        let origin = Origin::start();
        origin.on("*").answer(|request| {
            let range = request.field("Range").and_then(|range| range.strip_prefix("bytes="));
            let (first, last) = range.and_then(|range| range.split_once('-')).expect("only ranges are asked for");
            let (first, last): (usize, usize) = (first.parse().expect("a number"), last.parse().expect("a number"));
            let fields = format!(
                "Cache-Control: public, max-age=600\nAge: 100\nETag: \"one\"\nContent-Range: bytes {first}-{last}/10"
            );
            status("206 Partial Content", &fields, &"0123456789"[first..=last])
        });
        let fleetfoot = cached_with(&origin, "ttl: origin, client_ttl: 1m");
        for (range, is_hit) in [("0-4", false), ("0-4", true), ("1-2", true), ("5-9", false), ("3-8", true)] {
            let answer = way.get(&fleetfoot, "/", &format!("Range: bytes={range}"));
            assert_eq!((answer.status, answer.is_hit()), (206, is_hit), "{range}: {answer:?}");
            assert!((59..=60).contains(&kept_for(&answer)), "{range}: {answer:?}");
            assert!(answer.joined("Cache-Control").contains("public"), "{answer:?}");
        }
        let whole = way.get(&fleetfoot, "/", "");
        assert_eq!((whole.text().as_str(), whole.is_hit()), ("0123456789", true));
        assert!((59..=60).contains(&kept_for(&whole)), "{whole:?}");
    });
}

#[test]
fn answers_that_are_one_clients_own_tell_the_same() {
    each_way(|way| {
        for (said, fields) in [
            ("Cache-Control: max-age=600", "Cookie: analytics=1"),
            ("Cache-Control: max-age=600", "Authorization: Bearer a"),
            ("Cache-Control: private, max-age=600", ""),
            ("Cache-Control: max-age=600\nSet-Cookie: a=b", ""),
            ("Cache-Control: max-age=600\nAge: 100", "Cookie: analytics=1"),
        ] {
            let origin = Origin::start();
            origin.on("*").reply(ok(said, "x"));
            let fleetfoot = cached_with(&origin, "ttl: origin, client_ttl: 1m");
            let answer = way.get(&fleetfoot, "/", fields);
            assert!(answer.cache_status().contains("detail="), "not stored: {answer:?}");
            assert!((59..=60).contains(&kept_for(&answer)), "{said:?} to {fields:?}: {answer:?}");
        }
    });
}

#[test]
fn a_confirmation_with_something_for_one_client_tells_the_same() {
    each_way(|way| {
        let origin = Origin::start();
        let old = ok("Cache-Control: max-age=90\nAge: 100\nETag: \"one\"", "x");
        let confirmed = not_modified("Cache-Control: max-age=600\nETag: \"one\"\nSet-Cookie: a=b");
        origin.on("*").replies([old, confirmed]);
        let fleetfoot = cached_with(&origin, "ttl: origin, client_ttl: 1m");
        way.get(&fleetfoot, "/", "");
        let own = way.get(&fleetfoot, "/", "");
        assert_eq!((own.status, own.field("Set-Cookie")), (200, Some("a=b")));
        let kept = kept_for(&own);
        assert!((59..=60).contains(&kept), "{kept} s: {own:?}");
    });
}

#[test]
fn nobody_keeps_a_stale_answer() {
    each_way(|way| {
        let origin = Origin::start();
        let old = ok("Cache-Control: max-age=90, stale-if-error=600\nAge: 100\nETag: \"one\"", "x");
        origin.on("*").replies([old, status("503 Service Unavailable", "", "busy")]);
        let fleetfoot = cached_with(&origin, "ttl: origin, client_ttl: 1m");
        way.get(&fleetfoot, "/", "");
        let stale = way.get(&fleetfoot, "/", "");
        assert_eq!(stale.text(), "x");
        assert!(kept_for(&stale) <= 0, "{stale:?}");
    });
}

#[test]
fn a_head_tells_the_same_before_anything_is_stored() {
    each_way(|way| {
        let origin = Origin::start();
        origin
            .on("*")
            .reply(Script::from("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nAge: 100\r\n\r\n").close());
        let fleetfoot = cached_with(&origin, "ttl: origin, client_ttl: 1m");
        let head = way.ask(&fleetfoot, &Asked { method: "HEAD", ..Asked::get("/", "") });
        assert!((59..=60).contains(&kept_for(&head)), "{head:?}");
    });
}

#[test]
fn compressed_forms_tell_the_same() {
    each_way(|way| {
        let origin = Origin::start();
        let text = "words ".repeat(1_000);
        origin.on("/").reply(ok("Cache-Control: max-age=600\nAge: 100\nContent-Type: text/plain", &text));
        let fixed = "Cache-Control: max-age=600, no-transform\nAge: 100\nContent-Type: text/plain";
        origin.on("/fixed").reply(ok(fixed, &text));
        let fleetfoot = cached_with(&origin, "ttl: origin, client_ttl: 1m, compress: true");
        for (target, is_encoded) in [("/", true), ("/fixed", false)] {
            way.get(&fleetfoot, target, "");
            for _ in 0..2 {
                let answer = way.get(&fleetfoot, target, "Accept-Encoding: gzip");
                assert_eq!((answer.is_hit(), answer.has("Content-Encoding")), (true, is_encoded), "{target}");
                assert!((59..=60).contains(&kept_for(&answer)), "{target}: {:?}", answer.head);
                assert_eq!(answer.joined("Cache-Control").contains("no-transform"), !is_encoded);
            }
        }
    });
}

/// What a cache in front of us would hand to the next client, and a browser would not have to keep.
#[test]
fn what_is_not_for_sharing_is_given_no_lifetime() {
    each_way(|way| {
        for (said, fields) in [
            ("HTTP/1.1 500 Internal Server Error", ""),
            ("HTTP/1.1 403 Forbidden", ""),
            ("HTTP/1.1 200 OK\nCache-Control: private", ""),
            ("HTTP/1.1 200 OK\nSet-Cookie: a=b", ""),
            ("HTTP/1.1 200 OK\nVary: *", ""),
            ("HTTP/1.1 200 OK\nContent-Type: text/event-stream", ""),
            ("HTTP/1.1 200 OK", "Cookie: session=1"),
            ("HTTP/1.1 200 OK", "Authorization: Bearer a"),
        ] {
            let (status_line, said_fields) = said.split_once('\n').unwrap_or((said, ""));
            let origin = Origin::start();
            let status_line = status_line.strip_prefix("HTTP/1.1 ").expect("a status line");
            origin.on("*").reply(status(status_line, said_fields, "x"));
            let fleetfoot = cached_with(&origin, "ttl: 1h, client_ttl: 1m");
            let answer = way.get(&fleetfoot, "/", fields);
            assert!(answer.cache_status().contains("detail="), "not stored: {answer:?}");
            assert!(
                !answer.joined("Cache-Control").contains("max-age"),
                "{said:?} to {fields:?}: {answer:?}"
            );
        }
    });
}

#[test]
fn a_confirmation_with_a_cookie_is_given_no_lifetime() {
    each_way(|way| {
        let origin = Origin::start();
        let old = ok("Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\nAge: 4000", "x");
        origin.on("*").replies([old, not_modified("Set-Cookie: a=b")]);
        let fleetfoot = cached_with(&origin, "ttl: 1h, client_ttl: 1m");
        way.get(&fleetfoot, "/", "");
        let own = way.get(&fleetfoot, "/", "");
        assert_eq!((own.status, own.field("Set-Cookie")), (200, Some("a=b")));
        assert!(!own.joined("Cache-Control").contains("max-age"), "{own:?}");
    });
}

/// Whoever stands in front of us knows the URL and what `Vary` says, and nothing else of our key.
#[test]
fn a_lifetime_for_some_alone_is_private() {
    each_way(|way| {
        for (key, said, fields, expected) in [
            ("key: { headers: [X-Tenant] }", "", "X-Tenant: a", true),
            ("key: { cookies: [currency] }", "", "Cookie: currency=eur", true),
            ("per: \"${header('X-User')}\"", "", "X-User: ann", true),
            ("skip_for: [{ cookie: session }]", "", "", true),
            ("bypass: [X-Preview]", "", "", true),
            ("key: { headers: [X-Tenant] }", "Vary: X-Tenant", "X-Tenant: a", false),
            ("key: { headers: [X-Tenant] }", "Cache-Control: public", "X-Tenant: a", false),
            ("stale: 1s", "", "", false),
        ] {
            let origin = Origin::start();
            origin.on("*").reply(ok(said, "x"));
            let fleetfoot = cached_with(&origin, &format!("ttl: 1h, client_ttl: 1m, {key}"));
            way.get(&fleetfoot, "/", fields);
            let hit = way.get(&fleetfoot, "/", fields);
            assert!(hit.is_hit() && (59..=60).contains(&kept_for(&hit)), "{hit:?}");
            assert_eq!(hit.joined("Cache-Control").contains("private"), expected, "{key}: {hit:?}");
        }
    });
}

#[test]
fn a_lifetime_of_what_repeats_its_request_is_private() {
    each_way(|way| {
        let origin = Origin::start();
        origin.on("*").reply(ok("", "hello evil-value-1"));
        let fleetfoot = cached_with(&origin, "ttl: 1h, client_ttl: 1m");
        for _ in 0..2 {
            let answer = way.get(&fleetfoot, "/", "X-Anything: evil-value-1");
            assert!(answer.joined("Cache-Control").contains("private, max-age=60"), "{answer:?}");
        }
    });
}
