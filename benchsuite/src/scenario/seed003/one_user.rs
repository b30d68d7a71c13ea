//! One user: how long each way takes for somebody who is alone, and how much of it is fleetfoot's own: the time of the
//! response without that of its slowest step, which its `Server-Timing` tells.

use std::time::{Duration, Instant};

use testkit::Answer;

use super::stage::{Calls, PARALLEL, POOL, SAVED, SERIAL, Stage, Way, ask};
use crate::compare::Options;
use crate::failure::{Failure, Result, fail};
use crate::figures::middle;
use crate::http_client::HttpClient;
use crate::interruption;
use crate::scenario::outcome::Outcome;

const WAYS: [Way; 4] = [SERIAL, POOL, PARALLEL, SAVED];
const TIMES: usize = 20;
const TIMES_QUICKLY: usize = 3;
/// Of the way whose steps leave the cores alone.
const TIMES_LIGHT: usize = 100;
/// Between the slowest step and the response.
const OWN: f64 = 1.0;

/// One request, in milliseconds.
struct Timed {
    whole: f64,
    slowest_step: f64,
}

pub(super) fn one_user(stage: &Stage, options: &Options) -> Result<Vec<Outcome>> {
    let server = stage.start(2)?;
    let mut client = HttpClient::connect(server.address)?;
    same(&mut client)?;
    let times = if options.quick { TIMES_QUICKLY } else { TIMES };
    let mut all: [Vec<Timed>; WAYS.len()] = Default::default();
    for time in 0..times {
        interruption::check()?;
        for (way, timed) in WAYS.iter().zip(&mut all) {
            timed.push(timed_once(&mut client, &way.target(Calls::Sixteen, 1 + time))?);
        }
    }
    eprintln!("seed003: one user done");
    let mut outcomes = vec![
        seeds("the seed, 1 user or 10: v1, serial", "1.5 to 3 s"),
        seeds("the seed: v2, pool", "300 to 350 ms"),
        seeds("the seed: v3, coroutines", "280 to 330 ms"),
    ];
    let p50s = all.each_ref().map(|timed| middle(wholes(timed)));
    for ((way, timed), p50) in WAYS.iter().zip(&all).zip(p50s) {
        let title = way.title;
        outcomes.push(Outcome::told(format!("one user, {title}, p50"), p50, "ms"));
        outcomes.push(Outcome::told(format!("one user, {title}, p95"), p95(wholes(timed)), "ms"));
        outcomes.push(Outcome::told(format!("one user, v1 of {title}, p50"), p50s[0] / p50, "×"));
    }
    outcomes.extend(own(&mut client, if options.quick { TIMES_QUICKLY } else { TIMES_LIGHT })?);
    Ok(outcomes)
}

fn seeds(what: &str, said: &str) -> Outcome {
    Outcome::skipped(format!("{what}: {said}, as its author says"))
}

/// That all ways give the same bytes.
fn same(client: &mut HttpClient) -> Result<()> {
    for calls in [Calls::Sixteen, Calls::Light] {
        for first in [1, 1234] {
            let of_serial = ask(client, &SERIAL.target(calls, first))?.body;
            if of_serial.windows(4).any(|bytes| bytes == b"null") {
                return fail("a row or a key is not there");
            }
            for way in &WAYS[1..] {
                if ask(client, &way.target(calls, first))?.body != of_serial {
                    return fail(format!("{} and {} give different bytes", SERIAL.title, way.title));
                }
            }
        }
    }
    eprintln!("seed003: all ways give the same bytes");
    Ok(())
}

/// What the response takes beyond its slowest step, where the steps leave the cores alone: who waits for a core that
/// somebody computes on is late for reasons that no gateway can help.
fn own(client: &mut HttpClient, times: usize) -> Result<[Outcome; 4]> {
    let target = PARALLEL.target(Calls::Light, 1);
    let mut all = Vec::new();
    for _ in 0..times {
        interruption::check()?;
        all.push(timed_once(client, &target)?);
    }
    let owns: Vec<f64> = all.iter().map(|timed| timed.whole - timed.slowest_step).collect();
    let slowest = middle(all.iter().map(|timed| timed.slowest_step).collect());
    let told =
        |what: &str, figure| Outcome::told(format!("one user, light, v3, parallel, {what}"), figure, "ms");
    let (p50_own, p95_own) = (middle(owns.clone()), p95(owns));
    Ok([
        told("p50", middle(wholes(&all))),
        told("slowest step, p50", slowest),
        told("p50 beyond its slowest step", p50_own).promised("within 1 ms", p50_own <= OWN),
        told("p95 beyond its slowest step", p95_own).promised("within 1 ms", p95_own <= OWN),
    ])
}

fn timed_once(client: &mut HttpClient, target: &str) -> Result<Timed> {
    let start = Instant::now();
    let answer = ask(client, target)?;
    let whole = milliseconds(start.elapsed());
    Ok(Timed { whole, slowest_step: slowest_step(&answer)? })
}

/// The longest of its `Server-Timing`, in milliseconds.
pub(super) fn slowest_step(answer: &Answer) -> Result<f64> {
    let said = answer.field("server-timing").unwrap_or_default();
    let times = said.split(", ").filter_map(|step| step.split_once(";dur=")?.1.parse::<f64>().ok());
    times.max_by(f64::total_cmp).ok_or_else(|| Failure("no Server-Timing".to_owned()))
}

fn wholes(timed: &[Timed]) -> Vec<f64> {
    timed.iter().map(|timed| timed.whole).collect()
}

/// All but one in twenty are smaller.
pub(super) fn p95(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let place = (values.len() * 95).div_ceil(100).saturating_sub(1);
    values.get(place).copied().unwrap_or(f64::NAN)
}

pub(super) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::p95;

    #[test]
    fn one_in_twenty_may_be_slower() {
        let values: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        assert!((p95(values) - 95.0).abs() < 1e-9);
        assert!((p95(vec![3.0]) - 3.0).abs() < 1e-9 && p95(Vec::new()).is_nan());
    }
}
