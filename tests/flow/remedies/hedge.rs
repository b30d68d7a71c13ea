//! `hedge`: a call that takes longer than most is made a second time, wherever the policy stands, and the first that answers well
//! counts.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use testkit::{Gate, Origin, Script, ok, status, wait_until};

use super::support::{EVERYWHERE, everywhere, times, with_policy};
use crate::composing::support::{mariadb, sql};
use crate::setup::each;

#[test]
fn the_quicker_of_two_counts_wherever_the_policy_stands() {
    let (origin, never) = (Origin::start(), Gate::new());
    for (target, _) in EVERYWHERE {
        origin.on(target).replies([Script::new().wait(&never), ok("", "2")]);
    }
    let fleetfoot = everywhere(&origin, "hedge: { after: 50ms, budget: 100% }");
    each(EVERYWHERE.map(|(target, place)| (place, target)), |_, target| {
        let answer = fleetfoot.get(target);
        assert_eq!((answer.status, answer.text().as_str()), (200, "2"), "{answer:?}");
        assert_eq!(origin.count(target), 2);
    });
    assert_eq!((times(&fleetfoot, "hedge", "again"), times(&fleetfoot, "hedge", "won")), (3, 3));
    never.open();
}

#[test]
fn the_slower_of_two_is_cancelled() {
    let origin = Origin::start();
    let gone = Gate::new();
    let (seen, asked) = (gone.clone(), AtomicUsize::new(0));
    origin.on("GET /").talk(move |conversation| {
        if asked.fetch_add(1, Relaxed) == 0 {
            assert!(conversation.read_some().is_empty(), "nothing but the end");
            seen.open();
        } else {
            conversation.play(ok("", "quick"));
        }
    });
    let fleetfoot = with_policy(
        "hedge: { after: 20ms, budget: 100% }",
        &[&format!("api: \"{}\"", origin.url())],
        &["match: /**, proxy: api, use: p"],
    );
    assert_eq!(fleetfoot.get("/").text(), "quick");
    gone.wait();
}

#[test]
fn a_failure_waits_for_the_other_call() {
    let (origin, gate) = (Origin::start(), Gate::new());
    let late = |script: Script| Script::new().wait(&gate).then(script);
    origin.on("GET /first").replies([late(ok("", "well")), status("503 Service Unavailable", "", "no")]);
    origin.on("GET /both").reply(status("503 Service Unavailable", "", "no"));
    let fleetfoot = with_policy(
        "hedge: { after: 10ms, budget: 100% }",
        &[&format!("api: \"{}\"", origin.url())],
        &["match: /**, proxy: api, use: p"],
    );
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| fleetfoot.get("/first"));
        origin.wait_for(2, "GET /first");
        gate.open();
        assert_eq!(asked.join().unwrap().text(), "well");
    });
    assert_eq!(fleetfoot.get("/both").status, 503);
}

#[test]
fn what_may_have_changed_something_is_made_once() {
    let origin = Origin::start();
    let slow = Script::new().pause(Duration::from_millis(120)).then(ok("", "done"));
    origin.on("POST /").reply(slow.clone());
    origin.on("PUT /").reply(slow);
    let fleetfoot = with_policy(
        "hedge: { after: 10ms, budget: 100% }",
        &[&format!("api: \"{}\"", origin.url())],
        &["match: /**, proxy: api, use: p"],
    );
    for (method, made) in [("POST", 1), ("PUT", 2)] {
        let answer = fleetfoot.send(method, "/", "");
        assert_eq!((answer.status, origin.count(&format!("{method} /"))), (200, made), "{method}");
    }
}

#[test]
fn a_source_that_is_slow_as_a_whole_is_not_asked_twice() {
    let origin = Origin::start();
    origin.on("GET /").reply(Script::new().pause(Duration::from_millis(15)).then(ok("", "slow")));
    let fleetfoot = with_policy(
        "hedge: { after: 1ms, budget: 5% }",
        &[&format!("api: \"{}\"", origin.url())],
        &["match: /**, proxy: api, use: p"],
    );
    for _ in 0..200 {
        assert_eq!(fleetfoot.get("/").status, 200);
    }
    wait_until("all have come", || origin.count("GET /") as u64 == 200 + times(&fleetfoot, "hedge", "again"));
    let asked = origin.count("GET /");
    assert!((205..=210).contains(&asked), "a twentieth of the calls may be made again: {asked}");
}

#[test]
fn a_statement_that_reads_is_hedged_too() {
    let mariadb = mariadb();
    let fleetfoot = with_policy(
        "hedge: { after: 50ms, budget: 100% }",
        &[&format!("db: {}", sql(&mariadb.url(), ""))],
        &["match: GET /, compose: { it: { db: SELECT SLEEP(0.3) AS slept, use: p } }, respond: \"${it}\""],
    );
    assert_eq!(fleetfoot.get("/").status, 200);
    assert_eq!(times(&fleetfoot, "hedge", "again"), 1);
}

/// Of a thousand calls one in a hundred takes 60 times as long. Seen from outside: how long calls take, and how many the
/// source gets.
#[test]
fn one_slow_answer_in_a_hundred_is_hardly_seen() {
    let measured = |policy: &str| {
        let origin = Origin::start();
        let asked = AtomicUsize::new(0);
        origin.on("GET /").answer(move |_| {
            let time = if asked.fetch_add(1, Relaxed) % 100 == 37 { 600 } else { 4 };
            Script::new().pause(Duration::from_millis(time)).then(ok("", "x"))
        });
        let fleetfoot = with_policy(
            policy,
            &[&format!("api: \"{}\"", origin.url())],
            &["match: /**, proxy: api, use: p"],
        );
        let mut took: Vec<Duration> = (0..1000)
            .map(|_| {
                let began = Instant::now();
                assert_eq!(fleetfoot.get("/").status, 200);
                began.elapsed()
            })
            .skip(200)
            .collect();
        took.sort_unstable();
        (took[took.len() * 99 / 100], origin.count("GET /"))
    };
    let (without, asked) = measured("timeout: 10s");
    assert_eq!(asked, 1000);
    let (with, asked) = measured("hedge: { after: p97, budget: 5% }");
    assert!(asked <= 1050, "at most a twentieth more: {asked}");
    assert!(with * 5 <= without, "{with:?} is a fifth of {without:?}, or less");
}
