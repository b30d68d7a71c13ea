//! Storing: RFC 9111 §3, §4.2.1, §4.2.2, §5.2.2, §5.3, and what we add for the safety of shared answers.

use std::time::Duration;

use http::Method;
use rules::{LifetimeFrom, Mode, NotStored, Policy, Reuse, Terms, Why};

use crate::scene::{DATE, HOUR_EARLIER, MINUTE_LATER, after, answer, asks, cache_control};

fn with_default(seconds: u64) -> Policy {
    Policy { default_ttl: Some(Duration::from_secs(seconds)), ..Policy::default() }
}

fn with_heuristic(fraction: f64) -> Policy {
    Policy { heuristic: Some(fraction), ..Policy::default() }
}

#[test]
fn rfc9111_3_the_method_must_be_understood() {
    assert_eq!(cache_control("max-age=60").lifetime(), Ok(60));
    for method in
        [Method::HEAD, Method::POST, Method::PUT, Method::OPTIONS, Method::from_bytes(b"FOO").unwrap()]
    {
        assert_eq!(cache_control("max-age=60").method(method).terms(), Err(NotStored::Method));
    }
}

#[test]
fn rfc9111_3_the_status_must_be_final() {
    for code in [100, 103, 199] {
        assert_eq!(cache_control("max-age=60").status(code).terms(), Err(NotStored::Interim), "{code}");
    }
}

#[test]
fn rfc9111_3_parts_and_304_must_be_understood() {
    assert_eq!(cache_control("max-age=60").status(206).terms(), Err(NotStored::PartialContent));
    assert_eq!(cache_control("max-age=60").status(304).terms(), Err(NotStored::NotModified));
    let part = cache_control("max-age=60, must-understand, no-store").status(206);
    let terms = Terms::of_partial(&part.exchange(), &part.policy).unwrap();
    assert_eq!(terms.lifetime(), Duration::from_mins(1));
}

#[test]
fn rfc9111_3_explicit_freshness_makes_any_final_status_storable() {
    for code in [200, 201, 299, 302, 307, 404, 410, 451, 799, 999] {
        assert_eq!(cache_control("max-age=600").status(code).lifetime(), Ok(600), "{code}");
    }
}

#[test]
fn provoked_failures_are_stored_for_a_minute_at_most() {
    for code in [400, 401, 403, 405, 406, 413, 414, 415, 417, 421, 426, 499, 500, 501, 503, 599] {
        assert_eq!(cache_control("max-age=600").status(code).lifetime(), Ok(60), "{code}");
        assert_eq!(cache_control("max-age=6").status(code).lifetime(), Ok(6), "{code}");
    }
    for code in [400, 405, 413, 414, 500, 501, 503, 599] {
        assert_eq!(
            cache_control("public").status(code).policy(with_default(5)).lifetime(),
            Err(NotStored::NoLifetime)
        );
    }
}

#[test]
fn provoked_failures_are_of_no_use_after_their_minute() {
    let minute = Some(Duration::from_mins(1));
    let windows = Policy {
        stale_while_revalidate: Duration::from_mins(1),
        stale_if_error: minute,
        ..Policy::default()
    };
    for policy in [Policy::default(), windows] {
        let scene = cache_control("max-age=600, stale-while-revalidate=600, stale-if-error=600");
        let terms = scene.status(503).policy(policy).terms().unwrap();
        for asked in ["", "max-stale", "stale-if-error=600"] {
            let request = asks(asked);
            assert_eq!(terms.reuse(&request, false, after(61)), Reuse::Validate(Why::Stale), "{asked}");
            assert!(!terms.may_serve_on_error(&request, after(61)), "{asked}");
            assert!(!terms.may_serve_disconnected(&request, after(61)), "{asked}");
        }
        assert_eq!(terms.reuse(&asks(""), true, after(1)), Reuse::NotForThisRequest);
    }
}

