//! One fetch per key, and what that must never do: share what is private, queue what cannot be shared, or let one
//! client's leaving harm another.

use bytes::Bytes;
use http::Method;
use message::{Error, Kind};
use plan::CachePolicy;

use crate::origin::{Origin, Reply, request, settle, story};

const FRESH: &[(&str, &str)] = &[("cache-control", "max-age=60")];

#[test]
fn many_clients_one_fetch() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let (reply, gate) = Reply::new(200, FRESH, "one").held();
        origin.will(reply);
        let clients: Vec<_> = (0..100).map(|_| origin.spawn(request(Method::GET, "/", &[]))).collect();
        settle().await;
        gate.send(()).unwrap();
        let mut collapsed = 0;
        for client in clients {
            let told = client.await.unwrap();
            assert_eq!(told.text(), "one");
            collapsed += usize::from(told.cache.contains("collapsed"));
        }
        assert_eq!((origin.times_asked(), collapsed), (1, 99));
        assert_eq!(origin.get("/", &[]).await.cache.split(';').nth(1).map(str::trim), Some("hit"));
    });
}

#[test]
fn a_leader_that_leaves_harms_nobody() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let (reply, gate) = Reply::new(200, FRESH, "still here").held();
        origin.will(reply);
        let leader = origin.spawn(request(Method::GET, "/", &[]));
        settle().await;
        let follower = origin.spawn(request(Method::GET, "/", &[]));
        settle().await;
        leader.abort();
        settle().await;
        gate.send(()).unwrap();
        assert_eq!(follower.await.unwrap().text(), "still here");
        assert_eq!(origin.get("/", &[]).await.text(), "still here");
        assert_eq!(origin.times_asked(), 1);
    });
}

#[test]
fn followers_stream_while_content_arrives() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let (reply, content) = Reply::streaming(FRESH);
        origin.will(reply);
        let leader = origin.spawn(request(Method::GET, "/", &[]));
        content.send(Ok(Bytes::from_static(b"be"))).unwrap();
        settle().await;
        // Joins in the middle, and still gets it from the beginning.
        let late = origin.spawn(request(Method::GET, "/", &[]));
        settle().await;
        content.send(Ok(Bytes::from_static(b"gun"))).unwrap();
        drop(content);
        assert_eq!(leader.await.unwrap().text(), "begun");
        assert_eq!(late.await.unwrap().text(), "begun");
        assert_eq!(origin.times_asked(), 1);
    });
}

#[test]
fn a_private_answer_reaches_its_asker_only_and_the_others_ask_at_once() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let (first, gate) = Reply::new(200, &[("cache-control", "private")], "leader's").held();
        let (second, gate_2) = Reply::new(200, &[("cache-control", "private")], "another's").held();
        let (third, gate_3) = Reply::new(200, &[("cache-control", "private")], "a third's").held();
        origin.will(first).will(second).will(third);
        let leader = origin.spawn(request(Method::GET, "/me", &[]));
        settle().await;
        let followers =
            [origin.spawn(request(Method::GET, "/me", &[])), origin.spawn(request(Method::GET, "/me", &[]))];
        settle().await;
        assert_eq!(origin.times_asked(), 1);
        gate.send(()).unwrap();
        assert_eq!(leader.await.unwrap().text(), "leader's");
        settle().await;
        // Both ask now, not one after the other.
        assert_eq!(origin.times_asked(), 3);
        gate_3.send(()).unwrap();
        gate_2.send(()).unwrap();
        for follower in followers {
            assert_ne!(follower.await.unwrap().text(), "leader's");
        }
    });
}

#[test]
fn a_failed_fetch_fails_all_that_waited_at_once() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let (reply, gate) = Reply::failing(Kind::Connect).held();
        origin.will(reply);
        let clients: Vec<_> = (0..10).map(|_| origin.spawn(request(Method::GET, "/", &[]))).collect();
        settle().await;
        gate.send(()).unwrap();
        for client in clients {
            assert_eq!(client.await.unwrap().body, Err(Kind::Connect));
        }
        assert_eq!(origin.times_asked(), 1);
        assert_eq!(origin.store.fills_in_progress(), 0);
    });
}

