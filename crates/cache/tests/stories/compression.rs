//! Stored once, sent as asked.

use http::Method;
use plan::{CachePolicy, Compress};
use rules::Encoding;

use crate::origin::{Origin, Reply, request, settle, story};

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

#[test]
fn clients_that_leave_do_not_end_it() {
    story(|| async {
        let origin = compressing();
        for number in 0..5 {
            origin.will(Reply::new(200, FRESH, CONTENT));
            origin.get(&format!("/{number}"), &[]).await;
        }
        for number in 0..4 {
            let asked = request(Method::GET, &format!("/{number}"), &[("accept-encoding", "br")]);
            let mut answer = Box::pin(origin.answer(asked));
            tokio::select! {
                biased;
                _ = &mut answer => panic!("it was to leave before"),
                () = std::future::ready(()) => {}
            }
        }
        while origin.store.counters.encoded_answers() < 4 {
            tokio::task::spawn_blocking(|| {}).await.unwrap();
        }
        let told = origin.get_bytes("/4", &[("accept-encoding", "br")]).await;
        assert_eq!(told.fields["content-encoding"], "br");
    });
}

#[test]
fn a_304_is_heard_in_what_it_says_of_the_forms() {
    story(|| async {
        let first = [
            ("cache-control", "max-age=60"),
            ("content-type", "application/json"),
            ("etag", "\"1\""),
            ("vary", "x-a"),
        ];
        for (update, encoding) in
            [(("vary", "x-a"), Some("br")), (("cache-control", "max-age=60, no-transform"), None)]
        {
            let origin = compressing();
            origin.will(Reply::new(200, &first, CONTENT));
            origin.get("/", &[]).await;
            origin.will(Reply::new(304, &[("cache-control", "max-age=60"), ("etag", "\"1\""), update], ""));
            origin.get("/", &[("cache-control", "no-cache")]).await;
            let told = origin.get_bytes("/", &[("accept-encoding", "br")]).await;
            let vary: Vec<_> =
                told.fields.get_all("vary").iter().map(|line| line.to_str().unwrap()).collect();
            assert_eq!(told.fields.get("content-encoding").map(|line| line.to_str().unwrap()), encoding);
            assert!(vary.join(", ").contains("accept-encoding"), "{vary:?}");
        }
    });
}

#[test]
fn a_date_does_not_tell_the_forms_apart() {
    story(|| async {
        let origin = compressing();
        let modified = "Sun, 06 Nov 1994 08:49:37 GMT";
        let fields = &[
            ("cache-control", "max-age=60"),
            ("content-type", "application/json"),
            ("last-modified", modified),
        ];
        origin.will(Reply::new(200, fields, CONTENT));
        origin.get("/", &[]).await;
        let told = origin.get("/", &[("range", "bytes=5-9"), ("if-range", modified)]).await;
        assert_eq!((told.status, told.text()), (200, CONTENT));
    });
}
