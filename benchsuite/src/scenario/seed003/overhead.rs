//! Overhead: what sixteen steps that take no time cost more than one: reads of a store, which need nobody else, and calls
//! to an origin that answers at once. One client, nothing else to do; fleetfoot on the server core, client and origin on the
//! load core.

use super::one_user::{milliseconds, slowest_step};
use super::stage::ask;
use crate::compare::{Options, measured};
use crate::failure::{Result, fail};
use crate::figures::{Round, median, middle};
use crate::http_client::HttpClient;
use crate::load_generator::Asked;
use crate::scenario::outcome::Outcome;
use crate::server::{Kind, Origin, Server, Setup};

/// In µs, at the median.
const MOST: f64 = 100.0;
const TIMES: usize = 2_000;

struct Case {
    title: &'static str,
    target: &'static str,
    rounds: Vec<Round>,
}

pub(super) fn overhead(options: &Options) -> Result<Vec<Outcome>> {
    let folder = tempfile::Builder::new().prefix("bench-").tempdir()?;
    let values: Vec<String> = (0..16).map(|key| format!("\"key:{key}\": \"value {key}\"")).collect();
    std::fs::write(folder.path().join("store.json"), format!("{{ {} }}", values.join(", ")))?;
    let origin = Origin::start()?;
    let config = include_str!("../../../rivals/fleetfoot-overhead.yaml");
    let setup = Setup {
        config,
        folder: folder.path(),
        target: "/store/one",
        ..Setup::of(Kind::Fleetfoot, origin.address)
    };
    let server = setup.start()?;
    let case = |title, target| Case { title, target, rounds: Vec::new() };
    let mut cases = [
        case("a plain read of a store", "/store/read"),
        case("1 read of a store", "/store/one"),
        case("16 reads of a store", "/store/sixteen"),
        case("1 call to an origin", "/origin/one"),
        case("16 calls to an origin", "/origin/sixteen"),
    ];
    server.settle()?;
    let alone = Options { connections: 1, ..options.clone() };
    let rounds = if options.quick { 1 } else { options.rounds };
    for number in 1..=rounds {
        for Case { target, rounds, title } in &mut cases {
            let asked = Asked { targets: &[(*target).to_owned()], fields: &[] };
            let (round, load) = measured(&server, &origin, &asked, &alone)?;
            if load.requests == 0 || round.errors > 0 {
                return fail(format!("{title}: {} answered, {} failed", load.requests, round.errors));
            }
            rounds.push(round);
        }
        eprintln!("seed003: overhead, round {number} of {rounds} done");
    }
    let mut outcomes = vec![Outcome::skipped(
        "steps that take no time, one client; \"beyond one\": than with one step; \"beyond the slowest\": than the longest step of\n  \
         the same response, as its Server-Timing has it",
    )];
    outcomes.extend(cases.iter().flat_map(told));
    let more = |one: &Case, sixteen: &Case, figure: fn(&Round) -> f64| {
        let pairs = one.rounds.iter().zip(&sixteen.rounds);
        middle(pairs.map(|(one, sixteen)| figure(sixteen) - figure(one)).collect())
    };
    for (of, one, sixteen) in
        [("reads of a store", &cases[1], &cases[2]), ("calls to an origin", &cases[3], &cases[4])]
    {
        let p50 = more(one, sixteen, |round| round.p50_us);
        let what = |what: &str| format!("16 {of} beyond one, {what}");
        outcomes.push(Outcome::told(what("p50"), p50, "µs").promised("at most 100 µs", p50 <= MOST));
        outcomes.push(Outcome::told(what("CPU"), more(one, sixteen, |round| round.cpu_us), "µs CPU"));
    }
    for (of, target) in [("reads of a store", "/store/sixteen"), ("calls to an origin", "/origin/sixteen")] {
        let own = beyond_slowest(&server, target)? * 1e3;
        let what = format!("16 {of}, p50 beyond the slowest");
        outcomes.push(Outcome::told(what, own, "µs"));
    }
    Ok(outcomes)
}

/// In milliseconds, the client's part included.
fn beyond_slowest(server: &Server, target: &str) -> Result<f64> {
    let mut client = HttpClient::connect(server.address)?;
    let mut all = Vec::new();
    for _ in 0..TIMES {
        let start = std::time::Instant::now();
        let answer = ask(&mut client, target)?;
        all.push(milliseconds(start.elapsed()) - slowest_step(&answer)?);
    }
    Ok(middle(all))
}

fn told(case: &Case) -> [Outcome; 4] {
    let figures = median(&case.rounds);
    let told = |what: &str, figure, unit| Outcome::told(format!("{}{what}", case.title), figure, unit);
    [
        told(", p50", figures.p50_us, "µs"),
        told(", p99", figures.p99_us, "µs"),
        told("", figures.cpu_us, "µs CPU"),
        told(", others on its core", figures.others * 100.0, "%"),
    ]
}
