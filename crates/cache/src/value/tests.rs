//! What the cache promises of values, told against a source that is a script.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use disk::Disk;
use expression::Json;
use message::{Clock, Error, Kind, Timestamp};
use plan::{CachePolicy, KeyPolicy};
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, yield_now};

use super::filler::{Made, draft};
use super::{CachingValues, NO_FIELDS};
use crate::entry::Entry;
use crate::key::Key;
use crate::key::keying::{Look, Scratch};
use crate::{Purge, Scope, Store, Tiers};

const MINUTE: Duration = Duration::from_mins(1);

/// On a core of its own, with time standing still unless everybody waits.
fn story<F: Future<Output = ()>>(tell: impl FnOnce() -> F) {
    let runtime = Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build_local(LocalOptions::default())
        .unwrap();
    runtime.block_on(async { tokio::time::timeout(MINUTE, tell()).await.unwrap() });
}

/// Lets every other task run as far as it can.
async fn settle() {
    for _ in 0..64 {
        yield_now().await;
    }
}

/// Values are fresh for a minute.
fn policy() -> CachePolicy {
    let rules = rules::Policy { default_ttl: Some(MINUTE), ..rules::Policy::default() };
    CachePolicy { rules, key: KeyPolicy { is_step: true, ..KeyPolicy::default() }, ..CachePolicy::default() }
}

fn json(text: &str) -> Json {
    Json::check(Bytes::copy_from_slice(text.as_bytes())).unwrap()
}

struct Reply {
    gate: Option<oneshot::Receiver<()>>,
    outcome: Result<Json>,
}

#[derive(Debug)]
struct Told {
    value: Result<String, Kind>,
    /// As `Cache-Status` would say it.
    cache: String,
}

type Result<T, E = Error> = std::result::Result<T, E>;

/// A source and the cache in front of it.
#[derive(Clone)]
struct Source {
    name: &'static str,
    store: Arc<Store>,
    policy: Arc<CachePolicy>,
    script: Rc<RefCell<VecDeque<Reply>>>,
    asked: Rc<Cell<usize>>,
}

impl Source {
    fn new(policy: CachePolicy) -> Self {
        Source {
            name: "db",
            store: Store::new(16 * 1024 * 1024),
            policy: Arc::new(policy),
            script: Rc::default(),
            asked: Rc::default(),
        }
    }

    fn will_say(&self, text: &str) {
        self.script.borrow_mut().push_back(Reply { gate: None, outcome: Ok(json(text)) });
    }

    fn will_fail(&self) {
        let error = Error::new(Kind::UnusableReply, "the story wants it so");
        self.script.borrow_mut().push_back(Reply { gate: None, outcome: Err(error) });
    }

    /// The latest reply waits until the story sends.
    fn hold(&self) -> oneshot::Sender<()> {
        let (sender, receiver) = oneshot::channel();
        self.script.borrow_mut().back_mut().unwrap().gate = Some(receiver);
        sender
    }

    async fn get(&self, identity: &str) -> Told {
        let (store, policy) = (&self.store, &self.policy);
        let caching = CachingValues { store, policy, source: self.name, link: None };
        let (script, asked) = (Rc::clone(&self.script), Rc::clone(&self.asked));
        let value = caching.value(identity, async move || {
            asked.set(asked.get() + 1);
            let reply = script.borrow_mut().pop_front().expect("it was asked more often than the story says");
            if let Some(gate) = reply.gate {
                gate.await.ok();
            }
            reply.outcome
        });
        let value = value.await;
        let mut cache = Vec::new();
        value.status.write(&mut cache);
        Told {
            value: value.outcome.map(|json| json.as_str().to_owned()).map_err(|error| error.kind()),
            cache: String::from_utf8(cache).unwrap(),
        }
    }

    fn spawn(&self, identity: &'static str) -> JoinHandle<Told> {
        let source = self.clone();
        tokio::task::spawn_local(async move { source.get(identity).await })
    }

    fn key(&self, identity: &str) -> Key {
        let request = message::RequestView {
            method: &http::Method::GET,
            scheme: message::Scheme::Http,
            authority: self.name,
            target: identity,
            fields: NO_FIELDS,
            client: None,
        };
        let look = Look { request: &request, policy: &self.policy, names: &[], source: self.name };
        look.key(&self.store.learned, None, &mut Scratch::default()).key.to_key()
    }

    /// It has given this so long ago, and whoever stored it has not looked at it.
    fn gave(&self, identity: &str, content: &'static [u8], ago: Duration) {
        let then: Timestamp = Clock::now().minus(ago);
        let made = Made { requested_at: then, received_at: then };
        let draft = draft(&self.policy, made, self.store.marks.epoch()).unwrap();
        let entry = Arc::new(Entry::new(draft, crate::Content::from_static(content)));
        self.store.memory.put(&self.key(identity).view(), entry, 1);
    }

    fn purge(&self, identity: &str) {
        let scope = Scope::Target { authority: self.name.into(), target: identity.into() };
        self.store.purge(&Purge { scope, soft: false }, Clock::now());
    }
}

impl Told {
    fn text(&self) -> &str {
        self.value.as_deref().expect("there is a value")
    }
}

