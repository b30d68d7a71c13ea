//! Output: the only place that writes to the terminal: results to standard output, all else to standard error.
#![allow(clippy::print_stdout, clippy::print_stderr)] // this is that place

use std::process::ExitCode;

use serde::Serialize;

/// Exit status for a wrong command line or configuration, as in sysexits and clap.
pub(crate) const USAGE: u8 = 2;

/// A result for people.
pub(crate) fn say(text: impl std::fmt::Display) {
    println!("{text}");
}

/// A result for programs.
pub(crate) fn say_json(value: &impl Serialize) {
    match serde_json::to_string_pretty(value) {
        Ok(text) => println!("{text}"),
        Err(error) => eprintln!("fleetfoot: the result cannot be written as JSON: {error}"),
    }
}

/// A word on what goes on.
pub(crate) fn note(text: impl std::fmt::Display) {
    eprintln!("fleetfoot: {text}");
}

/// What went wrong, and the exit status that goes with it.
pub(crate) fn fail(text: impl std::fmt::Display, status: u8) -> ExitCode {
    eprintln!("fleetfoot: {text}");
    ExitCode::from(status)
}

/// What a configuration's faults look like in either form.
pub(crate) fn faults(faults: &plan::Faults, json: bool) -> ExitCode {
    if json {
        say_json(faults);
    } else {
        eprintln!("{faults}");
    }
    ExitCode::from(USAGE)
}

/// Diagnostics of the running program (reloads, faults, health changes) go to standard error, a line each.
pub(crate) fn start_diagnostics(json: bool) {
    let builder = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_max_level(tracing::Level::INFO)
        .with_target(false);
    if json { builder.json().init() } else { builder.with_ansi(false).init() }
}