#[test]
fn rfc6585_3_to_6_some_statuses_must_not_be_stored() {
    let force = Policy { mode: Mode::Force, ..with_default(5) };
    for code in [428, 429, 431, 511] {
        let by_status = vec![(http::StatusCode::from_u16(code).unwrap(), Duration::from_secs(5))];
        for policy in [Policy::default(), Policy { by_status, ..force.clone() }] {
            let scene = cache_control("public, max-age=600").status(code).policy(policy);
            assert_eq!(scene.terms(), Err(NotStored::Status), "{code}");
            assert_eq!(scene.personal().terms(), Err(NotStored::Status), "{code}");
        }
    }
}

#[test]
fn streams_of_events_are_never_stored() {
    let lines = [("content-type", "text/event-stream"), ("cache-control", "public, max-age=600")];
    let force = Policy { mode: Mode::Force, ..with_default(5) };
    for policy in [Policy::default(), with_default(5), force] {
        assert_eq!(answer(&lines).policy(policy.clone()).terms(), Err(NotStored::Endless));
        assert_eq!(answer(&lines[..1]).policy(policy).terms(), Err(NotStored::Endless));
    }
}

#[test]
fn rfc9111_3_without_lifetime_not_stored() {
    for lines in [
        &[][..],
        &[("etag", "\"a\"")],
        &[("last-modified", HOUR_EARLIER), ("date", DATE)],
        &[("cache-control", "public"), ("etag", "\"a\"")],
        &[("cache-control", "must-revalidate"), ("etag", "\"a\"")],
        &[("pragma", "no-cache")],
    ] {
        assert_eq!(answer(lines).terms(), Err(NotStored::NoLifetime), "{lines:?}");
    }
}

#[test]
fn stale_from_the_start_is_stored_only_for_a_use() {
    for lines in [
        &[("cache-control", "max-age=0"), ("etag", "\"a\"")][..],
        &[("cache-control", "max-age=0"), ("last-modified", HOUR_EARLIER)],
        &[("cache-control", "no-cache"), ("etag", "\"a\"")],
        &[("expires", "0"), ("etag", "\"a\"")],
        &[("cache-control", "max-age=0, stale-while-revalidate=5")],
        &[("cache-control", "max-age=0, stale-if-error=5")],
    ] {
        assert_eq!(answer(lines).lifetime(), Ok(0), "{lines:?}");
    }
    assert_eq!(answer(&[("cache-control", "no-cache, max-age=9"), ("etag", "\"a\"")]).lifetime(), Ok(9));
    for lines in [
        &[("cache-control", "max-age=0")][..],
        &[("cache-control", "no-cache, max-age=60")],
        &[("cache-control", "max-age=0, must-revalidate, stale-if-error=5")],
        &[("cache-control", "max-age=0"), ("etag", "\"a\", \"b\"")],
        &[("expires", "0")],
    ] {
        assert_eq!(answer(lines).terms(), Err(NotStored::NothingToReuse), "{lines:?}");
    }
    let no_lifetime = answer(&[("cache-control", "no-cache"), ("etag", "\"a\"")]).status(403);
    assert_eq!(no_lifetime.terms(), Err(NotStored::NoLifetime));
}

#[test]
fn rfc9111_5_2_2_5_no_store_must_not_be_stored() {
    for value in [
        "no-store",
        "max-age=60, no-store",
        "NO-STORE,max-age=60",
        "no-store=x, max-age=60",
        "public; no-store, max-age=60",
        "max-age=60; no-store",
        "x=\"a, no-store",
        "no-store;, max-age=60",
    ] {
        assert_eq!(cache_control(value).terms(), Err(NotStored::NoStore), "{value}");
    }
    let on_two_lines = answer(&[("cache-control", "max-age=60"), ("cache-control", "no-store")]);
    assert_eq!(on_two_lines.terms(), Err(NotStored::NoStore));
    assert_eq!(
        cache_control("x=\"no-store\", max-age=60").lifetime(),
        Ok(60),
        "inside of an unknown argument"
    );
}

