//! What a policy adds to the RFCs: modes, lifetimes by status, the most it allows, cookies in the key, one user's answers.

use std::time::Duration;

use http::StatusCode;
use rules::policy::by_status_defaults;
use rules::{LifetimeFrom, Mode, NotStored, Policy, Reuse};

use crate::scene::{DATE, HOUR_EARLIER, MINUTE_LATER, Scene, after, answer, asks, cache_control, plain};

fn ttl(mode: Mode, seconds: u64) -> Policy {
    Policy { mode, default_ttl: Some(Duration::from_secs(seconds)), ..Policy::default() }
}

fn by_status(mode: Mode, lifetimes: &[(u16, u64)]) -> Policy {
    let by_status = lifetimes
        .iter()
        .map(|&(code, seconds)| {
            (StatusCode::from_u16(code).expect("a valid status"), Duration::from_secs(seconds))
        })
        .collect();
    Policy { by_status, ..ttl(mode, 300) }
}

fn from(scene: &Scene) -> Option<LifetimeFrom> {
    LifetimeFrom::of(&scene.exchange(), &scene.policy)
}

#[test]
fn static_types_get_the_default_and_others_none() {
    let policy = ttl(Mode::Static, 300);
    let typed = |content_type| answer(&[("content-type", content_type)]).policy(policy.clone());
    for content_type in ["text/css", "image/png", "font/woff2", "application/javascript; charset=utf-8"] {
        assert_eq!(typed(content_type).lifetime(), Ok(300), "{content_type}");
        assert_eq!(from(&typed(content_type)), Some(LifetimeFrom::StaticType));
    }
    for content_type in ["text/html", "application/json"] {
        assert_eq!(typed(content_type).terms(), Err(NotStored::NoLifetime), "{content_type}");
    }
    for (value, expected) in
        [("max-age=5", Ok(5)), ("no-store", Err(NotStored::NoStore)), ("private", Err(NotStored::Private))]
    {
        let scene = answer(&[("content-type", "text/css"), ("cache-control", value)]).policy(policy.clone());
        assert_eq!(scene.lifetime(), expected, "{value}");
    }
    assert_eq!(cache_control("max-age=5").policy(policy.clone()).lifetime(), Ok(5));
    let asked = typed("text/css").asked_with(&[("cookie", "a=1")]);
    assert_eq!(asked.terms(), Err(NotStored::Cookie), "the type does not say that it is for everybody");
    assert_eq!(typed("text/css").status(403).terms(), Err(NotStored::NoLifetime));
}

#[test]
fn force_overrules_what_answers_and_requests_say() {
    for value in
        ["no-store", "private", "no-cache, no-store, must-revalidate, max-age=0", "max-age=7, s-maxage=9"]
    {
        let scene = answer(&[("cache-control", value), ("expires", "0")]).policy(ttl(Mode::Force, 300));
        assert_eq!(scene.lifetime(), Ok(300), "{value}");
        assert_eq!(scene.reuse_after(299), Reuse::Fresh, "{value}");
        assert_eq!(from(&scene), Some(LifetimeFrom::Forced));
    }
    let targeted = answer(&[("cdn-cache-control", "no-store")]).policy(ttl(Mode::Force, 300));
    assert_eq!(targeted.lifetime(), Ok(300));
    let asked = answer(&[]).policy(ttl(Mode::Force, 300)).asked_with(&[("cache-control", "no-store")]);
    assert_eq!(asked.lifetime(), Ok(300));
    assert!(!ttl(Mode::Force, 300).heeds_clients() && ttl(Mode::Origin, 300).heeds_clients());
    let windows = Policy { stale_while_revalidate: Duration::from_secs(10), ..ttl(Mode::Force, 300) };
    let scene = cache_control("must-revalidate, stale-while-revalidate=999").policy(windows);
    assert_eq!(scene.reuse_after(305), Reuse::StaleWhileRevalidate);
    assert_eq!(scene.reuse_after(311), Reuse::Validate(rules::Why::Stale));
}

