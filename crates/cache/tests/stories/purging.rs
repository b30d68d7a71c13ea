//! Purges: in force at once, for what is stored and for what is on its way; hard or soft.

use cache::Scope;
use expression::Template;
use http::Method;
use plan::CachePolicy;

use crate::origin::{AUTHORITY, Origin, Reply, request, settle, story};

const FRESH: &[(&str, &str)] = &[("cache-control", "max-age=60"), ("cache-tag", "fruit, red")];

fn tag(name: &str) -> Scope {
    Scope::Tag(name.into())
}

#[test]
fn a_purge_of_a_tag_forgets_what_has_it_and_nothing_else() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let other = &[("cache-control", "max-age=60"), ("surrogate-key", "fruits redder")];
        origin.will(Reply::new(200, FRESH, "old")).will(Reply::new(200, other, "kept"));
        let told = origin.get("/a", &[]).await;
        assert!(!told.fields.contains_key("cache-tag"), "tags are between the origin and us");
        origin.get("/b", &[]).await;
        assert_eq!(origin.store.count(&tag("red")).answers, 1);
        origin.purge(tag("red"), false);
        assert_eq!(origin.store.count(&tag("red")).answers, 0);
        origin.will(Reply::new(200, FRESH, "new"));
        assert_eq!(origin.get("/a", &[]).await.text(), "new");
        assert_eq!(origin.get("/b", &[]).await.text(), "kept");
        assert_eq!(origin.times_asked(), 3);
    });
}

#[test]
fn what_is_on_its_way_serves_those_who_wait_and_nobody_after() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let (before, gate) = Reply::new(200, FRESH, "before").held();
        origin.will(before).will(Reply::new(200, FRESH, "after"));
        let early = origin.spawn(request(Method::GET, "/", &[]));
        settle().await;
        origin.purge(tag("red"), false);
        let late = origin.spawn(request(Method::GET, "/", &[]));
        settle().await;
        assert_eq!(
            origin.times_asked(),
            2,
            "whoever asks after the purge does not follow a fetch from before it"
        );
        gate.send(()).unwrap();
        assert_eq!(early.await.unwrap().text(), "before");
        assert_eq!(late.await.unwrap().text(), "after");
        assert_eq!(origin.get("/", &[]).await.text(), "after");
    });
}

#[test]
fn what_a_purge_does_not_concern_goes_on_being_shared() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let (held, gate) = Reply::new(200, FRESH, "one").held();
        origin.will(held);
        let first = origin.spawn(request(Method::GET, "/a", &[]));
        settle().await;
        origin.purge(Scope::Path { authority: AUTHORITY.into(), path: "/b".into() }, false);
        let second = origin.spawn(request(Method::GET, "/a", &[]));
        settle().await;
        gate.send(()).unwrap();
        assert_eq!((first.await.unwrap().text(), second.await.unwrap().text()), ("one", "one"));
        assert_eq!(origin.get("/a", &[]).await.text(), "one");
        assert_eq!(origin.times_asked(), 1);
    });
}

#[test]
fn a_soft_purge_leaves_what_the_stale_rules_can_use() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let windows = &[("cache-control", "max-age=60, stale-while-revalidate=60"), ("etag", "\"1\"")];
        origin.will(Reply::new(200, windows, "old")).will(Reply::new(200, windows, "new"));
        origin.get("/", &[]).await;
        origin.purge(Scope::Everything, true);
        let told = origin.get("/", &[]).await;
        assert_eq!(told.text(), "old", "at once, while it is refreshed");
        settle().await;
        assert_eq!(origin.asked.borrow()[1].fields["if-none-match"], "\"1\"");
        assert_eq!(origin.get("/", &[]).await.text(), "new");
    });
}

#[test]
fn after_a_soft_purge_a_304_makes_it_good_again() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let fields = &[("cache-control", "max-age=60"), ("etag", "\"1\""), ("cache-tag", "t")];
        origin.will(Reply::new(200, fields, "same")).will(Reply::new(304, &[("etag", "\"1\"")], ""));
        origin.get("/", &[]).await;
        origin.purge(tag("t"), true);
        assert!(origin.get("/", &[]).await.cache.contains("fwd=stale; fwd-status=304"));
        assert!(origin.get("/", &[]).await.cache.contains("hit"));
        assert_eq!(origin.store.count(&tag("t")).answers, 1, "the 304 said nothing of tags, so they stay");
    });
}