#[test]
fn a_miss_is_fetched_once_for_many_at_once() {
    story(|| async {
        let source = Source::new(policy());
        source.will_say(r#"{"a":1}"#);
        let gate = source.hold();
        let clients: Vec<_> = (0..100).map(|_| source.spawn("/a")).collect();
        settle().await;
        gate.send(()).unwrap();
        let mut collapsed = 0;
        for client in clients {
            let told = client.await.unwrap();
            assert_eq!(told.text(), r#"{"a":1}"#);
            collapsed += usize::from(told.cache == "fleetfoot; fwd=uri-miss; collapsed");
        }
        assert_eq!((source.asked.get(), collapsed), (1, 99));
        let counters = &source.store.counters;
        assert_eq!((counters.fills(), counters.filling(), counters.coalesced_requests()), (1, 0, 99));
        assert_eq!(counters.stored_answers(), (1, 7));
        assert_eq!(source.store.fills_in_progress(), 0);
    });
}

#[test]
fn a_fresh_value_asks_nobody() {
    story(|| async {
        let source = Source::new(policy());
        source.will_say("[1]");
        assert_eq!(source.get("/a").await.cache, "fleetfoot; fwd=uri-miss; stored");
        let told = source.get("/a").await;
        assert_eq!(told.text(), "[1]");
        assert!(told.cache.starts_with("fleetfoot; hit; ttl="), "{}", told.cache);
        assert_eq!(source.asked.get(), 1);
    });
}

#[test]
fn a_stale_value_is_given_and_refreshed_behind() {
    story(|| async {
        let rules = rules::Policy { stale_while_revalidate: MINUTE, ..policy().rules };
        let source = Source::new(CachePolicy { rules, ..policy() });
        source.gave("/a", b"1", MINUTE * 3 / 2);
        source.will_say("2");
        let gate = source.hold();
        for _ in 0..3 {
            let told = source.get("/a").await;
            assert_eq!(told.text(), "1");
            assert!(told.cache.starts_with("fleetfoot; hit; ttl=-"), "{}", told.cache);
            settle().await;
        }
        gate.send(()).unwrap();
        settle().await;
        assert_eq!(source.get("/a").await.text(), "2");
        assert_eq!(source.asked.get(), 1);
    });
}

#[test]
fn a_hot_value_is_refreshed_before_its_time() {
    story(|| async {
        let source = Source::new(CachePolicy { early: Some(0.5), ..policy() });
        source.gave("/a", b"1", MINUTE * 2 / 3);
        source.will_say("2");
        for _ in 0..11 {
            assert_eq!(source.get("/a").await.text(), "1");
        }
        settle().await;
        assert_eq!((source.get("/a").await.text(), source.asked.get()), ("2", 1));
    });
}

#[test]
fn an_error_gives_the_stale_value_for_a_while_and_the_error_after() {
    story(|| async {
        let rules = rules::Policy { stale_if_error: Some(MINUTE), ..policy().rules };
        let source = Source::new(CachePolicy { rules, ..policy() });
        source.gave("/a", b"1", MINUTE * 3 / 2);
        source.will_fail();
        let gate = source.hold();
        let clients = [source.spawn("/a"), source.spawn("/a")];
        settle().await;
        gate.send(()).unwrap();
        for (client, collapsed) in clients.into_iter().zip(["", "; collapsed"]) {
            let told = client.await.unwrap();
            assert_eq!(told.text(), "1");
            assert!(told.cache.starts_with("fleetfoot; fwd=stale; ttl=-"), "{}", told.cache);
            assert!(told.cache.ends_with(&format!("{collapsed}; detail=stale-if-error")), "{}", told.cache);
        }
        source.gave("/a", b"1", MINUTE * 3);
        source.will_fail();
        assert_eq!(source.get("/a").await.value, Err(Kind::UnusableReply));
        assert_eq!(source.asked.get(), 2);
    });
}

#[test]
fn those_who_follow_get_the_error_of_who_leads() {
    story(|| async {
        let source = Source::new(policy());
        source.will_fail();
        let gate = source.hold();
        let clients = [source.spawn("/a"), source.spawn("/a")];
        settle().await;
        gate.send(()).unwrap();
        for client in clients {
            assert_eq!(client.await.unwrap().value, Err(Kind::UnusableReply));
        }
        assert_eq!((source.asked.get(), source.store.fills_in_progress()), (1, 0));
    });
}

#[test]
fn what_was_asked_for_before_a_purge_is_not_kept_after_it() {
    story(|| async {
        let source = Source::new(policy());
        source.will_say(r#""old""#);
        let gate = source.hold();
        let before = source.spawn("/a");
        settle().await;
        source.purge("/a");
        source.will_say(r#""new""#);
        assert_eq!(source.get("/a").await.text(), r#""new""#, "nobody follows what began before");
        gate.send(()).unwrap();
        let told = before.await.unwrap();
        assert_eq!(
            (told.text(), told.cache.as_str()),
            (r#""old""#, "fleetfoot; fwd=uri-miss; detail=purged")
        );
        assert_eq!(source.get("/a").await.text(), r#""new""#);
        source.purge("/a");
        source.will_say("3");
        assert_eq!(source.get("/a").await.text(), "3", "and what was stored is gone");
    });
}

#[test]
fn what_is_too_long_is_given_and_not_kept() {
    story(|| async {
        let source = Source::new(CachePolicy { max_body: 4, ..policy() });
        source.will_say("12345");
        let gate = source.hold();
        let clients = [source.spawn("/a"), source.spawn("/a")];
        settle().await;
        gate.send(()).unwrap();
        let words = ["; detail=too-large", "; collapsed"];
        for (client, word) in clients.into_iter().zip(words) {
            let told = client.await.unwrap();
            let expected = format!("fleetfoot; fwd=uri-miss{word}");
            assert_eq!((told.text(), told.cache.as_str()), ("12345", expected.as_str()));
        }
        // For a while nobody waits.
        let gates = ["12345", "67890"].map(|text| {
            source.will_say(text);
            source.hold()
        });
        let clients = [source.spawn("/a"), source.spawn("/a")];
        settle().await;
        assert_eq!(source.asked.get(), 3);
        drop(gates);
        for client in clients {
            assert_eq!(client.await.unwrap().text().len(), 5);
        }
        source.will_say("1234");
        source.get("/a").await;
        assert_eq!(source.get("/a").await.text(), "1234", "as soon as one is short enough, it is kept");
    });
}

#[test]
fn what_the_policy_has_no_lifetime_for_is_given_and_not_kept() {
    story(|| async {
        let source = Source::new(CachePolicy { rules: rules::Policy::default(), ..policy() });
        for text in ["1", "2"] {
            source.will_say(text);
            let told = source.get("/a").await;
            assert_eq!(
                (told.text(), told.cache.as_str()),
                (text, "fleetfoot; fwd=uri-miss; detail=no-lifetime")
            );
        }
    });
}

#[test]
fn equal_calls_of_two_sources_stay_apart() {
    story(|| async {
        let one = Source::new(policy());
        let other = Source { name: "other", ..Source::new(policy()) };
        let other = Source { store: Arc::clone(&one.store), ..other };
        // Also where hosts do not matter.
        for host in [true, false] {
            let key = KeyPolicy { host, ..policy().key };
            let policy = Arc::new(CachePolicy { key, ..policy() });
            let one = Source { policy: Arc::clone(&policy), ..one.clone() };
            let other = Source { policy, ..other.clone() };
            one.will_say("1");
            other.will_say("2");
            for _ in 0..2 {
                assert_eq!(one.get("/a").await.text(), "1");
                assert_eq!(other.get("/a").await.text(), "2");
            }
        }
    });
}

#[test]
fn who_follows_survives_the_going_of_who_leads() {
    story(|| async {
        let source = Source::new(policy());
        source.will_say("1");
        let gate = source.hold();
        let leader = source.spawn("/a");
        settle().await;
        let follower = source.spawn("/a");
        settle().await;
        leader.abort();
        settle().await;
        gate.send(()).unwrap();
        assert_eq!(follower.await.unwrap().text(), "1");
        assert_eq!((source.get("/a").await.text(), source.asked.get()), ("1", 1));
    });
}

#[test]
fn what_nobody_may_follow_ends_with_its_client() {
    story(|| async {
        let source = Source::new(CachePolicy { coalesce: false, ..policy() });
        source.will_say("1");
        let gate = source.hold();
        let client = source.spawn("/a");
        settle().await;
        assert_eq!(source.store.counters.filling(), 1);
        client.abort();
        settle().await;
        assert!(gate.is_closed());
        assert_eq!(source.store.counters.filling(), 0);
    });
}

#[test]
fn what_is_stored_and_no_value_is_fetched() {
    story(|| async {
        let source = Source::new(policy());
        source.gave("/a", b"{", Duration::ZERO);
        source.will_say("1");
        assert_eq!(source.get("/a").await.cache, "fleetfoot; fwd=uri-miss; stored");
        assert_eq!(source.get("/a").await.text(), "1");
    });
}

#[test]
fn a_value_is_there_after_a_restart() {
    // The disk answers from threads of its own, so that time cannot stand still.
    let runtime = Builder::new_current_thread().enable_time().build_local(LocalOptions::default()).unwrap();
    runtime.block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let start = || {
            let disk = Arc::new(Disk::open(folder.path(), 64 * 1024 * 1024).unwrap());
            let tiers = Tiers { disk: Some(Arc::clone(&disk)), redis: None };
            let store = Store::with_tiers(16 * 1024 * 1024, tiers).unwrap();
            (Source { store, ..Source::new(policy()) }, disk)
        };
        let (source, disk) = start();
        source.will_say("[1, 2]");
        source.get("/a").await;
        assert!(disk.close(MINUTE));
        drop((source, disk));
        let (source, _disk) = start();
        for _ in 0..2 {
            let told = source.get("/a").await;
            assert_eq!(told.text(), "[1, 2]");
            assert!(told.cache.starts_with("fleetfoot; hit"), "{}", told.cache);
        }
        assert_eq!(source.asked.get(), 0);
    });
}