#[test]
fn force_is_never_for_traffic_of_somebody() {
    for value in ["private, must-revalidate", "public, max-age=60", "s-maxage=60"] {
        let scene = cache_control(value).policy(ttl(Mode::Force, 300));
        let with = |name, value| scene.clone().asked_with(&[(name, value)]).terms();
        assert_eq!(with("authorization", "Basic eDp5"), Err(NotStored::Authorization), "{value}");
        assert_eq!(with("cookie", "a=1"), Err(NotStored::Cookie), "{value}");
        let keyed = Policy { cookies_keyed: true, ..ttl(Mode::Force, 300) };
        assert_eq!(scene.clone().asked_with(&[("cookie", "a=1")]).policy(keyed).lifetime(), Ok(300));
        assert_eq!(scene.stored().reuse(&plain(), true, after(1)), Reuse::NotForThisRequest, "{value}");
    }
    let policy = Policy { store_set_cookie: true, ..ttl(Mode::Force, 300) };
    assert_eq!(answer(&[("set-cookie", "a=1")]).policy(policy.clone()).terms(), Err(NotStored::SetCookie));
    assert_eq!(answer(&[("vary", "*")]).policy(policy.clone()).terms(), Err(NotStored::VaryStar));
    let targeted = answer(&[("cdn-cache-control", "max-age=60")]).policy(policy);
    assert_eq!(targeted.asked_with(&[("cookie", "a=1")]).terms(), Err(NotStored::Cookie));
}

#[test]
fn force_is_for_successes_and_failures_have_to_be_named() {
    for code in [200, 203, 204, 300, 301, 308] {
        assert_eq!(
            cache_control("no-store").status(code).policy(ttl(Mode::Force, 300)).lifetime(),
            Ok(300),
            "{code}"
        );
    }
    for code in [201, 302, 307, 401, 403, 404, 410, 500, 503] {
        let scene = |value| cache_control(value).status(code).policy(ttl(Mode::Force, 300));
        assert_eq!(scene("no-store").terms(), Err(NotStored::NoStore), "{code}");
        assert_eq!(scene("immutable").terms(), Err(NotStored::NoLifetime), "{code}");
        assert_eq!(scene("max-age=5").lifetime(), Ok(5), "{code}");
    }
    let named = by_status(Mode::Force, &[(200, 9), (404, 120), (503, 120)]);
    for (code, expected) in [(200, 9), (203, 300), (404, 120), (503, 60)] {
        let scene = cache_control("private, max-age=1000").status(code).policy(named.clone());
        assert_eq!(scene.lifetime(), Ok(expected), "{code}");
    }
}

