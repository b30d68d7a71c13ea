//! What an answer repeats of one client's request reaches no other client, though the origin says nothing of `Vary`.

use http::Method;
use plan::{CachePolicy, KeyPolicy};

use crate::origin::{Origin, Reply, request, settle, story};

const FRESH: &[(&str, &str)] = &[("cache-control", "max-age=60")];

#[test]
fn a_repeated_field_selects_the_answer() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        origin.will(Reply::new(200, FRESH, "<p>evil-value-1</p>"));
        origin.get("/", &[("x-anything", "evil-value-1")]).await;
        origin.will(Reply::new(200, FRESH, "<p></p>"));
        assert_eq!(origin.get("/", &[]).await.text(), "<p></p>");
        assert_eq!(origin.get("/", &[]).await.text(), "<p></p>");
        assert_eq!(origin.times_asked(), 2);
    });
}

#[test]
fn each_sender_gets_what_repeats_their_own() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let agents = ["Mozilla/5.0 (one)", "Mozilla/5.0 (two)"];
        for agent in agents {
            origin.will(Reply::new(200, FRESH, agent));
            assert_eq!(origin.get("/", &[("user-agent", agent)]).await.text(), agent);
        }
        for agent in agents {
            let told = origin.get("/", &[("user-agent", agent)]).await;
            assert!(told.cache.contains("hit") && told.text() == agent);
        }
    });
}

#[test]
fn what_is_not_repeated_selects_nothing() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        origin.will(Reply::new(200, FRESH, "the same for all"));
        for agent in ["Mozilla/5.0 (one)", "Mozilla/5.0 (two)"] {
            origin.get("/", &[("user-agent", agent)]).await;
        }
        assert_eq!(origin.times_asked(), 1);
    });
}

#[test]
fn those_who_follow_do_not_get_it_either() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let (reply, gate) = Reply::new(200, FRESH, "hello evil-value-1").held();
        origin.will(reply);
        let first = origin.spawn(request(Method::GET, "/", &[("x-anything", "evil-value-1")]));
        settle().await;
        let second = origin.spawn(request(Method::GET, "/", &[("x-anything", "good-value-2")]));
        settle().await;
        origin.will(Reply::new(200, FRESH, "hello good-value-2"));
        gate.send(()).unwrap();
        assert_eq!(first.await.unwrap().text(), "hello evil-value-1");
        assert_eq!(second.await.unwrap().text(), "hello good-value-2");
    });
}

#[test]
fn those_who_follow_an_innocent_answer_share_it() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let (reply, gate) = Reply::new(200, FRESH, "hello").held();
        origin.will(reply);
        let ask = |agent| origin.spawn(request(Method::GET, "/", &[("user-agent", agent)]));
        let told = [ask("Mozilla/5.0 (one)"), ask("Mozilla/5.0 (two)"), ask("Mozilla/5.0 (one)")];
        settle().await;
        gate.send(()).unwrap();
        for told in told {
            assert_eq!(told.await.unwrap().text(), "hello");
        }
        assert_eq!(origin.times_asked(), 1);
    });
}

#[test]
fn content_that_outgrows_the_cache_holds_up_nobody_who_waits_for_it() {
    story(|| async {
        let origin = Origin::new(CachePolicy { max_body: 4, ..CachePolicy::default() });
        let (reply, pieces) = Reply::streaming(FRESH);
        origin.will(reply);
        let first = origin.spawn(request(Method::GET, "/", &[("user-agent", "Mozilla/5.0 (one)")]));
        let second = origin.spawn(request(Method::GET, "/", &[("user-agent", "Mozilla/5.0 (two)")]));
        settle().await;
        origin.will(Reply::new(200, &[("cache-control", "no-store")], "own"));
        pieces.send(Ok("too long".into())).unwrap();
        settle().await;
        assert_eq!(second.await.unwrap().text(), "own");
        drop(pieces);
        assert_eq!(first.await.unwrap().text(), "too long");
    });
}

