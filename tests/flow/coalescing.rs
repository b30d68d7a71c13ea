//! One fetch for everybody who waits, and what must not come of it.

use std::time::{Duration, Instant};

use testkit::{Fleetfoot, Gate, Origin, RawClient, Script, ok, status};

use crate::setup::{cached, cached_with, config_with, until_taken_up};

const ASK: &str = "GET / HTTP/1.1\r\nHost: example.test\r\n\r\n";

/// Connections that have all asked for `/`, the first of them known to be the one that fetches.
fn waiting(fleetfoot: &Fleetfoot, origin: &Origin, count: usize) -> Vec<RawClient> {
    let mut clients = vec![fleetfoot.connect()];
    clients[0].send(ASK);
    origin.wait_for(1, "GET /");
    for _ in 1..count {
        let mut client = fleetfoot.connect();
        client.send(ASK);
        clients.push(client);
    }
    until_taken_up(fleetfoot);
    clients
}

fn all_ask(clients: &mut [RawClient]) {
    for client in clients {
        client.send(ASK);
    }
}

#[test]
fn a_stampede_costs_one_fetch_and_the_time_of_one() {
    let origin = Origin::start();
    let answer = ok("Cache-Control: max-age=600", "x".repeat(1024));
    origin.on("GET /").reply(Script::new().pause(Duration::from_secs(1)).then(answer));
    let fleetfoot = cached(&origin);
    let mut clients: Vec<RawClient> = (0..1_000).map(|_| fleetfoot.connect()).collect();
    let start = Instant::now();
    all_ask(&mut clients);
    let answers: Vec<_> = clients.iter_mut().map(RawClient::read_answer).collect();
    let took = start.elapsed();
    assert!(answers.iter().all(|answer| answer.status == 200 && answer.body.len() == 1024));
    assert_eq!(origin.count("GET /"), 1);
    // 1.2 s is the budget of a release build on a quiet machine, which the benchmarks hold; this is a shared one.
    assert!(took < Duration::from_secs(3), "{took:?}");
    let collapsed = answers.iter().filter(|answer| answer.cache_status().contains("collapsed")).count();
    assert!(collapsed >= 900, "{collapsed} say that they were collapsed");
}

#[test]
fn followers_stream_while_the_fill_goes_on() {
    let origin = Origin::start();
    let gate = Gate::new();
    let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 6\r\n\r\n";
    origin.on("GET /").reply(Script::from(head).send("one").wait(&gate).send("two"));
    let fleetfoot = cached(&origin);
    let mut leader = fleetfoot.connect();
    leader.send(ASK).read_until(b"one");
    let mut late = fleetfoot.connect();
    late.send(ASK).read_until(b"one");
    gate.open();
    assert_eq!((leader.read_exactly(3), late.read_exactly(3)), (b"two".to_vec(), b"two".to_vec()));
    assert_eq!(origin.count("GET /"), 1);
}

#[test]
fn a_leader_may_hang_up() {
    let origin = Origin::start();
    let gate = Gate::new();
    origin.on("GET /").reply(Script::new().wait(&gate).then(ok("Cache-Control: max-age=600", "x")));
    let fleetfoot = cached(&origin);
    let mut clients = waiting(&fleetfoot, &origin, 10);
    clients.remove(0).reset();
    until_taken_up(&fleetfoot);
    gate.open();
    assert!(clients.iter_mut().all(|client| client.read_answer().text() == "x"));
    assert_eq!(origin.count("GET /"), 1);
}

#[test]
fn a_leader_alone_may_hang_up_and_the_answer_is_stored() {
    let origin = Origin::start();
    let gate = Gate::new();
    origin.on("GET /").reply(Script::new().wait(&gate).then(ok("Cache-Control: max-age=600", "x")));
    let mut fleetfoot = cached(&origin);
    let mut clients = waiting(&fleetfoot, &origin, 1);
    clients.remove(0).reset();
    until_taken_up(&fleetfoot);
    gate.open();
    fleetfoot.wait_until("stored", |fleetfoot| fleetfoot.get("/").is_hit());
    assert!(origin.count("GET /") <= 2);
}