#[test]
fn lifetimes_by_status_are_for_answers_that_state_none() {
    let policy = by_status(Mode::Origin, &[(302, 30), (404, 10), (500, 10), (501, 120), (301, 0)]);
    let of = |code, lines: &[(&'static str, &str)]| answer(lines).status(code).policy(policy.clone());
    for (code, expected) in [(302, 30), (404, 10), (500, 10), (501, 60), (200, 300), (410, 300)] {
        assert_eq!(of(code, &[]).lifetime(), Ok(expected), "{code}");
    }
    assert_eq!(from(&of(404, &[])), Some(LifetimeFrom::Status));
    assert_eq!(from(&of(501, &[])), Some(LifetimeFrom::LongestFailure));
    assert_eq!(of(404, &[("cache-control", "max-age=99")]).lifetime(), Ok(99));
    assert_eq!(of(404, &[("cache-control", "no-store")]).terms(), Err(NotStored::NoStore));
    assert_eq!(of(404, &[("set-cookie", "a=1")]).terms(), Err(NotStored::SetCookie));
    assert_eq!(of(403, &[]).terms(), Err(NotStored::NoLifetime));
    assert_eq!(of(301, &[]).terms(), Err(NotStored::NothingToReuse), "0 means: not");
}

#[test]
fn the_usual_negative_lifetimes() {
    let policy = Policy { by_status: by_status_defaults(), ..Policy::default() };
    for code in [200, 203, 204, 206, 300, 301, 302, 307, 308, 404, 405, 410, 421, 451, 501] {
        let scene = answer(&[]).status(code).policy(policy.clone());
        let expected = match code {
            300 | 301 | 308 => Ok(600),
            404 | 410 | 451 => Ok(120),
            405 | 421 | 501 => Ok(60),
            206 => Err(NotStored::PartialContent),
            _ => Err(NotStored::NoLifetime),
        };
        assert_eq!(scene.lifetime(), expected, "{code}");
        let stating = cache_control("max-age=7").status(code).policy(policy.clone());
        assert_eq!(stating.lifetime().ok(), (code != 206).then_some(7), "{code}");
    }
    assert!(policy.by_status.is_sorted());
}

#[test]
fn nothing_is_fresh_for_longer_than_the_most() {
    for mode in [Mode::Origin, Mode::Static, Mode::Force] {
        let policy = Policy { max_ttl: Some(Duration::from_secs(20)), ..by_status(mode, &[(404, 30)]) };
        for (code, value) in [(200, "max-age=1000"), (200, "s-maxage=21"), (404, "immutable")] {
            let scene = cache_control(value).status(code).policy(policy.clone());
            assert_eq!(scene.lifetime(), Ok(20), "{mode:?} {code} {value}");
            assert_eq!(from(&scene), Some(LifetimeFrom::PolicyMost));
        }
    }
    let policy = Policy { max_ttl: Some(Duration::from_secs(20)), heuristic: Some(0.5), ..Policy::default() };
    assert_eq!(cache_control("max-age=20").policy(policy.clone()).lifetime(), Ok(20));
    assert_eq!(from(&cache_control("max-age=20").policy(policy.clone())), Some(LifetimeFrom::MaxAge));
    assert_eq!(
        answer(&[("expires", MINUTE_LATER), ("date", DATE)]).policy(policy.clone()).lifetime(),
        Ok(20)
    );
    assert_eq!(answer(&[("last-modified", HOUR_EARLIER)]).policy(policy).lifetime(), Ok(20));
}

#[test]
fn cookies_in_the_key_are_no_reason_against() {
    let keyed = Policy { cookies_keyed: true, ..Policy::default() };
    let scene = cache_control("max-age=60").policy(keyed);
    assert_eq!(scene.clone().asked_with(&[("cookie", "a=1")]).lifetime(), Ok(60));
    let both = scene.asked_with(&[("cookie", "a=1"), ("authorization", "Basic eDp5")]);
    assert_eq!(both.terms(), Err(NotStored::Authorization));
}

#[test]
fn one_users_answers_are_kept_for_that_user() {
    let asked = [("authorization", "Bearer x"), ("cookie", "a=1")];
    for mode in [Mode::Origin, Mode::Force] {
        let of = |lines: &[(&'static str, &str)]| {
            answer(lines).asked_with(&asked).policy(ttl(mode, 300)).personal()
        };
        assert_eq!(of(&[("cache-control", "private, max-age=60")]).lifetime(), Ok(60));
        assert_eq!(of(&[]).lifetime(), Ok(300));
        let terms = of(&[("cache-control", "private, max-age=60")]).stored();
        assert_eq!(terms.reuse(&plain(), true, after(59)), Reuse::Fresh);
        assert_eq!(
            terms.reuse(&asks("no-cache"), true, after(1)),
            Reuse::Validate(rules::Why::RequestNoCache)
        );
        for (lines, reason) in [
            (&[("cache-control", "no-store, max-age=60")][..], NotStored::NoStore),
            (&[("vary", "*")], NotStored::VaryStar),
            (&[("set-cookie", "a=1")], NotStored::SetCookie),
        ] {
            assert_eq!(of(lines).terms(), Err(reason), "{mode:?} {lines:?}");
        }
    }
    let told = Policy { store_set_cookie: true, ..ttl(Mode::Origin, 300) };
    assert_eq!(answer(&[("set-cookie", "a=1")]).policy(told).personal().terms(), Err(NotStored::SetCookie));
}
