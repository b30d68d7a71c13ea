//! Seed 002: 50 users with pauses on an API whose database is overloaded, straight and through fleetfoot; beside them two
//! members who are logged in and must not get what others left. API, Redis and users on the load core, fleetfoot on its
//! own. The seed's five minutes are one, its two minutes of lifetime five seconds.

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use load::{Report, Scenario, Think};
use serde_json::json;

use crate::compare::Options;
use crate::demo_api::DemoApi;
use crate::failure::{Failure, Result, fail};
use crate::http_client::HttpClient;
use crate::interruption;
use crate::process::stay_on_load_core;
use crate::redis_server::RedisServer;
use crate::scenario::outcome::Outcome;
use crate::server::{Kind, Server, Setup};

const VISITORS: usize = 50;
const MEMBERS: usize = 2;
/// What each of them walks through.
const PATHS: [&str; 3] = ["/games", "/games/7", "/leagues/3"];
/// What the API calls them when it counts.
const ENDPOINTS: [&str; 3] = ["/games", "/games/{id}", "/leagues/{id}"];
/// A game that no load asks for.
const QUIET_GAME: &str = "/games/8";
/// How each shows that it is logged in.
const MEMBERSHIPS: [(&str, &str); 2] = [("Cookie", "idToken=someone"), ("Authorization", "Bearer someone")];
/// About a second between two walks.
const THINK: [Duration; 2] = [Duration::from_millis(800), Duration::from_millis(1200)];
/// A database that is overloaded keeps people waiting for long.
const PATIENCE: Duration = Duration::from_mins(1);
const WARM_UP: Duration = Duration::from_secs(3);
const MEASURED: Duration = Duration::from_mins(1);
/// Enough for two lifetimes.
const MEASURED_QUICKLY: Duration = Duration::from_secs(12);
/// In rivals/fleetfoot-visitors.yaml.
const LIFETIME: Duration = Duration::from_secs(5);
const P95: Duration = Duration::from_millis(10);
/// For any second once it is warm: whoever asks as an answer grows old must not wait for the next.
const SLOWEST: Duration = Duration::from_millis(50);

/// What one run came to.
struct Crowd {
    visitors: Report,
    members: Report,
    /// Requests that reached the API.
    requests: u64,
}

pub(crate) fn visitors(options: &Options) -> Result<Vec<Outcome>> {
    if RedisServer::program().is_none() {
        return Ok(vec![Outcome::skipped("visitors: skipped, redis-server is not installed")]);
    }
    let measured = if options.quick { MEASURED_QUICKLY } else { MEASURED };
    let (api, redis) = (DemoApi::start()?, RedisServer::start()?);
    let config = include_str!("../../rivals/fleetfoot-visitors.yaml").replace("{redis}", &redis.url());
    let setup = Setup { config: &config, target: "/healthz", ..Setup::of(Kind::Fleetfoot, api.address) };
    let server = setup.start()?;
    let before = crowd(&api, api.address, measured)?;
    eprintln!("visitors: {} s straight to the API done", measured.as_secs());
    let after = crowd(&api, server.address, measured)?;
    let mut outcomes = side_by_side(&before.visitors, &after.visitors);
    outcomes.extend(promises(&before, &after, measured));
    outcomes.push(Outcome::told("keys that the tier left in Redis", redis.keys()? as f64, ""));
    outcomes.extend(of_members(&server, &api)?);
    Ok(outcomes)
}

/// Visitors and members at once, all of them on the load core.
fn crowd(api: &DemoApi, address: SocketAddr, measured: Duration) -> Result<Crowd> {
    interruption::check()?;
    let visitors = Scenario {
        connections: VISITORS,
        warm_up: WARM_UP,
        duration: measured,
        ..users("visitors", address)
    };
    // All of theirs count: each has to reach the API.
    let (name, value) = MEMBERSHIPS[0];
    let members = Scenario {
        connections: MEMBERS,
        fields: vec![(name.to_owned(), value.to_owned())],
        duration: WARM_UP + measured,
        ..users("members", address)
    };
    let before = api.requests(&ENDPOINTS)?;
    let run = |scenario: &Scenario| {
        stay_on_load_core();
        load::run(scenario).map_err(|error| Failure(error.to_string()))
    };
    let (visitors, members) = thread::scope(|scope| {
        let (visitors, members) = (scope.spawn(|| run(&visitors)), scope.spawn(|| run(&members)));
        let joined = (visitors.join(), members.join());
        (joined.0.expect("a load does not panic"), joined.1.expect("a load does not panic"))
    });
    Ok(Crowd { visitors: visitors?, members: members?, requests: api.requests(&ENDPOINTS)? - before })
}

