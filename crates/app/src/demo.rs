//! `demo`: a slow API, fleetfoot in front of it, a short load on both, and the difference in a table; and what fleetfoot
//! answers by itself: out of a file, and of sixteen calls at once.

mod folder;
mod sixteen_calls;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use demo_api::{Counts, Endpoint};
use indicatif::{ProgressBar, ProgressStyle};
use load::{Comparison, Report, Scenario};
use serde::Serialize;
use server::Configuration;

use crate::output;

use folder::Folder;
use sixteen_calls::SixteenCalls;

#[derive(Serialize)]
struct Outcome {
    direct: Report,
    through_fleetfoot: Report,
    throughput_gain: f64,
    origin_fetches_direct: u64,
    origin_fetches_through_fleetfoot: u64,
    /// Tokens looked up in a file, without the API.
    from_a_store: Report,
    /// One response of sixteen calls, in several ways.
    sixteen_calls: SixteenCalls,
}

pub(crate) fn demo(seconds: u64, connections: u16, json: bool) -> ExitCode {
    match measure(Duration::from_secs(seconds), usize::from(connections)) {
        Ok(outcome) if json => output::say_json(&outcome),
        Ok(outcome) => show(&outcome),
        Err(problem) => return output::fail(problem, 1),
    }
    ExitCode::SUCCESS
}

fn measure(duration: Duration, connections: usize) -> Result<Outcome, String> {
    let counts = Counts::new();
    let api = start_api(counts.clone())?;
    let folder = Folder::write()?;
    let fleetfoot = start_fleetfoot(api, connections, &folder)?;
    output::note(format!("the demo API, 200 ms slow, is at      http://{api}/cache"));
    output::note(format!("fleetfoot, in front of it, is at      http://{fleetfoot}/cache"));
    output::note(format!("what it answers by itself is at       http://{fleetfoot}/token/ann"));
    let fetches = || counts.of(Endpoint::Cache);
    let scenario = |name, address, path| scenario(name, address, path, duration, connections);
    let direct = load(&scenario("without fleetfoot", api, "/cache"))?;
    let origin_fetches_direct = fetches();
    let through_fleetfoot = load(&scenario("with fleetfoot", fleetfoot, "/cache"))?;
    let origin_fetches_through_fleetfoot = fetches() - origin_fetches_direct;
    let from_a_store = load(&scenario("from a file", fleetfoot, "/token/ann"))?;
    output::note("one response of sixteen calls, in three ways …");
    let sixteen_calls = sixteen_calls::ask(fleetfoot)?;
    let comparison = Comparison { before: &direct, after: &through_fleetfoot };
    let throughput_gain = comparison.throughput_gain();
    Ok(Outcome {
        direct,
        through_fleetfoot,
        throughput_gain,
        origin_fetches_direct,
        origin_fetches_through_fleetfoot,
        from_a_store,
        sixteen_calls,
    })
}

fn scenario(name: &str, address: SocketAddr, path: &str, duration: Duration, connections: usize) -> Scenario {
    Scenario { connections, duration, ..Scenario::new(name, format!("http://{address}{path}")) }
}

fn start_api(counts: Counts) -> Result<SocketAddr, String> {
    let listener =
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|error| format!("no free port: {error}"))?;
    let address = listener.local_addr().map_err(|error| format!("no address: {error}"))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("no runtime: {error}"))?;
    thread::spawn(move || runtime.block_on(demo_api::serve(listener, counts, std::future::pending())));
    Ok(address)
}

fn start_fleetfoot(api: SocketAddr, connections: usize, folder: &Folder) -> Result<SocketAddr, String> {
    let mut plan = folder.plan(api)?;
    // Ctrl-C is not to wait for the load's connections.
    plan.drain = Duration::ZERO;
    // Nobody but the load comes here.
    plan.limits.connections = 2 * connections + 100;
    let (sender, listening) = mpsc::channel();
    thread::spawn(move || {
        let announce = |listening: &server::Listening| drop(sender.send(Ok(listening.address)));
        let ended = server::serve(Configuration::Fixed(Box::new(plan)), &announce);
        if let Err(error) = ended {
            drop(sender.send(Err(error.to_string())));
        } else {
            // Somebody pressed Ctrl-C, which the server took for itself.
            std::process::exit(INTERRUPTED);
        }
    });
    listening.recv().map_err(|_| "fleetfoot did not start".to_owned())?
}

/// 128 + SIGINT, what shells report.
const INTERRUPTED: i32 = 130;

fn load(scenario: &Scenario) -> Result<Report, String> {
    let bar = ProgressBar::new(scenario.duration.as_millis() as u64).with_style(
        ProgressStyle::with_template("{prefix:>18} {bar:40} {msg}").expect("the template above is valid"),
    );
    bar.set_prefix(scenario.name.clone());
    let report = load::run_with_progress(scenario, |progress| {
        bar.set_position((progress.share * bar.length().unwrap_or_default() as f64) as u64);
        bar.set_message(format!("{} answers", progress.answered));
    })
    .map_err(|error| error.to_string())?;
    bar.finish();
    Ok(report)
}

fn show(outcome: &Outcome) {
    let comparison = Comparison { before: &outcome.direct, after: &outcome.through_fleetfoot };
    output::say(comparison.table());
    output::say(format!(
        "{:.0} times the throughput; the API itself was asked {} instead of {}.",
        outcome.throughput_gain,
        times(outcome.origin_fetches_through_fleetfoot),
        times(outcome.origin_fetches_direct)
    ));
    output::say(format!(
        "Answering by itself, tokens out of a file: {:.0} requests a second, and the API was not asked at all.",
        outcome.from_a_store.rps
    ));
    outcome.sixteen_calls.lines().iter().for_each(output::say);
    output::say("Stand in front of your own: fleetfoot up http://localhost:3000");
}

fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    }
}
