//! `Vary`: every request gets the answer made for it, also while that answer is still on its way.

use http::Method;
use plan::CachePolicy;

use crate::origin::{Origin, Reply, request, settle, story};

const VARYING: &[(&str, &str)] = &[("cache-control", "max-age=60"), ("vary", "Accept-Language")];
const ENGLISH: &[(&str, &str)] = &[("accept-language", "en")];
const FRENCH: &[(&str, &str)] = &[("accept-language", "fr")];

#[test]
fn variants_live_side_by_side() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        origin.will(Reply::new(200, VARYING, "hello")).will(Reply::new(200, VARYING, "salut"));
        assert_eq!(origin.get("/", ENGLISH).await.text(), "hello");
        let french = origin.get("/", FRENCH).await;
        assert_eq!(french.text(), "salut");
        assert!(french.cache.contains("vary-miss"), "{}", french.cache);
        assert_eq!(origin.get("/", ENGLISH).await.text(), "hello");
        assert_eq!(origin.get("/", FRENCH).await.text(), "salut");
        assert_eq!(origin.times_asked(), 2);
    });
}

#[test]
fn a_follower_of_another_variant_gets_its_own() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let (english, gate) = Reply::new(200, VARYING, "hello").held();
        origin.will(english).will(Reply::new(200, VARYING, "salut"));
        let leader = origin.spawn(request(Method::GET, "/", ENGLISH));
        settle().await;
        let followers: Vec<_> = (0..5).map(|_| origin.spawn(request(Method::GET, "/", FRENCH))).collect();
        settle().await;
        gate.send(()).unwrap();
        assert_eq!(leader.await.unwrap().text(), "hello");
        for follower in followers {
            assert_eq!(follower.await.unwrap().text(), "salut");
        }
        assert_eq!(origin.times_asked(), 2);
    });
}

#[test]
fn variants_are_capped() {
    story(|| async {
        let origin = Origin::new(CachePolicy { max_variants: 2, ..CachePolicy::default() });
        for language in ["a", "b", "c", "a"] {
            origin.will(Reply::new(200, VARYING, "x"));
            origin.get("/", &[("accept-language", language)]).await;
        }
        assert_eq!(origin.times_asked(), 4);
        assert!(origin.get("/", &[("accept-language", "c")]).await.cache.contains("hit"));
    });
}

#[test]
fn vary_star_is_never_shared() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        for _ in 0..2 {
            origin.will(Reply::new(200, &[("cache-control", "max-age=60"), ("vary", "*")], "x"));
            origin.get("/", &[]).await;
        }
        assert_eq!((origin.times_asked(), origin.has_stored("/")), (2, false));
    });
}

#[test]
fn a_field_that_stays_on_the_connection_chooses_no_variant() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        // The source strips what `Connection` names, so the origin answers as if nothing had been asked for.
        origin.will(Reply::new(200, VARYING, "default")).will(Reply::new(200, VARYING, "salut"));
        let stripped = &[("accept-language", "fr"), ("connection", "accept-language")];
        assert_eq!(origin.get("/", stripped).await.text(), "default");
        assert_eq!(origin.get("/", FRENCH).await.text(), "salut");
    });
}

#[test]
fn a_304_that_begins_to_vary_is_for_its_asker_only() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let stale = &[("cache-control", "max-age=10"), ("age", "20"), ("etag", "\"1\"")];
        let confirming = &[("cache-control", "max-age=60"), ("etag", "\"1\""), ("vary", "accept-language")];
        origin
            .will(Reply::new(200, stale, "hello"))
            .will(Reply::new(304, confirming, ""))
            .will(Reply::new(200, VARYING, "salut"));
        origin.get("/", ENGLISH).await;
        assert_eq!(origin.get("/", ENGLISH).await.text(), "hello");
        assert_eq!(origin.get("/", FRENCH).await.text(), "salut");
        assert_eq!(origin.get("/", ENGLISH).await.text(), "hello");
        assert_eq!(origin.times_asked(), 3);
    });
}
