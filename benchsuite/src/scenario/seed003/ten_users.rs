//! Ten users: each asks ten times, as the seed's JMeter did. Every request gets an answer: where a pool is full it is a
//! 503, at once.

use std::net::SocketAddr;
use std::thread;
use std::time::Instant;

use super::one_user::{milliseconds, p95};
use super::stage::{Calls, PARALLEL, POOL, SAVED, SERIAL, Stage, WIDE_POOL, Way};
use crate::compare::Options;
use crate::failure::Result;
use crate::http_client::HttpClient;
use crate::interruption;
use crate::process::stay_on_load_core;
use crate::scenario::outcome::Outcome;

const USERS: usize = 10;
const TIMES: usize = 10;
const TIMES_QUICKLY: usize = 2;
const WAYS: [Way; 5] = [SERIAL, POOL, WIDE_POOL, PARALLEL, SAVED];

/// What one way came to; in milliseconds.
#[derive(Default)]
struct Crowd {
    answered: Vec<f64>,
    /// 503.
    refused: Vec<f64>,
    /// Of any other status.
    others: usize,
    seconds: f64,
}

pub(super) fn ten_users(stage: &Stage, options: &Options) -> Result<Vec<Outcome>> {
    let server = stage.start(2)?;
    let times = if options.quick { TIMES_QUICKLY } else { TIMES };
    let mut outcomes = vec![Outcome::skipped(
        "10 users: heavy: each of the four calculations takes about 50 ms of a core, so 10 requests at once need 2 s of one;\n  \
         light: they take none to speak of",
    )];
    for (calls, of) in [(Calls::Sixteen, "heavy"), (Calls::Light, "light")] {
        for way in WAYS {
            interruption::check()?;
            let crowd = crowd(server.address, &way.target(calls, 1), times)?;
            outcomes.extend(told(way, of, &crowd, USERS * times));
        }
        eprintln!("seed003: ten users done, {of}");
    }
    Ok(outcomes)
}

fn crowd(address: SocketAddr, target: &str, times: usize) -> Result<Crowd> {
    let start = Instant::now();
    let user = || {
        stay_on_load_core();
        let mut client = HttpClient::connect(address)?;
        let mut of_user = Crowd::default();
        for _ in 0..times {
            let asked = Instant::now();
            let answer = client.ask_for_any(target)?;
            let took = milliseconds(asked.elapsed());
            match answer.status {
                200 => of_user.answered.push(took),
                503 => of_user.refused.push(took),
                _ => of_user.others += 1,
            }
        }
        Ok(of_user)
    };
    let mut whole = Crowd::default();
    thread::scope(|scope| {
        let users: Vec<_> = (0..USERS).map(|_| scope.spawn(user)).collect();
        for user in users {
            let of_user: Result<Crowd> = user.join().expect("asking does not panic");
            let of_user = of_user?;
            whole.answered.extend(of_user.answered);
            whole.refused.extend(of_user.refused);
            whole.others += of_user.others;
        }
        whole.seconds = start.elapsed().as_secs_f64();
        Ok(whole)
    })
}

fn told(way: Way, of: &str, crowd: &Crowd, asked: usize) -> Vec<Outcome> {
    let told = |what: &str, figure, unit| {
        Outcome::told(format!("10 users, {of}, {}, {what}", way.title), figure, unit)
    };
    let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len() as f64;
    let mut outcomes = vec![
        told("mean", mean(&crowd.answered), "ms"),
        told("p95", p95(crowd.answered.clone()), "ms"),
        told("answered", crowd.answered.len() as f64 / crowd.seconds, "rps"),
    ];
    if crowd.refused.is_empty() {
        let whole = crowd.answered.len() == asked;
        outcomes.push(told("answered", crowd.answered.len() as f64, "").promised("all of them", whole));
    } else {
        let (answered, refused) = (crowd.answered.len(), crowd.refused.len());
        outcomes.push(told("answered", answered as f64, ""));
        let accounted = answered + refused == asked && crowd.others == 0;
        let refused = told("503", refused as f64, "");
        outcomes.push(refused.promised("together with those all that were asked", accounted));
        outcomes.push(told("a 503, mean", mean(&crowd.refused), "ms"));
        outcomes.push(told("a 503, p95", p95(crowd.refused.clone()), "ms"));
    }
    outcomes
}
