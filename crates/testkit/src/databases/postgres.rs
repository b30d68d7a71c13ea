//! Postgres: one real PostgreSQL.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;

use super::server::{Server, run_to_end};
use super::{PASSWORD, USER, folder};
use crate::Certificate;
use crate::port::Port;

/// A server, stopped on drop.
pub struct Postgres(Server);

/// The user as whom the test kit itself talks to it.
const TESTKIT: &str = "testkit";

/// `nobody`: the server refuses to be run by root.
const NOBODY: u32 = 65_534;

/// What makes it small and quick to start. Nothing has to survive the machine.
const SMALL: [&str; 9] = [
    "listen_addresses=127.0.0.1",
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "shared_buffers=16MB",
    "autovacuum=off",
    "wal_level=minimal",
    "max_wal_senders=0",
    "logging_collector=off",
];

impl Postgres {
    /// Starts one and waits until it answers.
    pub fn start() -> Self {
        Self::start_with(None)
    }

    /// The same, which can speak TLS too, with this certificate.
    pub fn start_tls(certificate: &Certificate) -> Self {
        Self::start_with(Some(certificate))
    }

    fn start_with(certificate: Option<&Certificate>) -> Self {
        let folder = folder();
        give_away(folder.path());
        let data = folder.path().join("data");
        let mut install = Command::new(program("initdb"));
        install.args(["--no-sync", "--auth=trust", "--encoding=UTF8", "--locale=C", "--username", TESTKIT]);
        install.arg("-D").arg(&data).current_dir(folder.path());
        if let Some(user) = other_user() {
            install.uid(user).gid(user);
        }
        run_to_end(install, "").unwrap_or_else(|error| panic!("no database made: {error}"));
        let logins =
            "local all testkit trust\nlocal all all scram-sha-256\nhost all all 127.0.0.1/32 scram-sha-256\n";
        std::fs::write(data.join("pg_hba.conf"), logins).expect("a file in it");

        let port = Port::reserve();
        let mut settings: Vec<OsString> = SMALL.map(OsString::from).into();
        settings.push(named("unix_socket_directories", folder.path()));
        if let Some(certificate) = certificate {
            settings.push("ssl=on".into());
            for (name, file) in
                [("ssl_cert_file", certificate.file()), ("ssl_key_file", certificate.key_file())]
            {
                let copy = folder.path().join(name);
                std::fs::copy(file, &copy).expect("a file in it");
                std::fs::set_permissions(&copy, PermissionsExt::from_mode(0o600)).expect("it is ours");
                give_away(&copy);
                settings.push(named(name, &copy));
            }
        }
        let mut arguments: Vec<OsString> = vec!["-D".into(), data.into()];
        arguments.extend(["-p".into(), port.number().to_string().into()]);
        arguments.extend(settings.into_iter().flat_map(|setting| [OsString::from("-c"), setting]));
        let server = Postgres(Server::launch(folder, port, program("postgres"), arguments, other_user()));
        server.wait_until_ready();
        let user = format!("CREATE USER {USER} PASSWORD '{PASSWORD}'");
        // To make another one would take three hundred files.
        let database = format!("ALTER DATABASE postgres RENAME TO {USER}");
        let owner = format!("ALTER DATABASE {USER} OWNER TO {USER}");
        for statement in [user, database, owner] {
            server.ask("template1", &statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
        }
        server
    }

    fn wait_until_ready(&self) {
        self.0.wait_until(|| self.ask("template1", "SELECT 1").is_ok());
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }

    /// The TCP port; it refuses connections while the server is stopped.
    pub fn port(&self) -> u16 {
        self.address().port()
    }

    /// The folder of its Unix socket.
    pub fn socket_folder(&self) -> PathBuf {
        self.0.folder().to_owned()
    }

    /// `postgres://app:secret@127.0.0.1:PORT/app`.
    pub fn url(&self) -> String {
        format!("postgres://{USER}:{PASSWORD}@{}/{USER}", self.address())
    }

    /// Runs statements, with semicolons between them, in the database `app` as its owner.
    pub fn execute(&self, statements: &str) {
        let _rows = self.query(&format!("SET ROLE {USER};{statements}"));
    }

    /// Runs statements as the server's own user; gives the rows, a line each, with tabs between columns.
    pub fn query(&self, statements: &str) -> String {
        self.ask(USER, statements).unwrap_or_else(|error| panic!("{statements}: {error}"))
    }

    fn ask(&self, database: &str, statements: &str) -> Result<String, String> {
        let mut client = Command::new(program("psql"));
        client.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--field-separator=\t"]);
        client.args(["--variable=ON_ERROR_STOP=1", "--username", TESTKIT, "--dbname", database]);
        client.arg("--host").arg(self.0.folder()).args(["--port", &self.port().to_string()]);
        run_to_end(client, statements)
    }

    /// Statements of others than the test kit that are running now.
    pub fn running(&self) -> Vec<String> {
        let statement = "SELECT query FROM pg_stat_activity WHERE usename <> 'testkit' AND state = 'active'";
        self.query(statement).lines().map(str::to_owned).collect()
    }

    /// Connections of others than the test kit.
    pub fn connections(&self) -> usize {
        let statement = "SELECT COUNT(*) FROM pg_stat_activity WHERE usename <> 'testkit'";
        self.query(statement).parse().expect("a number")
    }

    /// Ends all connections of others than the test kit.
    pub fn end_connections(&self) {
        let _rows =
            self.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'");
    }

    /// Ends it: connections break, and new ones are refused.
    pub fn stop(&self) {
        self.0.stop(Signal::INT);
    }

    /// Starts it again on the same port with the same data; ends it first if it still runs.
    pub fn restart(&self) {
        self.stop();
        self.0.start_again();
        self.wait_until_ready();
    }

    /// SIGSTOP: connections stay and are even accepted, but nothing is answered.
    pub fn pause(&self) {
        self.0.signal_all(Signal::STOP);
    }

    /// SIGCONT: goes on after a pause.
    pub fn resume(&self) {
        self.0.signal_all(Signal::CONT);
    }

    /// What it said so far, since it was last started.
    pub fn log(&self) -> Vec<String> {
        self.0.log()
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.0.show("postgres");
        self.0.stop(Signal::QUIT);
    }
}

/// Debian has the programs of each version in a folder of its own; the newest counts.
fn program(name: &str) -> OsString {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let newest = versions
        .map(|version| version.path())
        .filter(|path| path.join("bin").join(name).exists())
        .max_by_key(|path| path.file_name()?.to_str()?.parse::<u32>().ok());
    newest.map_or_else(|| name.into(), |path| path.join("bin").join(name).into())
}

/// As whom to run it, where we ourselves may not.
fn other_user() -> Option<u32> {
    rustix::process::geteuid().is_root().then_some(NOBODY)
}

fn give_away(file: &Path) {
    if let Some(user) = other_user() {
        chown(file, Some(user), Some(user)).expect("root may");
    }
}

fn named(setting: &str, file: &Path) -> OsString {
    let mut argument = OsString::from(format!("{setting}="));
    argument.push(file);
    argument
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;

    use super::*;

    #[test]
    fn keeps_its_data_and_its_port_over_a_restart_and_is_gone_after_its_drop() {
        let server = Postgres::start();
        server.execute("CREATE TABLE t (id INT, title TEXT); INSERT INTO t VALUES (1, 'ä'), (2, 'b')");
        let address = server.address();
        server.stop();
        assert!(TcpStream::connect(address).is_err());
        server.restart();
        assert_eq!(server.query("SELECT * FROM t ORDER BY id"), "1\tä\n2\tb");
        assert_eq!((server.running(), server.connections()), (Vec::new(), 0));
        TcpStream::connect(address).unwrap();
        let folder = server.0.folder().to_owned();
        server.pause();
        drop(server);
        assert!(!folder.exists() && TcpStream::connect(address).is_err());
    }
}