#[test]
fn a_failed_fill_releases_all_at_once() {
    let origin = Origin::start();
    let gate = Gate::new();
    origin.on("GET /").reply(Script::new().wait(&gate).then(Script::from("garbage\r\n\r\n").close()));
    let fleetfoot = cached(&origin);
    let mut clients = waiting(&fleetfoot, &origin, 100);
    gate.open();
    assert!(clients.iter_mut().all(|client| client.read_answer().status == 502));
    assert!(origin.count("GET /") <= 100);
}

#[test]
fn a_fill_that_breaks_off_is_broken_for_all_and_kept_for_none() {
    let origin = Origin::start();
    let gate = Gate::new();
    let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 6\r\n\r\n";
    let whole = ok("Cache-Control: max-age=600", "whole");
    origin.on("GET /").replies([Script::from(head).send("one").wait(&gate).reset(), whole]);
    let fleetfoot = cached(&origin);
    let mut clients: Vec<RawClient> = (0..5).map(|_| fleetfoot.connect()).collect();
    for client in &mut clients {
        client.send(ASK).read_until(b"one");
    }
    gate.open();
    assert!(clients.iter_mut().all(RawClient::is_closed));
    assert_eq!(fleetfoot.get("/").text(), "whole");
}

#[test]
fn an_uncacheable_answer_does_not_queue_the_others_one_behind_another() {
    let origin = Origin::start();
    let (first, rest) = (Gate::new(), Gate::new());
    let (first_held, rest_held) = (first.clone(), rest.clone());
    let asked = std::sync::atomic::AtomicUsize::new(0);
    origin.on("GET /").answer(move |_| {
        let number = asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        if number == 0 { &first_held } else { &rest_held }.wait();
        ok("Cache-Control: no-store", number.to_string())
    });
    let fleetfoot = cached(&origin);
    let mut clients = waiting(&fleetfoot, &origin, 20);
    first.open();
    // All others are on their way at the same time, although none of them has been answered.
    origin.wait_for(20, "GET /");
    rest.open();
    let mut texts: Vec<usize> =
        clients.iter_mut().map(|client| client.read_answer().text().parse().unwrap()).collect();
    texts.sort_unstable();
    assert_eq!(texts, (0..20).collect::<Vec<_>>(), "everybody has an answer of their own");
}

#[test]
fn a_key_known_to_be_uncacheable_is_not_held_up() {
    let origin = Origin::start();
    let gate = Gate::new();
    origin.on("GET /").reply(ok("Cache-Control: no-store", "x"));
    let fleetfoot = cached(&origin);
    fleetfoot.get("/");
    origin.on("GET /").reply(Script::new().wait(&gate).then(ok("Cache-Control: no-store", "x")));
    let mut clients: Vec<RawClient> = (0..10).map(|_| fleetfoot.connect()).collect();
    all_ask(&mut clients);
    origin.wait_for(11, "GET /");
    gate.open();
    assert!(clients.iter_mut().all(|client| client.read_answer().text() == "x"));
}

/// Each may get an answer of their own, so that the slowest would hold up all others.
#[test]
fn who_has_credentials_waits_for_nobody_and_holds_up_nobody() {
    for who in ["Cookie: session=a", "Authorization: Bearer a"] {
        let origin = Origin::start();
        let (slow, rest) = (Gate::new(), Gate::new());
        let (held, others) = (slow.clone(), rest.clone());
        origin.on("GET /").answer(move |request| {
            if request.field("X-Slow").is_some() { &held } else { &others }.wait();
            ok("Cache-Control: private", "x")
        });
        let fleetfoot = cached(&origin);
        let asking = |more: &str| format!("GET / HTTP/1.1\r\nHost: example.test\r\n{more}\r\n\r\n");
        let mut first = fleetfoot.connect();
        first.send(asking(&format!("X-Slow: 1\r\n{who}")));
        origin.wait_for(1, "GET /");
        let mut clients: Vec<RawClient> = (0..10).map(|_| fleetfoot.connect()).collect();
        for (number, client) in clients.iter_mut().enumerate() {
            // Half of them are logged in, too; the others share a fetch of their own.
            client.send(asking(if number % 2 == 0 { who } else { "X-Other: 1" }));
        }
        origin.wait_for(1 + 5 + 1, "GET /");
        rest.open();
        assert!(clients.iter_mut().all(|client| client.read_answer().text() == "x"), "{who}");
        slow.open();
        assert_eq!(first.read_answer().text(), "x");
    }
}

