//! SIGTERM: no new work, requests under way finish, and the process ends by itself.

use std::net::TcpStream;

use testkit::{Fleetfoot, Gate, Origin, Script, ok};

use crate::setup::{cached, config_with};

#[test]
fn requests_under_way_finish() {
    let origin = Origin::start();
    let gate = Gate::new();
    origin
        .on("GET /slow")
        .reply(Script::from("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\none").wait(&gate).send("two"));
    let mut fleetfoot = cached(&origin);
    let address = fleetfoot.address();
    let mut slow = fleetfoot.connect();
    slow.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n").read_until(b"one");
    fleetfoot.terminate();
    fleetfoot.wait_until("closed to newcomers", |_| TcpStream::connect(address).is_err());
    gate.open();
    assert_eq!(slow.read_exactly(3), b"two");
    assert!(fleetfoot.wait_for_exit().success());
}

#[test]
fn an_idle_program_ends_at_once() {
    let origin = Origin::start();
    origin.on("*").reply(ok("", "x"));
    let mut fleetfoot = cached(&origin);
    let mut idle = fleetfoot.connect();
    idle.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    fleetfoot.terminate();
    assert!(idle.is_closed());
    assert!(fleetfoot.wait_for_exit().success());
}

#[test]
fn it_says_that_it_is_not_ready_any_more() {
    let origin = Origin::start();
    let gate = Gate::new();
    origin.on("*").reply(Script::new().wait(&gate).then(ok("", "x")));
    let mut fleetfoot = cached(&origin);
    let mut slow = fleetfoot.connect();
    slow.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    origin.wait_for(1, "GET /");
    fleetfoot.terminate();
    fleetfoot.wait_until("not ready", |fleetfoot| fleetfoot.get_admin("/readyz").status == 503);
    assert_eq!(fleetfoot.get_admin("/livez").status, 200);
    gate.open();
    let answer = slow.read_answer();
    assert_eq!(answer.text(), "x");
    assert!(answer.joined("Connection").eq_ignore_ascii_case("close"), "{answer:?}");
    assert!(fleetfoot.wait_for_exit().success());
}

#[test]
fn it_is_not_ready_before_it_stops_listening() {
    let origin = Origin::start();
    origin.on("*").reply(ok("", "x"));
    let mut fleetfoot = Fleetfoot::start(&config_with(origin.address(), "-", "drain_delay: 1h"));
    fleetfoot.terminate();
    fleetfoot.wait_until("not ready", |fleetfoot| fleetfoot.get_admin("/readyz").status == 503);
    assert_eq!(fleetfoot.get("/").text(), "x", "newcomers are served until everybody knows");
    fleetfoot.terminate();
    fleetfoot.wait_for_exit();
}

#[test]
fn draining_has_an_end() {
    let origin = Origin::start();
    let never = Gate::new();
    origin.on("*").reply(Script::new().wait(&never));
    let mut fleetfoot = Fleetfoot::start(&config_with(origin.address(), "-", "drain: 100ms"));
    let mut stuck = fleetfoot.connect();
    stuck.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    origin.wait_for(1, "GET /");
    fleetfoot.terminate();
    fleetfoot.wait_for_exit();
    never.open();
}

/// The leader's core has nothing left to do, but its fetch feeds a client of another core. Which core a connection comes
/// to is the kernel's choice, so it is tried several times.
#[test]
fn a_fetch_that_others_follow_outlives_its_leaders_core() {
    for _ in 0..5 {
        let origin = Origin::start();
        let gate = Gate::new();
        let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 6\r\n\r\none";
        origin.on("GET /").reply(Script::from(head).wait(&gate).send("two"));
        let config = config_with(origin.address(), "ttl: origin", "").replace("cores: 1", "cores: 2");
        let mut fleetfoot = Fleetfoot::start(&config);
        let ask = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
        let mut leader = fleetfoot.connect();
        leader.send(ask).read_until(b"one");
        let mut follower = fleetfoot.connect();
        follower.send(ask).read_until(b"one");
        let address = fleetfoot.address();
        fleetfoot.terminate();
        fleetfoot.wait_until("closed to newcomers", |_| TcpStream::connect(address).is_err());
        drop(leader);
        fleetfoot.wait_for_metrics("one client left", |metrics| {
            metrics.sum("fleetfoot_open_connections", &[]) < 1.5
        });
        gate.open();
        assert_eq!(follower.read_exactly(3), b"two");
        drop(follower);
        assert!(fleetfoot.wait_for_exit().success());
    }
}
