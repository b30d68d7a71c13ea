//! Seed 000: a slow API behind a cache. 200 connections on `/`, which may not be kept, and on `/cache`, kept for 5 s.

use crate::demo_api::DemoApi;
use crate::failure::Result;
use crate::load_generator::run_path;
use crate::scenario::outcome::Outcome;
use crate::server::{Kind, Setup};

const CONNECTIONS: usize = 200;

/// At least ten seconds, so that the answer grows old twice.
pub(crate) fn seed000(seconds: u64) -> Result<Vec<Outcome>> {
    let seconds = seconds.max(11);
    let api = DemoApi::start()?;
    let server = Setup { target: "/", ..Setup::of(Kind::Fleetfoot, api.address) }.start()?;
    let direct = run_path(api.address, "/", CONNECTIONS, seconds)?;
    let through = run_path(server.address, "/", CONNECTIONS, seconds)?;
    let cached = run_path(server.address, "/cache", CONNECTIONS, seconds)?;
    let fetches_each_5_s = api.requests(&["/cache"])? as f64 / (seconds as f64 / 5.0).ceil();
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
