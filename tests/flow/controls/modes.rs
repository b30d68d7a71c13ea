//! `mode`: how far the answers' own words are obeyed, and whom nothing is forced upon.

use testkit::{Answer, Origin, Script, ok, status};

use super::ways::{Way, each_way};
use crate::setup::{cached_with, each};

/// Asks twice, with these request fields, an origin that always answers so; gives what the second asking got.
fn second(way: Way, cache: &str, answer: &Script, fields: &str) -> Answer {
    let origin = Origin::start();
    origin.on("*").reply(answer.clone());
    let fleetfoot = cached_with(&origin, cache);
    way.get(&fleetfoot, "/page.css", fields);
    way.get(&fleetfoot, "/page.css", fields)
}

/// Rows of an answer's fields and for how long it is fresh; `None`: it is not stored.
fn check(way: Way, cache: &str, rows: &[(&str, Option<i64>)]) {
    each(rows.iter().map(|row| (row.0, row.1)), |fields, expected| {
        let answer = second(way, cache, &ok(fields, "x"), "");
        check_lifetime(&answer, expected);
    });
}

fn check_lifetime(answer: &Answer, expected: Option<i64>) {
    assert_eq!(answer.is_hit(), expected.is_some(), "{answer:?}");
    if let (Some(ttl), Some(expected)) = (answer.ttl(), expected) {
        assert!((expected - 5..=expected).contains(&ttl), "{ttl} where {expected} was to be: {answer:?}");
    }
}

#[test]
fn origin_gives_the_default_to_answers_that_state_none() {
    each_way(|way| {
        check(
            way,
            "mode: origin, ttl: 90s",
            &[
                ("", Some(90)),
                ("Content-Type: text/html", Some(90)),
                ("Cache-Control: max-age=600", Some(600)),
                ("Cache-Control: max-age=0", None),
                ("Cache-Control: no-store", None),
                ("Cache-Control: private", None),
                ("Set-Cookie: a=b", None),
            ],
        );
    });
}

#[test]
fn static_gives_the_default_to_static_content_alone() {
    each_way(|way| {
        check(
            way,
            "mode: static, ttl: 90s",
            &[
                ("Content-Type: text/css", Some(90)),
                ("Content-Type: Text/CSS; charset=utf-8", Some(90)),
                ("Content-Type: application/javascript", Some(90)),
                ("Content-Type: image/png", Some(90)),
                ("Content-Type: font/woff2", Some(90)),
                ("Content-Type: video/mp4", Some(90)),
                // The end of the path (`.css`) tells nothing.
                ("Content-Type: text/html", None),
                ("Content-Type: application/json", None),
                ("", None),
                ("Content-Type: text/html\nContent-Type: text/css", None),
                // What they state goes first, for all types alike.
                ("Content-Type: text/html\nCache-Control: max-age=600", Some(600)),
                ("Content-Type: text/css\nCache-Control: max-age=600", Some(600)),
                ("Content-Type: text/css\nCache-Control: no-store", None),
                ("Content-Type: text/css\nCache-Control: private", None),
                ("Content-Type: text/css\nSet-Cookie: a=b", None),
            ],
        );
    });
}

#[test]
fn force_overrules_what_answers_say() {
    each_way(|way| {
        check(
            way,
            "mode: force, ttl: 90s",
            &[
                ("", Some(90)),
                ("Cache-Control: no-store", Some(90)),
                ("Cache-Control: private", Some(90)),
                ("Cache-Control: no-cache, max-age=0", Some(90)),
                ("Cache-Control: max-age=600", Some(90)),
                ("Expires: 0", Some(90)),
                ("CDN-Cache-Control: no-store", Some(90)),
                ("Pragma: no-cache", Some(90)),
                ("Set-Cookie: a=b", None),
                ("Cache-Control: public\nSet-Cookie: a=b", None),
                ("Vary: *", None),
            ],
        );
    });
}

