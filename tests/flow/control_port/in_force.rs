//! A purge is in force when its answer is sent: a request sent after that never gets the old answer, whichever core takes
//! it, and whatever was on its way when the purge came.

use serde_json::{Value, json};
use testkit::{Fleetfoot, Gate, Origin, RawClient, Script, ok};

use super::port::{counting, purge};
use crate::setup::{cached_with, config, each, until_taken_up};

const ASK: &str = "GET / HTTP/1.1\r\nHost: example.test\r\n\r\n";

/// Every way to forget the answer at `/`.
fn calls() -> [(String, Value); 6] {
    [
        json!({"url": "http://example.test/"}),
        json!({"url": "http://example.test/", "exact": true}),
        json!({"prefix": "/"}),
        json!({"host": "example.test"}),
        json!({"tag": "t"}),
        json!({"everything": true}),
    ]
    .map(|call| (call.to_string(), call))
}

#[test]
fn on_every_core_and_connection_at_once() {
    let origin = counting("Cache-Tag: t");
    let text = config(origin.address(), "ttl: origin, tags: [Cache-Tag]").replace("cores: 1", "cores: 4");
    let fleetfoot = Fleetfoot::start(&text);
    // Enough that each core has several.
    let mut clients: Vec<RawClient> = (0..40).map(|_| fleetfoot.connect()).collect();
    let mut expected = 1;
    for _ in 0..5 {
        for (name, call) in calls() {
            let old: Vec<String> = clients.iter_mut().map(|client| client.ask(ASK).text()).collect();
            assert!(old.iter().all(|text| *text == expected.to_string()), "before {name}: {old:?}");
            purge(&fleetfoot, &call);
            expected += 1;
        }
    }
}

#[test]
fn a_fetch_that_was_on_its_way_serves_nobody_who_comes_after() {
    each(calls(), |_, call| {
        let (origin, gate) = (Origin::start(), Gate::new());
        let held = gate.clone();
        origin.on("GET /").answer(move |request| {
            let fields = "Cache-Control: max-age=600\nCache-Tag: t";
            if request.field("X-Before").is_some() {
                return Script::new().wait(&held).then(ok(fields, "old"));
            }
            ok(fields, "new")
        });
        let fleetfoot = cached_with(&origin, "ttl: origin, tags: [Cache-Tag]");
        let mut before = fleetfoot.connect();
        before.send("GET / HTTP/1.1\r\nHost: example.test\r\nX-Before: 1\r\n\r\n");
        origin.wait_for(1, "GET /");
        purge(&fleetfoot, &call);
        let mut after = fleetfoot.connect();
        after.send(ASK);
        until_taken_up(&fleetfoot);
        gate.open();
        assert_eq!(before.read_answer().text(), "old", "it asked before");
        assert_eq!(after.read_answer().text(), "new");
        let now = fleetfoot.get("/");
        assert_eq!(
            (now.text().as_str(), now.is_hit()),
            ("new", true),
            "the old answer was not stored after it"
        );
    });
}

#[test]
fn an_answer_whose_content_is_on_its_way_serves_nobody_who_comes_after() {
    each(calls(), |_, call| {
        let (origin, gate) = (Origin::start(), Gate::new());
        let head =
            "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nCache-Tag: t\r\nContent-Length: 6\r\n\r\n";
        let old = Script::from(head).send("old").wait(&gate).send("old");
        origin.on("GET /").replies([old, ok("Cache-Control: max-age=600\nCache-Tag: t", "newest")]);
        let fleetfoot = cached_with(&origin, "ttl: origin, tags: [Cache-Tag]");
        let mut before = fleetfoot.connect();
        before.send(ASK).read_until(b"old");
        purge(&fleetfoot, &call);
        let after = fleetfoot.get("/");
        assert_eq!(after.text(), "newest", "and it did not wait for the old one");
        gate.open();
        assert_eq!(before.read_exactly(3), b"old");
        assert_eq!(fleetfoot.get("/").text(), "newest");
    });
}

