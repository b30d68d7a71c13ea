//! A hundred users: what `save` and `batch` save where many ask at once: queries, commands, ways to Redis and back, and
//! CPU time of fleetfoot, which has one core. Without calculations; once with the slow API and once without it.

use std::thread;
use std::time::Duration;

use load::{Report, Scenario};

use super::stage::{Calls, IDS, PARALLEL, ROWS, SAVED, Stage, Way, ask};
use crate::compare::Options;
use crate::failure::{Failure, Result, fail};
use crate::figures::middle;
use crate::http_client::HttpClient;
use crate::interruption;
use crate::process::stay_on_load_core;
use crate::scenario::outcome::Outcome;
use crate::server::Server;

const USERS: usize = 100;
const TARGETS: usize = 2_000;
/// That many users ask for the same.
const HOT_TARGETS: usize = 5;
const WARM_UP: Duration = Duration::from_secs(1);
/// By then even a slow machine has answered as often as in the warm-up for each second.
const LONGEST: Duration = Duration::from_mins(1);
/// Clients that compare while all the others do.
const COMPARERS: usize = 32;

/// What the users ask for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ids {
    Mixed,
    Hot,
}

/// One round; everything but the last four for each request.
struct Round {
    selects: f64,
    gets: f64,
    /// Reads of Redis from its sockets: ways there and back.
    ways: f64,
    cpu_us: f64,
    rps: f64,
    p50_ms: f64,
    p95_ms: f64,
}

pub(super) fn hundred_users(stage: &Stage, options: &Options) -> Result<Vec<Outcome>> {
    let server = stage.start(1)?;
    same(&server)?;
    let mut cases = Vec::new();
    for calls in [Calls::Eight, Calls::Twelve] {
        for ids in [Ids::Mixed, Ids::Hot] {
            cases.extend([PARALLEL, SAVED].map(|way| (calls, ids, way, Vec::new())));
        }
    }
    let rounds = if options.quick { 1 } else { options.rounds };
    for number in 1..=rounds {
        for (calls, ids, way, of_case) in &mut cases {
            of_case.push(round(stage, &server, way.targets(*calls, *ids), options.seconds)?);
        }
        eprintln!("seed003: a hundred users, round {number} of {rounds} done");
    }
    let mut outcomes = vec![Outcome::skipped(
        "100 users: 8 calls are those to MariaDB and Redis, 12 those to the slow API too; mixed ids: 2,000 targets, hot: 5;\n  \
         for each request: SELECTs and GETs as MariaDB and Redis count them, ways to Redis as its reads of sockets",
    )];
    for pair in cases.chunks(2) {
        let [(calls, ids, _, off), (_, _, _, on)] = pair else { continue };
        let of = match (calls, ids) {
            (Calls::Eight, Ids::Mixed) => "8 calls, mixed ids",
            (Calls::Eight, Ids::Hot) => "8 calls, hot ids",
            (_, Ids::Mixed) => "12 calls, mixed ids",
            (_, Ids::Hot) => "12 calls, hot ids",
        };
        outcomes.extend(side_by_side(of, off, on));
    }
    Ok(outcomes)
}

impl Way {
    /// The same in every run.
    fn targets(self, calls: Calls, ids: Ids) -> Vec<String> {
        let count = if ids == Ids::Hot { HOT_TARGETS } else { TARGETS };
        (0..count as u64).map(|number| self.target(calls, first_id(number))).collect()
    }
}

/// SplitMix64: the ids of neighbours come far apart.
fn first_id(number: u64) -> usize {
    let mut mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    1 + ((mixed ^ (mixed >> 31)) % (ROWS - IDS - 1) as u64) as usize
}