/// Where the key says which cookies count, the origin sees no others.
#[test]
fn who_has_cookies_that_the_key_holds_shares_a_fetch() {
    let origin = Origin::start();
    let gate = Gate::new();
    origin.on("GET /").reply(Script::new().wait(&gate).then(ok("Cache-Control: max-age=600", "x")));
    let fleetfoot = cached_with(&origin, "ttl: origin, key: { cookies: [currency] }");
    let mut clients: Vec<RawClient> = (0..10).map(|_| fleetfoot.connect()).collect();
    for (number, client) in clients.iter_mut().enumerate() {
        client.send(format!("GET / HTTP/1.1\r\nHost: a\r\nCookie: currency=EUR; _ga={number}\r\n\r\n"));
    }
    origin.wait_for(1, "GET /");
    until_taken_up(&fleetfoot);
    gate.open();
    assert!(clients.iter_mut().all(|client| client.read_answer().text() == "x"));
    assert_eq!(origin.count("GET /"), 1);
}

/// Whoever waited for it asks for themself; who comes afterwards does not wait for the next one, for ten times as long.
#[test]
fn a_failure_that_could_not_be_shared_is_learnt_at_once() {
    for line in ["503 Service Unavailable", "500 Internal Server Error", "403 Forbidden"] {
        let origin = Origin::start();
        let (first, rest) = (Gate::new(), Gate::new());
        let held = |gate, time| Script::new().wait(gate).pause(time).then(status(line, "", "x"));
        origin.on("GET /").replies([held(&first, Duration::from_secs(1)), held(&rest, Duration::ZERO)]);
        let fleetfoot = cached(&origin);
        let mut early = waiting(&fleetfoot, &origin, 5);
        first.open();
        origin.wait_for(5, "GET /");
        let mut late: Vec<RawClient> = (0..5).map(|_| fleetfoot.connect()).collect();
        all_ask(&mut late);
        origin.wait_for(10, "GET /");
        rest.open();
        assert!(early.iter_mut().chain(&mut late).all(|client| client.read_answer().text() == "x"), "{line}");
    }
}

#[test]
fn a_follower_of_another_variant_gets_its_own() {
    let origin = Origin::start();
    let gate = Gate::new();
    let held = gate.clone();
    origin.on("GET /").answer(move |request| {
        held.wait();
        ok("Cache-Control: max-age=600\nVary: X-A", request.field("X-A").unwrap_or_default())
    });
    let fleetfoot = cached(&origin);
    let mut clients: Vec<(usize, RawClient)> = Vec::new();
    for n in 0..20 {
        let mut client = fleetfoot.connect();
        client.send(format!("GET / HTTP/1.1\r\nHost: example.test\r\nX-A: {}\r\n\r\n", n % 4));
        clients.push((n % 4, client));
        if n == 0 {
            origin.wait_for(1, "GET /");
        }
    }
    until_taken_up(&fleetfoot);
    gate.open();
    for (variant, client) in &mut clients {
        assert_eq!(client.read_answer().text(), variant.to_string());
    }
    assert!(origin.count("GET /") <= 16, "{} fetches", origin.count("GET /"));
}

