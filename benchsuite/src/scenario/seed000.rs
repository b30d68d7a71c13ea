//! Seed 000: a slow API behind a cache. 200 connections on `/`, which may not be kept, and on `/cache`, kept for 5 s.

use std::net::SocketAddr;
use std::time::Duration;

use crate::failure::{Failure, Result};
use crate::http_client::HttpClient;
use crate::load_generator::run_path;
use crate::process::{LOAD_CORE, Process, wait_until};
use crate::scenario::outcome::Outcome;
use crate::server::{Kind, Setup, fleetfoot_program, free_address};

const CONNECTIONS: usize = 200;

/// At least ten seconds, so that the answer grows old twice.
pub(crate) fn seed000(seconds: u64) -> Result<Vec<Outcome>> {
    let seconds = seconds.max(11);
    let program = fleetfoot_program().ok_or_else(|| Failure("fleetfoot is not there".to_owned()))?;
    let directory = tempfile::tempdir()?;
    let address = free_address()?;
    let listen = address.to_string();
    let arguments = ["demo-api", "--listen", &listen];
    let _api =
        Process::start(*LOAD_CORE, &program.to_string_lossy(), &arguments, directory.path().join("log"))?;
    wait_until(Duration::from_secs(5), || HttpClient::connect(address).is_ok())?;
    let server = Setup { target: "/", ..Setup::of(Kind::Fleetfoot, address) }.start()?;
    let direct = run_path(address, "/", CONNECTIONS, seconds)?;
    let through = run_path(server.address, "/", CONNECTIONS, seconds)?;
    let cached = run_path(server.address, "/cache", CONNECTIONS, seconds)?;
    let fetches = fetches(address)?;
    let fetches_each_5_s = fetches / (seconds as f64 / 5.0).ceil();
    let gain = cached.rps() / direct.rps().max(0.001);
    let told = |what, figure, unit| Outcome::told(what, figure, unit);
    Ok(vec![
        told("/ asked of the API itself", direct.rps(), "rps"),
        told("/ through fleetfoot, not to be kept", through.rps(), "rps"),
        told("/ p99", through.p99_us as f64 / 1e3, "ms"),
        told("/cache through fleetfoot", cached.rps(), "rps"),
        told("/cache p50", cached.p50_us as f64 / 1e3, "ms"),
        told("/cache p99", cached.p99_us as f64 / 1e3, "ms"),
        told("/cache through fleetfoot against / itself", gain, "×")
            .promised("at least 100 ×", gain >= 100.0),
        told("fetches of /cache for each 5 s", fetches_each_5_s, "")
            .promised("at most 1", fetches_each_5_s <= 1.0),
    ])
}

/// How often the API itself was asked for `/cache`, as it counts.
fn fetches(api: SocketAddr) -> Result<f64> {
    let stats: serde_json::Value = serde_json::from_slice(&HttpClient::connect(api)?.get("/stats")?)?;
    stats["/cache"].as_f64().ok_or_else(|| Failure("/stats of the API does not count /cache".to_owned()))
}