#[test]
fn a_sweep_gives_the_memory_back() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        for target in ["/a", "/b"] {
            origin.will(Reply::new(200, FRESH, "x"));
            origin.get(target, &[]).await;
        }
        assert!(!origin.store.has_to_sweep(message::Clock::now()));
        origin.purge(Scope::Path { authority: AUTHORITY.into(), path: "/a".into() }, false);
        assert!(origin.store.has_to_sweep(message::Clock::now()));
        assert_eq!(origin.store.memory.keys(), 2);
        let swept = origin.store.sweep(message::Clock::now());
        assert_eq!((swept.compared, swept.removed), (2, 1));
        assert_eq!(origin.store.memory.keys(), 1);
    });
}

#[test]
fn groups_of_an_origin_are_forgotten_on_its_word() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let grouped = &[("cache-control", "max-age=60"), ("cache-groups", "\"scripts\"")];
        origin.will(Reply::new(200, grouped, "old"));
        let told = origin.get("/a", &[]).await;
        assert_eq!(told.fields["cache-groups"], "\"scripts\"", "which other caches may need");
        origin.will(Reply::new(200, &[("cache-group-invalidation", "\"scripts\"")], ""));
        origin.spawn(request(Method::POST, "/deploy", &[])).await.unwrap();
        origin.will(Reply::new(200, grouped, "new"));
        assert_eq!(origin.get("/a", &[]).await.text(), "new");
    });
}

#[test]
fn a_listing_shows_the_most_used_first() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        for (target, times) in [("/once", 1), ("/often", 4), ("/twice", 2)] {
            origin.will(Reply::new(200, FRESH, "x"));
            for _ in 0..=times {
                origin.get(target, &[]).await;
            }
        }
        let listed = origin.store.list(&Scope::Everything, 2, message::Clock::now());
        let urls: Vec<_> = listed.iter().map(|one| (one.url.as_str(), one.hits)).collect();
        assert_eq!(urls, [("http://api.example/often", 4), ("http://api.example/twice", 2)]);
        assert_eq!(listed[0].tags, ["fruit", "red"]);
        assert_eq!((listed[0].status, listed[0].length), (200, 1));
    });
}

#[test]
fn tags_outlive_a_confirmation_that_does_not_repeat_them() {
    story(|| async {
        for (user, grouped) in
            [(None, ("cache-groups", "\"g\"")), (Some(("x-user", "ann")), ("x-other", "x"))]
        {
            let per = user.map(|_| Template::parse("${header('X-User')}", None).unwrap());
            let origin = Origin::new(CachePolicy { per, ..CachePolicy::default() });
            let first = [("cache-control", "max-age=60"), ("etag", "\"1\""), ("cache-tag", "t"), grouped];
            origin.will(Reply::new(200, &first, "old"));
            let fields: Vec<_> = user.into_iter().collect();
            origin.get("/", &fields).await;
            origin.will(Reply::new(304, &[("cache-control", "max-age=60"), ("etag", "\"1\"")], ""));
            origin.get("/", &[fields.clone(), vec![("cache-control", "no-cache")]].concat()).await;
            origin.purge(tag("t"), false);
            origin.will(Reply::new(200, FRESH, "new"));
            assert_eq!(origin.get("/", &fields).await.text(), "new", "{grouped:?}");
        }
    });
}

#[test]
fn a_user_is_forgotten_by_name_whatever_the_name() {
    story(|| async {
        let per = Some(Template::parse("${query('u')}", None).unwrap());
        let origin = Origin::new(CachePolicy { per, ..CachePolicy::default() });
        for (target, name) in [("/?u=jos%C3%A9", "user:jos\u{e9}"), ("/?u=a%0Ab", "user:a%0Ab")] {
            origin.will(Reply::new(200, &[("cache-control", "private, max-age=60")], "old"));
            origin.get(target, &[]).await;
            origin.purge(tag(name), false);
            origin.will(Reply::new(200, &[("cache-control", "private, max-age=60")], "new"));
            assert_eq!(origin.get(target, &[]).await.text(), "new", "{name}");
        }
    });
}

#[test]
fn a_write_reaches_what_a_rule_of_no_vary_search_has_shortened() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let says = &[("cache-control", "max-age=60"), ("no-vary-search", "params=(\"utm\")")];
        origin.will(Reply::new(200, says, "old")).will(Reply::new(
            404,
            &[("cache-control", "max-age=60")],
            "",
        ));
        origin.get("/s?q=a&utm=1", &[]).await;
        origin.get("/s?x=1", &[]).await;
        origin.will(Reply::new(204, &[], ""));
        origin.ask(request(Method::PUT, "/s?q=a&utm=1", &[])).await;
        origin.will(Reply::new(200, says, "rule again"));
        origin.get("/s?q=z&utm=1", &[]).await;
        origin.will(Reply::new(200, says, "new"));
        assert_eq!(origin.get("/s?q=a&utm=1", &[]).await.text(), "new");
    });
}
