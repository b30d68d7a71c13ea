//! RedisServer: a redis-server that keeps everything in memory, on the core of the clients, where everybody's origin is.
//! Started by the scenarios that read one or share one.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use redis::{Client, Connection};
use tempfile::TempDir;

use crate::failure::{Failure, Result};
use crate::process::{LOAD_CORE, Process, wait_until};
use crate::server::{free_address, installed};

/// Commands sent at once when many keys are written.
const BATCH: usize = 10_000;

/// Runs as long as this value lives.
pub(crate) struct RedisServer {
    pub(crate) address: SocketAddr,
    pub(crate) process: Process,
    directory: TempDir,
}

impl RedisServer {
    /// Where the program is installed, if it is.
    pub(crate) fn program() -> Option<PathBuf> {
        installed("redis-server")
    }

    /// Starts an empty one.
    pub(crate) fn start() -> Result<Self> {
        Self::start_with(&[])
    }

    /// Starts one that follows this one, and waits until it has everything.
    pub(crate) fn start_replica(&self) -> Result<Self> {
        let (host, port) = (self.address.ip().to_string(), self.address.port().to_string());
        let replica = Self::start_with(&["--replicaof", &host, &port])?;
        let up = || replica.info("replication").is_ok_and(|info| info.contains("master_link_status:up"));
        wait_until(Duration::from_secs(20), up)?;
        Ok(replica)
    }

    fn start_with(more: &[&str]) -> Result<Self> {
        let program = Self::program().ok_or_else(|| Failure("redis-server is not installed".to_owned()))?;
        let directory = tempfile::Builder::new().prefix("bench-").tempdir()?;
        let (place, address) = (directory.path().to_string_lossy(), free_address()?);
        let (host, port) = (address.ip().to_string(), address.port().to_string());
        let socket = format!("{place}/socket");
        let mut arguments = vec!["--bind", &host, "--port", &port, "--unixsocket", &socket, "--dir", &place];
        arguments.extend(["--save", "", "--appendonly", "no", "--repl-diskless-sync-delay", "0"]);
        arguments.extend(more);
        let log = directory.path().join("log");
        let process = Process::start(*LOAD_CORE, &program.to_string_lossy(), &arguments, log)?;
        let server = RedisServer { address, process, directory };
        wait_until(Duration::from_secs(5), || server.info("server").is_ok())?;
        Ok(server)
    }

    /// Over TCP, as configs name it.
    pub(crate) fn url(&self) -> String {
        format!("redis://{}", self.address)
    }

    /// Over its socket, as configs name it.
    pub(crate) fn socket_url(&self) -> String {
        format!("unix:{}/socket", self.directory.path().display())
    }

    /// A connection of one's own.
    pub(crate) fn connect(&self) -> Result<Connection> {
        Ok(Client::open(self.url())?.get_connection_with_timeout(Duration::from_secs(5))?)
    }

    /// Writes so many keys, each with its value.
    pub(crate) fn write<V: redis::ToSingleRedisArg>(
        &self,
        entries: impl Iterator<Item = (String, V)>,
    ) -> Result<()> {
        let mut connection = self.connect()?;
        let mut entries = entries.peekable();
        while entries.peek().is_some() {
            let mut commands = redis::pipe();
            for (key, value) in entries.by_ref().take(BATCH) {
                commands.set(key, value).ignore();
            }
            commands.exec(&mut connection)?;
        }
        Ok(())
    }

    /// How many keys there are.
    pub(crate) fn keys(&self) -> Result<u64> {
        Ok(redis::cmd("DBSIZE").query(&mut self.connect()?)?)
    }

    /// How often this command was called so far, its name in lower case.
    pub(crate) fn calls(&self, command: &str) -> Result<u64> {
        let (info, name) = (self.info("commandstats")?, format!("cmdstat_{command}:calls="));
        let calls = info.lines().find_map(|line| line.strip_prefix(&name)?.split(',').next()?.parse().ok());
        Ok(calls.unwrap_or(0))
    }

    /// A figure of its statistics, by name.
    pub(crate) fn stat(&self, name: &str) -> Result<u64> {
        let info = self.info("stats")?;
        let value = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')?.parse().ok());
        value.ok_or_else(|| Failure(format!("Redis does not tell {name}")))
    }

    fn info(&self, section: &str) -> Result<String> {
        Ok(redis::cmd("INFO").arg(section).query(&mut self.connect()?)?)
    }
}

#[cfg(test)]
mod tests {
    use redis::Commands;

    use super::*;

    #[test]
    fn keys_are_written_and_a_replica_has_them_all() {
        let written = BATCH * 5 / 2;
        let primary = RedisServer::start().expect("redis-server starts");
        primary
            .write((0..written).map(|number| (format!("key:{number}"), number)))
            .expect("they are written");
        let replica = primary.start_replica().expect("the replica has everything");
        for server in [&primary, &replica] {
            assert_eq!(server.keys().expect("an answer"), written as u64);
        }
        let before = primary.calls("get").expect("an answer");
        let mut connection = Client::open(replica.socket_url().replace("unix:", "unix://"))
            .and_then(|client| client.get_connection())
            .expect("its socket is there");
        let last: usize = connection.get(format!("key:{}", written - 1)).expect("the key is there");
        assert_eq!(last, written - 1);
        assert_eq!(replica.calls("get").expect("an answer"), 1);
        assert_eq!(primary.calls("get").expect("an answer"), before);
    }
}
