//! RedisServer: one real server with nothing in it, on a free port, that a test may pause, kill and start again.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::Signal;
use tempfile::TempDir;

use super::options::{Reach, TESTKIT};
use super::{RedisClient, RedisOptions, Reply};
use crate::port::Port;
use crate::process::{Order, Process, Says, is_stopped};
use crate::{DEADLINE, wait_until};

/// How long one attempt may take while we wait for something to become so.
const ATTEMPT: Duration = Duration::from_secs(1);

/// Nothing stays on disk. A replica gets its data at once instead of after five seconds in which others could join it.
const MEMORY_ONLY: [&str; 5] = [
    "save \"\"",
    "appendonly no",
    "repl-diskless-sync yes",
    "repl-diskless-sync-delay 0",
    "rdb-del-sync-files yes",
];

/// The files in a server's folder.
const CONFIG: &str = "redis.conf";
const SOCKET: &str = "redis.sock";

/// A server, killed on drop.
///
/// The test kit's own commands go over the server's Unix socket, each on a connection of its own, as the user
/// `testkit`: they work whatever a test makes of ports, TLS and users.
pub struct RedisServer {
    process: Mutex<Process>,
    folder: TempDir,
    port: Port,
    options: RedisOptions,
    sentinel: bool,
}

impl RedisServer {
    /// A plain server: nothing is written to disk, and nobody has to say who they are.
    pub fn start() -> Self {
        RedisOptions::new().start()
    }

    /// Says how a server is to be, then starts it.
    pub fn options() -> RedisOptions {
        RedisOptions::new()
    }

    pub(crate) fn start_with(options: RedisOptions) -> Self {
        let server = Self::launch(options, false);
        server.wait_until_ready();
        if server.options.replica {
            server.wait_until_replicated();
        }
        server
    }

    /// Starts it without waiting for anything.
    pub(crate) fn launch(options: RedisOptions, sentinel: bool) -> Self {
        // In memory, where there is such a folder: a Sentinel waits for the disk whenever it decides, which a build beside it may
        // keep busy for seconds.
        let in_memory = tempfile::tempdir_in("/dev/shm");
        let folder = in_memory.or_else(|_| tempfile::tempdir()).expect("a temporary directory");
        let port = Port::reserve();
        let config = write_config(folder.path(), port.number(), &options, sentinel);
        let process = Mutex::new(run(&config, sentinel));
        RedisServer { process, folder, port, options, sentinel }
    }

    /// Waits until it answers.
    pub(crate) fn wait_until_ready(&self) {
        wait_until("answering", || {
            assert!(!self.process().has_ended(), "redis-server ended: {}", self.log().join("\n"));
            self.asked(&["PING"]).is_ok_and(|reply| reply.text() == "PONG")
        });
    }

    /// For a replica: waits until its master has given it its data.
    pub fn wait_until_replicated(&self) {
        wait_until("replicated", || {
            let replication = self.asked(&["INFO", "replication"]);
            replication.is_ok_and(|reply| reply.text().contains("master_link_status:up"))
        });
    }

    /// Waits until it is `master` or `slave`. A Sentinel that makes it so ends all connections, ours too.
    pub fn wait_for_role(&self, role: &str) {
        wait_until(role, || {
            self.asked(&["ROLE"]).is_ok_and(|reply| reply.or_panic().array()[0].text() == role)
        });
    }

