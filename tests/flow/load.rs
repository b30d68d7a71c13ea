//! Load: clients that ask without a pause while something is wrong, and what they saw. For stories of trouble.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use testkit::{Fleetfoot, Origin, RawClient, RedisServer, SlowLink, ok};

/// Clients that ask one after the other until they are told to stop.
pub(crate) struct Load {
    stop: Arc<AtomicBool>,
    clients: Vec<JoinHandle<Seen>>,
}

/// What they saw.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) requests: usize,
    pub(crate) failed: Vec<String>,
    pub(crate) slowest: Duration,
    /// Between an answer's making and its arrival.
    pub(crate) oldest: Duration,
}

/// Targets that are asked for: `/0`, `/1` and so on.
pub(crate) const TARGETS: usize = 50;

/// An origin whose answers say when they were made.
pub(crate) fn telling_the_time(begun: Instant, fields: &'static str) -> Origin {
    let origin = Origin::start();
    origin.on("*").answer(move |_| ok(fields, begun.elapsed().as_millis().to_string()));
    origin
}

impl Load {
    /// Two clients for each instance.
    pub(crate) fn on(instances: &[&Fleetfoot], begun: Instant) -> Load {
        let stop = Arc::new(AtomicBool::new(false));
        let clients = instances.iter().flat_map(|fleetfoot| [fleetfoot.address(); 2]).enumerate();
        let clients = clients.map(|(number, address)| {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || {
                let mut seen = Seen::default();
                let mut client = RawClient::connect(address);
                while !stop.load(Ordering::Relaxed) {
                    let target = (seen.requests * 7 + number) % TARGETS;
                    let asked = Instant::now();
                    let answer = client.ask(format!("GET /{target} HTTP/1.1\r\nHost: example.test\r\n\r\n"));
                    seen.requests += 1;
                    seen.slowest = seen.slowest.max(asked.elapsed());
                    match answer.text().parse::<u64>() {
                        Ok(made) if answer.status == 200 => {
                            let age = begun.elapsed().saturating_sub(Duration::from_millis(made));
                            seen.oldest = seen.oldest.max(age);
                        }
                        _ => seen.failed.push(format!("{:?}", answer.head)),
                    }
                }
                seen
            })
        });
        Load { stop: Arc::clone(&stop), clients: clients.collect() }
    }

    /// Stops them, and sums up.
    pub(crate) fn stop(self) -> Seen {
        self.stop.store(true, Ordering::Relaxed);
        let all = self.clients.into_iter().map(|client| client.join().expect("no client panics"));
        all.fold(Seen::default(), |mut sum, seen| {
            sum.requests += seen.requests;
            sum.failed.extend(seen.failed);
            sum.slowest = sum.slowest.max(seen.slowest);
            sum.oldest = sum.oldest.max(seen.oldest);
            sum
        })
    }
}

/// Lets things happen for a while under load.
#[expect(clippy::disallowed_methods, reason = "the load has to last while something is wrong")]
pub(crate) fn meanwhile(millis: u64) {
    std::thread::sleep(Duration::from_millis(millis));
}

impl Seen {
    /// What every kind of trouble must leave as it is. `oldest`: what was promised, and the time an answer takes while
    /// everything is busy.
    pub(crate) fn is_fine(&self, what: &str, oldest: Duration) {
        assert!(self.failed.is_empty(), "{what}: {} failed: {:?}", self.failed.len(), self.failed.first());
        assert!(self.requests > 200, "{what}: only {} requests", self.requests);
        assert!(self.oldest < oldest, "{what}: {:?} old", self.oldest);
        assert!(self.slowest < Duration::from_millis(1500), "{what}: {:?} for one answer", self.slowest);
    }
}

/// What happens to a Redis, or to the line it is reached over; it is over when this returns.
pub(crate) type Trouble = (&'static str, fn(&RedisServer, &SlowLink));

/// Troubles after which everything is still there.
pub(crate) const TROUBLES: [Trouble; 4] = [
    ("stopped and continued", |redis, _| {
        redis.pause();
        meanwhile(1200);
        redis.resume();
    }),
    ("far away", |_, line| {
        line.set_delay(Duration::from_millis(20));
        meanwhile(700);
        line.set_delay(Duration::ZERO);
    }),
    ("cut off", |_, line| {
        line.cut();
        meanwhile(700);
        line.restore();
    }),
    ("silent", |_, line| {
        line.freeze();
        meanwhile(1200);
        line.restore();
    }),
];