#[test]
fn a_confirmation_that_was_on_its_way_brings_nothing_back() {
    each(calls(), |_, call| {
        let (origin, gate) = (Origin::start(), Gate::new());
        let old = ok("Cache-Control: max-age=60\nAge: 100\nETag: \"1\"\nCache-Tag: t", "old");
        let confirmed = testkit::not_modified("Cache-Control: max-age=600\nETag: \"1\"\nCache-Tag: t");
        let new = ok("Cache-Control: max-age=600\nETag: \"2\"\nCache-Tag: t", "new");
        origin.on("GET /").replies([old, Script::new().wait(&gate).then(confirmed), new]);
        let fleetfoot = cached_with(&origin, "ttl: origin, tags: [Cache-Tag]");
        assert_eq!(fleetfoot.get("/").text(), "old");
        let mut before = fleetfoot.connect();
        before.send(ASK);
        origin.wait_for(2, "GET /");
        purge(&fleetfoot, &call);
        let mut after = fleetfoot.connect();
        after.send(ASK);
        until_taken_up(&fleetfoot);
        gate.open();
        // It asked before: whether it still gets the old one is left open.
        assert!(["old", "new"].contains(&before.read_answer().text().as_str()));
        assert_eq!(after.read_answer().text(), "new");
        assert_eq!(fleetfoot.get("/").text(), "new");
    });
}

#[test]
fn a_refresh_in_the_background_that_was_on_its_way_is_not_stored() {
    let (origin, gate) = (Origin::start(), Gate::new());
    let directives = "Cache-Control: max-age=60, stale-while-revalidate=600";
    let stale = ok(&format!("{directives}\nAge: 100"), "stale");
    let old = Script::new().wait(&gate).then(ok(directives, "old"));
    origin.on("GET /").replies([stale, old, ok(directives, "new")]);
    let fleetfoot = cached_with(&origin, "ttl: origin");
    fleetfoot.get("/");
    assert_eq!(fleetfoot.get("/").text(), "stale");
    origin.wait_for(2, "GET /");
    purge(&fleetfoot, &json!({"everything": true}));
    let mut after = fleetfoot.connect();
    after.send(ASK);
    until_taken_up(&fleetfoot);
    gate.open();
    assert_eq!(after.read_answer().text(), "new");
    assert_eq!(fleetfoot.get("/").text(), "new");
}

#[test]
fn under_load_nobody_gets_an_answer_from_before_the_purge() {
    let origin = Origin::start();
    let version = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let told = std::sync::Arc::clone(&version);
    origin.on("*").answer(move |_| {
        ok(
            "Cache-Control: max-age=600\nCache-Tag: t",
            told.load(std::sync::atomic::Ordering::SeqCst).to_string(),
        )
    });
    let text = config(origin.address(), "ttl: origin, tags: [Cache-Tag]").replace("cores: 1", "cores: 2");
    let fleetfoot = Fleetfoot::start(&text);
    let address = fleetfoot.address();
    let purged = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let over = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let clients: Vec<_> = (0..4)
        .map(|_| {
            let (purged, over) = (std::sync::Arc::clone(&purged), std::sync::Arc::clone(&over));
            std::thread::spawn(move || {
                let mut client = RawClient::connect(address);
                let mut asked = 0_u64;
                while !over.load(std::sync::atomic::Ordering::SeqCst) {
                    let least = purged.load(std::sync::atomic::Ordering::SeqCst);
                    let got: u64 = client.ask(ASK).text().parse().unwrap();
                    assert!(got >= least, "{got} after the purge of all before {least}");
                    asked += 1;
                }
                asked
            })
        })
        .collect();
    for number in 1..=100 {
        version.store(number, std::sync::atomic::Ordering::SeqCst);
        purge(&fleetfoot, &if number % 2 == 0 { json!({"tag": "t"}) } else { json!({"prefix": "/"}) });
        purged.store(number, std::sync::atomic::Ordering::SeqCst);
    }
    over.store(true, std::sync::atomic::Ordering::SeqCst);
    let asked: u64 = clients.into_iter().map(|client| client.join().expect("nobody got an old one")).sum();
    assert!(asked > 0);
}
