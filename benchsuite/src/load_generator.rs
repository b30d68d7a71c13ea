//! Load: as many requests as the server answers for some seconds, from the load core. With wrk where it is installed,
//! because that is what people know and can repeat; else with the generator of this workspace.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::failure::{Failure, Result, fail};
use crate::process::LOAD_CORE;
use crate::server::installed;

/// What came of it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Load {
    pub(crate) requests: u64,
    pub(crate) duration_us: u64,
    pub(crate) errors: u64,
    pub(crate) p50_us: u64,
    pub(crate) p99_us: u64,
}

impl Load {
    /// Requests for each second.
    pub(crate) fn rps(&self) -> f64 {
        self.requests as f64 / (self.duration_us as f64 / 1e6)
    }
}

const REPORT: &str = include_str!("../rivals/report.lua");
const KEYS: &str = include_str!("../rivals/keys.lua");

/// The name and version of the generator.
pub(crate) fn version() -> String {
    let Some(wrk) = installed("wrk") else { return "the load generator of this workspace".to_owned() };
    let said = Command::new(wrk).arg("-v").output().map(|output| output.stdout).unwrap_or_default();
    let first = String::from_utf8_lossy(&said).lines().next().unwrap_or_default().to_owned();
    first.split(" [").next().unwrap_or_default().to_owned()
}

/// What is asked for, again and again.
pub(crate) struct Asked<'a> {
    /// One, or those of the row of many keys.
    pub(crate) targets: &'a [String],
    /// Fields of every request.
    pub(crate) fields: &'a [(&'static str, &'static str)],
}

/// Loads one target.
pub(crate) fn run_path(address: SocketAddr, target: &str, connections: usize, seconds: u64) -> Result<Load> {
    run(address, &Asked { targets: &[target.to_owned()], fields: &[] }, connections, seconds)
}

/// Loads.
pub(crate) fn run(address: SocketAddr, asked: &Asked<'_>, connections: usize, seconds: u64) -> Result<Load> {
    let Asked { targets, fields } = asked;
    let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    let directory = tempfile::tempdir()?;
    let mut command = Command::new("taskset");
    command.args(["-c", &LOAD_CORE.to_string()]);
    if let Some(wrk) = installed("wrk") {
        wrk_script(&mut command, &wrk, directory.path(), targets.len())?;
        command.args(fields.iter().flat_map(|field| ["-H", field]));
        command.args(["-t1", &format!("-c{connections}"), &format!("-d{seconds}s"), "--timeout", "10s"]);
        command.arg(format!("http://{address}{}", targets[0]));
    } else {
        let list = directory.path().join("targets");
        std::fs::write(&list, targets.join("\n"))?;
        command.arg(std::env::current_exe()?).args(["load", "--address", &address.to_string(), "--targets"]);
        command.arg(list).args([
            "--connections",
            &connections.to_string(),
            "--seconds",
            &seconds.to_string(),
        ]);
        command.args(fields.iter().flat_map(|field| ["--field", field]));
    }
    read(&mut command)
}

/// wrk with the script that prints the figures; the keys' script makes requests too.
fn wrk_script(command: &mut Command, wrk: &Path, directory: &Path, targets: usize) -> Result<()> {
    let (report, keys) = (directory.join("report.lua"), directory.join("keys.lua"));
    std::fs::write(&report, REPORT)?;
    std::fs::write(&keys, KEYS)?;
    command.env("BENCH_REPORT", &report);
    command.arg(wrk).arg("-s").arg(if targets > 1 { keys } else { report });
    Ok(())
}

fn read(command: &mut Command) -> Result<Load> {
    let output = command.output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    match said.lines().find_map(|line| line.strip_prefix("BENCH ")) {
        Some(line) => Ok(serde_json::from_str(line)?),
        None => {
            fail(format!("no figures from {command:?}: {said}{}", String::from_utf8_lossy(&output.stderr)))
        }
    }
}

/// In this process, on whichever core it was started; prints what wrk's script prints. `targets`: a file, one a line;
/// `fields`: each `Name: value`.
pub(crate) fn run_here(
    address: SocketAddr,
    targets: &Path,
    fields: &[String],
    connections: usize,
    seconds: u64,
) -> Result<()> {
    let list = std::fs::read_to_string(targets)?;
    let urls: Vec<String> = list.lines().map(|target| format!("http://{address}{target}")).collect();
    let Some(first) = urls.first().cloned() else { return fail("no targets") };
    let duration = Duration::from_secs(seconds);
    let field =
        |line: &String| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned()));
    let fields = fields.iter().filter_map(field).collect();
    let scenario = load::Scenario {
        urls,
        fields,
        connections,
        duration,
        threads: 1,
        ..load::Scenario::new("load", first)
    };
    let report = load::run(&scenario).map_err(|error| Failure(error.to_string()))?;
    let load = Load {
        requests: report.requests,
        duration_us: report.duration.as_micros() as u64,
        errors: report.errors.total() + report.not_successful(),
        p50_us: report.latency.p50.as_micros() as u64,
        p99_us: report.latency.p99.as_micros() as u64,
    };
    println!("BENCH {}", serde_json::to_string(&load)?);
    Ok(())
}
