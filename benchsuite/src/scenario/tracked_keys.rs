//! A million tracked keys: what they take in memory, whether Redis is left alone once they are here, and how soon a
//! change is seen among them. Part of `reads`.

use std::time::{Duration, Instant};

use crate::compare::Options;
use crate::failure::{Result, fail};
use crate::http_client::HttpClient;
use crate::redis_server::RedisServer;
use crate::row::content;
use crate::scenario::filling::fill;
use crate::scenario::outcome::{Outcome, metric};
use crate::scenario::reads::config;
use crate::server::{Kind, Server, Setup};

const KEYS: usize = 1_000_000;
const QUICK_KEYS: usize = 100_000;
/// Asked for again once they are here.
const SAMPLE: usize = 1_000;
const LONGEST_UNSEEN: Duration = Duration::from_secs(5);
/// What the program itself says that it holds.
const COUNTED: &str = "fleetfoot_redis_held_bytes";

pub(super) fn tracked_keys(options: &Options) -> Result<Vec<Outcome>> {
    let keys = if options.quick { QUICK_KEYS } else { KEYS };
    let redis = RedisServer::start()?;
    redis.write((0..keys).map(|number| (key(number), content(&target(number)))))?;
    let config = config(&redis, "mode: tracked, track: \"entry:\", memory: 1GiB");
    let first = target(0);
    // It has no origin; Redis stands for one.
    let setup = Setup { config: &config, target: &first, ..Setup::of(Kind::Fleetfoot, redis.address) };
    let server = setup.start()?;
    let before = server.process.resident();
    let start = Instant::now();
    fill(server.address, keys, target)?;
    let filled = start.elapsed().as_secs_f64();
    let after = server.process.resident();
    let mib = |bytes: f64| bytes / (1024.0 * 1024.0);
    let mut outcomes = vec![
        Outcome::told("tracked keys of 128 B", keys as f64, ""),
        Outcome::told("each read once, for each second", keys as f64 / filled, ""),
        Outcome::told("resident before", mib(before as f64), "MiB"),
        Outcome::told("resident with them", mib(after as f64), "MiB"),
        Outcome::told("a tracked key", after.saturating_sub(before) as f64 / keys as f64, "B"),
    ];
    if let Some(counted) = metric(&server, COUNTED)? {
        outcomes.push(Outcome::told("a tracked key, as reported", counted / keys as f64, "B"));
    }
    outcomes.push(sample(&server, &redis, keys)?);
    outcomes.push(change(&server, &redis, keys)?);
    Ok(outcomes)
}

fn key(number: usize) -> String {
    format!("entry:{number}")
}

fn target(number: usize) -> String {
    format!("/entry/{number}")
}

/// Some of them once more: the right ones, and Redis is not asked.
fn sample(server: &Server, redis: &RedisServer, keys: usize) -> Result<Outcome> {
    let mut client = HttpClient::connect(server.address)?;
    let asked = redis.calls("get")?;
    for number in (0..SAMPLE).map(|place| place * (keys / SAMPLE)) {
        let got = client.get(&target(number))?;
        if got != content(&target(number)) {
            return fail(format!("{} gives {} other bytes", target(number), got.len()));
        }
    }
    let asked = redis.calls("get")? - asked;
    let what = "GETs at Redis as 1,000 of them are read again";
    Ok(Outcome::told(what, asked as f64, "").promised("none", asked == 0))
}

/// From the reply to a write at Redis until the new value is read here.
fn change(server: &Server, redis: &RedisServer, keys: usize) -> Result<Outcome> {
    let (mut client, number) = (HttpClient::connect(server.address)?, keys / 2);
    let new = content(&target(keys));
    redis.write([(key(number), new.clone())].into_iter())?;
    let start = Instant::now();
    while client.get(&target(number))? != new {
        if start.elapsed() > LONGEST_UNSEEN {
            return fail(format!("a change is not seen within {LONGEST_UNSEEN:?}"));
        }
    }
    Ok(Outcome::told("a change at Redis is seen within", start.elapsed().as_secs_f64() * 1e3, "ms"))
}
