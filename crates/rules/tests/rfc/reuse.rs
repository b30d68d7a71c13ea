//! Reusing: RFC 9111 §4, §5.2.1, and what an answer's own directives demand.

use rules::terms::LONGEST_UNCONFIRMED;
use rules::{RequestDirectives, Reuse, Why};

use crate::scene::{DATE, HOUR_EARLIER, after, answer, asks, cache_control, fields, plain};

#[test]
fn rfc9111_4_2_fresh_until_the_lifetime_is_over() {
    let scene = cache_control("max-age=60");
    assert_eq!(scene.reuse_after(0), Reuse::Fresh);
    assert_eq!(scene.reuse_after(59), Reuse::Fresh);
    assert_eq!(scene.reuse_after(60), Reuse::Validate(Why::Stale));
    let terms = scene.stored();
    assert_eq!((terms.age(after(59)), terms.fresh_for(after(59))), (59, 1));
    assert_eq!((terms.age(after(75)), terms.fresh_for(after(75))), (75, -15));
}

#[test]
fn rfc9111_4_2_3_age_on_arrival_counts() {
    let scene = answer(&[("cache-control", "max-age=60"), ("age", "50")]);
    assert_eq!(scene.reuse_after(9), Reuse::Fresh);
    assert_eq!(scene.reuse_after(10), Reuse::Validate(Why::Stale));
    assert_eq!(scene.stored().age(after(10)), 60);
    let scene = answer(&[("cache-control", "max-age=7200"), ("date", HOUR_EARLIER)]);
    assert_eq!(scene.stored().age(after(1)), 3601);
    let huge = answer(&[("cache-control", "max-age=99999999999"), ("age", "99999999999")]);
    assert_eq!(huge.reuse_after(0), Reuse::Validate(Why::Stale));
    assert_eq!(huge.stored().age(after(1000)), 1 << 31);
}

#[test]
fn rfc9111_5_2_2_4_no_cache_must_be_validated() {
    for value in
        ["no-cache", "no-cache, max-age=60", "no-cache=\"\", max-age=60", "no-cache=\"a b\", max-age=60"]
    {
        let scene = answer(&[("cache-control", value), ("etag", "\"a\"")]);
        assert_eq!(scene.reuse_after(0), Reuse::Validate(Why::NoCache), "{value}");
        assert_eq!(scene.stored().reuse(&asks("max-stale"), false, after(0)), Reuse::Validate(Why::NoCache));
    }
}

#[test]
fn rfc9111_5_2_2_4_no_cache_with_fields_is_about_those_fields() {
    assert_eq!(cache_control("no-cache=\"x-user\", max-age=60").reuse_after(0), Reuse::Fresh);
}

#[test]
fn rfc9111_3_5_authorized_requests_get_only_what_may_be_shared() {
    for (value, expected) in [
        ("max-age=60", Reuse::NotForThisRequest),
        ("max-age=60, proxy-revalidate", Reuse::NotForThisRequest),
        ("max-age=60, public", Reuse::Fresh),
        ("max-age=60, must-revalidate", Reuse::Fresh),
        ("s-maxage=60", Reuse::Fresh),
    ] {
        assert_eq!(cache_control(value).stored().reuse(&plain(), true, after(0)), expected, "{value}");
    }
}

#[test]
fn rfc9111_5_2_1_1_max_age_in_the_request() {
    let terms = cache_control("max-age=60, stale-while-revalidate=60").stored();
    for (request, seconds, expected) in [
        ("max-age=30", 30, Reuse::Fresh),
        ("max-age=30", 31, Reuse::Validate(Why::RequestMaxAge)),
        ("max-age=0", 0, Reuse::Validate(Why::RequestMaxAge)),
        ("max-age=x", 0, Reuse::Validate(Why::RequestMaxAge)),
        ("max-age=5, max-age=3", 4, Reuse::Validate(Why::RequestMaxAge)),
        ("max-age=100", 70, Reuse::Validate(Why::RequestMaxAge)),
        ("max-age=100, max-stale", 70, Reuse::StaleWhileRevalidate),
    ] {
        assert_eq!(terms.reuse(&asks(request), false, after(seconds)), expected, "{request} after {seconds}");
    }
}

#[test]
fn rfc9111_5_2_1_2_max_stale_in_the_request() {
    let terms = cache_control("max-age=60").stored();
    for (request, seconds, expected) in [
        ("max-stale", 59, Reuse::Fresh),
        ("max-stale", 60_000, Reuse::Stale),
        ("max-stale=10", 70, Reuse::Stale),
        ("max-stale=10", 71, Reuse::Validate(Why::Stale)),
        ("max-stale=\"10\"", 70, Reuse::Stale),
        ("max-stale=x", 61, Reuse::Validate(Why::Stale)),
        ("max-stale, max-stale=5", 70, Reuse::Validate(Why::Stale)),
        ("max-stale, max-age=30", 70, Reuse::Validate(Why::RequestMaxAge)),
        ("max-stale, no-cache", 70, Reuse::Validate(Why::RequestNoCache)),
    ] {
        assert_eq!(terms.reuse(&asks(request), false, after(seconds)), expected, "{request} after {seconds}");
    }
}

