//! Reads while Redis is slow, silent, cut off or failed over: with leave to be stale no request fails, and nothing is older
//! than the trouble lasted. What has changed before may be given again while Redis is gone, within `max_stale`; so where
//! values are tracked, nobody writes while there is trouble.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use testkit::{Fleetfoot, RedisSentinel, RedisServer, SlowLink, wait_until};

use super::support::of_source;
use crate::load::{Load, TARGETS, TROUBLES, Trouble, meanwhile};

/// Somebody who writes the time under every key, again and again, wherever it is taken.
struct Writer {
    stop: Arc<AtomicBool>,
    rest: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Writer {
    fn start(begun: Instant, servers: Vec<SocketAddr>) -> Writer {
        let stop = Arc::new(AtomicBool::new(false));
        let rest = Arc::new(AtomicBool::new(false));
        let (stopped, rests) = (Arc::clone(&stop), Arc::clone(&rest));
        let thread = std::thread::spawn(move || {
            let mut lines: Vec<Option<TcpStream>> = servers.iter().map(|_| None).collect();
            while !stopped.load(Ordering::Relaxed) {
                meanwhile(20);
                if rests.load(Ordering::Relaxed) {
                    continue;
                }
                let pairs = (0..TARGETS).map(|key| format!(" {key} {}", begun.elapsed().as_millis()));
                let command = format!("MSET{}\r\n", pairs.collect::<String>());
                for (server, line) in servers.iter().zip(&mut lines) {
                    if write(*server, line, &command).is_err() {
                        *line = None;
                    }
                }
            }
        });
        Writer { stop, rest, thread }
    }

    /// Writes nothing for now, and what is on its way has arrived.
    fn rest(&self) {
        self.rest.store(true, Ordering::Relaxed);
        meanwhile(250);
    }

    fn go_on(&self) {
        self.rest.store(false, Ordering::Relaxed);
    }

    fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("the writer does not panic");
    }
}

/// A replica refuses it, and a server that is gone does not hear it.
fn write(server: SocketAddr, line: &mut Option<TcpStream>, command: &str) -> std::io::Result<()> {
    const PATIENCE: Duration = Duration::from_millis(200);
    if line.is_none() {
        let fresh = TcpStream::connect_timeout(&server, PATIENCE)?;
        fresh.set_read_timeout(Some(PATIENCE))?;
        fresh.set_write_timeout(Some(PATIENCE))?;
        *line = Some(fresh);
    }
    if let Some(line) = line {
        line.write_all(command.as_bytes())?;
        if line.read(&mut [0; 256])? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(())
}

const ROUTE: &str = r#"match: "GET /{key}", read: { redis: "GET ${path.key}", as: text }"#;

/// The longest trouble, the time until it is noticed, and the time an answer takes while everything is busy.
const OLDEST: Duration = Duration::from_millis(4500);

/// Every target has an answer and, where that is wanted, it is held.
fn until_readable(fleetfoot: &mut Fleetfoot, held: bool) {
    for target in 0..TARGETS {
        fleetfoot.wait_until("readable", |fleetfoot| {
            let answer = fleetfoot.get(&format!("/{target}"));
            answer.status == 200 && (!held || answer.is_hit())
        });
    }
}

/// Values are new again, without a restart.
fn until_new(fleetfoot: &mut Fleetfoot, begun: Instant) {
    let now = begun.elapsed().as_millis();
    for target in [0, TARGETS - 1] {
        fleetfoot.wait_until("new again", |fleetfoot| {
            fleetfoot.get(&format!("/{target}")).text().parse::<u128>().is_ok_and(|made| made > now)
        });
    }
}

#[test]
fn trouble_in_the_middle_of_load_fails_no_read() {
    const MORE: [Trouble; 1] = [("everybody thrown out", |redis, _| {
        redis.command(&["CLIENT", "KILL", "TYPE", "normal"]);
    })];
    let begun = Instant::now();
    let redis = RedisServer::start();
    let line = SlowLink::to(redis.port());
    let writer = Writer::start(begun, vec![redis.address()]);
    for (mode, is_tracked) in [("mode: central", false), ("mode: tracked, silence: 500ms", true)] {
        let source = format!(
            "{{ redis: \"redis://{}\", public: true, timeout: 100ms, max_stale: 30s, {mode} }}",
            line.address()
        );
        let mut fleetfoot = Fleetfoot::start(&of_source(&source, &[ROUTE]));
        for (what, trouble) in TROUBLES.into_iter().chain(MORE) {
            if is_tracked {
                writer.rest();
            }
            until_readable(&mut fleetfoot, is_tracked);
            let load = Load::on(&[&fleetfoot], begun);
            meanwhile(300);
            trouble(&redis, &line);
            meanwhile(500);
            load.stop().is_fine(&format!("{mode}: {what}"), OLDEST);
            writer.go_on();
            until_new(&mut fleetfoot, begun);
        }
    }
    writer.stop();
}

#[test]
fn a_failover_in_the_middle_of_load_fails_no_read() {
    let begun = Instant::now();
    let sentinel = RedisSentinel::start();
    let servers = sentinel.servers().iter().map(RedisServer::address).collect();
    let writer = Writer::start(begun, servers);
    let source = format!(
        "{{ redis: \"{}\", topology: sentinel, master: {}, timeout: 100ms, max_stale: 30s, mode: tracked, silence: 500ms, public: true }}",
        sentinel.sentinels()[0].url(),
        sentinel.name()
    );
    let mut fleetfoot = Fleetfoot::start(&of_source(&source, &[ROUTE]));
    fleetfoot.wait_until("written", |fleetfoot| fleetfoot.get("/0").status == 200);
    writer.rest();
    // What the replica has not heard of is gone with the master.
    let written = |server: &RedisServer| server.command(&["GET", "0"]).text();
    wait_until("replicated", || written(sentinel.replica()) == written(sentinel.master()));
    until_readable(&mut fleetfoot, true);
    let load = Load::on(&[&fleetfoot], begun);
    meanwhile(300);
    sentinel.fail_over();
    meanwhile(500);
    // A failover takes seconds, and until it is over there is nobody to write to.
    load.stop().is_fine("failed over", Duration::from_secs(20));
    writer.go_on();
    until_new(&mut fleetfoot, begun);
    writer.stop();
}
