//! Asking the origin whether what is stored is still good, and what serves when it does not answer.

use http::Method;
use message::Kind;
use plan::CachePolicy;

use crate::origin::{Origin, Reply, request, settle, story};

/// Stale on arrival.
const STALE: &[(&str, &str)] = &[("cache-control", "max-age=10"), ("age", "20"), ("etag", "\"1\"")];

#[test]
fn a_304_makes_the_stored_answer_good_again_with_its_new_fields() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let confirming = &[("cache-control", "max-age=60"), ("etag", "\"1\""), ("x-version", "2")];
        origin.will(Reply::new(200, STALE, "same")).will(Reply::new(304, confirming, ""));
        origin.get("/", &[]).await;
        let told = origin.get("/", &[]).await;
        assert_eq!((told.status, told.text()), (200, "same"));
        assert!(told.cache.contains("fwd=stale; fwd-status=304"), "{}", told.cache);
        assert_eq!(told.fields["x-version"], "2");
        assert_eq!(origin.asked.borrow()[1].fields["if-none-match"], "\"1\"");
        assert!(origin.get("/", &[]).await.cache.contains("hit"));
    });
}

#[test]
fn a_304_with_another_validator_is_not_believed() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        origin
            .will(Reply::new(200, STALE, "old"))
            .will(Reply::new(304, &[("etag", "\"2\"")], ""))
            .will(Reply::new(200, &[("cache-control", "max-age=60"), ("etag", "\"2\"")], "new"));
        origin.get("/", &[]).await;
        assert_eq!(origin.get("/", &[]).await.text(), "new");
        assert!(!origin.asked.borrow()[2].fields.contains_key("if-none-match"));
    });
}

#[test]
fn the_clients_own_condition_is_answered_from_the_whole() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        origin.will(Reply::new(200, &[("cache-control", "max-age=60"), ("etag", "\"1\"")], "whole"));
        let told = origin.get("/", &[("if-none-match", "\"1\"")]).await;
        assert_eq!((told.status, told.text()), (304, ""));
        assert!(!origin.asked.borrow()[0].fields.contains_key("if-none-match"));
        assert_eq!(origin.get("/", &[]).await.text(), "whole");
        assert_eq!(origin.get("/", &[("if-none-match", "\"1\"")]).await.status, 304);
        assert_eq!(origin.get("/", &[("range", "bytes=1-2")]).await.text(), "ho");
        assert_eq!(origin.times_asked(), 1);
    });
}

#[test]
fn stale_while_revalidate_answers_at_once_and_refreshes_once() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let stale = &[("cache-control", "max-age=10, stale-while-revalidate=60"), ("age", "20")];
        let (fresh, gate) = Reply::new(200, &[("cache-control", "max-age=60")], "new").held();
        origin.will(Reply::new(200, stale, "old")).will(fresh);
        origin.get("/", &[]).await;
        for _ in 0..5 {
            assert_eq!(origin.get("/", &[]).await.text(), "old");
            settle().await;
        }
        assert_eq!(origin.times_asked(), 2);
        gate.send(()).unwrap();
        settle().await;
        assert_eq!(origin.get("/", &[]).await.text(), "new");
    });
}

#[test]
fn a_dead_origin_is_bridged_with_what_is_stored() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        origin.will(Reply::new(200, STALE, "old")).will(Reply::failing(Kind::Connect));
        origin.get("/", &[]).await;
        let told = origin.get("/", &[]).await;
        assert_eq!(told.text(), "old");
        assert!(told.cache.contains("stale"), "{}", told.cache);
    });
}

#[test]
fn must_revalidate_forbids_the_bridge() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let strict = &[("cache-control", "max-age=10, must-revalidate"), ("age", "20"), ("etag", "\"1\"")];
        origin.will(Reply::new(200, strict, "old")).will(Reply::failing(Kind::Connect));
        origin.get("/", &[]).await;
        assert_eq!(origin.get("/", &[]).await.body, Err(Kind::Connect));
    });
}

#[test]
fn an_error_status_is_bridged_only_where_stale_if_error_allows() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let bridged = &[("cache-control", "max-age=10, stale-if-error=60"), ("age", "20")];
        origin.will(Reply::new(200, bridged, "old")).will(Reply::new(503, &[], "down"));
        origin.get("/bridged", &[]).await;
        assert_eq!(origin.get("/bridged", &[]).await.text(), "old");
        origin.will(Reply::new(200, STALE, "old")).will(Reply::new(503, &[], "down"));
        origin.get("/plain", &[]).await;
        let told = origin.get("/plain", &[]).await;
        assert_eq!((told.status, told.text()), (503, "down"));
    });
}

