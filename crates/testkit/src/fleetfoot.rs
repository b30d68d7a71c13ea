//! Fleetfoot: the built program, running with a config of the test's own on free ports; killed on drop.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::origin::lines;
use crate::{Answer, Lines, Metrics, RawClient, program, wait_until};

/// A running program. Its config needs an `admin` listener; ports are best 0.
pub struct Fleetfoot {
    child: Child,
    directory: TempDir,
    stdout: Lines,
    stderr: Lines,
    exited: bool,
}

impl Fleetfoot {
    /// Starts `fleetfoot run` with this config, and waits until it is ready.
    pub fn start(config: &str) -> Self {
        Self::start_among(config, &[])
    }

    /// The same with these variables.
    pub fn start_among(config: &str, variables: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = directory.path().join("fleetfoot.yaml");
        std::fs::write(&file, config).expect("a file in it");
        let mut fleetfoot = Self::spawn(directory, &["run", &file.to_string_lossy()], variables);
        fleetfoot.wait_until_ready();
        fleetfoot
    }

    /// Starts the program with these arguments, without waiting for anything.
    pub fn start_with(arguments: &[&str]) -> Self {
        Self::spawn(tempfile::tempdir().expect("a temporary directory"), arguments, &[])
    }

    fn spawn(directory: TempDir, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut child = Command::new(program())
            .args(arguments)
            .envs(variables.iter().copied())
            .current_dir(directory.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot run {}: {error}", program().display()));
        let stdout = child.stdout.take().map(Lines::collect).unwrap_or_default();
        let stderr = child.stderr.take().map(Lines::collect).unwrap_or_default();
        Fleetfoot { child, directory, stdout, stderr, exited: false }
    }

    /// Waits until `/readyz` says 200.
    pub fn wait_until_ready(&mut self) {
        let admin = self.admin();
        self.wait_until("ready", |_| {
            std::net::TcpStream::connect(admin).is_ok() && get(admin, "/readyz", "").status == 200
        });
    }

    /// Where it speaks HTTP in cleartext.
    pub fn address(&self) -> SocketAddr {
        self.announced("fleetfoot: listening on http://")
    }

    /// Where it speaks TLS.
    pub fn https(&self) -> SocketAddr {
        self.announced("fleetfoot: listening on https://")
    }

    /// Where its admin port is.
    pub fn admin(&self) -> SocketAddr {
        self.announced("fleetfoot: admin on http://")
    }

    /// A fresh connection in cleartext.
    pub fn connect(&self) -> RawClient {
        RawClient::connect(self.address())
    }

    /// `GET` on a connection of its own, with the host `example.test`.
    pub fn get(&self, target: &str) -> Answer {
        self.get_with(target, "")
    }

    /// The same with more fields, one a line.
    pub fn get_with(&self, target: &str, fields: &str) -> Answer {
        get(self.address(), target, fields)
    }

    /// A request of any method without content.
    pub fn send(&self, method: &str, target: &str, fields: &str) -> Answer {
        self.connect().ask(request(method, target, fields))
    }

    /// `GET` on the admin port.
    pub fn get_admin(&self, target: &str) -> Answer {
        get(self.admin(), target, "")
    }

    /// The metrics now.
    pub fn metrics(&self) -> Metrics {
        let answer = self.get_admin("/metrics");
        assert_eq!(answer.status, 200, "{answer:?}");
        Metrics::parse(&answer.text())
    }

    /// Waits until the metrics satisfy this: they may be counted a moment after the answer has gone out.
    pub fn wait_for_metrics(&mut self, what: &str, reached: impl Fn(&Metrics) -> bool) -> Metrics {
        self.wait_until(what, |fleetfoot| reached(&fleetfoot.metrics()));
        self.metrics()
    }

    /// What it printed: the access log.
    pub fn stdout(&self) -> &Lines {
        &self.stdout
    }

    /// What it complained.
    pub fn stderr(&self) -> &Lines {
        &self.stderr
    }

    /// Its config file.
    pub fn config_file(&self) -> PathBuf {
        self.directory.path().join("fleetfoot.yaml")
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Writes a new config in place of the old one, at once, as editors and deployments do. Tells nobody.
    pub fn rewrite(&self, config: &str) {
        let fresh = self.directory.path().join("fleetfoot.yaml.new");
        std::fs::write(&fresh, config).expect("a file in the directory");
        std::fs::rename(fresh, self.config_file()).expect("a rename within the directory");
    }

    /// SIGHUP: read the config again.
    pub fn hang_up(&self) {
        self.signal(Signal::HUP);
    }

    /// SIGTERM: drain and end.
    pub fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Waits until the process has ended by itself.
    pub fn wait_for_exit(&mut self) -> ExitStatus {
        let mut status = None;
        self.wait_until("gone", |fleetfoot| {
            status = fleetfoot.child.try_wait().expect("a child can be waited for");
            status.is_some()
        });
        self.exited = true;
        status.expect("it is gone")
    }

    /// Looks again and again, until it is so or the deadline has passed.
    pub fn wait_until(&mut self, what: &str, mut reached: impl FnMut(&mut Self) -> bool) {
        wait_until(what, || reached(self));
    }

    fn announced(&self, before: &str) -> SocketAddr {
        let line = self.stderr.wait_for(before).unwrap_or_else(|| panic!("no line {before:?}"));
        let (_, address) = line.split_once("://").expect("the text before ends in it");
        address.trim().parse().unwrap_or_else(|_| panic!("no address in {line:?}"))
    }

    fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("a child has an id");
        kill_process(pid, signal).expect("the child is ours and runs");
    }
}

impl Drop for Fleetfoot {
    fn drop(&mut self) {
        if !self.exited {
            let _gone_already = self.child.kill();
            let _gone_already = self.child.wait();
        }
        if std::thread::panicking() {
            #[allow(clippy::print_stderr, reason = "this is where a failing test is read")]
            {
                eprintln!("--- fleetfoot said:\n{}\n---", self.stderr.all().join("\n"));
            }
        }
    }
}

fn get(address: SocketAddr, target: &str, fields: &str) -> Answer {
    RawClient::connect(address).ask(request("GET", target, fields))
}

fn request(method: &str, target: &str, fields: &str) -> String {
    format!("{method} {target} HTTP/1.1\r\nHost: example.test\r\n{}\r\n", lines(fields))
}