#[test]
fn rfc9111_5_2_1_5_no_store_in_the_request_must_not_be_stored() {
    let scene = cache_control("max-age=60").asked_with(&[("cache-control", "no-store")]);
    assert_eq!(scene.terms(), Err(NotStored::RequestNoStore));
    let ignored = Policy { client_directives: false, ..Policy::default() };
    assert_eq!(scene.policy(ignored).lifetime(), Ok(60));
}

#[test]
fn rfc9111_5_2_2_3_must_understand() {
    assert_eq!(cache_control("must-understand, no-store, max-age=60").lifetime(), Ok(60));
    let unknown = cache_control("must-understand, no-store, max-age=60").status(299);
    assert_eq!(unknown.terms(), Err(NotStored::StatusNotUnderstood));
    let unknown = cache_control("must-understand, max-age=60").status(299);
    assert_eq!(unknown.terms(), Err(NotStored::StatusNotUnderstood));
    assert_eq!(cache_control("must-understand, private, max-age=60").terms(), Err(NotStored::Private));
}

#[test]
fn rfc9111_5_2_2_7_private_must_not_be_shared() {
    for value in [
        "private",
        "Private, max-age=60",
        "private=\"\", max-age=60",
        "private=\"a b\", max-age=60",
        "private=\"a, max-age=60",
        "private=\"a\", private, max-age=60",
        "private, private=\"a\", max-age=60",
        "private; max-age=60",
    ] {
        assert_eq!(cache_control(value).terms(), Err(NotStored::Private), "{value}");
    }
    for value in ["private=\"a, b\", max-age=60", "private=a, max-age=60"] {
        assert_eq!(cache_control(value).lifetime(), Ok(60), "{value}");
    }
}

#[test]
fn rfc9111_4_1_vary_star_is_not_stored() {
    for vary in ["*", "accept, *", "accept,*,", "accept encoding", "\"a\"", "ä"] {
        let scene = answer(&[("cache-control", "max-age=60"), ("vary", vary)]);
        assert_eq!(scene.terms(), Err(NotStored::VaryStar), "{vary}");
    }
}

#[test]
fn rfc9111_3_5_authorization_needs_explicit_permission() {
    let authorization = [("authorization", "Basic eDp5")];
    for value in
        ["max-age=60", "max-age=60, proxy-revalidate", "max-age=60, no-cache=\"a\"", "max-age=60, immutable"]
    {
        let scene = cache_control(value).asked_with(&authorization);
        assert_eq!(scene.terms(), Err(NotStored::Authorization), "{value}");
    }
    for value in ["max-age=60, public", "max-age=60, must-revalidate", "s-maxage=60"] {
        assert_eq!(cache_control(value).asked_with(&authorization).lifetime(), Ok(60), "{value}");
    }
    let expires = answer(&[("expires", MINUTE_LATER)]).asked_with(&authorization);
    assert_eq!(expires.terms(), Err(NotStored::Authorization));
    let by_default = answer(&[]).policy(with_default(5)).asked_with(&authorization);
    assert_eq!(by_default.terms(), Err(NotStored::Authorization));
}

#[test]
fn cookies_in_the_request_need_explicit_permission() {
    let cookie = [("cookie", "session=1")];
    assert_eq!(cache_control("max-age=60").asked_with(&cookie).terms(), Err(NotStored::Cookie));
    assert_eq!(answer(&[]).policy(with_default(5)).asked_with(&cookie).terms(), Err(NotStored::Cookie));
    for value in ["max-age=60, public", "max-age=60, must-revalidate", "s-maxage=60"] {
        assert_eq!(cache_control(value).asked_with(&cookie).lifetime(), Ok(60), "{value}");
    }
    assert_eq!(answer(&[("cdn-cache-control", "max-age=60")]).asked_with(&cookie).lifetime(), Ok(60));
    let no_lifetime_in_it = answer(&[("cdn-cache-control", "immutable"), ("cache-control", "max-age=60")]);
    let scene = no_lifetime_in_it.policy(with_default(5)).asked_with(&cookie);
    assert_eq!(scene.terms(), Err(NotStored::Cookie));
}