#[test]
fn force_takes_successes_and_what_negative_names() {
    let rows = [
        ("200 OK", "Cache-Control: no-store", Some(90)),
        ("203 Non-Authoritative Information", "Cache-Control: no-store", Some(90)),
        ("300 Multiple Choices", "", Some(90)),
        ("301 Moved Permanently", "Cache-Control: private", Some(90)),
        ("308 Permanent Redirect", "", Some(90)),
        ("404 Not Found", "Cache-Control: no-store", Some(10)),
        ("404 Not Found", "Cache-Control: max-age=600", Some(10)),
        // All others are left to their own words.
        ("410 Gone", "", None),
        ("410 Gone", "Cache-Control: max-age=600", Some(600)),
        ("302 Found", "", None),
        ("201 Created", "", None),
        ("500 Internal Server Error", "", None),
        ("403 Forbidden", "", None),
    ];
    each_way(|way| {
        each(rows.map(|row| (format!("{row:?}"), row)), |_, (code, fields, expected)| {
            let answer = status(code, fields, "x");
            let cache = "mode: force, ttl: 90s, negative: { 404: 10s }";
            check_lifetime(&second(way, cache, &answer, ""), expected);
        });
    });
}

#[test]
fn force_overrules_what_clients_ask_for() {
    each_way(|way| {
        for fields in ["Cache-Control: no-cache", "Cache-Control: no-store", "Pragma: no-cache"] {
            let answer = second(way, "mode: force, ttl: 90s", &ok("Cache-Control: no-store", "x"), fields);
            assert!(answer.is_hit(), "{fields}: {answer:?}");
        }
    });
}

/// An origin that answers everyone with who they are, and allows everything.
fn reflecting() -> Origin {
    let origin = Origin::start();
    origin.on("*").answer(|request| {
        let who = [request.field("Authorization"), request.field("Cookie")];
        ok("Cache-Control: public, max-age=600", format!("{who:?}"))
    });
    origin
}

#[test]
fn nothing_is_forced_for_those_who_seem_to_be_logged_in() {
    each_way(|way| {
        for (fields, why) in
            [("Authorization: Bearer a", "has-authorization"), ("Cookie: id=a", "has-cookie")]
        {
            let origin = reflecting();
            let fleetfoot = cached_with(&origin, "mode: force, ttl: 90s");
            // Neither stored …
            let own = way.get(&fleetfoot, "/", fields);
            assert!(own.text().contains('a'), "{own:?}");
            assert_eq!(own.cache_status(), format!("fleetfoot; fwd=bypass; detail={why}"));
            let others = way.get(&fleetfoot, "/", "");
            assert_eq!((others.text().as_str(), others.is_hit()), ("[None, None]", false), "{fields}");
            // … nor read.
            assert!(way.get(&fleetfoot, "/", "").is_hit());
            let own = way.get(&fleetfoot, "/", fields);
            assert!(own.text().contains('a') && !own.is_hit(), "{own:?}");
        }
    });
}

#[test]
fn skip_for_says_who_is_logged_in_where_answers_are_forced() {
    each_way(|way| {
        let origin = reflecting();
        let fleetfoot = cached_with(&origin, "mode: force, ttl: 90s, skip_for: [{ cookie: session }]");
        way.get(&fleetfoot, "/", "");
        // Consent and analytics no longer keep answers from being served …
        assert!(way.get(&fleetfoot, "/", "Cookie: consent=1").is_hit());
        let own = way.get(&fleetfoot, "/", "Cookie: consent=1; session=a");
        assert_eq!(own.cache_status(), "fleetfoot; fwd=bypass; detail=skip-for");
        assert!(own.text().contains("session=a"));
        // … but what is answered to a cookie is for nobody else.
        way.get(&fleetfoot, "/other", "Cookie: consent=mine");
        let others = way.get(&fleetfoot, "/other", "");
        assert_eq!(others.text(), "[None, None]");
    });
}

#[test]
fn cookies_in_the_key_do_not_keep_answers_from_being_forced() {
    each_way(|way| {
        let origin = reflecting();
        let fleetfoot = cached_with(&origin, "mode: force, ttl: 90s, key: { cookies: [currency] }");
        let fields = "Cookie: session=mine; currency=eur";
        assert_eq!(way.get(&fleetfoot, "/", fields).text(), "[None, Some(\"currency=eur\")]");
        let again = way.get(&fleetfoot, "/", "Cookie: currency=eur; session=other");
        assert!(again.is_hit(), "{again:?}");
        assert!(!way.get(&fleetfoot, "/", "Cookie: currency=usd").is_hit());
        assert!(!way.get(&fleetfoot, "/", "Cookie: currency=eur\nAuthorization: Bearer a").is_hit());
    });
}