#[test]
fn content_that_broke_off_is_shown_broken_and_never_stored() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let (reply, content) = Reply::streaming(FRESH);
        origin.will(reply).will(Reply::new(200, FRESH, "whole"));
        let client = origin.spawn(request(Method::GET, "/", &[]));
        content.send(Ok(Bytes::from_static(b"hal"))).unwrap();
        content.send(Err(Error::new(Kind::BrokeOff, "closed"))).unwrap();
        assert_eq!(client.await.unwrap().body, Err(Kind::BrokeOff));
        assert_eq!(origin.get("/", &[]).await.text(), "whole");
        assert_eq!(origin.times_asked(), 2);
    });
}

#[test]
fn content_over_the_limit_streams_past_the_cache() {
    story(|| async {
        let origin = Origin::new(CachePolicy { max_body: 4, ..CachePolicy::default() });
        let (reply, content) = Reply::streaming(FRESH);
        origin.will(reply).will(Reply::new(200, FRESH, "tiny"));
        let client = origin.spawn(request(Method::GET, "/", &[]));
        for _ in 0..1000 {
            content.send(Ok(Bytes::from_static(&[b'x'; 1024]))).unwrap();
        }
        drop(content);
        assert_eq!(client.await.unwrap().text().len(), 1000 * 1024);
        assert_eq!(origin.get("/", &[]).await.text(), "tiny");
        assert_eq!(origin.times_asked(), 2);
    });
}

#[test]
fn a_known_length_over_the_limit_is_not_even_begun() {
    story(|| async {
        let origin = Origin::new(CachePolicy { max_body: 4, ..CachePolicy::default() });
        origin.will(Reply::new(200, FRESH, "too long"));
        let told = origin.get("/", &[]).await;
        assert_eq!(told.text(), "too long");
        assert!(told.cache.contains("too-large"), "{}", told.cache);
        assert!(!origin.has_stored("/"));
    });
}

#[test]
fn a_key_known_not_to_be_shared_holds_nobody_up_until_it_is() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let private = || Reply::new(200, &[("cache-control", "private")], "mine");
        let (second, gate) = private().held();
        origin.will(private()).will(second).will(Reply::new(200, FRESH, "everybody's"));
        origin.get("/", &[]).await;
        let slow = origin.spawn(request(Method::GET, "/", &[]));
        settle().await;
        assert_eq!(origin.get("/", &[]).await.text(), "everybody's", "without waiting for the slow one");
        assert_eq!(origin.get("/", &[]).await.text(), "everybody's", "and stored, as soon as it may be");
        gate.send(()).unwrap();
        slow.await.unwrap();
        assert_eq!(origin.times_asked(), 3);
    });
}

#[test]
fn a_304_that_turned_private_reaches_its_asker_only() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let stale = &[("cache-control", "max-age=10"), ("age", "20"), ("etag", "\"1\"")];
        let private = &[("cache-control", "private"), ("etag", "\"1\""), ("x-user", "the leader")];
        let (confirming, gate) = Reply::new(304, private, "").held();
        origin.will(Reply::new(200, stale, "page")).will(confirming).will(Reply::new(
            200,
            &[("cache-control", "private"), ("x-user", "the follower")],
            "page",
        ));
        origin.get("/", &[]).await;
        let leader = origin.spawn(request(Method::GET, "/", &[]));
        settle().await;
        let follower = origin.spawn(request(Method::GET, "/", &[]));
        settle().await;
        gate.send(()).unwrap();
        let leader = leader.await.unwrap();
        assert_eq!((leader.text(), &leader.fields["x-user"]), ("page", &"the leader".parse().unwrap()));
        assert_eq!(follower.await.unwrap().fields["x-user"], "the follower");
        assert!(!origin.has_stored("/"));
    });
}

