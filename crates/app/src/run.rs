//! `up URL` and `run FILE`: serve until told to stop.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;

use plan::Plan;
use server::Configuration;

use crate::output;

pub(crate) fn up(url: &str, listen: SocketAddr, admin: SocketAddr, json: bool) -> ExitCode {
    match plan::up(url) {
        Err(faults) => output::faults(&faults, json),
        Ok(mut plan) => {
            if listen == admin && listen.port() != 0 {
                return output::fail(
                    "clients and admin cannot both be at one address; choose another port for one",
                    output::USAGE,
                );
            }
            if asks_itself(&plan, listen) {
                let problem = format!("the API cannot be at {url}, where fleetfoot itself would listen");
                let remedy = "write the API's own port, or let fleetfoot `--listen` at another";
                return output::fail(format!("{problem}; {remedy}"), output::USAGE);
            }
            plan.listen.http = vec![listen];
            plan.listen.admin = Some(admin);
            serve(
                Configuration::Fixed(Box::new(plan)),
                &|listening| {
                    announce(listening, json);
                    if listening.kind == "http" && !json {
                        output::note(format!(
                            "in front of {url}; try: curl -i http://{}/",
                            listening.address
                        ));
                    }
                },
                json,
            )
        }
    }
}

/// Whether a request passed on would come back to us: same port, and a name or address that is surely this machine's.
fn asks_itself(plan: &Plan, listen: SocketAddr) -> bool {
    let targets = plan.http_sources().flat_map(|source| &source.targets);
    targets.filter(|target| target.port == listen.port()).any(|target| match target.host.parse::<IpAddr>() {
        Ok(address) => address == listen.ip() || (address.is_loopback() && listen.ip().is_unspecified()),
        Err(_) => target.host == "localhost" && (listen.ip().is_loopback() || listen.ip().is_unspecified()),
    })
}

pub(crate) fn run(file: PathBuf, json: bool) -> ExitCode {
    serve(Configuration::File(file), &|listening| announce(listening, json), json)
}

fn serve(configuration: Configuration, announce: server::Announce<'_>, json: bool) -> ExitCode {
    match server::serve(configuration, announce) {
        Ok(()) => ExitCode::SUCCESS,
        Err(server::StartError::Faults(faults)) => output::faults(&faults, json),
        Err(error) => output::fail(error, 1),
    }
}

/// One line per address, so that whoever asked for port 0 learns which it became. A line in JSON too: an access log may
/// follow it.
fn announce(listening: &server::Listening, json: bool) {
    if json {
        output::say_json_line(listening);
    } else {
        output::note(listening);
    }
}