#[test]
fn rfc9111_7_3_set_cookie_is_not_stored_unless_told() {
    let with_cookie = |value| answer(&[("set-cookie", "a=1"), ("cache-control", value)]);
    assert_eq!(with_cookie("public, max-age=60").terms(), Err(NotStored::SetCookie));
    for value in ["max-age=60, no-cache=\"set-cookie\"", "max-age=60, private=\"Set-Cookie, x\""] {
        assert_eq!(with_cookie(value).lifetime(), Ok(60), "{value}");
    }
    let allowed = Policy { store_set_cookie: true, ..Policy::default() };
    assert_eq!(with_cookie("max-age=60").policy(allowed).lifetime(), Ok(60));
}

#[test]
fn rfc9111_4_2_1_s_maxage_before_max_age_before_expires() {
    for (lines, expected) in [
        (&[("cache-control", "s-maxage=1, max-age=2"), ("expires", MINUTE_LATER), ("date", DATE)][..], 1),
        (&[("cache-control", "max-age=2"), ("expires", MINUTE_LATER), ("date", DATE)], 2),
        (&[("expires", MINUTE_LATER), ("date", DATE)], 60),
        (&[("expires", MINUTE_LATER), ("date", HOUR_EARLIER)], 3660),
        (&[("expires", MINUTE_LATER)], 60),
        (&[("expires", MINUTE_LATER), ("date", "nonsense")], 60),
        (&[("cache-control", "public"), ("expires", MINUTE_LATER)], 60),
    ] {
        assert_eq!(answer(lines).lifetime(), Ok(expected), "{lines:?}");
    }
}

#[test]
fn what_gave_the_lifetime_can_be_told() {
    let policy =
        Policy { default_ttl: Some(Duration::from_secs(5)), heuristic: Some(0.5), ..Policy::default() };
    for (lines, expected) in [
        (&[("cdn-cache-control", "max-age=1"), ("cache-control", "s-maxage=1")][..], LifetimeFrom::Targeted),
        (&[("cache-control", "max-age=1, s-maxage=1")], LifetimeFrom::SMaxage),
        (&[("cache-control", "max-age=1"), ("expires", "0")], LifetimeFrom::MaxAge),
        (&[("expires", "0")], LifetimeFrom::Expires),
        (&[("last-modified", HOUR_EARLIER)], LifetimeFrom::PolicyDefault),
    ] {
        assert_eq!(LifetimeFrom::of(&answer(lines).exchange(), &policy), Some(expected), "{lines:?}");
        assert!(!expected.word().is_empty());
    }
    let guessed = answer(&[("last-modified", HOUR_EARLIER)]);
    assert_eq!(LifetimeFrom::of(&guessed.exchange(), &with_heuristic(0.5)), Some(LifetimeFrom::Heuristic));
    assert_eq!(LifetimeFrom::of(&answer(&[]).exchange(), &with_heuristic(0.5)), None);
}

#[test]
fn rfc9111_4_2_1_unreadable_or_contradictory_lifetimes_are_stale() {
    for value in [
        "max-age=abc",
        "max-age=",
        "max-age",
        "max-age=-1",
        "max-age=1.5",
        "max-age='60'",
        "max-age=60s",
        "max-age =60",
        "max-age= 60",
        "max-age=\"60",
        "max-age=60, max-age=61",
        "max-age=0, max-age=60",
        "s-maxage=x, max-age=60",
        "max-age=60;x",
    ] {
        let scene = answer(&[("cache-control", value), ("etag", "\"a\"")]);
        assert_eq!(scene.lifetime(), Ok(0), "{value}");
    }
    for value in [
        "max-age=60",
        "MAX-AGE=60",
        "max-age=\"60\"",
        "max-age=060",
        "max-age=60, max-age=60",
        ",,max-age=60,",
    ] {
        assert_eq!(cache_control(value).lifetime(), Ok(60), "{value}");
    }
    for value in ["max-age=2147483648", "max-age=4294967297", "max-age=99999999999999999999"] {
        assert_eq!(cache_control(value).lifetime(), Ok(1 << 31), "{value}");
    }
}

