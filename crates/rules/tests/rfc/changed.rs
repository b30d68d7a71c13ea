//! Terms that were changed after the answer was stored: shortened for jitter, softened by a purge; and what is left of
//! them for an early refresh.

use std::time::Duration;

use proptest::prelude::*;
use rules::{Policy, Reuse, Terms, Why};

use crate::scene::{after, answer, cache_control, plain};

fn aged(age: &str, max_age: u64) -> Terms {
    answer(&[("cache-control", &format!("max-age={max_age}")), ("age", age), ("etag", "\"a\"")]).stored()
}

#[test]
fn a_share_comes_off_the_freshness_it_arrived_with() {
    for (age, share, expected) in [
        ("0", 0.0, 100),
        ("0", 0.1, 90),
        ("60", 0.5, 80),
        ("100", 0.5, 100),
        ("200", 0.5, 100),
        ("0", f64::NAN, 100),
    ] {
        let terms = aged(age, 100).shortened(share);
        assert_eq!(terms.lifetime(), Duration::from_secs(expected), "{age} {share}");
    }
    for share in [1.0, 7.0] {
        assert!(aged("0", 100).shortened(share).is_fresh(after(0)));
        assert!(!aged("0", 100).shortened(share).is_fresh(after(1)));
    }
    assert_eq!(aged("0", 100).shortened(-1.0), aged("0", 100));
}

#[test]
fn the_share_left_counts_from_arrival() {
    for (age, seconds, expected) in [
        ("0", 0, 1.0),
        ("0", 25, 0.75),
        ("0", 100, 0.0),
        ("0", 200, 0.0),
        ("60", 0, 1.0),
        ("60", 30, 0.25),
        ("100", 0, 0.0),
    ] {
        let left = aged(age, 100).fresh_share_left(after(seconds));
        assert!((left - expected).abs() < 1e-9, "{age} {seconds}: {left}");
    }
}

#[test]
fn what_a_soft_purge_meets_is_stale_from_then_on() {
    let windows = cache_control("max-age=100, stale-while-revalidate=10, stale-if-error=20").stored();
    let softened = windows.softened(after(30));
    assert_eq!(softened.reuse(&plain(), false, after(29)), Reuse::Fresh);
    assert_eq!(softened.reuse(&plain(), false, after(30)), Reuse::StaleWhileRevalidate);
    assert_eq!(softened.reuse(&plain(), false, after(39)), Reuse::StaleWhileRevalidate);
    assert_eq!(softened.reuse(&plain(), false, after(40)), Reuse::Validate(Why::Stale));
    assert!(
        softened.may_serve_on_error(&plain(), after(49)) && !softened.may_serve_on_error(&plain(), after(50))
    );
    assert_eq!(softened.fresh_for(after(33)), -3);
    assert_eq!(softened.age(after(33)), 33);
    assert_eq!(windows.softened(after(105)), windows, "stale already");
    assert_eq!(softened.softened(after(50)), softened);
}

#[test]
fn what_must_revalidate_still_must_after_a_soft_purge() {
    let policy = Policy { stale_while_revalidate: Duration::from_secs(99), ..Policy::default() };
    let strict = cache_control("max-age=100, must-revalidate").policy(policy).stored().softened(after(5));
    assert_eq!(strict.reuse(&plain(), false, after(5)), Reuse::Validate(Why::Stale));
    assert!(!strict.may_serve_on_error(&plain(), after(5)));
}

proptest! {
    #[test]
    fn changed_terms_are_never_fresh_for_longer(
        age in 0u64..200, max_age in 1u64..200, share in any::<f64>(), at in 0u64..300, now in 0u64..300,
    ) {
        let terms = aged(&age.to_string(), max_age);
        let now = after(now);
        let shortened = terms.shortened(share);
        prop_assert!(shortened.fresh_for(now) <= terms.fresh_for(now));
        prop_assert_eq!(shortened.is_fresh(after(0)), terms.is_fresh(after(0)), "never the whole");
        let softened = terms.softened(after(at));
        prop_assert!(softened.fresh_for(now) <= terms.fresh_for(now));
        prop_assert!(!softened.is_fresh(after(at)));
        prop_assert_eq!(softened.age(now), terms.age(now));
        prop_assert!((0.0..=1.0).contains(&terms.fresh_share_left(now)));
    }
}
