//! Before and after a purge: a dry run tells how much it would be and changes nothing; a refresh fetches the hottest
//! again, at a rate.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::{Gate, Origin, Script, ok};

use super::port::{counting, get, post, purge, read};
use crate::setup::{cached, cached_with};

#[test]
fn a_dry_run_counts_and_changes_nothing() {
    let origin = Origin::start();
    for number in 0..10 {
        let tag = if number < 4 { "few" } else { "many" };
        let fields = format!("Cache-Control: max-age=600\nCache-Tag: {tag}\nVary: Accept-Language");
        origin.on(&format!("/{number}")).reply(ok(&fields, "x".repeat(1000)));
    }
    let fleetfoot = cached_with(&origin, "ttl: origin, tags: [Cache-Tag]");
    for number in 0..10 {
        fleetfoot.get_with(&format!("/{number}"), "Accept-Language: en");
        fleetfoot.get_with(&format!("/{number}"), "Accept-Language: de");
    }
    for (mut call, answers) in [
        (json!({"everything": true}), 20),
        (json!({"host": "example.test"}), 20),
        (json!({"host": "other.test"}), 0),
        (json!({"tag": "few"}), 8),
        (json!({"tags": ["few", "many"]}), 20),
        (json!({"url": "http://example.test/7"}), 2),
        (json!({"prefix": "/7"}), 2),
    ] {
        call["dry_run"] = json!(true);
        let told = purge(&fleetfoot, &call);
        assert_eq!(told["would_purge"]["answers"], json!(answers), "{call}");
        let bytes = told["would_purge"]["bytes"].as_u64().unwrap();
        assert!(bytes >= answers * 1000 && bytes <= answers * 3000, "{call}: {told}");
        assert!(told.get("purged").is_none(), "{told}");
    }
    assert!((0..10).all(|number| fleetfoot.get_with(&format!("/{number}"), "Accept-Language: de").is_hit()));
    assert_eq!(origin.requests().len(), 20);
    // What was counted is what is then forgotten.
    purge(&fleetfoot, &json!({"tag": "few"}));
    assert_eq!(
        purge(&fleetfoot, &json!({"everything": true, "dry_run": true}))["would_purge"]["answers"],
        json!(12)
    );
}

#[test]
fn a_refresh_fetches_the_hottest_again() {
    let origin = counting("");
    let mut fleetfoot = cached(&origin);
    for number in 0..8 {
        for _ in 0..=number * 3 {
            fleetfoot.get(&format!("/{number}"));
        }
    }
    assert_eq!(origin.requests().len(), 8);
    let done = purge(&fleetfoot, &json!({"everything": true, "refresh": 3}));
    assert_eq!(done["refreshing"], json!(3));
    fleetfoot.wait_until("refreshed", |_| origin.requests().len() == 11);
    let again: Vec<String> = origin.requests().into_iter().skip(8).map(|request| request.target).collect();
    assert!(again.iter().all(|target| ["/5", "/6", "/7"].contains(&target.as_str())), "{again:?}");
    fleetfoot.wait_until("stored", |fleetfoot| {
        ["/5", "/6", "/7"].iter().all(|target| {
            let answer = fleetfoot.get(target);
            answer.text() == "2" && answer.is_hit()
        })
    });
    assert!(!fleetfoot.get("/0").is_hit());
}

#[test]
fn a_refresh_keeps_to_its_rate() {
    let origin = counting("");
    let mut fleetfoot = cached(&origin);
    for number in 0..12 {
        fleetfoot.get(&format!("/{number}"));
    }
    let started = Instant::now();
    purge(&fleetfoot, &json!({"everything": true, "refresh": 12, "rate": 20}));
    fleetfoot.wait_until("refreshed", |_| origin.requests().len() == 24);
    let took = started.elapsed();
    assert!(took >= Duration::from_millis(500), "12 at 20 a second within {took:?}");
}

#[test]
fn a_refresh_asks_for_the_variants_that_were_stored() {
    let origin = Origin::start();
    origin.on("*").answer(|request| {
        ok(
            "Cache-Control: max-age=600\nVary: Accept-Language",
            request.field("Accept-Language").unwrap_or("-"),
        )
    });
    let mut fleetfoot = cached(&origin);
    for language in ["en", "de"] {
        fleetfoot.get_with("/", &format!("Accept-Language: {language}"));
    }
    assert_eq!(
        purge(&fleetfoot, &json!({"url": "http://example.test/", "refresh": 10}))["refreshing"],
        json!(2)
    );
    fleetfoot.wait_until("refreshed", |fleetfoot| {
        let listed = get(fleetfoot, "/cache/entries");
        listed["entries"].as_array().is_some_and(|entries| entries.len() == 2)
    });
    for language in ["en", "de"] {
        let answer = fleetfoot.get_with("/", &format!("Accept-Language: {language}"));
        assert_eq!((answer.text().as_str(), answer.is_hit()), (language, true));
    }
    assert_eq!(origin.requests().len(), 4);
}

#[test]
fn a_soft_refresh_answers_the_old_until_the_new_is_there() {
    let (origin, gate) = (Origin::start(), Gate::new());
    let fields = "Cache-Control: max-age=600";
    origin.on("/").replies([ok(fields, "old"), Script::new().wait(&gate).then(ok(fields, "new"))]);
    let mut fleetfoot = cached_with(&origin, "ttl: origin, stale: 1h");
    fleetfoot.get("/");
    purge(&fleetfoot, &json!({"everything": true, "soft": true, "refresh": 1}));
    origin.wait_for(2, "GET /");
    assert_eq!(fleetfoot.get("/").text(), "old");
    gate.open();
    fleetfoot.wait_until("refreshed", |fleetfoot| fleetfoot.get("/").text() == "new");
    assert_eq!(origin.count("GET /"), 2, "asked once for both");
}

#[test]
fn so_many_refreshes_at_once_and_no_more() {
    let (origin, gate) = (Origin::start(), Gate::new());
    let held = gate.clone();
    origin.on("*").answer(move |request| {
        let answer = ok("Cache-Control: max-age=600", "x");
        if request.field("User-Agent").is_some() { Script::new().wait(&held).then(answer) } else { answer }
    });
    let fleetfoot = cached(&origin);
    let refresh = |number: u32| json!({"url": format!("http://example.test/{number}"), "refresh": 1});
    for number in 0..4 {
        fleetfoot.get(&format!("/{number}"));
        assert_eq!(purge(&fleetfoot, &refresh(number))["refreshing"], json!(1));
    }
    fleetfoot.get("/4");
    let refused = post(&fleetfoot, "/cache/purge", &refresh(4));
    assert!(read(&refused, 503)["detail"].is_string());
    assert!(refused.has("Retry-After"), "{refused:?}");
    assert!(fleetfoot.get("/4").is_hit(), "and it has not half happened");
    gate.open();
}