/// That everybody gets their own, byte for byte, while the look-ups of many are one.
fn same(server: &Server) -> Result<()> {
    let mut alone = HttpClient::connect(server.address)?;
    let firsts: Vec<usize> = (0..200).map(first_id).collect();
    let mut expected = Vec::new();
    for first in &firsts {
        expected.push(ask(&mut alone, &PARALLEL.target(Calls::Eight, *first))?.body);
    }
    let pairs = || firsts.iter().zip(&expected);
    let compare = |number: usize| {
        let mut client = HttpClient::connect(server.address)?;
        for (first, content) in pairs().skip(number).chain(pairs().take(number)) {
            let target = SAVED.target(Calls::Eight, *first);
            if ask(&mut client, &target)?.body != *content {
                return fail(format!("{target} gives other bytes when many ask"));
            }
        }
        Ok(())
    };
    let compare = &compare;
    thread::scope(|scope| {
        let all: Vec<_> = (0..COMPARERS).map(|number| scope.spawn(move || compare(5 * number))).collect();
        all.into_iter().try_for_each(|one| one.join().expect("comparing does not panic"))
    })?;
    eprintln!("seed003: {COMPARERS} at once get the same bytes as one alone");
    Ok(())
}

fn round(stage: &Stage, server: &Server, targets: Vec<String>, seconds: u64) -> Result<Round> {
    interruption::check()?;
    let urls: Vec<String> =
        targets.iter().map(|target| format!("http://{}{target}", server.address)).collect();
    let scenario = Scenario { urls, connections: USERS, duration: WARM_UP, ..Scenario::new("100 users", "") };
    let warm = load(&scenario)?;
    // A number of requests instead of a time: none is under way when everything is counted.
    let requests = (warm.rps * seconds as f64) as u64 + USERS as u64;
    let scenario = Scenario { requests: Some(requests), duration: LONGEST, ..scenario };
    let counted = || {
        let ways = stage.redis.stat("total_reads_processed")?;
        Ok::<_, Failure>([stage.selects()?, stage.redis.calls("get")?, ways])
    };
    let before = counted()?;
    let cpu = server.process.cpu_time();
    let report = load(&scenario)?;
    let cpu = server.process.cpu_time().since(&cpu);
    let after = counted()?;
    if report.requests < requests || report.failed() > 0 {
        let (answered, failed) = (report.requests, report.failed());
        return fail(format!("100 users: {answered} of {requests} answered, {failed} failed"));
    }
    let requests = requests as f64;
    let each = |place: usize| (after[place] - before[place]) as f64 / requests;
    let latency = report.latency;
    Ok(Round {
        selects: each(0),
        gets: each(1),
        ways: each(2),
        cpu_us: cpu.as_nanos() as f64 / 1e3 / requests,
        rps: report.rps,
        p50_ms: latency.p50.as_secs_f64() * 1e3,
        p95_ms: latency.p95.as_secs_f64() * 1e3,
    })
}

fn load(scenario: &Scenario) -> Result<Report> {
    let run = || {
        stay_on_load_core();
        load::run(scenario).map_err(|error| Failure(error.to_string()))
    };
    thread::scope(|scope| scope.spawn(run).join().expect("a load does not panic"))
}

fn side_by_side(of: &str, off: &[Round], on: &[Round]) -> Vec<Outcome> {
    type Figure = (&'static str, &'static str, fn(&Round) -> f64);
    let figures: [Figure; 7] = [
        ("SELECTs each", "", |round| round.selects),
        ("GETs each", "", |round| round.gets),
        ("ways to Redis each", "", |round| round.ways),
        ("fleetfoot", "µs CPU", |round| round.cpu_us),
        ("answered", "rps", |round| round.rps),
        ("p50", "ms", |round| round.p50_ms),
        ("p95", "ms", |round| round.p95_ms),
    ];
    let median = |rounds: &[Round], figure: fn(&Round) -> f64| middle(rounds.iter().map(figure).collect());
    let pair = |(what, unit, figure): Figure| {
        [("off", off), ("on", on)].map(|(save, rounds)| {
            Outcome::told(format!("100 users, {of}, save {save}, {what}"), median(rounds, figure), unit)
        })
    };
    figures.into_iter().flat_map(pair).collect()
}