#[test]
fn whoever_will_not_have_it_stale_gets_the_origins_own_error() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let bridged = &[("cache-control", "max-age=10, stale-if-error=60"), ("age", "20")];
        let down = || Reply::new(503, &[("retry-after", "7")], "down");
        let (first, gate) = down().held();
        origin.will(Reply::new(200, bridged, "old")).will(first).will(down());
        origin.get("/", &[]).await;
        let strict = &[("cache-control", "no-cache")];
        let leader = origin.spawn(request(Method::GET, "/", strict));
        settle().await;
        let followers =
            [origin.spawn(request(Method::GET, "/", strict)), origin.spawn(request(Method::GET, "/", &[]))];
        settle().await;
        gate.send(()).unwrap();
        let [strict, lenient] = followers;
        for told in [leader.await.unwrap(), strict.await.unwrap()] {
            assert_eq!(
                (told.status, told.text(), &told.fields["retry-after"]),
                (503, "down", &"7".parse().unwrap())
            );
        }
        assert_eq!(lenient.await.unwrap().text(), "old");
        assert!(origin.has_stored("/"));
    });
}

#[test]
fn what_one_client_can_provoke_takes_nothing_from_the_others() {
    story(|| async {
        let origin = Origin::new(CachePolicy::default());
        let stale = &[("cache-control", "max-age=10"), ("age", "20"), ("etag", "\"1\"")];
        origin.will(Reply::new(200, stale, "page")).will(Reply::new(431, &[], "what a long field"));
        origin.get("/", &[]).await;
        assert_eq!(origin.get("/", &[("x-long", "…")]).await.status, 431);
        assert!(origin.has_stored("/"), "and may bridge the origin's next failure");
        // Nor does it keep the others from sharing a fetch.
        origin.will(Reply::new(400, &[], "no")).will(Reply::new(200, FRESH, "one"));
        origin.get("/cold", &[]).await;
        let clients: Vec<_> = (0..5).map(|_| origin.spawn(request(Method::GET, "/cold", &[]))).collect();
        for client in clients {
            assert_eq!(client.await.unwrap().text(), "one");
        }
    });
}

#[test]
fn nobody_waits_for_an_answer_of_ones_own_that_nobody_wants_any_more() {
    story(|| async {
        let origin = Origin::new(CachePolicy { coalesce: false, ..CachePolicy::default() });
        let (reply, gate) = Reply::new(200, FRESH, "unwanted").held();
        origin.will(reply);
        let client = origin.spawn(request(Method::GET, "/", &[]));
        settle().await;
        client.abort();
        settle().await;
        assert!(gate.is_closed(), "the fetch was given up");
        assert_eq!(origin.store.counters.filling(), 0);
    });
}

#[test]
fn what_outgrew_the_limit_couples_nobody_the_next_time() {
    story(|| async {
        let origin = Origin::new(CachePolicy { max_body: 4, ..CachePolicy::default() });
        let (first, content) = Reply::streaming(FRESH);
        let (second, gate) = Reply::new(200, FRESH, "slow").held();
        origin.will(first).will(second).will(Reply::new(200, FRESH, "fast"));
        let client = origin.spawn(request(Method::GET, "/", &[]));
        content.send(Ok(Bytes::from_static(b"too long"))).unwrap();
        drop(content);
        assert_eq!(client.await.unwrap().text(), "too long");
        let slow = origin.spawn(request(Method::GET, "/", &[]));
        settle().await;
        assert_eq!(origin.get("/", &[]).await.text(), "fast");
        gate.send(()).unwrap();
        slow.await.unwrap();
    });
}

#[test]
fn content_on_its_way_is_bounded_too() {
    story(|| async {
        let origin = Origin::new(CachePolicy { max_body: u64::MAX, ..CachePolicy::default() });
        let quarter = origin.store.memory.capacity() as usize / 4;
        let (reply, content) = Reply::streaming(FRESH);
        origin.will(reply).will(Reply::new(200, FRESH, "stored")).will(Reply::new(200, FRESH, "small"));
        let client = origin.spawn(request(Method::GET, "/endless", &[]));
        let piece = Bytes::from(vec![b'x'; quarter / 8]);
        for _ in 0..64 {
            content.send(Ok(piece.clone())).unwrap();
        }
        drop(content);
        assert_eq!(client.await.unwrap().text().len(), 64 * piece.len());
        assert!(!origin.has_stored("/endless"));
        assert_eq!(origin.get("/", &[]).await.text(), "stored");
        assert!(origin.has_stored("/"), "what was held is given back");
    });
}
