//! A new config takes effect on file change or SIGHUP, without dropping a request or the cache; a bad one changes nothing.

use testkit::{Certificate, Fleetfoot, Gate, Origin, RawClient, Script, ok};

use crate::setup::{config, config_with};

#[test]
fn a_changed_file_takes_effect_by_itself() {
    let (old, new) = (Origin::start(), Origin::start());
    old.on("*").reply(ok("", "old"));
    new.on("*").reply(ok("", "new"));
    let mut fleetfoot = Fleetfoot::start(&config(old.address(), "ttl: origin"));
    assert_eq!(fleetfoot.get("/").text(), "old");
    fleetfoot.rewrite(&config(new.address(), "ttl: origin"));
    fleetfoot.wait_until("changed", |fleetfoot| fleetfoot.get("/").text() == "new");
}

#[test]
fn a_file_written_in_place_takes_effect_too() {
    let (old, new) = (Origin::start(), Origin::start());
    old.on("*").reply(ok("", "old"));
    new.on("*").reply(ok("", "new"));
    let mut fleetfoot = Fleetfoot::start(&config(old.address(), "-"));
    assert_eq!(fleetfoot.get("/").text(), "old");
    std::fs::write(fleetfoot.config_file(), config(new.address(), "-")).unwrap();
    fleetfoot.wait_until("changed", |fleetfoot| fleetfoot.get("/").text() == "new");
}

#[test]
fn a_reload_keeps_connections_requests_and_the_cache() {
    let (old, new) = (Origin::start(), Origin::start());
    let gate = Gate::new();
    old.on("/kept").reply(ok("Cache-Control: max-age=600", "kept"));
    old.on("/slow")
        .reply(Script::from("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\none").wait(&gate).send("two"));
    new.on("*").reply(ok("", "new"));
    let mut fleetfoot = Fleetfoot::start(&config(old.address(), "ttl: origin"));
    fleetfoot.get("/kept");
    let mut idle = fleetfoot.connect();
    assert_eq!(idle.ask("GET /kept HTTP/1.1\r\nHost: example.test\r\n\r\n").text(), "kept");
    let mut slow = fleetfoot.connect();
    slow.send("GET /slow HTTP/1.1\r\nHost: example.test\r\n\r\n").read_until(b"one");
    let address = fleetfoot.address();

    fleetfoot.rewrite(&config(new.address(), "ttl: origin"));
    fleetfoot.hang_up();
    fleetfoot.wait_until("changed", |fleetfoot| fleetfoot.get("/other").text() == "new");

    gate.open();
    slow.read_until(b"two");
    assert_eq!(fleetfoot.address(), address);
    let hit = idle.ask("GET /kept HTTP/1.1\r\nHost: example.test\r\n\r\n");
    assert!(hit.is_hit() && hit.text() == "kept", "{hit:?}");
    assert_eq!(idle.ask("GET /more HTTP/1.1\r\nHost: example.test\r\n\r\n").text(), "new");
}

#[test]
fn no_request_is_lost_while_configs_change() {
    let origin = Origin::start();
    origin.on("*").reply(ok("Cache-Control: max-age=600", "x"));
    let fleetfoot = Fleetfoot::start(&config(origin.address(), "ttl: origin"));
    let address = fleetfoot.address();
    let load = std::thread::spawn(move || {
        for n in 0..1_000 {
            let mut client = RawClient::connect(address);
            for kind in ["hit", &format!("miss-{n}")] {
                let answer = client.ask(format!("GET /{kind} HTTP/1.1\r\nHost: example.test\r\n\r\n"));
                assert_eq!((answer.status, answer.text().as_str()), (200, "x"));
            }
        }
    });
    let mut round = 0;
    while !load.is_finished() {
        round += 1;
        fleetfoot.rewrite(&config_with(
            origin.address(),
            "ttl: origin",
            &format!("drain: {}s", 1 + round % 50),
        ));
        fleetfoot.hang_up();
        fleetfoot.get_admin("/livez");
    }
    load.join().expect("every request was answered");
}

#[test]
fn a_bad_file_changes_nothing_and_says_why() {
    let origin = Origin::start();
    origin.on("*").reply(ok("", "x"));
    let fleetfoot = Fleetfoot::start(&config(origin.address(), "ttl: origin"));
    fleetfoot.rewrite(&config(origin.address(), "ttl: origin").replace("cores:", "coers:"));
    fleetfoot.hang_up();
    let said = fleetfoot.stderr().wait_for("coers").expect("it says what is wrong");
    assert!(!said.is_empty());
    assert_eq!(fleetfoot.get("/").text(), "x");
    // And it can be put back as it was.
    let mut fleetfoot = fleetfoot;
    fleetfoot.rewrite(&config(origin.address(), "ttl: origin"));
    fleetfoot.wait_for_metrics("no longer refused", |metrics| {
        metrics.sum("fleetfoot_config_last_load_successful", &[]) > 0.5
    });
    // Or put right.
    let other = Origin::start();
    other.on("*").reply(ok("", "right"));
    fleetfoot.rewrite(&config(other.address(), "ttl: origin"));
    fleetfoot.hang_up();
    fleetfoot.wait_until("right", |fleetfoot| fleetfoot.get("/").text() == "right");
}

#[test]
fn a_reload_that_cannot_listen_keeps_the_certificate_too() {
    let (origin, first, second) = (Origin::start(), Certificate::new(), Certificate::new());
    origin.on("*").reply(ok("", "x"));
    let with = |certificate: &Certificate, more: &str| {
        let listen = format!(
            "listen: {{ http: [127.0.0.1:0{more}], https: 127.0.0.1:0, admin: 127.0.0.1:0, \
             tls: {{ certificate: {}, key: {} }} }}",
            certificate.file().display(),
            certificate.key_file().display()
        );
        config_with(origin.address(), "-", &listen)
    };
    let mut fleetfoot = Fleetfoot::start(&with(&first, ""));
    fleetfoot.rewrite(&with(&second, &format!(", {}", origin.address())));
    fleetfoot.wait_for_metrics("refused", |metrics| {
        metrics.sum("fleetfoot_config_last_load_successful", &[]) < 0.5
    });
    let ask = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    assert_eq!(RawClient::connect_tls(fleetfoot.https(), &first).ask(ask).text(), "x");
}
