//! `bypass` and `skip_for`: who goes straight to the source, reads nothing, leaves nothing behind and waits for nobody.

use testkit::{Fleetfoot, Gate, Origin, Script, ok};

use super::ways::{Asked, Way, each_way};
use crate::setup::cached_with;

/// An origin that counts, so that no two of its answers are alike, and hands out what it was sent.
fn counting() -> Origin {
    let origin = Origin::start();
    let asked = std::sync::atomic::AtomicUsize::new(0);
    origin.on("*").answer(move |_| {
        let number = asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        ok("Cache-Control: public, max-age=600", number.to_string())
    });
    origin
}

/// These requests go past the cache, and the cache does not notice.
fn check_past(way: Way, cache: &str, past: &[(&str, &str)], word: &str) {
    for (target, fields) in past {
        let origin = counting();
        let fleetfoot = cached_with(&origin, cache);
        // Nothing is stored of it …
        let first = way.get(&fleetfoot, target, fields);
        assert_eq!(
            first.cache_status(),
            format!("fleetfoot; fwd=bypass; detail={word}"),
            "{target} {fields}"
        );
        assert_eq!(way.get(&fleetfoot, "/p", "").text(), "1", "{target} {fields}");
        // … and nothing stored is read, or replaced.
        assert_eq!(way.get(&fleetfoot, target, fields).text(), "2", "{target} {fields}");
        let kept = way.get(&fleetfoot, "/p", "");
        assert!(kept.is_hit() && kept.text() == "1", "{target} {fields}: {kept:?}");
        let seen = origin.last(&format!("GET {target}"));
        for line in fields.lines() {
            let (name, value) = line.split_once(": ").expect("a field");
            assert_eq!(seen.field(name), Some(value), "the source sees the request as it is");
        }
    }
}

/// These are answered from the cache like all others.
fn check_through(way: Way, cache: &str, through: &[(&str, &str)]) {
    for (target, fields) in through {
        let origin = counting();
        let fleetfoot = cached_with(&origin, cache);
        way.get(&fleetfoot, target, fields);
        let again = way.get(&fleetfoot, target, fields);
        assert!(again.is_hit(), "{target} {fields}: {again:?}");
    }
}

const BYPASS: &str = "ttl: origin, bypass: [Bypass-Cache, { cookie: preview }, \"${query.nocache == '1'}\"]";

#[test]
fn a_field_that_is_there_is_enough_whatever_it_says() {
    each_way(|way| {
        let past = [("/p", "Bypass-Cache: 1"), ("/p", "bypass-cache: 0"), ("/p", "BYPASS-CACHE: no")];
        check_past(way, BYPASS, &past, "bypass");
        check_through(way, BYPASS, &[("/p", "Bypass-Caches: 1"), ("/p", "X-Bypass-Cache: 1")]);
        check_past(way, "ttl: origin, bypass: { header: X-Fresh }", &[("/p", "X-Fresh: 1")], "bypass");
    });
}

#[test]
fn a_cookie_that_is_there_is_enough() {
    each_way(|way| {
        let past = [("/p", "Cookie: preview=1"), ("/p", "Cookie: a=b; preview=; c=d")];
        check_past(way, BYPASS, &past, "bypass");
        let through =
            [("/p", "Cookie: previews=1"), ("/p", "Cookie: a=preview"), ("/p", "Cookie: xpreview=1")];
        check_through(way, BYPASS, &through);
    });
}

#[test]
fn an_expression_that_holds_is_enough() {
    each_way(|way| {
        check_past(way, BYPASS, &[("/p?nocache=1", ""), ("/p?a=2&nocache=%31", "")], "bypass");
        check_through(way, BYPASS, &[("/p?nocache=0", ""), ("/p?nocache", ""), ("/p?a=nocache=1", "")]);
        // What fails for a request does not hold.
        let number = "ttl: origin, bypass: \"${int(query.page) > 3}\"";
        check_past(way, number, &[("/p?page=4", "")], "bypass");
        check_through(way, number, &[("/p?page=3", ""), ("/p?page=x", ""), ("/p", "")]);
    });
}

#[test]
fn who_is_logged_in_is_skipped() {
    each_way(|way| {
        let cache = "ttl: origin, skip_for: [{ cookie: session }, { header: Authorization }]";
        let past = [("/p", "Cookie: a=1; session=2"), ("/p", "Authorization: Bearer a")];
        check_past(way, cache, &past, "skip-for");
        check_through(way, cache, &[("/p", "Cookie: sessions=2"), ("/p", "")]);
    });
}

#[test]
fn nobody_waits_for_those_who_go_past_nor_they_for_anybody() {
    each_way(|way| {
        let origin = Origin::start();
        let gate = Gate::new();
        origin.on("*").reply(Script::new().wait(&gate).then(ok("Cache-Control: max-age=600", "x")));
        let fleetfoot = cached_with(&origin, BYPASS);
        std::thread::scope(|scope| {
            let ask = |fields: &'static str| {
                scope.spawn({
                    let fleetfoot = &fleetfoot;
                    move || way.get(fleetfoot, "/p", fields).text()
                })
            };
            let asking: Vec<_> = (0..5).map(|_| ask("Bypass-Cache: 1")).chain([ask("")]).collect();
            // All six are at the origin before it has answered any.
            origin.wait_for(6, "GET /p");
            gate.open();
            assert!(asking.into_iter().all(|answer| answer.join().expect("an answer") == "x"));
        });
    });
}

#[test]
fn a_bypass_sees_all_methods_and_shapes_through() {
    each_way(|way| {
        let origin = Origin::start();
        origin.on("*").answer(|request| {
            assert_eq!(
                request.field("If-None-Match"),
                Some("\"theirs\""),
                "the client's own conditions go on"
            );
            ok("Cache-Control: max-age=600\nETag: \"one\"", "x")
        });
        let fleetfoot: Fleetfoot = cached_with(&origin, BYPASS);
        let fields = "Bypass-Cache: 1\nIf-None-Match: \"theirs\"\nRange: bytes=0-0";
        for method in ["GET", "HEAD"] {
            let answer = way.ask(&fleetfoot, &Asked { method, ..Asked::get("/p", fields) });
            assert_eq!(answer.status, 200, "{answer:?}");
            assert_eq!(origin.last(&format!("{method} /p")).field("Range"), Some("bytes=0-0"));
        }
    });
}

#[test]
fn what_is_left_out_of_the_key_still_reaches_the_source_of_who_goes_past() {
    each_way(|way| {
        let origin = counting();
        let cache = "ttl: origin, bypass: Bypass-Cache, key: { query: false, cookies: [] }";
        let fleetfoot = cached_with(&origin, cache);
        way.get(&fleetfoot, "/p?a=1", "Bypass-Cache: 1\nCookie: a=b");
        assert_eq!(origin.last("GET /p?a=1").field("Cookie"), Some("a=b"));
    });
}
