//! `Age` arithmetic: RFC 9111 §4.2.3, with clocks that differ and origins that are slow.

use std::time::Instant;

use testkit::{Answer, Fleetfoot, Gate, Origin, Script, http_date, ok};

use crate::setup::{cached, each};

/// A hit on an answer that came with these fields.
fn hit(fields: &str) -> Answer {
    let origin = Origin::start();
    origin.on("*").reply(ok(fields, "x"));
    let fleetfoot = cached(&origin);
    fleetfoot.get("/");
    let answer = fleetfoot.get("/");
    assert!(answer.is_hit(), "{answer:?}");
    answer
}

#[test]
fn age_adds_up_what_came_before() {
    let started = Instant::now();
    let past = http_date(-100);
    let rows = [
        ("Cache-Control: max-age=600".to_owned(), 0),
        ("Cache-Control: max-age=600\nAge: 50".to_owned(), 50),
        (format!("Cache-Control: max-age=600\nDate: {past}"), 100),
        (format!("Cache-Control: max-age=600\nDate: {past}\nAge: 50"), 100),
        (format!("Cache-Control: max-age=600\nDate: {past}\nAge: 200"), 200),
        // A date in the future is somebody's wrong clock and makes nothing younger than new.
        (format!("Cache-Control: max-age=600\nDate: {}", http_date(1_000)), 0),
        (format!("Cache-Control: max-age=600\nDate: {}\nAge: 50", http_date(1_000)), 50),
        ("Cache-Control: max-age=600\nDate: yesterday".to_owned(), 0),
        // RFC 9111 §5.1: the first of several; one that is no number is ignored.
        ("Cache-Control: max-age=600\nAge: 50, 60".to_owned(), 50),
        ("Cache-Control: max-age=600\nAge: 50\nAge: 60".to_owned(), 50),
        ("Cache-Control: max-age=600\nAge: -50".to_owned(), 0),
        ("Cache-Control: max-age=600\nAge: old".to_owned(), 0),
    ];
    each(rows.iter().map(|row| (&row.0, row)), |_, (fields, expected)| {
        let answer = hit(fields);
        let age = answer.age().expect("every answer from the cache has an Age");
        // The dates above are as old as this test by now.
        let most = expected + 3 + started.elapsed().as_secs();
        assert!((*expected..=most).contains(&age), "Age is {age}, not {expected}");
        assert_eq!(answer.head.all("Age").count(), 1);
    });
}

#[test]
fn a_huge_age_overflows_nothing() {
    for age in ["2147483648", "99999999999", "99999999999999999999999999"] {
        let origin = Origin::start();
        origin.on("*").reply(ok(&format!("Cache-Control: max-age=600\nAge: {age}"), "x"));
        let fleetfoot = cached(&origin);
        assert_eq!(fleetfoot.get("/").status, 200);
        assert!(!fleetfoot.get("/").is_hit(), "{age}");
    }
}

#[test]
fn the_time_an_origin_takes_counts() {
    let origin = Origin::start();
    let gate = Gate::new();
    let held = gate.clone();
    origin.on("*").answer(move |_| {
        held.wait();
        // The moment of the answer, which a slow network may deliver late; here: as if it had been on the way for 100 s.
        ok(&format!("Cache-Control: max-age=600\nDate: {}", http_date(-100)), "x")
    });
    let fleetfoot = cached(&origin);
    gate.open();
    fleetfoot.get("/");
    assert!(fleetfoot.get("/").age().is_some_and(|age| age >= 100));
}

#[test]
fn an_answer_straight_from_the_origin_keeps_the_age_it_had() {
    let origin = Origin::start();
    origin.on("/aged").reply(ok("Cache-Control: max-age=600\nAge: 50", "x"));
    origin.on("/new").reply(ok("Cache-Control: max-age=600", "x"));
    let fleetfoot: Fleetfoot = cached(&origin);
    assert!(fleetfoot.get("/aged").age().is_some_and(|age| (50..53).contains(&age)));
    assert!(matches!(fleetfoot.get("/new").age(), None | Some(0)));
}

#[test]
fn an_answer_without_a_date_is_given_one() {
    let origin = Origin::start();
    origin
        .on("*")
        .reply(Script::from("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 1\r\n\r\nx"));
    let fleetfoot = cached(&origin);
    let (first, second) = (fleetfoot.get("/"), fleetfoot.get("/"));
    assert!(first.has("Date"));
    assert_eq!(first.field("Date"), second.field("Date"), "the date of a stored answer stays");
    assert_eq!(second.head.all("Date").count(), 1);
}
