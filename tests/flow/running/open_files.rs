//! At the limit of open files: the admin port answers, it is said once, and no target is blamed.

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use testkit::{Fleetfoot, Origin, RawClient, ok};

use crate::setup::proxied;

/// So many more than it has open now.
fn limit_files(fleetfoot: &Fleetfoot, more: u64) {
    let open =
        std::fs::read_dir(format!("/proc/{}/fd", fleetfoot.pid())).expect("our child runs").count() as u64;
    let pid = i32::try_from(fleetfoot.pid()).ok().and_then(Pid::from_raw);
    let limit = Rlimit { current: Some(open + more), maximum: getrlimit(Resource::Nofile).maximum };
    prlimit(pid, Resource::Nofile, limit).expect("it is our child");
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
    // Whoever is inside, is told that it is us.
    let mut refused = early.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    for _ in 0..3 {
        assert_eq!(refused.status, 503, "{refused:?}");
        refused = early.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    assert!(!fleetfoot.stderr().all().iter().any(|line| line.contains("passing the target over")));
    drop(crowd);
    fleetfoot.wait_until("well again", |_| early.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n").status == 200);
    let told = fleetfoot.stderr().all();
    let told = told.iter().filter(|line| line.contains("no further connection can be taken")).count();
    assert_eq!(told, 1);
}
