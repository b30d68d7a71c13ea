//! Seed 004: what a read of a Redis costs on one core, in every way there is, beside the same content from the cache and
//! beside a bare server on hyper and redis-rs. Whoever reads is on the server core; all Redis servers are on the load
//! core with the load, so what is counted for each request is what the reader itself costs. What Redis costs is told too.
//!
//! All of them run at the same time and are loaded one after the other, round by round; ratios are the medians of the
//! rounds' ratios, so that what disturbs a round disturbs both sides.

use crate::compare::{Options, measured};
use crate::failure::{Failure, Result, fail};
use crate::figures::{self, Round, median, middle};
use crate::http_client::HttpClient;
use crate::load_generator::Asked;
use crate::reader;
use crate::redis_server::RedisServer;
use crate::row::content;
use crate::scenario::outcome::Outcome;
use crate::scenario::tracked_keys::tracked_keys;
use crate::server::{Kind, Origin, Server, Setup};

/// The tracked one's CPU time of a hit's.
const TRACKED_OF_HIT: f64 = 1.15;
/// How many times better than a central Redis, for few clients, of whom each waits for Redis. With many at once the
/// pipeline of a core hides most of the way there.
const TRACKED_OF_CENTRAL: f64 = 4.0;
const FEW: usize = 4;

/// A way to get the same content.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// A bare server that asks a central Redis.
    Bare,
    /// The same with a connection to Redis for each client.
    Pooled,
    /// `read` of a central Redis.
    Central,
    /// `read` of a replica on the same machine, over its socket.
    Replica,
    /// `read` of what this process holds.
    Tracked,
    /// The same by the build before.
    TrackedBefore,
    /// A hit of what came from an origin.
    Cached,
}

impl Way {
    const ALL: [Way; 7] =
        [Way::Bare, Way::Pooled, Way::Central, Way::Replica, Way::Tracked, Way::TrackedBefore, Way::Cached];

    /// As it is called on the command line.
    fn name(self) -> &'static str {
        match self {
            Way::Bare => "bare",
            Way::Pooled => "pooled",
            Way::Central => "central",
            Way::Replica => "replica",
            Way::Tracked => "tracked",
            Way::TrackedBefore => "before",
            Way::Cached => "cached",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Way::Bare => "read, bare hyper and redis-rs",
            Way::Pooled => "read, the same with a pool",
            Way::Central => "read, central",
            Way::Replica => "read, replica over a socket",
            Way::Tracked => "read, tracked",
            Way::TrackedBefore => "read, tracked, the build before",
            Way::Cached => "cache hit",
        }
    }

    fn target(self) -> &'static str {
        if self == Way::Cached { "/1k" } else { "/known" }
    }

    fn start(self, origin: &Origin, primary: &RedisServer, replica: &RedisServer) -> Result<Server> {
        let mode = match self {
            Way::Bare | Way::Pooled => {
                let kind = if self == Way::Pooled { Kind::PooledReader } else { Kind::Reader };
                return Setup { target: self.target(), ..Setup::of(kind, primary.address) }.start();
            }
            Way::Cached => return Setup::of(Kind::Fleetfoot, origin.address).start(),
            Way::Central => "mode: central".to_owned(),
            Way::Replica => format!("mode: replica, replica: \"{}\"", replica.socket_url()),
            Way::Tracked | Way::TrackedBefore => format!("mode: tracked, track: {}", reader::KEY),
        };
        let config = config(primary, &mode);
        let kind = if self == Way::TrackedBefore { Kind::Before } else { Kind::Fleetfoot };
        Setup { config: &config, target: self.target(), ..Setup::of(kind, origin.address) }.start()
    }
}

/// One way and its rounds.
struct Measured {
    way: Way,
    server: Server,
    rounds: Vec<Round>,
    /// With [`FEW`] connections, for the ways that are compared so.
    few: Vec<Round>,
    /// CPU time of both Redis servers for each request, in microseconds.
    redis_us: Vec<f64>,
}

/// How fleetfoot is to read this Redis.
pub(super) fn config(redis: &RedisServer, mode: &str) -> String {
    include_str!("../../rivals/fleetfoot-reads.yaml").replace("{redis}", &redis.url()).replace("{mode}", mode)
}

pub(crate) fn reads(options: &Options) -> Result<Vec<Outcome>> {
    if RedisServer::program().is_none() {
        return Ok(vec![Outcome::skipped("reads: skipped, redis-server is not installed")]);
    }
    let known = |name: &String| Way::ALL.iter().any(|way| way.name() == name);
    let some = options.only.iter().any(known);
    let is_there = |way: &Way| *way != Way::TrackedBefore || Kind::Before.program().is_some();
    let wanted = |way: &Way| is_there(way) && (!some || options.only.iter().any(|name| name == way.name()));
    let mut outcomes = side_by_side(Way::ALL.into_iter().filter(wanted), options)?;
    if wanted(&Way::Tracked) {
        outcomes.extend(tracked_keys(options)?);
    }
    Ok(outcomes)
}