#[test]
fn a_body_over_the_limit_streams_past_the_cache_to_everybody() {
    let origin = Origin::start();
    let gate = Gate::new();
    let body = "y".repeat(1024 * 1024);
    for (framing, content) in [
        (format!("Content-Length: {}", body.len()), body.clone()),
        ("Transfer-Encoding: chunked".to_owned(), format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len())),
    ] {
        let head = format!("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\n{framing}\r\n\r\n");
        origin.on("GET /").reply(Script::new().wait(&gate).send(head).send(content));
        let fleetfoot = cached_with(&origin, "ttl: origin, max_body: 64KiB");
        let before = origin.count("GET /");
        let mut clients: Vec<RawClient> = (0..5).map(|_| fleetfoot.connect()).collect();
        all_ask(&mut clients);
        origin.wait_for(before + 1, "GET /");
        gate.open();
        for client in &mut clients {
            assert_eq!(client.read_answer().body.len(), body.len(), "{framing}");
        }
        assert!(!fleetfoot.get("/").is_hit());
    }
}

#[test]
fn coalescing_can_be_switched_off() {
    let origin = Origin::start();
    let gate = Gate::new();
    origin.on("GET /").reply(Script::new().wait(&gate).then(ok("Cache-Control: max-age=600", "x")));
    let fleetfoot = cached_with(&origin, "ttl: origin, coalesce: false");
    let mut clients: Vec<RawClient> = (0..5).map(|_| fleetfoot.connect()).collect();
    all_ask(&mut clients);
    origin.wait_for(5, "GET /");
    gate.open();
    assert!(clients.iter_mut().all(|client| client.read_answer().text() == "x"));
}

#[test]
fn fills_are_shared_between_cores() {
    let origin = Origin::start();
    let gate = Gate::new();
    origin.on("GET /").reply(Script::new().wait(&gate).then(ok("Cache-Control: max-age=600", "x")));
    let text = config_with(origin.address(), "ttl: origin", "").replace("cores: 1", "cores: 4");
    let fleetfoot = Fleetfoot::start(&text);
    let mut clients: Vec<RawClient> = (0..100).map(|_| fleetfoot.connect()).collect();
    all_ask(&mut clients);
    origin.wait_for(1, "GET /");
    gate.open();
    assert!(clients.iter_mut().all(|client| client.read_answer().text() == "x"));
    assert_eq!(origin.count("GET /"), 1);
}

#[test]
fn a_stale_answer_is_validated_once_for_all() {
    let origin = Origin::start();
    let gate = Gate::new();
    let stale = ok("Cache-Control: max-age=90\nAge: 100\nETag: \"one\"", "kept");
    let confirmed = testkit::not_modified("Cache-Control: max-age=600\nETag: \"one\"");
    origin.on("GET /").replies([stale, Script::new().wait(&gate).then(confirmed)]);
    let fleetfoot = cached(&origin);
    fleetfoot.get("/");
    let mut clients: Vec<RawClient> = (0..50).map(|_| fleetfoot.connect()).collect();
    all_ask(&mut clients);
    origin.wait_for(2, "GET /");
    until_taken_up(&fleetfoot);
    gate.open();
    assert!(clients.iter_mut().all(|client| client.read_answer().text() == "kept"));
    assert_eq!(origin.count("GET /"), 2);
}

#[test]
fn followers_of_an_error_share_it_without_storing_it() {
    let origin = Origin::start();
    let gate = Gate::new();
    let failed = Script::new().wait(&gate).then(status("503 Service Unavailable", "", "busy"));
    origin.on("GET /").replies([failed, ok("Cache-Control: max-age=600", "well")]);
    let fleetfoot = cached(&origin);
    let mut clients = waiting(&fleetfoot, &origin, 10);
    gate.open();
    let texts: Vec<String> = clients.iter_mut().map(|client| client.read_answer().text()).collect();
    assert!(texts.iter().all(|text| text == "busy" || text == "well"), "{texts:?}");
    assert_eq!(fleetfoot.get("/").text(), "well");
}
