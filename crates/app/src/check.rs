//! `check FILE`: every fault of a configuration at once, or what it means.

use std::path::Path;
use std::process::ExitCode;

use plan::{Faults, Hints, Reason};
use serde::Serialize;
use server::StartError;

use crate::output;

#[derive(Serialize)]
struct Verdict {
    ok: bool,
    sources: usize,
    routes: usize,
    hints: Hints,
}

pub(crate) fn check(file: &Path, json: bool) -> ExitCode {
    match load(file) {
        Err(faults) => output::faults(&faults, json),
        Ok(verdict) => {
            if json {
                output::say_json(&verdict);
            } else {
                if verdict.hints.iter().next().is_some() {
                    output::note(&verdict.hints);
                }
                let (routes, sources) = (count(verdict.routes, "route"), count(verdict.sources, "source"));
                output::say(format!("{}: ok, {routes} to {sources}", file.display()));
            }
            ExitCode::SUCCESS
        }
    }
}

/// Also reads the files that the configuration names.
fn load(file: &Path) -> Result<Verdict, Faults> {
    let plan = plan::load(file)?;
    let verdict = Verdict {
        ok: true,
        sources: plan.sources.len(),
        routes: plan.routes.len(),
        hints: plan.hints.clone(),
    };
    server::check(plan).map_err(|error| {
        let reason = match error {
            StartError::Tls(_) => Reason::new(
                error.to_string(),
                "name a PEM file with the certificate chain, leaf first, and one with its private key",
            ),
            StartError::Database(error) => {
                Reason::new(error.to_string(), "check the file, and whether this user may read and write it")
            }
            StartError::Module(error) => Reason::new(
                error.to_string(),
                "write what the module exports; docs/guide/wasm.md says what a module has to look like",
            ),
            StartError::Store(error) => Reason::new(error.place_and_cause(), error.remedy),
            _ => Reason::new(
                error.to_string(),
                "name a PEM file with the certificates of the authorities to trust",
            ),
        };
        Faults::of_file(&file.display().to_string(), reason)
    })?;
    Ok(verdict)
}

fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
