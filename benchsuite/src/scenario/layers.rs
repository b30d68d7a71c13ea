//! Layers: what a proxied request costs with five layers around it that have nothing to do, beside one without any.

use crate::compare::{Options, measured};
use crate::failure::{Result, fail};
use crate::figures::{Round, median, middle};
use crate::http_client::HttpClient;
use crate::load_generator::Asked;
use crate::scenario::outcome::Outcome;
use crate::scenario::pairs::Pairs;
use crate::server::{Kind, Origin, Server, Setup};

const LEAST_ROUNDS: u64 = 5;
/// CPU time of a request with layers, of one without.
const AT_MOST: f64 = 1.05;
const TARGET: &str = "/proxied";

pub(crate) fn layers(options: &Options) -> Result<Vec<Outcome>> {
    let origin = Origin::start()?;
    let plain = Setup::of(Kind::Fleetfoot, origin.address).start()?;
    let again = Setup::of(Kind::Fleetfoot, origin.address).start()?;
    let config = include_str!("../../rivals/fleetfoot-layers.yaml");
    let layered = Setup { config, ..Setup::of(Kind::Fleetfoot, origin.address) }.start()?;
    verify(&layered)?;
    for server in [&plain, &again, &layered] {
        server.settle()?;
    }
    let (mut pairs, mut same) = (Pairs::default(), Pairs::default());
    let rounds = options.rounds.max(LEAST_ROUNDS);
    for number in 1..=rounds {
        let plain_first = number % 2 == 0;
        pairs.measure(
            plain_first,
            || round(&plain, &origin, options),
            || round(&layered, &origin, options),
        )?;
        same.measure(plain_first, || round(&plain, &origin, options), || round(&again, &origin, options))?;
        eprintln!("layers: round {number} of {rounds} done");
    }
    let held = middle(pairs.ratios()) <= AT_MOST;
    Ok(vec![
        Outcome::told("proxied, no layer", median(&pairs.plain).cpu_us, "µs CPU"),
        Outcome::told("proxied, five idle layers", median(&pairs.other).cpu_us, "µs CPU"),
        pairs.ratio("proxied, five idle layers of none").promised("at most 5 % more", held),
        same.ratio("proxied, no layer of another such"),
    ])
}

/// That the layers are in place.
fn verify(server: &Server) -> Result<()> {
    let answer = HttpClient::connect(server.address)?.ask(TARGET, &[])?;
    match answer.field("ratelimit-policy") {
        Some(_) => Ok(()),
        None => fail("the response has no RateLimit-Policy: the layers are not in place"),
    }
}

/// Means nothing where requests failed or did not reach the origin.
fn round(server: &Server, origin: &Origin, options: &Options) -> Result<Round> {
    let asked = Asked { targets: &[TARGET.to_owned()], fields: &[] };
    let (round, load) = measured(server, origin, &asked, options)?;
    if load.requests == 0 || round.errors > 0 || round.fetches < load.requests {
        let Round { errors, fetches, .. } = round;
        return fail(format!("{} answered, {errors} failed, {fetches} fetched", load.requests));
    }
    Ok(round)
}
