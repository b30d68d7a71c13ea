//! Server: what the servers of both kinds have in common: a process that may be stopped, paused and started again on
//! the same port with the same data.

use std::ffi::OsString;
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::port::Port;
use crate::process::{Order, Process, Says, is_stopped};
use crate::{DEADLINE, wait_until};

/// A server, stopped on drop.
pub(super) struct Server {
    process: Mutex<Process>,
    folder: TempDir,
    port: Port,
    program: OsString,
    arguments: Vec<OsString>,
    user: Option<u32>,
}

impl Server {
    /// Starts it without waiting for anything.
    pub(super) fn launch(
        folder: TempDir,
        port: Port,
        program: OsString,
        arguments: Vec<OsString>,
        user: Option<u32>,
    ) -> Self {
        let process = Mutex::new(run(&program, &arguments, folder.path(), user));
        Server { process, folder, port, program, arguments, user }
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.port.address()
    }

    pub(super) fn log(&self) -> Vec<String> {
        self.process().log()
    }

    /// Waits until it is ready, as `ready` sees it.
    pub(super) fn wait_until(&self, ready: impl Fn() -> bool) {
        wait_until("answering", || {
            assert!(!self.process().has_ended(), "the server ended: {}", self.log().join("\n"));
            ready()
        });
    }

    /// Ends it with this signal; after a while with SIGKILL.
    pub(super) fn stop(&self, signal: Signal) {
        self.signal_all(Signal::CONT);
        let mut process = self.process();
        if !process.has_ended() {
            process.signal(signal);
            let start = Instant::now();
            while !process.has_ended() && start.elapsed() < DEADLINE / 4 {
                std::thread::park_timeout(DEADLINE / 4000);
            }
            process.kill();
        }
    }

    /// Starts it again.
    pub(super) fn start_again(&self) {
        *self.process() = run(&self.program, &self.arguments, self.folder.path(), self.user);
    }

    /// Sends a signal to it and to the processes that it has started; none, if it has ended.
    pub(super) fn signal_all(&self, signal: Signal) {
        let mut process = self.process();
        if process.has_ended() {
            return;
        }
        let pid = process.pid();
        let children =
            std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        let children = children.split_whitespace().filter_map(|child| child.parse().ok());
        for pid in std::iter::once(pid).chain(children) {
            if let Some(pid) = Pid::from_raw(pid.cast_signed()) {
                let _gone_already = kill_process(pid, signal);
            }
            if signal == Signal::STOP {
                wait_until("stopped", || is_stopped(pid));
            }
        }
    }

    fn process(&self) -> MutexGuard<'_, Process> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows the log of a failing test.
    pub(super) fn show(&self, name: &str) {
        if std::thread::panicking() {
            #[allow(clippy::print_stderr, reason = "this is where a failing test is read")]
            {
                eprintln!("--- {name} at {} said:\n{}\n---", self.address(), self.log().join("\n"));
            }
        }
    }
}

fn run(program: &OsString, arguments: &[OsString], folder: &Path, user: Option<u32>) -> Process {
    let (program, arguments) = (program.clone(), arguments.to_vec());
    Process::start(&Order { program, arguments, folder, says: Says::Errors, user })
}

/// Runs a program to its end with this on its standard input; gives its output, or what it said went wrong.
pub(super) fn run_to_end(mut command: Command, input: &str) -> Result<String, String> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    let mut pipe = child.stdin.take().expect("it was asked for");
    let input = input.to_owned();
    let writer = std::thread::spawn(move || {
        let _ended_early = pipe.write_all(input.as_bytes());
    });
    let output = child.wait_with_output().expect("a child can be waited for");
    let _wrote_all = writer.join();
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}
