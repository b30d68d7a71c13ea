//! Output: the only place that writes to the terminal: results to standard output, all else to standard error.

use std::fmt::Display;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use serde::Serialize;
use tracing::Level;

/// Exit status for a wrong command line or configuration, as in sysexits and clap.
pub(crate) const USAGE: u8 = 2;

/// A result for people.
pub(crate) fn say(text: impl Display) {
    if let Err(error) = writeln!(std::io::stdout(), "{text}") {
        // Whoever reads may have read enough, as `head` does.
        if error.kind() != ErrorKind::BrokenPipe {
            complain(format_args!("fleetfoot: the result cannot be written: {error}"));
        }
    }
}

/// A result for programs.
pub(crate) fn say_json(value: &impl Serialize) {
    match serde_json::to_string_pretty(value) {
        Ok(text) => say(text),
        Err(error) => complain(format_args!("fleetfoot: the result cannot be written as JSON: {error}")),
    }
}

/// The same, on one line.
pub(crate) fn say_json_line(value: &impl Serialize) {
    match serde_json::to_string(value) {
        Ok(text) => say(text),
        Err(error) => complain(format_args!("fleetfoot: the result cannot be written as JSON: {error}")),
    }
}

/// A word on what goes on.
pub(crate) fn note(text: impl Display) {
    complain(format_args!("fleetfoot: {text}"));
}

/// What went wrong, and the exit status that goes with it.
pub(crate) fn fail(text: impl Display, status: u8) -> ExitCode {
    complain(format_args!("fleetfoot: {text}"));
    ExitCode::from(status)
}

/// What a configuration's faults look like in either form.
pub(crate) fn faults(faults: &plan::Faults, json: bool) -> ExitCode {
    if json {
        say_json(faults);
    } else {
        complain(faults);
    }
    ExitCode::from(USAGE)
}

/// A line on standard error. Not `eprintln!`, which panics when nobody reads there any more; there is nowhere left to
/// say so.
fn complain(text: impl Display) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Diagnostics of the running program (reloads, faults, health changes) go to standard error, a line each.
pub(crate) fn start_diagnostics(json: bool, level: Level) {
    let builder = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_max_level(level)
        .log_internal_errors(false)
        .with_target(false);
    if json { builder.json().init() } else { builder.with_ansi(false).init() }
}
