//! `up URL` and `run FILE`: serve until told to stop.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use server::Configuration;

use crate::output;

pub(crate) fn up(url: &str, listen: SocketAddr, admin: SocketAddr, json: bool) -> ExitCode {
    match plan::up(url) {
        Err(faults) => output::faults(&faults, json),
        Ok(mut plan) => {
            plan.listen.http = vec![listen];
            plan.listen.admin = Some(admin);
            serve(Configuration::Fixed(Box::new(plan)), json)
        }
    }
}

pub(crate) fn run(file: PathBuf, json: bool) -> ExitCode {
    serve(Configuration::File(file), json)
}

fn serve(configuration: Configuration, json: bool) -> ExitCode {
    match server::serve(configuration, &|address| announce(address, json)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(server::StartError::Faults(faults)) => output::faults(&faults, json),
        Err(error) => output::fail(error, 1),
    }
}

/// One line per address, so that whoever asked for port 0 learns which it became.
fn announce(listening: &server::Listening, json: bool) {
    if json {
        output::say_json(listening);
    } else {
        output::note(listening);
    }
}
