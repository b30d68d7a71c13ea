//! Serving stale: RFC 9111 §4.2.4, RFC 5861.

use std::time::Duration;

use rules::terms::LONGEST_DISCONNECTED;
use rules::{Policy, Reuse, Why};

use crate::scene::{after, answer, asks, cache_control, plain};

fn with_windows() -> Policy {
    let minute = Duration::from_mins(1);
    Policy { stale_while_revalidate: minute, stale_if_error: Some(minute), ..Policy::default() }
}

#[test]
fn rfc9111_4_2_4_stale_must_not_be_served_unless_allowed() {
    assert_eq!(cache_control("max-age=60").reuse_after(60), Reuse::Validate(Why::Stale));
    assert!(!cache_control("max-age=60").stored().may_serve_on_error(&plain(), after(60)));
}

#[test]
fn rfc9111_4_2_4_stale_may_be_served_while_disconnected() {
    let terms = cache_control("max-age=60").stored();
    assert!(terms.may_serve_disconnected(&plain(), after(3600)));
    let day = LONGEST_DISCONNECTED.as_secs();
    assert!(
        terms.may_serve_disconnected(&plain(), after(60 + day - 1)),
        "within the bound that is ours to set"
    );
    assert!(!terms.may_serve_disconnected(&plain(), after(60 + day)));
}

#[test]
fn a_window_of_none_is_none_whatever_fails_and_whoever_asks() {
    let none = Policy { stale_if_error: Some(Duration::ZERO), ..Policy::default() };
    for scene in [cache_control("max-age=60").policy(none), cache_control("max-age=60, stale-if-error=0")] {
        let terms = scene.stored();
        for asked in [plain(), asks("stale-if-error=600"), asks("max-stale=600")] {
            assert!(!terms.may_serve_on_error(&asked, after(61)), "{asked:?}");
            assert!(!terms.may_serve_disconnected(&asked, after(61)), "{asked:?}");
        }
    }
}

#[test]
fn rfc9111_4_2_4_disconnected_use_must_not_override_the_answer() {
    for value in ["must-revalidate", "proxy-revalidate", "no-cache"] {
        let value = format!("max-age=60, stale-if-error=60, stale-while-revalidate=60, {value}");
        let scene = answer(&[("cache-control", &value), ("etag", "\"a\"")]).policy(with_windows());
        let terms = scene.stored();
        assert!(!terms.may_serve_disconnected(&plain(), after(61)), "{value}");
        assert!(!terms.may_serve_on_error(&plain(), after(61)), "{value}");
        assert!(matches!(terms.reuse(&plain(), false, after(61)), Reuse::Validate(_)), "{value}");
        assert!(!terms.may_serve_on_error(&asks("stale-if-error=999"), after(61)), "{value}");
    }
    assert!(!cache_control("s-maxage=60").stored().may_serve_disconnected(&plain(), after(61)));
}

#[test]
fn rfc9111_5_2_1_disconnected_use_is_bounded_by_the_request() {
    let terms = cache_control("max-age=60").stored();
    for request in ["no-cache", "max-age=0", "max-age=100", "min-fresh=1", "max-stale=0"] {
        assert!(!terms.may_serve_disconnected(&asks(request), after(61)), "{request}");
    }
    assert!(terms.may_serve_disconnected(&asks("max-stale=5"), after(61)));
}

#[test]
fn rfc5861_3_stale_while_revalidate_within_its_window() {
    let scene = cache_control("max-age=60, stale-while-revalidate=30");
    assert_eq!(scene.reuse_after(59), Reuse::Fresh);
    assert_eq!(scene.reuse_after(60), Reuse::StaleWhileRevalidate);
    assert_eq!(scene.reuse_after(89), Reuse::StaleWhileRevalidate);
    assert_eq!(scene.reuse_after(90), Reuse::Validate(Why::Stale));
    let terms = scene.stored();
    assert_eq!(terms.reuse(&asks("max-stale=10"), false, after(71)), Reuse::Validate(Why::Stale));
    assert_eq!(terms.reuse(&asks("max-age=3600"), false, after(71)), Reuse::Validate(Why::RequestMaxAge));
}

#[test]
fn rfc5861_4_stale_if_error_within_its_window() {
    let terms = cache_control("max-age=60, stale-if-error=30").stored();
    assert!(terms.may_serve_on_error(&plain(), after(89)));
    assert!(!terms.may_serve_on_error(&plain(), after(90)));
    assert!(terms.may_serve_disconnected(&plain(), after(89)));
    assert!(
        !terms.may_serve_disconnected(&plain(), after(90)),
        "what the origin bears bounds a broken connection too"
    );
    for request in ["no-cache", "max-age=61", "min-fresh=1"] {
        assert!(!terms.may_serve_on_error(&asks(request), after(70)), "{request}");
    }
}

#[test]
fn rfc5861_4_stale_if_error_in_the_request() {
    let terms = cache_control("max-age=60").stored();
    assert!(terms.may_serve_on_error(&asks("stale-if-error=30"), after(89)));
    assert!(!terms.may_serve_on_error(&asks("stale-if-error=30"), after(90)));
    assert!(!terms.may_serve_disconnected(&asks("stale-if-error=30"), after(90)));
    assert!(!cache_control("s-maxage=60").stored().may_serve_on_error(&asks("stale-if-error=30"), after(61)));
}

#[test]
fn rfc9111_5_2_2_10_s_maxage_allows_only_windows_the_answer_states() {
    let stated = cache_control("s-maxage=60, stale-while-revalidate=30, stale-if-error=30").stored();
    assert_eq!(stated.reuse(&plain(), false, after(61)), Reuse::StaleWhileRevalidate);
    assert!(stated.may_serve_on_error(&plain(), after(61)));
    assert!(stated.may_serve_disconnected(&plain(), after(61)));
    let configured = cache_control("s-maxage=60").policy(with_windows()).stored();
    assert_eq!(configured.reuse(&plain(), false, after(61)), Reuse::Validate(Why::Stale));
    assert!(!configured.may_serve_on_error(&plain(), after(61)));
    assert!(!configured.may_serve_disconnected(&plain(), after(61)));
}

#[test]
fn configured_windows_are_for_answers_that_state_none() {
    let configured = cache_control("max-age=60").policy(with_windows()).stored();
    assert_eq!(configured.reuse(&plain(), false, after(119)), Reuse::StaleWhileRevalidate);
    assert!(configured.may_serve_on_error(&plain(), after(119)));
    assert!(!configured.may_serve_on_error(&plain(), after(120)));
    let stated = cache_control("max-age=60, stale-while-revalidate=0, stale-if-error=0")
        .policy(with_windows())
        .stored();
    assert_eq!(stated.reuse(&plain(), false, after(61)), Reuse::Validate(Why::Stale));
    assert!(!stated.may_serve_on_error(&plain(), after(61)));
}
