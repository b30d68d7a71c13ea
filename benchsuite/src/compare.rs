//! Compare: every server in every row, round by round, so that whatever disturbs the machine disturbs all of them.

use std::time::Instant;

use clap::Args;

use crate::failure::{Failure, Result, fail};
use crate::figures::{Round, median};
use crate::http_client::HttpClient;
use crate::interruption;
use crate::load_generator::{self, Asked, Load};
use crate::process::{SERVER_CORE, busy};
use crate::report::{Line, Report};
use crate::row::{Row, content};
use crate::server::{Kind, Origin, Server, Setup};

/// Of the comparison; the scenarios use some of them. Said before or behind what is to be measured.
#[derive(Args, Clone, Debug)]
pub(crate) struct Options {
    /// Seconds of load in each round.
    #[arg(long, global = true, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=60))]
    pub(crate) seconds: u64,
    /// Rounds; the figures are their medians.
    #[arg(long, global = true, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=50))]
    pub(crate) rounds: u64,
    /// Less of everything, to see whether it works: such figures are not for keeping.
    #[arg(long, global = true)]
    pub(crate) quick: bool,
    /// Connections of the load.
    #[arg(long, global = true, default_value_t = 64)]
    pub(crate) connections: usize,
    /// Only these servers or rows (`nginx`, `hit-1k`); may be repeated. The bare loop is always there. For reads: the
    /// ways of reading; for pages: `fleetfoot`, `krakend`, `go` or `node`; for seed 003:
    /// `one-user`, `ten-users`, `hundred-users` or `overhead`.
    #[arg(long, global = true, visible_alias = "row", value_name = "NAME")]
    pub(crate) only: Vec<String>,
    /// Print the report as JSON.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Keep the report in benchsuite/runs/.
    #[arg(long, global = true)]
    pub(crate) save: bool,
}

/// Measures.
pub(crate) fn run(options: &Options) -> Result<Report> {
    let (kinds, rows) = chosen(&options.only)?;
    let origin = Origin::start()?;
    let mut servers = Vec::new();
    for kind in kinds {
        if kind.program().is_none() {
            let missing = if kind == Kind::Before { "named by FLEETFOOT_BEFORE" } else { "installed" };
            eprintln!("{} is not {missing}: left out", kind.name());
            continue;
        }
        let server = Setup::of(kind, origin.address).start()?;
        for &row in &rows {
            verify(&server, &origin, row)
                .map_err(|failure| Failure(format!("{}, {}: {failure}", kind.name(), row.title())))?;
        }
        eprintln!("{:<10} {} answers right", kind.name(), server.version);
        servers.push(server);
    }
    for server in &servers {
        server.settle()?;
    }
    let rounds = measure(&servers, &origin, &rows, options)?;
    Ok(Report::new(&servers, options, rounds))
}

/// What `--only` leaves.
fn chosen(only: &[String]) -> Result<(Vec<Kind>, Vec<Row>)> {
    let is_kind = |name: &String| Kind::ALL.iter().any(|kind| kind.name() == name);
    let is_row = |name: &String| Row::ALL.iter().any(|row| row.name() == name);
    if let Some(name) = only.iter().find(|name| !is_kind(name) && !is_row(name)) {
        let known: Vec<_> = Kind::ALL.map(Kind::name).into_iter().chain(Row::ALL.map(Row::name)).collect();
        return fail(format!("`{name}` is none of {}", known.join(", ")));
    }
    let takes = |name: &str, any: bool| !any || only.iter().any(|chosen| chosen == name);
    let (some_kinds, some_rows) = (only.iter().any(is_kind), only.iter().any(is_row));
    let kinds = Kind::ALL.into_iter().filter(|kind| *kind == Kind::Bare || takes(kind.name(), some_kinds));
    let rows = Row::ALL.into_iter().filter(|row| takes(row.name(), some_rows));
    Ok((kinds.collect(), rows.collect()))
}

/// Asked for again once everything is warm.
const AGAIN: usize = 100;

