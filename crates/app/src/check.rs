//! `check FILE`: every fault of a configuration at once, or what it means.

use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;

use crate::output;

#[derive(Serialize)]
struct Verdict {
    ok: bool,
    sources: usize,
    routes: usize,
}

pub(crate) fn check(file: &Path, json: bool) -> ExitCode {
    match plan::load(file) {
        Err(faults) => output::faults(&faults, json),
        Ok(plan) => {
            let verdict = Verdict { ok: true, sources: plan.sources.len(), routes: plan.routes.len() };
            if json {
                output::say_json(&verdict);
            } else {
                let Verdict { sources, routes, .. } = verdict;
                output::say(format!("{}: ok, {routes} routes to {sources} sources", file.display()));
            }
            ExitCode::SUCCESS
        }
    }
}
