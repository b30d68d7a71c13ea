//! Stored once, sent as asked.

use plan::{CachePolicy, Compress};
use rules::Encoding;

use crate::origin::{Origin, Reply, settle, story};

const CONTENT: &str =
    "{\"all\":\"the same, all the same, all the same, all the same, all the same, all the same\"}";
const FRESH: &[(&str, &str)] =
    &[("cache-control", "max-age=60"), ("content-type", "application/json"), ("etag", "\"1\"")];

fn compressing() -> Origin {
    let compress = Compress {
        encodings: vec![Encoding::Zstd, Encoding::Brotli, Encoding::Gzip],
        types: vec!["application/json".to_owned()],
        least: 10,
    };
    Origin::new(CachePolicy { compress: Some(compress), ..CachePolicy::default() })
}

#[test]
fn one_fetch_serves_every_encoding() {
    story(|| async {
        let origin = compressing();
        origin.will(Reply::new(200, FRESH, CONTENT));
        let first = origin.get("/", &[("accept-encoding", "br")]).await;
        assert_eq!(first.text(), CONTENT, "the first one gets it as it comes");
        assert_eq!(first.fields["vary"], "accept-encoding");
        assert_eq!(origin.was_asked_with("accept-encoding").as_deref(), Some("identity"));
        for (accepted, encoding) in [("br", "br"), ("gzip;q=0.5, zstd", "zstd"), ("gzip", "gzip")] {
            let told = origin.get_bytes("/", &[("accept-encoding", accepted)]).await;
            assert_eq!(told.fields["content-encoding"], encoding);
            assert_eq!(told.fields["etag"], format!("\"1-{encoding}\""));
            assert_eq!(told.fields["vary"], "accept-encoding");
            assert_eq!(told.fields["content-length"], told.length.to_string());
            assert!(told.length < CONTENT.len());
            let tag = told.fields["etag"].to_str().unwrap().to_owned();
            let again = origin.get("/", &[("accept-encoding", accepted), ("if-none-match", &tag)]).await;
            assert_eq!(again.status, 304);
        }
        assert_eq!(origin.get("/", &[]).await.text(), CONTENT);
        assert_eq!(origin.get("/", &[("accept-encoding", "deflate")]).await.text(), CONTENT);
        assert_eq!((origin.times_asked(), origin.store.counters.encoded_answers()), (1, 3));
    });
}

#[test]
fn what_came_encoded_is_never_encoded_again() {
    story(|| async {
        let origin = compressing();
        let encoded = &[
            ("cache-control", "max-age=60"),
            ("content-type", "application/json"),
            ("content-encoding", "x"),
        ];
        origin.will(Reply::new(200, encoded, CONTENT));
        for _ in 0..2 {
            let told = origin.get("/", &[("accept-encoding", "gzip")]).await;
            assert_eq!((told.text(), told.fields["content-encoding"].to_str().unwrap()), (CONTENT, "x"));
        }
    });
}

#[test]
fn a_304_keeps_the_compressed_forms() {
    story(|| async {
        let origin = compressing();
        let stale = &[
            ("cache-control", "max-age=10, stale-while-revalidate=60"),
            ("age", "20"),
            ("content-type", "application/json"),
            ("etag", "\"1\""),
        ];
        origin.will(Reply::new(200, stale, CONTENT));
        origin.get("/", &[]).await;
        origin.will(Reply::new(304, &[("cache-control", "max-age=60"), ("etag", "\"1\""), ("age", "0")], ""));
        let told = origin.get_bytes("/", &[("accept-encoding", "gzip")]).await;
        assert_eq!(told.fields["content-encoding"], "gzip");
        settle().await;
        let told = origin.get_bytes("/", &[("accept-encoding", "gzip")]).await;
        assert_eq!(told.fields["content-encoding"], "gzip");
        assert!(told.cache.contains("hit"), "{}", told.cache);
        assert_eq!(origin.asked.borrow()[1].fields["if-none-match"], "\"1\"", "the origin's own tag");
    });
}

#[test]
fn a_range_is_of_the_content_as_it_is() {
    story(|| async {
        let origin = compressing();
        origin.will(Reply::new(200, FRESH, CONTENT));
        origin.get("/", &[]).await;
        let told = origin.get("/", &[("accept-encoding", "gzip"), ("range", "bytes=0-4")]).await;
        assert_eq!((told.status, told.text()), (206, &CONTENT[..5]));
        assert!(!told.fields.contains_key("content-encoding"));
    });
}
