//! `negative`, `max_ttl` and `jitter`: how long answers are fresh, told by the `ttl` that hits say is left.

use std::collections::BTreeSet;

use testkit::{Origin, http_date, ok, status};

use super::ways::{Way, each_way};
use crate::setup::{cached_with, each};

/// Rows of status, fields and lifetime, `None` where nothing is to be stored.
type Rows<'a> = &'a [(&'a str, &'a str, Option<i64>)];

fn check(way: Way, cache: &str, rows: Rows<'_>) {
    let origin = Origin::start();
    let fleetfoot = cached_with(&origin, cache);
    each(rows.iter().enumerate().map(|(n, row)| (format!("{row:?}"), (n, row))), |_, (n, row)| {
        let target = format!("/{n}");
        origin.on(&target).reply(status(row.0, row.1, "x"));
        let first = way.get(&fleetfoot, &target, "");
        let second = way.get(&fleetfoot, &target, "");
        assert_eq!(second.status, first.status);
        assert_eq!(second.is_hit(), row.2.is_some(), "{second:?}");
        if let (Some(ttl), Some(expected)) = (second.ttl(), row.2) {
            assert!((expected - 5..=expected).contains(&ttl), "{ttl} where {expected} was to be");
        }
    });
}

#[test]
fn each_status_has_the_lifetime_that_negative_names() {
    each_way(|way| {
        check(
            way,
            "ttl: origin, negative: { 404: 10s, 410: 1m, 301: 1h, 302: 20s, 200: 40s, 503: 20s }",
            &[
                ("404 Not Found", "", Some(10)),
                ("410 Gone", "", Some(60)),
                ("301 Moved Permanently", "Location: /x", Some(3600)),
                ("302 Found", "Location: /x", Some(20)),
                ("200 OK", "", Some(40)),
                ("503 Service Unavailable", "", Some(20)),
                // What a client can bring about is kept for a minute at most, whoever says otherwise.
                ("503 Service Unavailable", "Cache-Control: max-age=600", Some(60)),
                // Not named.
                ("308 Permanent Redirect", "Location: /x", None),
                ("500 Internal Server Error", "", None),
                ("451 Unavailable For Legal Reasons", "", None),
                // Their own words go first.
                ("404 Not Found", "Cache-Control: max-age=600", Some(600)),
                ("404 Not Found", "Cache-Control: max-age=0", None),
                ("404 Not Found", "Cache-Control: no-store", None),
                ("404 Not Found", "Cache-Control: private", None),
                ("404 Not Found", "Set-Cookie: a=b", None),
            ],
        );
    });
}

#[test]
fn negative_true_is_the_usual() {
    each_way(|way| {
        check(
            way,
            "ttl: 30s, negative: true",
            &[
                ("300 Multiple Choices", "", Some(600)),
                ("301 Moved Permanently", "", Some(600)),
                ("308 Permanent Redirect", "", Some(600)),
                ("404 Not Found", "", Some(120)),
                ("410 Gone", "", Some(120)),
                ("451 Unavailable For Legal Reasons", "", Some(120)),
                ("405 Method Not Allowed", "", Some(60)),
                ("421 Misdirected Request", "", Some(60)),
                ("501 Not Implemented", "", Some(60)),
                ("200 OK", "", Some(30)),
                ("203 Non-Authoritative Information", "", Some(30)),
                ("204 No Content", "", Some(30)),
                ("302 Found", "", None),
                ("307 Temporary Redirect", "", None),
                ("302 Found", "Cache-Control: max-age=40", Some(40)),
                ("307 Temporary Redirect", "Cache-Control: max-age=40", Some(40)),
                ("500 Internal Server Error", "", None),
                ("403 Forbidden", "", None),
            ],
        );
    });
}

#[test]
fn without_negative_the_default_is_for_statuses_that_may_have_it() {
    each_way(|way| {
        check(
            way,
            "ttl: 30s",
            &[
                ("404 Not Found", "", Some(30)),
                ("410 Gone", "", Some(30)),
                ("451 Unavailable For Legal Reasons", "", None),
                ("400 Bad Request", "", None),
                ("503 Service Unavailable", "", None),
            ],
        );
    });
}

#[test]
fn no_answer_is_fresh_for_longer_than_max_ttl() {
    let expires = format!("Expires: {}", http_date(86_400));
    each_way(|way| {
        check(
            way,
            "ttl: origin, max_ttl: 100s, negative: { 301: 80s }",
            &[
                ("200 OK", "Cache-Control: max-age=31536000, immutable", Some(100)),
                ("200 OK", "Cache-Control: s-maxage=600", Some(100)),
                ("200 OK", &expires, Some(100)),
                ("200 OK", "CDN-Cache-Control: max-age=600", Some(100)),
                ("301 Moved Permanently", "", Some(80)),
                ("301 Moved Permanently", "Cache-Control: max-age=600", Some(100)),
                // Age counts against it.
                ("200 OK", "Cache-Control: max-age=600\nAge: 40", Some(60)),
                ("200 OK", "Cache-Control: max-age=600\nAge: 100", None),
                // It lengthens nothing.
                ("200 OK", "Cache-Control: max-age=50", Some(50)),
                ("200 OK", "", None),
            ],
        );
    });
}

#[test]
fn jitter_takes_up_to_its_share_off_and_spreads() {
    each_way(|way| {
        let origin = Origin::start();
        origin.on("*").reply(ok("", "x"));
        let fleetfoot = cached_with(&origin, "ttl: 10000s, jitter: 10%");
        let lifetimes: BTreeSet<i64> = (0..60)
            .map(|n| {
                let target = format!("/{n}");
                way.get(&fleetfoot, &target, "");
                way.get(&fleetfoot, &target, "").ttl().expect("the second is a hit")
            })
            .collect();
        let (first, last) = (lifetimes.first().unwrap(), lifetimes.last().unwrap());
        assert!(*first >= 8_990 && *last <= 10_000, "{lifetimes:?}");
        // Of sixty draws out of a thousand seconds almost none are alike, and they reach almost from end to end.
        assert!(lifetimes.len() >= 45 && last - first >= 600, "{lifetimes:?}");
    });
}

#[test]
fn jitter_shortens_what_answers_state_and_clients_hear_what_is_left() {
    each_way(|way| {
        let origin = Origin::start();
        origin.on("*").reply(ok("Cache-Control: max-age=10000\nAge: 2000", "x"));
        let fleetfoot = cached_with(&origin, "ttl: origin, jitter: 50%, client_ttl: 1d");
        for n in 0..10 {
            let target = format!("/{n}");
            way.get(&fleetfoot, &target, "");
            let hit = way.get(&fleetfoot, &target, "");
            let ttl = hit.ttl().expect("a hit");
            assert!((3_990..=8_000).contains(&ttl), "of the 8,000 s it came with, half at most: {ttl}");
            let age = i64::try_from(hit.age().expect("a hit has an age")).expect("small");
            assert_eq!(hit.field("Cache-Control"), Some(format!("max-age={}", age + ttl).as_str()));
        }
    });
}