#[test]
fn an_answer_that_forbids_storing_drives_out_the_stored_one() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        origin.will(Reply::new(200, STALE, "old")).will(Reply::new(
            200,
            &[("cache-control", "no-store")],
            "secret",
        ));
        origin.get("/", &[]).await;
        assert_eq!(origin.get("/", &[]).await.text(), "secret");
        assert!(!origin.has_stored("/"));
    });
}

#[test]
fn only_if_cached_never_asks() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let told = origin.get("/", &[("cache-control", "only-if-cached")]).await;
        assert_eq!(told.body, Err(Kind::OnlyIfCached));
        assert_eq!(origin.times_asked(), 0);
    });
}

#[test]
fn head_is_answered_from_get_but_never_fills_it() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let fresh = &[("cache-control", "max-age=60")];
        origin.will(Reply::new(200, fresh, "")).will(Reply::new(200, fresh, "content"));
        let head = async || origin.spawn(request(Method::HEAD, "/", &[])).await.unwrap();
        head().await;
        assert_eq!(origin.get("/", &[]).await.text(), "content");
        let told = head().await;
        assert_eq!((told.text(), &told.fields["content-length"]), ("", &"7".parse().unwrap()));
        assert_eq!(origin.times_asked(), 2);
    });
}

#[test]
fn a_visitor_with_cookies_confirms_what_others_share_but_never_replaces_it() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        origin
            .will(Reply::new(200, STALE, "shared"))
            .will(Reply::new(304, &[("cache-control", "max-age=10"), ("age", "20"), ("etag", "\"1\"")], ""))
            .will(Reply::new(200, &[("cache-control", "max-age=60")], "personal"))
            .will(Reply::failing(Kind::Connect));
        origin.get("/", &[]).await;
        let visitor = &[("cookie", "who=me")];
        assert_eq!(origin.get("/", visitor).await.text(), "shared");
        assert_eq!(origin.get("/", visitor).await.text(), "personal");
        assert_eq!(origin.get("/", &[]).await.text(), "shared");
    });
}

#[test]
fn head_updates_what_is_stored_and_unmakes_nothing() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let head = async |target: &str| origin.spawn(request(Method::HEAD, target, &[])).await.unwrap();
        let same = &[
            ("cache-control", "max-age=60"),
            ("etag", "\"1\""),
            ("x-version", "2"),
            ("content-length", "4"),
        ];
        origin.will(Reply::new(200, STALE, "same")).will(Reply::new(200, same, ""));
        origin.get("/same", &[]).await;
        head("/same").await;
        let told = origin.get("/same", &[]).await;
        assert_eq!((told.text(), &told.fields["x-version"]), ("same", &"2".parse().unwrap()));
        assert!(told.cache.contains("hit"), "{}", told.cache);

        origin.will(Reply::new(200, STALE, "old")).will(Reply::new(200, &[("etag", "\"2\"")], ""));
        origin.get("/other", &[]).await;
        head("/other").await;
        assert!(origin.has_stored("/other"), "stale as it is, it may bridge the origin's next failure");

        origin.will(Reply::new(200, STALE, "old")).will(Reply::failing(Kind::Connect));
        origin.get("/dead", &[]).await;
        let told = head("/dead").await;
        assert_eq!((told.status, &told.fields["content-length"]), (200, &"3".parse().unwrap()));
    });
}

#[test]
fn what_a_visitor_with_cookies_is_told_stays_off_what_others_share() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let personal = &[("cache-control", "max-age=60"), ("etag", "\"1\""), ("x-user", "me")];
        let visitor = &[("cookie", "who=me")];
        for (method, target, status) in [(Method::GET, "/confirmed", 304), (Method::HEAD, "/head", 200)] {
            origin.will(Reply::new(200, STALE, "shared")).will(Reply::new(status, personal, ""));
            origin.get(target, &[]).await;
            let told = origin.spawn(request(method, target, visitor)).await.unwrap();
            assert_eq!(told.fields["x-user"], "me", "{target}");
            let told = origin.get(target, &[]).await;
            assert!(told.cache.contains("hit"), "{target}: {}", told.cache);
            assert!(!told.fields.contains_key("x-user"), "{target}");
        }
    });
}

#[test]
fn the_word_says_whose_wish_it_was_to_ask() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let always = &[("cache-control", "no-cache, max-age=60"), ("etag", "\"1\"")];
        origin.will(Reply::new(200, always, "x")).will(Reply::new(304, always, ""));
        origin.get("/answers", &[]).await;
        let told = origin.get("/answers", &[]).await;
        assert!(told.cache.contains("fwd=stale"), "the answer's: {}", told.cache);

        let fresh = &[("cache-control", "max-age=60"), ("etag", "\"1\"")];
        origin.will(Reply::new(200, fresh, "x")).will(Reply::new(304, fresh, ""));
        origin.get("/requests", &[]).await;
        let told = origin.get("/requests", &[("cache-control", "no-cache")]).await;
        assert!(told.cache.contains("fwd=request"), "the request's: {}", told.cache);
    });
}