#[test]
fn rfc9111_5_3_invalid_expires_must_be_in_the_past() {
    for lines in [
        &[("expires", "0")][..],
        &[("expires", "-1")],
        &[("expires", "")],
        &[("expires", "tomorrow")],
        &[("expires", "Sun, 06 Nov 1994 08:50:37 UTC")],
        &[("expires", HOUR_EARLIER)],
        &[("expires", MINUTE_LATER), ("expires", MINUTE_LATER)],
    ] {
        let mut scene = answer(lines);
        scene.response.insert("etag", "\"a\"".parse().unwrap());
        assert_eq!(scene.policy(with_default(5)).lifetime(), Ok(0), "{lines:?}");
    }
}

#[test]
fn a_configured_lifetime_is_for_answers_that_state_none() {
    assert_eq!(answer(&[]).policy(with_default(5)).lifetime(), Ok(5));
    assert_eq!(cache_control("max-age=9").policy(with_default(5)).lifetime(), Ok(9));
    assert_eq!(answer(&[]).status(403).policy(with_default(5)).terms(), Err(NotStored::NoLifetime));
    assert_eq!(cache_control("public").status(403).policy(with_default(5)).lifetime(), Ok(5));
    let both = Policy { heuristic: Some(0.5), ..with_default(5) };
    assert_eq!(answer(&[("last-modified", HOUR_EARLIER)]).policy(both).lifetime(), Ok(5));
    let short = Policy { default_ttl: Some(Duration::from_millis(500)), ..Policy::default() };
    assert_eq!(answer(&[]).policy(short).stored().lifetime(), Duration::from_millis(500));
    assert_eq!(answer(&[]).policy(with_default(0)).terms(), Err(NotStored::NothingToReuse));
}

#[test]
fn rfc9111_4_2_2_heuristic_freshness() {
    let old = [("last-modified", HOUR_EARLIER), ("date", DATE)];
    assert_eq!(answer(&old).policy(with_heuristic(0.1)).lifetime(), Ok(360));
    assert_eq!(answer(&old).status(302).policy(with_heuristic(0.1)).terms(), Err(NotStored::NoLifetime));
    for (lines, fraction, expected) in [
        (&[("last-modified", HOUR_EARLIER)][..], 0.1, Ok(360)),
        (&[("last-modified", "Thu, 01 Jan 1970 00:00:00 GMT")], 0.9, Ok(24 * 60 * 60)),
        (&[("last-modified", HOUR_EARLIER)], f64::MAX, Ok(24 * 60 * 60)),
        (&[("last-modified", MINUTE_LATER), ("date", DATE)], 0.1, Err(NotStored::NoLifetime)),
        (&[("last-modified", "long ago")], 0.1, Err(NotStored::NoLifetime)),
        (&[("last-modified", HOUR_EARLIER)], f64::NAN, Err(NotStored::NoLifetime)),
        (&[("last-modified", HOUR_EARLIER)], f64::INFINITY, Err(NotStored::NoLifetime)),
        (&[("last-modified", HOUR_EARLIER)], -1.0, Err(NotStored::NoLifetime)),
    ] {
        assert_eq!(
            answer(lines).policy(with_heuristic(fraction)).lifetime(),
            expected,
            "{lines:?} {fraction}"
        );
    }
}

#[test]
fn rfc9111_4_2_2_heuristics_must_not_be_used_with_explicit_freshness() {
    for stated in [("cache-control", "max-age=0"), ("expires", "0"), ("expires", HOUR_EARLIER)] {
        let scene = answer(&[("last-modified", HOUR_EARLIER), stated]).policy(with_heuristic(0.5));
        assert_eq!(scene.lifetime(), Ok(0), "{stated:?}");
    }
}