    /// The TCP port; it refuses connections when the server is killed or speaks over its Unix socket only.
    pub fn port(&self) -> u16 {
        self.port.number()
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> SocketAddr {
        self.port.address()
    }

    /// `redis://127.0.0.1:PORT`, `rediss://127.0.0.1:PORT` or `unix:///…`; never with a password.
    pub fn url(&self) -> String {
        match self.options.reach {
            Reach::Tcp => format!("redis://{}", self.address()),
            Reach::Tls => format!("rediss://{}", self.address()),
            Reach::Unix => format!("unix://{}", self.socket_path().display()),
        }
    }

    /// Its Unix socket. Every server has one.
    pub fn socket_path(&self) -> PathBuf {
        self.folder.path().join(SOCKET)
    }

    /// The password of the default user, if it has one.
    pub fn password(&self) -> Option<&str> {
        self.options.password.as_deref()
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.process().pid()
    }

    /// What it said so far, since it was last started.
    pub fn log(&self) -> Vec<String> {
        self.process().log()
    }

    /// SIGSTOP: connections stay and are even accepted, but nothing is answered.
    pub fn pause(&self) {
        let mut process = self.process();
        process.signal(Signal::STOP);
        wait_until("stopped", || is_stopped(process.pid()));
    }

    /// SIGCONT: goes on after a pause.
    pub fn resume(&self) {
        self.process().signal(Signal::CONT);
    }

    /// SIGKILL: connections break, and new ones are refused.
    pub fn kill(&self) {
        self.process().kill();
    }

    /// Starts it again on the same port, empty; kills it first if it still runs. What a Sentinel or the cluster made
    /// of it, it remembers.
    pub fn restart(&self) {
        let mut process = self.process();
        process.kill();
        *process = run(&self.folder.path().join(CONFIG), self.sentinel);
        drop(process);
        self.wait_until_ready();
    }

    /// A connection of its own over the Unix socket, as the user `testkit`, who may do anything.
    pub fn connect(&self) -> RedisClient {
        self.try_connect(DEADLINE)
            .unwrap_or_else(|error| panic!("cannot connect to {}: {error}", self.port()))
    }

    /// Sends a command and gives its reply, errors of the server included. Panics when none comes.
    pub fn command(&self, words: &[&str]) -> Reply {
        self.connect().command(words)
    }

    /// One attempt that may fail, while something is waited for.
    pub(crate) fn asked(&self, words: &[&str]) -> io::Result<Reply> {
        self.try_connect(ATTEMPT)?.try_command(words)
    }

    fn try_connect(&self, wait: Duration) -> io::Result<RedisClient> {
        let mut client = RedisClient::connect_unix(&self.socket_path(), wait)?;
        client.try_command(&["AUTH", TESTKIT, "any"])?;
        Ok(client)
    }

    /// Removes all keys of all databases.
    pub fn flush_all(&self) {
        let _ok = self.command(&["FLUSHALL"]).or_panic();
    }

    /// The keys of database 0 that match this pattern, sorted.
    pub fn keys(&self, pattern: &str) -> Vec<String> {
        let mut keys = self.command(&["KEYS", pattern]).or_panic().texts();
        keys.sort();
        keys
    }

    /// A field of `INFO everything`, or the empty text when there is none of this name.
    pub fn info(&self, field: &str) -> String {
        let all = self.command(&["INFO", "everything"]).or_panic().text();
        let found = all.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
        found.unwrap_or_default().to_owned()
    }

    /// `master`, `slave` or `sentinel`.
    pub fn role(&self) -> String {
        self.command(&["ROLE"]).or_panic().array()[0].text()
    }

    /// The connected clients but the test kit itself, one line of `CLIENT LIST` each; replicas and masters are among
    /// them.
    pub fn clients(&self) -> Vec<String> {
        let all = self.command(&["CLIENT", "LIST"]).or_panic().text();
        let ours = format!("user={TESTKIT} ");
        all.lines().filter(|line| !line.contains(&ours)).map(str::to_owned).collect()
    }

    fn process(&self) -> MutexGuard<'_, Process> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.kill();
        if std::thread::panicking() {
            #[allow(clippy::print_stderr, reason = "this is where a failing test is read")]
            {
                eprintln!("--- redis-server at {} said:\n{}\n---", self.port(), self.log().join("\n"));
            }
        }
    }
}

/// Starts redis-server, or what `REDIS_SERVER` names, with this config file.
fn run(config: &Path, sentinel: bool) -> Process {
    let mut arguments = vec![config.into()];
    if sentinel {
        arguments.push("--sentinel".into());
    }
    Process::start(&Order {
        program: std::env::var_os("REDIS_SERVER").unwrap_or_else(|| "redis-server".into()),
        arguments,
        folder: config.parent().expect("a file lies in a folder"),
        says: Says::Output,
        user: None,
    })
}