#[test]
fn it_can_be_switched_off() {
    story(|| async {
        let key = KeyPolicy { reflected: false, ..KeyPolicy::default() };
        let origin = Origin::new(CachePolicy { key, ..CachePolicy::default() });
        origin.will(Reply::new(200, FRESH, "known-value-1"));
        origin.get("/", &[("x-anything", "known-value-1")]).await;
        assert!(origin.get("/", &[]).await.cache.contains("hit"));
    });
}

#[test]
fn what_a_client_holds_already_is_repeated_in_good_faith() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let tagged = &[("cache-control", "max-age=60"), ("etag", "\"abcdefgh-1\"")];
        origin.will(Reply::new(200, tagged, "x"));
        origin.get("/", &[("if-none-match", "\"abcdefgh-1\"")]).await;
        assert!(origin.get("/", &[]).await.cache.contains("hit"));
    });
}

#[test]
fn a_confirmation_for_whoever_holds_it_brings_its_fields_to_all() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let stale = &[("cache-control", "max-age=0"), ("etag", "\"abcdefgh-1\""), ("x-version", "old")];
        let update = &[("cache-control", "max-age=60"), ("etag", "\"abcdefgh-1\""), ("x-version", "new")];
        origin.will(Reply::new(200, stale, "x")).will(Reply::new(304, update, ""));
        origin.get("/", &[]).await;
        origin.get("/", &[("if-none-match", "\"abcdefgh-1\"")]).await;
        assert_eq!(origin.get("/", &[]).await.fields["x-version"], "new");
    });
}

#[test]
fn many_different_clients_share_one_fetch_whatever_becomes_of_the_answer() {
    story(|| async {
        for (fields, target) in [
            (FRESH, "/"),
            (&[("cache-control", "no-cache"), ("etag", "\"1\"")], "/"),
            (&[("cache-control", "max-age=0, stale-while-revalidate=60")], "/"),
            (&[("cache-control", "max-age=60"), ("no-vary-search", "params=(\"utm\")")], "/?utm=1"),
        ] {
            let origin = Origin::new(CachePolicy::default());
            let (reply, gate) = Reply::new(200, fields, "hello").held();
            origin.will(reply);
            let agents = ["Mozilla/5.0 (1)", "Mozilla/5.0 (2)", "Mozilla/5.0 (3)"];
            let ask = |agent| origin.spawn(request(Method::GET, target, &[("user-agent", agent)]));
            let told = agents.map(ask);
            settle().await;
            gate.send(()).unwrap();
            for told in told {
                assert_eq!(told.await.unwrap().text(), "hello", "{fields:?}");
            }
            assert_eq!(origin.times_asked(), 1, "{fields:?}");
        }
    });
}

#[test]
fn what_repeats_one_clients_field_does_not_push_out_what_all_others_have() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        for _ in 0..2 {
            origin.will(Reply::new(200, FRESH, "<!DOCTYPE html> page"));
        }
        origin.get("/", &[]).await;
        origin.get("/", &[("cache-control", "no-cache"), ("x-foo", "<!DOCTYPE html>")]).await;
        assert!(origin.get("/", &[]).await.cache.contains("hit"));
    });
}

#[test]
fn what_is_confirmed_is_for_the_same_requests_as_before() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let stale = &[("cache-control", "max-age=0"), ("etag", "\"1\"")];
        let fresh = &[("cache-control", "max-age=60"), ("etag", "\"1\"")];
        origin.will(Reply::new(200, stale, "<p>evil-value-1</p>")).will(Reply::new(304, fresh, ""));
        for _ in 0..2 {
            origin.get("/", &[("x-anything", "evil-value-1")]).await;
        }
        origin.will(Reply::new(200, fresh, "<p></p>"));
        assert_eq!(origin.get("/", &[]).await.text(), "<p></p>");
    });
}
