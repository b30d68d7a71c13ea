//! Parts of an answer: passed on as asked for, kept, joined when they surely belong together, whole when complete.

use http::Method;
use plan::CachePolicy;

use crate::origin::{Origin, Reply, request, settle, story};

fn part(range: &'static str, content: &'static str, etag: &'static str) -> Reply {
    Reply::new(206, &[("cache-control", "max-age=60"), ("content-range", range), ("etag", etag)], content)
}

const FIRST: &[(&str, &str)] = &[("range", "bytes=0-3")];
const SECOND: &[(&str, &str)] = &[("range", "bytes=4-7")];

#[test]
fn parts_of_the_same_bytes_become_the_whole() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        origin.will(part("bytes 0-3/8", "0123", "\"1\"")).will(part("bytes 4-7/8", "4567", "\"1\""));
        let told = origin.get("/", FIRST).await;
        assert_eq!((told.status, told.text()), (206, "0123"));
        assert_eq!(origin.asked.borrow()[0].fields["range"], "bytes=0-3");
        let again = origin.get("/", &[("range", "bytes=1-2")]).await;
        assert_eq!(
            (again.status, again.text(), &again.fields["content-range"]),
            (206, "12", &"bytes 1-2/8".parse().unwrap())
        );
        origin.get("/", SECOND).await;
        let whole = origin.get("/", &[]).await;
        assert_eq!((whole.status, whole.text()), (200, "01234567"));
        assert!(!whole.fields.contains_key("content-range"));
        assert_eq!(origin.times_asked(), 2);
    });
}

#[test]
fn parts_of_other_bytes_are_never_joined() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        origin
            .will(part("bytes 0-3/8", "0123", "\"1\""))
            .will(part("bytes 4-7/8", "4567", "\"2\""))
            .will(Reply::new(200, &[("cache-control", "max-age=60")], "abcdefgh"));
        origin.get("/", FIRST).await;
        origin.get("/", SECOND).await;
        assert_eq!(origin.get("/", &[]).await.text(), "abcdefgh");
    });
}

#[test]
fn a_part_that_contradicts_itself_is_passed_on_but_not_kept() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        origin.will(part("bytes 0-3/8", "01", "\"1\"")).will(part("bytes 0-3/8", "0123", "\"1\""));
        assert_eq!(origin.get("/", FIRST).await.text(), "01");
        assert_eq!(origin.get("/", FIRST).await.text(), "0123");
        assert_eq!(origin.times_asked(), 2);
    });
}

#[test]
fn a_whole_answer_to_a_range_is_stored_and_serves_the_next_range() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        origin.will(Reply::new(200, &[("cache-control", "max-age=60")], "01234567"));
        assert_eq!(origin.get("/", FIRST).await.text(), "01234567");
        let told = origin.get("/", SECOND).await;
        assert_eq!((told.status, told.text()), (206, "4567"));
        assert_eq!(origin.times_asked(), 1);
    });
}

#[test]
fn an_answer_that_a_range_brought_about_is_never_the_whole_ones() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let shareable = &[("cache-control", "public, max-age=60"), ("content-range", "bytes */8")];
        for status in [416, 404] {
            origin.will(Reply::new(status, shareable, "no such part")).will(Reply::new(
                200,
                &[("cache-control", "no-store")],
                "whole",
            ));
            assert_eq!(origin.get("/", &[("range", "bytes=900-")]).await.status, status);
            assert_eq!(origin.get("/", &[]).await.text(), "whole");
        }
    });
}

#[test]
fn a_part_that_was_on_its_way_during_a_write_is_not_kept() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let (before, gate) = part("bytes 0-3/8", "0123", "\"1\"").held();
        origin.will(before).will(Reply::new(204, &[], "")).will(part("bytes 0-3/8", "abcd", "\"2\""));
        let reader = origin.spawn(request(Method::GET, "/", FIRST));
        settle().await;
        origin.spawn(request(Method::PUT, "/", &[])).await.unwrap();
        gate.send(()).unwrap();
        assert_eq!(reader.await.unwrap().text(), "0123");
        assert_eq!(origin.get("/", FIRST).await.text(), "abcd");
    });
}

#[test]
fn parts_tell_clients_their_lifetime_too() {
    story(|| async {
        let mut policy = CachePolicy::default();
        policy.rules.client_ttl = Some(std::time::Duration::from_secs(10));
        let origin = Origin::new(policy);
        let part = |range| {
            [("cache-control", "max-age=60, must-revalidate"), ("content-range", range), ("etag", "\"1\"")]
        };
        origin.will(Reply::new(206, &part("bytes 0-3/8"), "0123"));
        origin.will(Reply::new(206, &part("bytes 4-7/8"), "4567"));
        origin.get("/", &[("range", "bytes=0-3")]).await;
        let stored = origin.get("/", &[("range", "bytes=1-2")]).await;
        origin.get("/", &[("range", "bytes=4-7")]).await;
        let whole = origin.get("/", &[]).await;
        for told in [stored, whole] {
            let line = told.fields["cache-control"].to_str().unwrap();
            assert!(line.contains("must-revalidate") && line.contains("max-age=10"), "{line}");
        }
        assert_eq!(origin.times_asked(), 2);
    });
}