#[test]
fn rfc9111_4_2_4_max_stale_must_not_override_the_answer() {
    for value in ["max-age=60, must-revalidate", "max-age=60, proxy-revalidate", "s-maxage=60"] {
        let terms = cache_control(value).stored();
        assert_eq!(terms.reuse(&asks("max-stale"), false, after(61)), Reuse::Validate(Why::Stale), "{value}");
    }
}

#[test]
fn rfc9111_5_2_1_3_min_fresh_in_the_request() {
    let terms = cache_control("max-age=60").stored();
    for (request, seconds, expected) in [
        ("min-fresh=20", 40, Reuse::Fresh),
        ("min-fresh=20", 41, Reuse::Validate(Why::RequestMinFresh)),
        ("min-fresh=20, min-fresh=30", 31, Reuse::Validate(Why::RequestMinFresh)),
        ("min-fresh=99999999999", 0, Reuse::Validate(Why::RequestMinFresh)),
        ("min-fresh=x", 59, Reuse::Fresh),
    ] {
        assert_eq!(terms.reuse(&asks(request), false, after(seconds)), expected, "{request} after {seconds}");
    }
}

#[test]
fn rfc9111_5_2_1_4_no_cache_in_the_request() {
    let terms = cache_control("max-age=60, immutable").stored();
    assert_eq!(terms.reuse(&asks("no-cache"), false, after(0)), Reuse::Validate(Why::RequestNoCache));
    assert_eq!(terms.reuse(&asks("max-age=0"), false, after(0)), Reuse::Validate(Why::RequestMaxAge));
    assert_eq!(terms.reuse(&plain(), false, after(0)), Reuse::Fresh, "where directives are ignored");
}

#[test]
fn rfc9111_5_4_pragma_counts_only_without_cache_control() {
    let of = |lines: &[(&'static str, &str)]| RequestDirectives::of(message::Fields::Map(&fields(lines)));
    assert!(of(&[("pragma", "no-cache")]).no_cache);
    assert!(of(&[("pragma", "x, No-Cache")]).no_cache);
    assert!(!of(&[("pragma", "no-cache"), ("cache-control", "max-age=5")]).no_cache);
    assert!(of(&[("pragma", "x")]).is_default());
}

#[test]
fn request_directives_read_the_same_from_the_wire_as_from_a_map() {
    let cache_control: &[u8] =
        b"max-age=1, MAX-STALE,min-fresh=3 ,no-cache, no-store,no-transform, only-if-cached";
    let wire = [
        httparse::Header { name: "Cache-CONTROL", value: cache_control },
        httparse::Header { name: "Pragma", value: b"no-cache" },
        httparse::Header { name: "Pragmb", value: b"no-cache" },
        httparse::Header { name: "Cache-Controm", value: b"stale-if-error=1" },
        httparse::Header { name: "cache-control", value: b"stale-if-error=\"4\", unknown=\"x, y\"" },
    ];
    let from_wire = RequestDirectives::of(message::Fields::Wire(&wire));
    let from_map = asks(&format!("{}, stale-if-error=4", String::from_utf8_lossy(cache_control)));
    assert_eq!(from_wire, from_map);
    assert_eq!(from_wire.max_stale, Some(u32::MAX));
    assert_eq!(
        (from_wire.max_age, from_wire.min_fresh, from_wire.stale_if_error),
        (Some(1), Some(3), Some(4))
    );
    assert!(from_wire.no_cache && from_wire.no_store && from_wire.no_transform && from_wire.only_if_cached);
    assert!(RequestDirectives::of(message::Fields::Wire(&wire[2..4])).is_default());
}

#[test]
fn servable_until_covers_freshness_and_windows() {
    for (value, age, expected) in [
        ("max-age=60", "0", 60),
        ("max-age=60, must-revalidate", "50", 10),
        ("s-maxage=60", "0", 60),
        ("max-age=60, stale-while-revalidate=9, stale-if-error=5", "0", 69),
        ("max-age=60, stale-if-error=1000000", "0", 1_000_060),
    ] {
        let terms = answer(&[("cache-control", value), ("age", age), ("date", DATE)]).stored();
        assert_eq!(terms.servable_until(), after(expected), "{value}");
        assert_eq!(terms.worth_keeping_until(), after(expected), "{value}");
    }
}

#[test]
fn what_can_be_confirmed_is_worth_keeping_for_longer() {
    for validator in [("etag", "\"a\""), ("last-modified", DATE)] {
        let terms = answer(&[("cache-control", "max-age=60"), ("date", DATE), validator]).stored();
        assert_eq!(terms.servable_until(), after(60));
        assert_eq!(terms.worth_keeping_until(), after(60 + LONGEST_UNCONFIRMED.as_secs()));
    }
}

#[test]
fn terms_are_small() {
    assert!(size_of::<rules::Terms>() <= 48);
}
