//! Paced: hits at a fixed rate while something else happens, each timed from when it was due: a server that stands still
//! for a while is seen by everybody who should have asked meanwhile, which a closed loop would hide.
//!
//! A thread a connection: their timers are exact to some ten microseconds, those of an asynchronous runtime to a
//! millisecond, and the latencies looked for are of that size.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::{Result, fail};
use crate::http_client::HttpClient;
use crate::process::{pause, stay_on_load_core};

const CONNECTIONS: u32 = 16;
/// Between two requests of one connection.
const INTERVAL: Duration = Duration::from_millis(2);

/// One request.
#[derive(Clone, Copy)]
pub(crate) struct Timed {
    /// When it should have been sent.
    due: Instant,
    /// From then to the answer's last byte.
    latency: Duration,
    hit: bool,
}

/// The latencies of some of them.
#[derive(Clone, Copy)]
pub(crate) struct Latencies {
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
    pub(crate) most: Duration,
}

/// Requests for each second.
pub(crate) fn rate() -> f64 {
    f64::from(CONNECTIONS) / INTERVAL.as_secs_f64()
}

/// Asks for `target(0)`, `target(1)` and so on as long as the action takes, which runs here. On the load core, all of it.
pub(crate) fn paced<T: Send>(
    address: SocketAddr,
    target: impl Fn(usize) -> String + Sync,
    action: impl FnOnce() -> Result<T> + Send,
) -> Result<(T, Vec<Timed>)> {
    let over = AtomicBool::new(false);
    let start = Instant::now();
    thread::scope(|scope| {
        let (over, target) = (&over, &target);
        let ask = move |number: u32| {
            stay_on_load_core();
            let first = start + INTERVAL * number / CONNECTIONS;
            ask(&mut HttpClient::connect(address)?, first, over, |place| {
                target(place * CONNECTIONS as usize + number as usize)
            })
        };
        let clients: Vec<_> = (0..CONNECTIONS).map(|number| scope.spawn(move || ask(number))).collect();
        let done = scope.spawn(|| {
            stay_on_load_core();
            action()
        });
        let done = done.join();
        over.store(true, Ordering::Relaxed);
        let mut all = Vec::new();
        for client in clients {
            all.extend(client.join().expect("asking does not panic")?);
        }
        Ok((done.expect("the actions do not panic")?, all))
    })
}

fn ask(
    client: &mut HttpClient,
    first: Instant,
    over: &AtomicBool,
    target: impl Fn(usize) -> String,
) -> Result<Vec<Timed>> {
    let mut all = Vec::new();
    let mut due = first;
    while !over.load(Ordering::Relaxed) {
        let early = due.saturating_duration_since(Instant::now());
        if !early.is_zero() {
            pause(early);
        }
        let answer = client.ask(&target(all.len()), &[])?;
        all.push(Timed { due, latency: due.elapsed(), hit: answer.is_hit() });
        due += INTERVAL;
    }
    Ok(all)
}

/// Of the requests due from one moment to another; a failure where there are none, or one was no hit.
pub(crate) fn latencies(all: &[Timed], from: Instant, to: Instant) -> Result<Latencies> {
    let among: Vec<&Timed> = all.iter().filter(|timed| timed.due >= from && timed.due < to).collect();
    let misses = among.iter().filter(|timed| !timed.hit).count();
    if among.is_empty() || misses > 0 {
        return fail(format!("{misses} of the {} requests of the load were no hits", among.len()));
    }
    let mut times: Vec<Duration> = among.iter().map(|timed| timed.latency).collect();
    times.sort_unstable();
    let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)];
    Ok(Latencies { p50: at(50), p99: at(99), most: at(100) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_those_of_the_time_asked_for_and_only_of_hits() {
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let timed = |number: u64| Timed {
            due: at(number),
            latency: Duration::from_micros(number),
            hit: number < 300,
        };
        let all: Vec<Timed> = (0..400).map(timed).collect();
        let Ok(some) = latencies(&all, at(100), at(300)) else { panic!("all of them are hits") };
        assert_eq!([some.p50, some.p99, some.most].map(|time| time.as_micros()), [200, 298, 299]);
        assert!(latencies(&all, at(200), at(400)).is_err());
        assert!(latencies(&all, at(500), at(600)).is_err());
    }
}