fn side_by_side(ways: impl Iterator<Item = Way>, options: &Options) -> Result<Vec<Outcome>> {
    let (origin, primary) = (Origin::start()?, RedisServer::start()?);
    primary.write([(reader::KEY.to_owned(), content("/1k"))].into_iter())?;
    let replica = primary.start_replica()?;
    let mut all = Vec::new();
    for way in ways {
        let of_way = |failure| Failure(format!("{}: {failure}", way.title()));
        let server = way.start(&origin, &primary, &replica).map_err(of_way)?;
        verify(&server, way).map_err(of_way)?;
        all.push(Measured { way, server, rounds: Vec::new(), few: Vec::new(), redis_us: Vec::new() });
    }
    for Measured { server, .. } in &all {
        server.settle()?;
    }
    let rounds = if options.quick { 1 } else { options.rounds };
    for number in 1..=rounds {
        for measured in &mut all {
            round(measured, &origin, [&primary, &replica], options)?;
            if [Way::Central, Way::Tracked].contains(&measured.way) {
                with_few(measured, &origin, options)?;
            }
        }
        eprintln!("reads: round {number} of {rounds} done");
    }
    let mut outcomes: Vec<_> = all.iter().flat_map(told).collect();
    outcomes.extend(ratios(&all));
    Ok(outcomes)
}

/// That the content is the right one, from the first time on.
fn verify(server: &Server, way: Way) -> Result<()> {
    let mut client = HttpClient::connect(server.address)?;
    for _ in 0..10 {
        let got = client.get(way.target())?;
        if got != content("/1k") {
            return fail(format!("{} other bytes", got.len()));
        }
    }
    Ok(())
}

/// Means nothing where requests failed or the origin was asked.
fn round(of: &mut Measured, origin: &Origin, redis: [&RedisServer; 2], options: &Options) -> Result<()> {
    let before = redis.map(|redis| redis.process.cpu_time());
    let asked = Asked { targets: &[of.way.target().to_owned()], fields: &[] };
    let (round, load) = measured(&of.server, origin, &asked, options)?;
    let used = redis.iter().zip(&before).map(|(redis, before)| redis.process.cpu_time().since(before));
    if load.requests == 0 || round.errors > 0 || round.fetches > 0 {
        let (requests, Round { errors, fetches, .. }) = (load.requests, round);
        let title = of.way.title();
        return fail(format!("{title}: {requests} answered, {errors} failed, {fetches} fetches"));
    }
    let used: f64 = used.map(|time| time.as_nanos() as f64 / 1e3).sum();
    of.redis_us.push(used / load.requests as f64);
    of.rounds.push(round);
    Ok(())
}

fn with_few(of: &mut Measured, origin: &Origin, options: &Options) -> Result<()> {
    let asked = Asked { targets: &[of.way.target().to_owned()], fields: &[] };
    let few = Options { connections: FEW, ..options.clone() };
    let (round, _) = measured(&of.server, origin, &asked, &few)?;
    if round.errors > 0 {
        return fail(format!("{}: {} failed", of.way.title(), round.errors));
    }
    of.few.push(round);
    Ok(())
}

fn told(measured: &Measured) -> [Outcome; 6] {
    let (title, figures) = (measured.way.title(), median(&measured.rounds));
    let told = |what: &str, figure, unit| Outcome::told(format!("{title}{what}"), figure, unit);
    [
        told("", figures.cpu_us, "µs CPU"),
        told(", of Redis on the load core", middle(measured.redis_us.clone()), "µs CPU"),
        told("", figures.rps, "rps"),
        told(", p50", figures.p50_us, "µs"),
        told(", p99", figures.p99_us, "µs"),
        told(", others on its core", figures.others * 100.0, "%"),
    ]
}

fn ratios(all: &[Measured]) -> Vec<Outcome> {
    let found = |way: Way| all.iter().find(|measured| measured.way == way);
    let of = |way: Way| found(way).map(|measured| &measured.rounds);
    let ratio =
        |one: Way, other: Way, figure: fn(&Round) -> f64| Some(figures::ratio(of(one)?, of(other)?, figure));
    let (cpu, rps) = (|round: &Round| round.cpu_us, |round: &Round| round.rps);
    let mut outcomes = Vec::new();
    let mut add = |outcome: Option<Outcome>| outcomes.extend(outcome);
    let told = |what: &'static str| move |ratio| Outcome::told(what, ratio, "×");
    add(ratio(Way::Central, Way::Bare, cpu).map(told("central of bare, CPU")));
    add(ratio(Way::Replica, Way::Central, cpu).map(told("replica of central, CPU")));
    add(ratio(Way::Tracked, Way::Cached, cpu).map(|ratio| {
        told("tracked of a cache hit, CPU")(ratio).promised("at most 1.15 ×", ratio <= TRACKED_OF_HIT)
    }));
    add(ratio(Way::Tracked, Way::TrackedBefore, cpu).map(told("tracked of the build before, CPU")));
    add(ratio(Way::Central, Way::Tracked, cpu).map(told("central of tracked, CPU")));
    add(ratio(Way::Tracked, Way::Central, rps).map(told("tracked of central, rps")));
    if let (Some(tracked), Some(central)) = (found(Way::Tracked), found(Way::Central)) {
        let (central_few, tracked_few) = (median(&central.few), median(&tracked.few));
        add(Some(Outcome::told("read, central, 4 connections", central_few.rps, "rps")));
        add(Some(Outcome::told("read, tracked, 4 connections", tracked_few.rps, "rps")));
        let more = figures::ratio(&tracked.few, &central.few, rps);
        let outcome = told("tracked of central, rps, 4 connections")(more);
        add(Some(outcome.promised("at least 4 ×", more >= TRACKED_OF_CENTRAL)));
    }
    add(ratio(Way::Pooled, Way::Tracked, cpu).map(told("pooled of tracked, CPU")));
    add(ratio(Way::Tracked, Way::Pooled, rps).map(told("tracked of pooled, rps")));
    add(ratio(Way::Bare, Way::Tracked, cpu).map(told("bare of tracked, CPU")));
    add(ratio(Way::Tracked, Way::Bare, rps).map(told("tracked of bare, rps")));
    outcomes
}
