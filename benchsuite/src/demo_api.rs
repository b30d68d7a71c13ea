//! DemoApi: the slow API of `fleetfoot demo-api`, in a process of its own on the core of the clients. Started by the
//! scenarios whose origin is somebody's API.

use std::net::SocketAddr;
use std::time::Duration;

use tempfile::TempDir;

use crate::failure::{Failure, Result};
use crate::http_client::HttpClient;
use crate::process::{LOAD_CORE, Process, wait_until};
use crate::server::{fleetfoot_program, free_address};

/// Runs as long as this value lives.
pub(crate) struct DemoApi {
    pub(crate) address: SocketAddr,
    _process: Process,
    _directory: TempDir,
}

impl DemoApi {
    /// Starts it.
    pub(crate) fn start() -> Result<Self> {
        let program = fleetfoot_program().ok_or_else(|| Failure("fleetfoot is not there".to_owned()))?;
        let directory = tempfile::Builder::new().prefix("bench-").tempdir()?;
        let address = free_address()?;
        let arguments = ["demo-api", "--listen", &address.to_string()];
        let log = directory.path().join("log");
        let process = Process::start(*LOAD_CORE, &program.to_string_lossy(), &arguments, log)?;
        wait_until(Duration::from_secs(5), || HttpClient::connect(address).is_ok())?;
        Ok(DemoApi { address, _process: process, _directory: directory })
    }

    /// How many requests these endpoints have had, as it counts itself.
    pub(crate) fn requests(&self, endpoints: &[&str]) -> Result<u64> {
        let stats = HttpClient::connect(self.address)?.ask_json("/stats", &[])?;
        let count = |endpoint: &&str| {
            let count = stats[*endpoint].as_u64();
            count.ok_or_else(|| Failure(format!("/stats of the API does not count {endpoint}")))
        };
        endpoints.iter().map(count).sum()
    }
}
