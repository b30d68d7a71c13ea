//! Unsafe methods make the cache forget (RFC 9111 §4.4), also what is still on its way.

use http::Method;
use plan::CachePolicy;

use crate::origin::{Origin, Reply, request, settle, story};

const FRESH: &[(&str, &str)] = &[("cache-control", "max-age=60")];

#[test]
fn a_successful_write_forgets_its_target_and_what_it_names() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        for target in ["/a", "/b", "/c"] {
            origin.will(Reply::new(200, FRESH, "old"));
            origin.get(target, &[]).await;
        }
        let names = &[("location", "/b"), ("content-location", "http://elsewhere.example/c")];
        origin.will(Reply::new(201, names, ""));
        origin.spawn(request(Method::POST, "/a", &[])).await.unwrap();
        origin.will(Reply::new(200, FRESH, "new")).will(Reply::new(200, FRESH, "new"));
        assert_eq!(origin.get("/a", &[]).await.text(), "new");
        assert_eq!(origin.get("/b", &[]).await.text(), "new");
        assert_eq!(
            origin.get("/c", &[]).await.text(),
            "old",
            "another origin's pages are not theirs to forget"
        );
    });
}

#[test]
fn a_failed_write_forgets_nothing() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        origin.will(Reply::new(200, FRESH, "old")).will(Reply::new(500, &[], ""));
        origin.get("/", &[]).await;
        origin.spawn(request(Method::DELETE, "/", &[])).await.unwrap();
        assert_eq!(origin.get("/", &[]).await.text(), "old");
    });
}

#[test]
fn what_was_fetched_before_the_write_is_not_stored_after_it() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let (before, gate) = Reply::new(200, FRESH, "before").held();
        origin.will(before).will(Reply::new(204, &[], "")).will(Reply::new(200, FRESH, "after"));
        let reader = origin.spawn(request(Method::GET, "/", &[]));
        settle().await;
        origin.spawn(request(Method::PUT, "/", &[])).await.unwrap();
        gate.send(()).unwrap();
        assert_eq!(reader.await.unwrap().text(), "before");
        assert_eq!(origin.get("/", &[]).await.text(), "after");
    });
}

#[test]
fn a_head_that_was_answered_before_the_write_brings_nothing_back() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let stale = &[("cache-control", "max-age=10"), ("age", "20"), ("etag", "\"1\"")];
        let (head, gate) = Reply::new(200, &[("cache-control", "max-age=60"), ("etag", "\"1\"")], "").held();
        origin.will(Reply::new(200, stale, "old")).will(head).will(Reply::new(204, &[], ""));
        origin.get("/", &[]).await;
        let reader = origin.spawn(request(Method::HEAD, "/", &[]));
        settle().await;
        origin.spawn(request(Method::PUT, "/", &[])).await.unwrap();
        gate.send(()).unwrap();
        reader.await.unwrap();
        assert!(!origin.has_stored("/"));
    });
}

#[test]
fn nor_is_what_was_fetched_for_one_alone() {
    story(|| async {
        let origin = Origin::new(CachePolicy { coalesce: false, ..CachePolicy::default() });
        let (before, gate) = Reply::new(200, FRESH, "before").held();
        origin.will(before).will(Reply::new(204, &[], "")).will(Reply::new(200, FRESH, "after"));
        let reader = origin.spawn(request(Method::GET, "/", &[]));
        settle().await;
        origin.spawn(request(Method::PUT, "/", &[])).await.unwrap();
        gate.send(()).unwrap();
        assert_eq!(reader.await.unwrap().text(), "before");
        assert_eq!(origin.get("/", &[]).await.text(), "after");
    });
}