/// Warms every target of the row, then holds that answers are right and come from where they should.
fn verify(server: &Server, origin: &Origin, row: Row) -> Result<()> {
    let mut client = HttpClient::connect(server.address)?;
    for number in 0..row.targets() {
        check(&mut client, server.kind, &row.target(number))?;
    }
    let before = origin.count()?;
    for number in 0..AGAIN {
        check(&mut client, server.kind, &row.target(number * 97))?;
    }
    let fetches = origin.count()? - before;
    let expected = if row.is_hit() || server.kind == Kind::Bare { 0 } else { AGAIN as u64 };
    if fetches == expected {
        Ok(())
    } else {
        fail(format!("{fetches} fetches for {AGAIN} requests, not {expected}"))
    }
}

fn check(client: &mut HttpClient, kind: Kind, target: &str) -> Result<()> {
    let got = client.get(target)?;
    // The bare loop has one answer for all keys.
    let expected =
        if kind == Kind::Bare && target.starts_with("/key/") { content("/1k") } else { content(target) };
    if got == expected { Ok(()) } else { fail(format!("{target} gives {} other bytes", got.len())) }
}

fn measure(servers: &[Server], origin: &Origin, rows: &[Row], options: &Options) -> Result<Vec<Line>> {
    let mut rounds: Vec<Vec<Round>> = vec![Vec::new(); rows.len() * servers.len()];
    let start = Instant::now();
    for number in 1..=options.rounds {
        for (at, (row, server)) in pairs(rows, servers).enumerate() {
            rounds[at].push(round(server, origin, *row, options)?);
        }
        eprintln!("round {number} of {} done after {:.0} s", options.rounds, start.elapsed().as_secs_f64());
    }
    let lines = pairs(rows, servers).zip(rounds);
    Ok(lines
        .map(|((row, server), rounds)| Line {
            row: *row,
            server: server.kind.name(),
            figures: median(&rounds),
            rounds,
        })
        .collect())
}

fn pairs<'a>(rows: &'a [Row], servers: &'a [Server]) -> impl Iterator<Item = (&'a Row, &'a Server)> {
    rows.iter().flat_map(move |row| servers.iter().map(move |server| (row, server)))
}

/// A round means nothing where requests failed, hits came from the origin, or proxied requests from elsewhere.
fn hold(server: &Server, row: Row, load: &Load, fetches: u64) -> Result<()> {
    let wrong = if load.requests == 0 || load.errors > 0 {
        Some(format!("{} requests failed, {} were answered", load.errors, load.requests))
    } else if server.kind == Kind::Bare {
        None
    } else if row.is_hit() && fetches > 0 {
        Some(format!("{fetches} of {} hits reached the origin", load.requests))
    } else if !row.is_hit() && fetches < load.requests {
        Some(format!("only {fetches} of {} requests reached the origin", load.requests))
    } else {
        None
    };
    wrong.map_or(Ok(()), |wrong| fail(format!("{}, {}: {wrong}", server.kind.name(), row.title())))
}

fn round(server: &Server, origin: &Origin, row: Row, options: &Options) -> Result<Round> {
    let targets: Vec<String> = (0..row.targets()).map(|number| row.target(number)).collect();
    let (round, load) = measured(server, origin, &Asked { targets: &targets, fields: &[] }, options)?;
    hold(server, row, &load, round.fetches)?;
    Ok(round)
}

/// A round of whatever is asked.
pub(crate) fn measured(
    server: &Server,
    origin: &Origin,
    asked: &Asked<'_>,
    options: &Options,
) -> Result<(Round, Load)> {
    interruption::check()?;
    let fetched = origin.count()?;
    let (start, busy_before) = (Instant::now(), busy(*SERVER_CORE));
    let before = server.process.cpu_time();
    let load = load_generator::run(server.address, asked, options.connections, options.seconds)?;
    let cpu = server.process.cpu_time().since(&before);
    let others = busy(*SERVER_CORE).saturating_sub(busy_before + cpu);
    let fetches = origin.count()? - fetched;
    let round = Round {
        cpu_us: cpu.as_nanos() as f64 / 1e3 / load.requests.max(1) as f64,
        rps: load.rps(),
        p50_us: load.p50_us as f64,
        p99_us: load.p99_us as f64,
        errors: load.errors,
        fetches,
        others: others.as_secs_f64() / start.elapsed().as_secs_f64(),
    };
    Ok((round, load))
}
