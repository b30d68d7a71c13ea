//! Seed 003: what it costs to make one response of four calls, beside KrakenD CE and beside gateways that one would write
//! oneself in Go and in Node. Nothing is kept: each page is four requests to the origin. Whoever composes is on the server
//! core; the origin is on the load core with the load.
//!
//! All of them run at the same time and are loaded one after the other, round by round; ratios are the medians of the rounds'
//! ratios, so that what disturbs a round disturbs both sides.

use crate::compare::{Options, measured};
use crate::failure::{Failure, Result, fail};
use crate::figures::{Round, median, middle};
use crate::http_client::HttpClient;
use crate::load_generator::Asked;
use crate::page::{PARTS, page, target};
use crate::scenario::outcome::Outcome;
use crate::server::{Kind, Origin, Server, Setup};

const LEAST_ROUNDS: u64 = 5;
/// fleetfoot's CPU time of KrakenD's.
const OF_KRAKEND: f64 = 0.5;

const KINDS: [Kind; 5] = [Kind::Fleetfoot, Kind::Before, Kind::Krakend, Kind::GoGateway, Kind::NodeGateway];

/// One of them and its rounds.
struct Measured {
    server: Server,
    rounds: Vec<Round>,
}

pub(crate) fn compose(options: &Options) -> Result<Vec<Outcome>> {
    let named = |kind: &Kind| options.only.iter().any(|name| name == kind.name());
    let some = KINDS.iter().any(named);
    let mut outcomes = Vec::new();
    let origin = Origin::start_of_parts()?;
    let mut all = Vec::new();
    for kind in KINDS.into_iter().filter(|kind| !some || named(kind)) {
        if kind == Kind::Before && kind.program().is_none() {
            continue;
        }
        if kind != Kind::Fleetfoot && kind.program().is_none() {
            let sentence = format!("compose: {} left out, it is not here and cannot be built", kind.name());
            outcomes.push(Outcome::skipped(sentence));
            continue;
        }
        all.push(Measured { server: start(kind, &origin)?, rounds: Vec::new() });
    }
    if all.is_empty() {
        return Ok(outcomes);
    }
    for Measured { server, .. } in &all {
        server.settle()?;
    }
    let rounds = if options.quick { 1 } else { options.rounds.max(LEAST_ROUNDS) };
    for number in 1..=rounds {
        for of in &mut all {
            of.rounds.push(round(&of.server, &origin, options)?);
        }
        eprintln!("compose: round {number} of {rounds} done");
    }
    let versions = all.iter().map(|of| format!("{} is {}", of.server.kind.name(), of.server.version));
    outcomes.push(Outcome::skipped(format!("compose: {}", versions.collect::<Vec<_>>().join("; "))));
    outcomes.extend(all.iter().flat_map(told));
    outcomes.extend(ratios(&all));
    Ok(outcomes)
}

/// Starts it, and holds that it gives the page and makes four calls for each.
fn start(kind: Kind, origin: &Origin) -> Result<Server> {
    let target = target();
    let config = include_str!("../../rivals/fleetfoot-compose.yaml");
    let server = Setup { config, target: &target, ..Setup::of(kind, origin.address) }.start()?;
    verify(&server, origin, &target).map_err(|failure| Failure(format!("{}: {failure}", kind.name())))?;
    eprintln!("{:<10} {} answers right", kind.name(), server.version);
    Ok(server)
}

fn verify(server: &Server, origin: &Origin, target: &str) -> Result<()> {
    const TIMES: u64 = 10;
    let mut client = HttpClient::connect(server.address)?;
    let before = origin.count()?;
    for _ in 0..TIMES {
        let answer = client.ask_json(target, &[])?;
        if answer != page() {
            return fail(format!("another page: {answer}"));
        }
    }
    let calls = origin.count()? - before;
    if calls == TIMES * PARTS.len() as u64 {
        Ok(())
    } else {
        fail(format!("{calls} calls for {TIMES} pages"))
    }
}

/// Means nothing where requests failed or pages were made of fewer calls.
fn round(server: &Server, origin: &Origin, options: &Options) -> Result<Round> {
    let (round, load) = measured(server, origin, &Asked { targets: &[target()], fields: &[] }, options)?;
    if load.requests == 0 || round.errors > 0 || round.fetches < load.requests * PARTS.len() as u64 {
        let Round { errors, fetches, .. } = round;
        let requests = load.requests;
        return fail(format!("{}: {requests} pages, {errors} failed, {fetches} calls", server.kind.name()));
    }
    Ok(round)
}

fn told(Measured { server, rounds }: &Measured) -> [Outcome; 5] {
    let figures = median(rounds);
    let told = |what: &str, figure, unit| {
        Outcome::told(format!("page of four calls, {}{what}", server.kind.name()), figure, unit)
    };
    [
        told("", figures.cpu_us, "µs CPU"),
        told("", figures.rps, "rps"),
        told(", p50", figures.p50_us, "µs"),
        told(", p99", figures.p99_us, "µs"),
        told(", others on its core", figures.others * 100.0, "%"),
    ]
}

fn ratios(all: &[Measured]) -> Vec<Outcome> {
    let Some((ours, others)) = all.split_first().filter(|(first, _)| first.server.kind == Kind::Fleetfoot)
    else {
        return Vec::new();
    };
    let of = |theirs: &Measured| {
        let ratio = |figure: fn(&Round) -> f64| {
            let pairs = ours.rounds.iter().zip(&theirs.rounds);
            middle(pairs.map(|(ours, theirs)| figure(ours) / figure(theirs)).collect())
        };
        let what = |figure: &str| {
            format!("page of four calls, fleetfoot of {}, {figure}", theirs.server.kind.name())
        };
        let cpu = ratio(|round| round.cpu_us);
        let cpu_told = Outcome::told(what("CPU"), cpu, "×");
        let cpu_told = match theirs.server.kind {
            Kind::Krakend => cpu_told.promised("at most 0.5 ×", cpu <= OF_KRAKEND),
            _ => cpu_told,
        };
        [cpu_told, Outcome::told(what("rps"), ratio(|round| round.rps), "×")]
    };
    others.iter().flat_map(of).collect()
}