fn write_config(folder: &Path, port: u16, options: &RedisOptions, sentinel: bool) -> PathBuf {
    let (tcp, tls) = match options.reach {
        Reach::Tcp => (port, 0),
        Reach::Tls => (0, port),
        Reach::Unix => (0, 0),
    };
    let mut lines = vec![
        "bind 127.0.0.1".to_owned(),
        format!("port {tcp}"),
        format!("tls-port {tls}"),
        format!("unixsocket {:?}", folder.join(SOCKET).to_string_lossy()),
        format!("dir {:?}", folder.to_string_lossy()),
        "daemonize no".to_owned(),
        "logfile \"\"".to_owned(),
        format!("user {TESTKIT} on nopass ~* &* +@all"),
    ];
    if !sentinel {
        lines.extend(MEMORY_ONLY.map(str::to_owned));
        lines.extend([format!("masteruser {TESTKIT}"), "masterauth any".to_owned()]);
    }
    lines.extend_from_slice(&options.lines);
    let file = folder.join(CONFIG);
    std::fs::write(&file, lines.join("\n") + "\n").expect("a file in it");
    file
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;
    use std::path::PathBuf;
    use std::time::Instant;

    use super::*;
    use crate::{Certificate, RawClient};

    fn lives(pid: u32) -> bool {
        PathBuf::from(format!("/proc/{pid}")).exists()
    }

    #[test]
    fn answers_at_its_port_and_its_socket() {
        let server = RedisServer::start();
        let mut client = RedisClient::connect(server.address());
        assert_eq!(client.command(&["SET", "k", "v"]).text(), "OK");
        assert_eq!(server.command(&["GET", "k"]), Reply::Bulk(b"v".to_vec()));
        assert_eq!((server.keys("*"), server.role()), (vec!["k".to_owned()], "master".to_owned()));
        assert_eq!(server.info("process_id"), server.pid().to_string());
        assert_eq!(server.clients().len(), 1);
        assert_eq!(
            client.command(&["INCR", "k"]).error(),
            Some("ERR value is not an integer or out of range")
        );
        server.flush_all();
        assert!(client.command(&["GET", "k"]).is_nil());
    }

    #[test]
    fn is_gone_after_its_drop_even_when_paused() {
        for paused in [false, true] {
            let server = RedisServer::start();
            let (pid, folder) = (server.pid(), server.folder.path().to_owned());
            if paused {
                server.pause();
            }
            drop(server);
            assert!(!lives(pid) && !folder.exists());
        }
    }

    #[test]
    fn is_gone_after_a_panic() {
        let (sender, pid) = std::sync::mpsc::channel();
        let panicked = std::thread::spawn(move || {
            let server = RedisServer::start();
            sender.send(server.pid()).unwrap();
            panic!("as a failing test does");
        });
        assert!(panicked.join().is_err());
        assert!(!lives(pid.recv().unwrap()));
    }

    #[test]
    fn outlives_the_thread_that_started_it() {
        let server = std::thread::spawn(RedisServer::start).join().unwrap();
        assert_eq!(server.command(&["PING"]).text(), "PONG");
    }

    #[test]
    fn a_paused_one_says_nothing_until_resumed() {
        let server = RedisServer::start();
        let mut client = RedisClient::connect(server.address());
        server.pause();
        client.send(&[b"PING"]).unwrap();
        assert!(server.try_connect(Duration::from_millis(50)).is_err());
        server.resume();
        assert_eq!(client.read().text(), "PONG");
    }

    #[test]
    fn a_killed_one_refuses_and_comes_back_empty_on_the_same_port() {
        let server = RedisServer::start();
        let (address, pid) = (server.address(), server.pid());
        let _ok = server.command(&["SET", "k", "v"]);
        let mut client = RedisClient::connect(address);
        server.kill();
        assert!(client.try_command(&["PING"]).is_err());
        assert!(!lives(pid) && TcpStream::connect(address).is_err());
        server.restart();
        assert_eq!(server.address(), address);
        assert_eq!(RedisClient::connect(address).command(&["DBSIZE"]).int(), 0);
    }

    #[test]
    fn keeps_who_has_no_password_out_but_not_us() {
        let acl = "user app on >secret ~app:* +@read";
        let server = RedisServer::options().password("open sesame").acl(acl).start();
        let mut client = RedisClient::connect(server.address());
        assert!(client.command(&["GET", "app:k"]).error().is_some_and(|text| text.starts_with("NOAUTH")));
        assert_eq!(client.command(&["AUTH", "open sesame"]).text(), "OK");
        assert_eq!(client.command(&["SET", "app:k", "v"]).text(), "OK");
        assert_eq!(client.command(&["AUTH", "app", "secret"]).text(), "OK");
        assert_eq!(client.command(&["GET", "app:k"]).text(), "v");
        assert!(client.command(&["GET", "k"]).error().is_some_and(|text| text.starts_with("NOPERM")));
        assert_eq!(server.command(&["DBSIZE"]).int(), 1);
    }

    #[test]
    fn a_replica_has_what_its_master_has() {
        let master = RedisServer::options().password("secret").start();
        let _ok = master.command(&["SET", "k", "v"]);
        let replica = RedisServer::options().replica_of(&master).start();
        assert_eq!(
            (replica.role(), replica.command(&["GET", "k"]).text()),
            ("slave".to_owned(), "v".to_owned())
        );
    }

    #[test]
    fn speaks_tls_or_its_socket_alone_when_told_to() {
        let certificate = Certificate::new();
        let server = RedisServer::options().tls(&certificate).start();
        let mut client = RawClient::connect_tls(server.address(), &certificate);
        assert_eq!(client.send("PING\r\n").read_until(b"\r\n"), b"+PONG\r\n");
        assert!(server.url().starts_with("rediss://127.0.0.1:"));

        let server = RedisServer::options().unix_socket().line("maxmemory 5mb").start();
        assert!(TcpStream::connect(server.address()).is_err());
        assert_eq!(
            (server.url(), server.info("maxmemory_human")),
            (format!("unix://{}", server.socket_path().display()), "5.00M".to_owned())
        );
    }

    #[test]
    fn many_start_at_once() {
        let start = Instant::now();
        let servers: Vec<_> = (0..8).map(|_| std::thread::spawn(RedisServer::start)).collect();
        let servers: Vec<_> = servers.into_iter().map(|server| server.join().unwrap()).collect();
        println!("eight servers took {:?}", start.elapsed());
        for (index, server) in servers.iter().enumerate() {
            let _ok = server.command(&["SET", "k", &index.to_string()]).or_panic();
        }
        for (index, server) in servers.iter().enumerate() {
            assert_eq!(server.command(&["GET", "k"]).text(), index.to_string());
        }
    }
}
