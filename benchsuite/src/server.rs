//! Server: one running process of a server, with the processes it started, on its core, until it is dropped.

use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::{cores, interruption, measure};

/// How long a server may take to listen.
const START: Duration = Duration::from_secs(20);
/// How long a server may take to end; then it is killed.
const STOP: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(20);

/// A server that listens. Dropped, it and all it started end.
pub(crate) struct Server {
    pub(crate) name: &'static str,
    pub(crate) address: SocketAddr,
    child: Child,
    /// Its config, what it says, and what it stores; gone when it is.
    _directory: TempDir,
}

impl Server {
    /// Runs `command` on `core` and waits until it listens on `address`. What it says goes to a file in `directory`,
    /// which it owns from now on.
    pub(crate) fn start(
        name: &'static str,
        mut command: Command,
        address: SocketAddr,
        core: usize,
        directory: TempDir,
    ) -> Result<Self, String> {
        let said = directory.path().join("said.log");
        let log = File::create(&said).map_err(|error| format!("{name}: no log: {error}"))?;
        let log_too = log.try_clone().map_err(|error| format!("{name}: no log: {error}"))?;
        command.stdin(Stdio::null()).stdout(log).stderr(log_too).process_group(0);
        let child = cores::on(core, || command.spawn())?
            .map_err(|error| format!("{name} cannot be started: {error}"))?;
        let mut server = Server { name, address, child, _directory: directory };
        match server.wait_until_it_listens() {
            Ok(()) => Ok(server),
            Err(problem) => {
                let said = fs::read_to_string(&said).unwrap_or_default();
                Err(format!("{name} {problem}; it said: {}", said.trim()))
            }
        }
    }

    /// The process started; what it started itself is its family.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    fn wait_until_it_listens(&mut self) -> Result<(), String> {
        let start = Instant::now();
        while start.elapsed() < START {
            interruption::check()?;
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(format!("ended with {status}"));
            }
            if TcpStream::connect(self.address).is_ok() {
                return Ok(());
            }
            pause(PAUSE);
        }
        Err(format!("did not listen on {} within {} s", self.address, START.as_secs()))
    }

    fn ended(&mut self) -> bool {
        let start = Instant::now();
        while start.elapsed() < STOP {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return true;
            }
            pause(PAUSE);
        }
        false
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let family = measure::family(self.child.id()).unwrap_or_default();
        // Until it has been waited for its id is its own, also when it has ended.
        let running = matches!(self.child.try_wait(), Ok(None));
        if running {
            send(self.child.id(), Signal::TERM);
        }
        if !self.ended() {
            for process in family {
                send(process, Signal::KILL);
            }
            // It has been killed, so this does not wait long, and there is nobody to tell of a failure.
            let _ = self.child.wait();
        }
    }
}

fn send(process: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(process).ok().and_then(Pid::from_raw) {
        // It may have ended meanwhile, which was the purpose.
        let _ = kill_process(pid, signal);
    }
}

/// An address on which nobody listens now.
pub(crate) fn free_address() -> Result<SocketAddr, String> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map_err(|error| format!("no free port: {error}"))
}

/// A directory of its own for a server.
pub(crate) fn directory() -> Result<TempDir, String> {
    tempfile::Builder::new()
        .prefix("benchsuite-")
        .tempdir()
        .map_err(|error| format!("no temporary directory: {error}"))
}

/// Waits.
#[allow(clippy::disallowed_methods, reason = "there is no runtime here whose core could be blocked")]
pub(crate) fn pause(time: Duration) {
    thread::sleep(time);
}
