//! At the limit of open files: the admin port answers, it is said once, and no target is blamed.

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use testkit::{Fleetfoot, Origin, RawClient, RedisServer, ok};

use crate::composing::support::{composing, mariadb, postgres, refs, sql};
use crate::setup::proxied;

/// So many more than it has open now.
fn limit_files(fleetfoot: &Fleetfoot, more: u64) {
    let open =
        std::fs::read_dir(format!("/proc/{}/fd", fleetfoot.pid())).expect("our child runs").count() as u64;
    set_limit(fleetfoot, Some(open + more));
}

fn set_limit(fleetfoot: &Fleetfoot, current: Option<u64>) {
    let pid = i32::try_from(fleetfoot.pid()).ok().and_then(Pid::from_raw);
    let limit = Rlimit { current, maximum: getrlimit(Resource::Nofile).maximum };
    prlimit(pid, Resource::Nofile, limit).expect("it is our child");
}

#[test]
fn neither_redis_nor_a_database_is_blamed() {
    let (redis, maria, postgres) = (RedisServer::start(), mariadb(), postgres());
    drop(redis.command(&["SET", "a", "1"]).or_panic());
    let sources = [
        format!("redis: {{ redis: \"{}\", public: true }}", redis.url()),
        format!("maria: {}", sql(&maria.url(), "")),
        format!("postgres: {}", sql(&postgres.url(), "")),
    ];
    let routes = [
        "match: /redis, read: { redis: GET a }".to_owned(),
        "match: /maria, compose: { one: { maria: SELECT 1 AS a } }".to_owned(),
        "match: /postgres, compose: { one: { postgres: SELECT 1 AS a } }".to_owned(),
    ];
    let mut fleetfoot = composing(&refs(&sources), &refs(&routes));
    let mut client = fleetfoot.connect();
    let mut ask = |path: &str| client.ask(format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n"));
    ask("/nothing");
    // The standard streams have the numbers below.
    set_limit(&fleetfoot, Some(3));
    drop(redis.command(&["CLIENT", "KILL", "TYPE", "normal"]).or_panic());
    let paths = ["/redis", "/maria", "/postgres"];
    for path in paths {
        // As often as opens the breaker of a server that fails.
        for _ in 0..6 {
            let refused = ask(path);
            assert_eq!(refused.status, 503, "{path}: {refused:?}");
        }
    }
    set_limit(&fleetfoot, Some(512));
    for path in paths {
        fleetfoot.wait_until("well again", |_| ask(path).status == 200);
    }
    let told = fleetfoot.stderr().all();
    assert!(!told.iter().any(|line| line.contains("left alone")), "{told:?}");
}

#[test]
fn the_admin_port_answers_it_is_said_once_and_no_target_is_blamed() {
    let origin = Origin::start();
    origin.on("*").reply(ok("Connection: close", "x"));
    let mut fleetfoot = proxied(&origin);
    let mut early = fleetfoot.connect();
    assert_eq!(early.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n").status, 200);
    limit_files(&fleetfoot, 30);
    let crowd: Vec<_> = (0..100).map(|_| RawClient::connect(fleetfoot.address())).collect();
    fleetfoot.wait_for_metrics("at the limit", |metrics| {
        metrics.sum("fleetfoot_connections_total", &["event=\"accept-failed\""]) >= 1.0
    });
    assert!(fleetfoot.stderr().wait_for("no further connection can be taken").is_some());
    for path in ["/livez", "/readyz", "/metrics"] {
        assert_eq!(fleetfoot.get_admin(path).status, 200, "{path}");
    }
    // The admin port's connections freed a few files. Once the crowd has taken those, requests get a 503.
    fleetfoot.wait_until("at the limit again", |_| {
        (0..4).all(|_| early.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n").status == 503)
    });
    assert!(!fleetfoot.stderr().all().iter().any(|line| line.contains("passing the target over")));
    drop(crowd);
    fleetfoot.wait_until("well again", |_| early.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n").status == 200);
    let told = fleetfoot.stderr().all();
    let told = told.iter().filter(|line| line.contains("no further connection can be taken")).count();
    assert_eq!(told, 1);
}
