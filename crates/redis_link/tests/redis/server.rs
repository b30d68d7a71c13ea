//! A redis-server in a temporary folder, killed when dropped.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

pub(crate) struct Server {
    child: Child,
    pub(crate) port: u16,
    arguments: Vec<String>,
    folder: TempDir,
}

/// A port that was free a moment ago, as is the one 10000 above it, which a cluster needs.
pub(crate) fn free_port() -> u16 {
    loop {
        let socket = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = socket.local_addr().unwrap().port();
        // Those of outgoing connections are higher, so none of these takes it before the server does.
        let port = 10000 + port % 20000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok()
            && TcpListener::bind(("127.0.0.1", port + 10000)).is_ok()
        {
            return port;
        }
    }
}

impl Server {
    /// One that answers.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let server = Self::start_at(free_port(), arguments);
        server.wait_until_it_listens();
        server
    }

    /// One that may not answer yet.
    pub(crate) fn start_at(port: u16, arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let child = spawn(port, folder.path(), &arguments);
        Server { child, port, arguments, folder }
    }

    /// A sentinel with this configuration, which it writes to, so that it keeps the folder.
    pub(crate) fn start_sentinel(file: PathBuf, folder: TempDir) -> Self {
        let port = free_port();
        let arguments = vec![file.to_str().unwrap().to_owned(), "--sentinel".to_owned()];
        let child = spawn(port, folder.path(), &arguments);
        let server = Server { child, port, arguments, folder };
        server.wait_until_it_listens();
        server
    }

    pub(crate) fn wait_until_it_listens(&self) {
        until("redis-server listens", || std::net::TcpStream::connect(("127.0.0.1", self.port)).is_ok());
    }

    /// As `kill -9` does.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// After `kill`: the same on the same port, empty.
    pub(crate) fn start_again(&mut self) {
        self.child = spawn(self.port, self.folder.path(), &self.arguments);
        self.wait_until_it_listens();
    }

    /// Neither answers nor closes, until `proceed`.
    pub(crate) fn halt(&self) {
        kill_process(self.pid(), Signal::STOP).unwrap();
    }

    pub(crate) fn proceed(&self) {
        kill_process(self.pid(), Signal::CONT).unwrap();
    }

    /// What redis-cli prints.
    pub(crate) fn cli(&self, arguments: &[&str]) -> String {
        let output =
            Command::new("redis-cli").args(["-p", &self.port.to_string()]).args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(port: u16, folder: &Path, arguments: &[String]) -> Child {
    let mut command = Command::new("redis-server");
    // A configuration file comes first.
    let (file, arguments) = match arguments {
        [file, rest @ ..] if !file.starts_with("--") => (Some(file), rest),
        all => (None, all),
    };
    command
        .args(file)
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--dir"])
        .arg(folder)
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Waits for what is not in our hands; not for long.
pub(crate) fn until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !condition() {
        assert!(Instant::now() < deadline, "not within ten seconds: {what}");
        std::thread::park_timeout(Duration::from_millis(10));
    }
}
