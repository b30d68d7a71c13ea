//! How long an answer is fresh: RFC 9111 §4.2, in the order of precedence, with everything origins get wrong.

use testkit::{Origin, http_date, ok};

use crate::setup::{cached, cached_with, each};

/// Whether a second request is answered from the cache.
fn is_kept(cache: &str, fields: &str) -> bool {
    let origin = Origin::start();
    origin.on("*").reply(ok(fields, "x"));
    let fleetfoot = cached_with(&origin, cache);
    fleetfoot.get("/");
    fleetfoot.get("/").is_hit()
}

/// Rows of fields and whether an answer with them is kept.
fn check(cache: &str, rows: &[(&str, bool)]) {
    each(rows.iter().map(|row| (row.0, row)), |_, (fields, kept)| assert_eq!(is_kept(cache, fields), *kept));
}

#[test]
fn max_age_and_s_maxage() {
    check(
        "ttl: origin",
        &[
            ("Cache-Control: max-age=600", true),
            ("Cache-Control: max-age=0", false),
            ("Cache-Control: s-maxage=600", true),
            ("Cache-Control: s-maxage=600, max-age=0", true),
            ("Cache-Control: s-maxage=0, max-age=600", false),
            ("Cache-Control: max-age=0\nCache-Control: s-maxage=600", true),
            ("Cache-Control: MAX-AGE=600", true),
            ("Cache-Control: public, max-age=600", true),
            ("Cache-Control:max-age=600", true),
            ("Cache-Control: ,, max-age=600 ,", true),
            ("Cache-Control: extension=\"a, max-age=0\", max-age=600", true),
            ("Cache-Control: max-age=99999999999999999999", true),
            ("Cache-Control: max-age=2147483648", true),
            ("Cache-Control: public", false),
            ("Cache-Control: immutable", false),
            ("", false),
        ],
    );
}

#[test]
fn numbers_that_are_none_make_an_answer_stale() {
    check(
        "ttl: origin",
        &[
            ("Cache-Control: max-age=-1", false),
            ("Cache-Control: max-age=600s", false),
            ("Cache-Control: max-age=", false),
            ("Cache-Control: max-age", false),
            ("Cache-Control: max-age=six", false),
            ("Cache-Control: max-age=60.5", false),
        ],
    );
}

#[test]
fn expires_counts_where_max_age_is_silent() {
    let (past, now, future) = (http_date(-600), http_date(0), http_date(600));
    let rows = [
        (format!("Expires: {future}"), true),
        (format!("Date: {now}\nExpires: {future}"), true),
        (format!("Expires: {past}"), false),
        (format!("Date: {past}\nExpires: {past}"), false),
        (format!("Expires: {future}\nCache-Control: max-age=0"), false),
        (format!("Expires: {past}\nCache-Control: max-age=600"), true),
        ("Expires: 0".to_owned(), false),
        ("Expires: -1".to_owned(), false),
        ("Expires: tomorrow".to_owned(), false),
        // The lifetime is the distance of the two dates, whatever the origin's clock says.
        (format!("Date: {}\nExpires: {}", http_date(5_000), http_date(5_600)), true),
        // RFC 850 and asctime dates are read too (RFC 9110 §5.6.7).
        ("Expires: Sunday, 06-Nov-94 08:49:37 GMT".to_owned(), false),
        ("Date: Sun Nov  6 08:49:37 1994\nExpires: Sun Nov  6 08:49:37 2044".to_owned(), true),
    ];
    each(rows.iter().map(|row| (&row.0, row)), |_, (fields, kept)| {
        assert_eq!(is_kept("ttl: origin", fields), *kept);
    });
}

#[test]
fn an_answer_that_arrives_old_is_used_up_sooner() {
    check(
        "ttl: origin",
        &[
            ("Cache-Control: max-age=90\nAge: 10", true),
            ("Cache-Control: max-age=90\nAge: 90", false),
            ("Cache-Control: max-age=90\nAge: 100", false),
            ("Cache-Control: s-maxage=90, max-age=900\nAge: 100", false),
        ],
    );
    let old = http_date(-600);
    assert!(!is_kept("ttl: origin", &format!("Cache-Control: max-age=90\nDate: {old}")));
    assert!(is_kept("ttl: origin", &format!("Cache-Control: max-age=900\nDate: {old}")));
}

#[test]
fn a_default_lifetime_is_for_answers_that_state_none() {
    check(
        "ttl: 60s",
        &[
            ("", true),
            ("Cache-Control: public", true),
            ("Cache-Control: max-age=0", false),
            ("Cache-Control: no-store", false),
            ("Cache-Control: private", false),
            ("Expires: 0", false),
            ("Set-Cookie: a=b", false),
            ("Age: 100", false),
        ],
    );
}

#[test]
fn heuristic_freshness_is_an_option() {
    let long_ago = format!("Last-Modified: {}", http_date(-1_000_000));
    let future = format!("Last-Modified: {}", http_date(1_000));
    assert!(!is_kept("ttl: origin", &long_ago));
    assert!(is_kept("ttl: origin, heuristic: 10%", &long_ago));
    assert!(!is_kept("ttl: origin, heuristic: 10%", &future));
    assert!(!is_kept("ttl: origin, heuristic: 10%", &format!("{long_ago}\nCache-Control: no-store")));
    assert!(!is_kept("ttl: origin, heuristic: 10%", ""));
}

#[test]
fn a_fresh_answer_is_given_with_the_same_fields_and_content() {
    let origin = Origin::start();
    let fields = "Cache-Control: max-age=600\nContent-Type: text/x\nX-Many: 1\nX-Many: 2\nETag: \"e\"";
    origin.on("GET /").reply(ok(fields, "content"));
    let fleetfoot = cached(&origin);
    let (first, second) = (fleetfoot.get("/"), fleetfoot.get("/"));
    for name in ["Cache-Control", "Content-Type", "X-Many", "ETag", "Date", "Content-Length"] {
        assert_eq!(first.joined(name), second.joined(name), "{name}");
    }
    assert_eq!(first.body, second.body);
}