fn users(name: &str, address: SocketAddr) -> Scenario {
    Scenario {
        urls: PATHS.map(|path| format!("http://{address}{path}")).to_vec(),
        timeout: PATIENCE,
        think: Some(Think::between(THINK[0], THINK[1])),
        ..Scenario::new(name, "")
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Each figure of the visitors without and with fleetfoot.
fn side_by_side(before: &Report, after: &Report) -> Vec<Outcome> {
    let figures = |report: &Report| {
        let latency = report.latency;
        let latencies = [
            ("average", latency.mean),
            ("min", latency.min),
            ("median", latency.p50),
            ("p90", latency.p90),
            ("p95", latency.p95),
            ("p99", latency.p99),
            ("max", latency.max),
        ];
        let latencies = latencies.map(|(name, latency)| (name, milliseconds(latency), "ms"));
        let received = report.bytes as f64 / report.duration.as_secs_f64().max(f64::EPSILON) / 1e6;
        [("requests", report.rps, "rps"), ("received", received, "MB/s")].into_iter().chain(latencies)
    };
    let pairs = figures(before).zip(figures(after));
    pairs
        .flat_map(|((name, before, unit), (_, after, _))| {
            [
                Outcome::told(format!("50 visitors, {name}, straight to the API"), before, unit),
                Outcome::told(format!("50 visitors, {name}, through fleetfoot"), after, unit),
            ]
        })
        .collect()
}

fn promises(before: &Crowd, after: &Crowd, measured: Duration) -> Vec<Outcome> {
    let p95 = after.visitors.latency.p95;
    let slowest = after.visitors.timeline.iter().map(|second| second.max).max().unwrap_or_default();
    let worst = after.visitors.timeline.iter().map(|second| second.p95).max().unwrap_or_default();
    let failed = after.visitors.failed() + after.members.failed();
    // What members asked for as the time was over may have reached the API too.
    let members = after.members.requests;
    let fetches = after.requests.saturating_sub(members);
    let lifetimes = (WARM_UP + measured).as_secs().div_ceil(LIFETIME.as_secs()) + 1;
    let most = lifetimes * PATHS.len() as u64 + after.members.unfinished;
    let told = |what, figure, unit| Outcome::told(what, figure, unit);
    vec![
        told("p95 of visitors through fleetfoot", milliseconds(p95), "ms").promised("below 10 ms", p95 < P95),
        told("slowest answer in any second, the first three aside", milliseconds(slowest), "ms")
            .promised("below 50 ms, however often answers grow old", slowest < SLOWEST),
        told("p95 in the worst second", milliseconds(worst), "ms"),
        told("failed straight to the API", before.visitors.failed() as f64, ""),
        told("failed through fleetfoot", failed as f64, "").promised("none", failed == 0),
        told("requests at the API, straight", before.requests as f64, ""),
        told("requests at the API, through fleetfoot, for visitors", fetches as f64, "")
            .promised("at most one for each URL and 5 s", fetches <= most),
        told("requests at the API, through fleetfoot, of 2 members", members as f64, "")
            .promised("all of theirs", after.requests >= members && members > 0),
        told("median of members, straight", milliseconds(before.members.latency.p50), "ms"),
        told("median of members, through fleetfoot", milliseconds(after.members.latency.p50), "ms"),
    ]
}

/// Who sees a changed game, and when: members at once, visitors once it was changed through fleetfoot.
fn of_members(server: &Server, api: &DemoApi) -> Result<[Outcome; 2]> {
    let mut client = HttpClient::connect(server.address)?;
    let first = version(&mut client, &[])?;
    let behind = change(api.address)?;
    let mut stale = 0;
    for field in MEMBERSHIPS {
        stale += u64::from(version(&mut client, &[field])? != behind);
    }
    if version(&mut client, &[])? != first {
        return fail("a visitor sees a game that was changed behind fleetfoot's back: it is not cached");
    }
    let through = change(server.address)?;
    let old = u64::from(version(&mut client, &[])? != through);
    Ok([
        Outcome::told("members who got what a visitor left", stale as f64, "").promised("none", stale == 0),
        Outcome::told("visitors who got an old game after a change through fleetfoot", old as f64, "")
            .promised("none", old == 0),
    ])
}

fn version(client: &mut HttpClient, fields: &[(&str, &str)]) -> Result<u64> {
    version_in(&client.ask_json(QUIET_GAME, fields)?)
}

fn change(address: SocketAddr) -> Result<u64> {
    version_in(&HttpClient::connect(address)?.put(QUIET_GAME, &json!({"score": [1, 0]}))?)
}

fn version_in(game: &serde_json::Value) -> Result<u64> {
    game["version"].as_u64().ok_or_else(|| Failure("a game without a version".to_owned()))
}
