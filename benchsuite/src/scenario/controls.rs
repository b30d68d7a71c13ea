//! Controls: what a hit costs with everything configured that a hit has to look at, beside a plain one.
//!
//! A second plain one tells how far two of the same differ on this machine.

use crate::compare::{Options, measured};
use crate::failure::{Failure, Result, fail};
use crate::figures::{Round, median, middle};
use crate::http_client::HttpClient;
use crate::load_generator::Asked;
use crate::row::content;
use crate::scenario::outcome::Outcome;
use crate::scenario::pairs::Pairs;
use crate::server::{Kind, Origin, Server, Setup};

const LEAST_ROUNDS: u64 = 5;
/// How far from 1 the ratio may be.
const TOLERANCE: f64 = 0.05;

type Fields = &'static [(&'static str, &'static str)];

/// A request that is a hit on both.
struct Variant {
    name: &'static str,
    target: &'static str,
    fields: Fields,
    /// Whether something is promised of it.
    promised: bool,
}

const VARIANTS: [Variant; 4] = [
    Variant { name: "1 KiB hit", target: "/1k", fields: &[], promised: true },
    Variant { name: "hit with a query", target: "/1k?a=1&b=2", fields: &[], promised: true },
    Variant {
        name: "hit with a cookie",
        target: "/1k",
        fields: &[("Cookie", "theme=dark; lang=en")],
        promised: true,
    },
    // The plain one does not look at it: this is what a longer key costs.
    Variant {
        name: "hit with a field of the key",
        target: "/1k",
        fields: &[("X-Tenant", "acme")],
        promised: false,
    },
];

pub(crate) fn controls(options: &Options) -> Result<Vec<Outcome>> {
    let (origin, tagging) = (Origin::start()?, Origin::start_tagging()?);
    let plain = Setup::of(Kind::Fleetfoot, origin.address).start()?;
    let again = Setup::of(Kind::Fleetfoot, origin.address).start()?;
    let config = include_str!("../../rivals/fleetfoot-controls.yaml");
    let controlled = Setup { config, ..Setup::of(Kind::Fleetfoot, tagging.address) }.start()?;
    for (server, origin) in [(&plain, &origin), (&again, &origin), (&controlled, &tagging)] {
        for variant in &VARIANTS {
            verify(server, origin, variant)
                .map_err(|failure| Failure(format!("{}: {failure}", variant.name)))?;
        }
    }
    verify_controls(&controlled, &tagging)?;
    for server in [&plain, &again, &controlled] {
        server.settle()?;
    }
    let mut pairs: [Pairs; VARIANTS.len()] = Default::default();
    let mut same = Pairs::default();
    let rounds = options.rounds.max(LEAST_ROUNDS);
    for number in 1..=rounds {
        let plain_first = number % 2 == 0;
        for (variant, pairs) in VARIANTS.iter().zip(&mut pairs) {
            let [plain, controlled] = [(&plain, &origin), (&controlled, &tagging)];
            pairs.measure(
                plain_first,
                || round(plain, variant, options),
                || round(controlled, variant, options),
            )?;
        }
        let [plain, again] = [(&plain, &origin), (&again, &origin)];
        same.measure(
            plain_first,
            || round(plain, &VARIANTS[0], options),
            || round(again, &VARIANTS[0], options),
        )?;
        eprintln!("controls: round {number} of {rounds} done");
    }
    let mut outcomes: Vec<_> =
        VARIANTS.iter().zip(&pairs).flat_map(|(variant, pairs)| told(variant, pairs)).collect();
    outcomes.push(same.ratio("1 KiB hit, plain of another plain"));
    Ok(outcomes)
}

/// Means nothing where requests failed or hits came from the origin.
fn round((server, origin): (&Server, &Origin), variant: &Variant, options: &Options) -> Result<Round> {
    let asked = Asked { targets: &[variant.target.to_owned()], fields: variant.fields };
    let (round, load) = measured(server, origin, &asked, options)?;
    if load.requests == 0 || round.errors > 0 || round.fetches > 0 {
        let Round { errors, fetches, .. } = round;
        let requests = load.requests;
        return fail(format!("{}: {requests} answered, {errors} failed, {fetches} fetches", variant.name));
    }
    Ok(round)
}

fn told(variant: &Variant, pairs: &Pairs) -> [Outcome; 3] {
    let name = variant.name;
    let cpu = |rounds: &[Round]| median(rounds).cpu_us;
    let ratio = pairs.ratio(format!("{name}, of plain"));
    let held = (middle(pairs.ratios()) - 1.0).abs() <= TOLERANCE;
    [
        Outcome::told(format!("{name}, plain"), cpu(&pairs.plain), "µs CPU"),
        Outcome::told(format!("{name}, all controls"), cpu(&pairs.other), "µs CPU"),
        if variant.promised { ratio.promised("within ±5 %", held) } else { ratio },
    ]
}

/// That the answer is right, shows no tags, and is a hit when asked for again.
fn verify(server: &Server, origin: &Origin, variant: &Variant) -> Result<()> {
    let mut client = HttpClient::connect(server.address)?;
    client.ask(variant.target, variant.fields)?;
    let fetched = origin.count()?;
    let answer = client.ask(variant.target, variant.fields)?;
    if answer.body != content(variant.target) {
        return fail("other bytes than the origin's");
    }
    if answer.field("cache-tag").is_some() {
        return fail("clients get to see the tags");
    }
    if origin.count()? != fetched || !answer.is_hit() {
        return fail(format!("no hit but {:?}", answer.field("cache-status")));
    }
    Ok(())
}

/// That the controls are in force, each of them.
fn verify_controls(server: &Server, origin: &Origin) -> Result<()> {
    let mut client = HttpClient::connect(server.address)?;
    let asked: [(&str, Fields, u64); 6] = [
        ("/1k", &[("Bypass-Cache", "1")], 1),
        ("/1k", &[("Cookie", "idToken=someone")], 1),
        ("/1k", &[("Authorization", "Bearer someone")], 1),
        ("/1k", &[("X-Tenant", "another")], 1),
        ("/1k?utm_source=news&fbclid=1", &[], 0),
        ("/1k?b=2&a=1&utm_medium=mail", &[], 0),
    ];
    for (target, fields, expected) in asked {
        let before = origin.count()?;
        client.ask(target, fields)?;
        let fetches = origin.count()? - before;
        if fetches != expected {
            return fail(format!("{target} with {fields:?} made {fetches} fetches, not {expected}"));
        }
    }
    Ok(())
}
