//! MariaDb: one real MariaDB, which speaks as MySQL does.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;

use super::server::{Server, run_to_end};
use super::{PASSWORD, USER, folder};
use crate::Certificate;
use crate::port::Port;

/// A server, stopped on drop.
pub struct MariaDb(Server);

/// What makes it small and quick to start. Nothing has to survive the machine.
const SMALL: [&str; 13] = [
    "--bind-address=127.0.0.1",
    "--skip-name-resolve",
    "--skip-log-bin",
    "--character-set-server=utf8mb4",
    "--innodb-buffer-pool-size=16M",
    "--innodb-temp-data-file-path=ibtmp1:1M:autoextend",
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-fast-shutdown=2",
    "--innodb-buffer-pool-dump-at-shutdown=OFF",
    "--aria-pagecache-buffer-size=1M",
    "--key-buffer-size=1M",
    "--performance-schema=OFF",
    "--innodb-buffer-pool-load-at-startup=OFF",
];

/// What holds for its files from the start.
const FILES: [&str; 4] = [
    "--innodb-data-file-path=ibdata1:2M:autoextend",
    "--innodb-log-file-size=4M",
    "--innodb-flush-method=nosync",
    "--innodb-use-native-aio=OFF",
];

impl MariaDb {
    /// Starts one and waits until it answers.
    pub fn start() -> Self {
        Self::start_with(Vec::new())
    }

    /// The same, which can speak TLS too, with this certificate.
    pub fn start_tls(certificate: &Certificate) -> Self {
        let mut options = Vec::new();
        for (option, file) in [("ssl-cert", certificate.file()), ("ssl-key", certificate.key_file())] {
            options.push(named(option, &file));
        }
        Self::start_with(options)
    }

    fn start_with(options: Vec<OsString>) -> Self {
        let folder = folder();
        let data = folder.path().join("data");
        let mut install = Command::new("mariadb-install-db");
        install.args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"]);
        install.args(FILES);
        // Each that starts removes what others have begun with in a common one.
        install.env("TMPDIR", folder.path());
        install.arg(named("datadir", &data)).args(as_root());
        run_to_end(install, "").unwrap_or_else(|error| panic!("no database made: {error}"));

        let port = Port::reserve();
        let mut arguments: Vec<OsString> = vec!["--no-defaults".into()];
        arguments.extend(SMALL.map(OsString::from));
        arguments.extend(FILES.map(OsString::from));
        arguments.extend(as_root().map(OsString::from));
        arguments.push(format!("--port={}", port.number()).into());
        arguments.push(named("datadir", &data));
        arguments.push(named("tmpdir", folder.path()));
        arguments.push(named("socket", &folder.path().join("socket")));
        arguments.push(named("pid-file", &folder.path().join("pid")));
        arguments.extend(options);
        let server = MariaDb(Server::launch(folder, port, program(), arguments, None));
        server.wait_until_ready();
        let statements = format!(
            "DELETE FROM mysql.global_priv WHERE User = ''; FLUSH PRIVILEGES;
             CREATE DATABASE {USER}; CREATE USER {USER}@'%' IDENTIFIED BY '{PASSWORD}';
             GRANT ALL ON {USER}.* TO {USER}@'%';"
        );
        server.ask(None, &statements).unwrap_or_else(|error| panic!("{statements}: {error}"));
        server
    }

    fn wait_until_ready(&self) {
        self.0.wait_until(|| self.ask(None, "SELECT 1").is_ok());
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }

    /// The TCP port; it refuses connections while the server is stopped.
    pub fn port(&self) -> u16 {
        self.address().port()
    }

    /// Its Unix socket.
    pub fn socket_path(&self) -> PathBuf {
        self.0.folder().join("socket")
    }

    /// `mysql://app:secret@127.0.0.1:PORT/app`.
    pub fn url(&self) -> String {
        format!("mysql://{USER}:{PASSWORD}@{}/{USER}", self.address())
    }

    /// Runs statements, with semicolons between them, in the database `app` as root.
    pub fn execute(&self, statements: &str) {
        let _rows = self.query(statements);
    }

    /// Runs statements; gives the rows, a line each, with tabs between columns.
    pub fn query(&self, statements: &str) -> String {
        self.ask(Some(USER), statements).unwrap_or_else(|error| panic!("{statements}: {error}"))
    }

    fn ask(&self, database: Option<&str>, statements: &str) -> Result<String, String> {
        let mut client = Command::new("mariadb");
        client.args(["--no-defaults", "--batch", "--raw", "--skip-column-names", "--user=root"]);
        client
            .arg("--default-character-set=utf8mb4")
            .arg(named("socket", &self.socket_path()))
            .args(database);
        run_to_end(client, statements)
    }

    /// Statements of others than the test kit that are running now.
    pub fn running(&self) -> Vec<String> {
        let statement = "SELECT info FROM information_schema.processlist
             WHERE user <> 'root' AND user <> 'system user' AND command IN ('Query', 'Execute')";
        self.query(statement).lines().map(str::to_owned).collect()
    }

    /// Connections of others than the test kit.
    pub fn connections(&self) -> usize {
        let statement = "SELECT COUNT(*) FROM information_schema.processlist
             WHERE user <> 'root' AND user <> 'system user'";
        self.query(statement).parse().expect("a number")
    }

    /// Ends all connections of others than the test kit.
    pub fn end_connections(&self) {
        self.execute(&format!("KILL HARD USER {USER}"));
    }

    /// Ends it: connections break, and new ones are refused.
    pub fn stop(&self) {
        self.0.stop(Signal::TERM);
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

impl Drop for MariaDb {
    fn drop(&mut self) {
        self.0.show("mariadbd");
        self.0.stop(Signal::KILL);
    }
}

/// Debian has it where only root looks.
fn program() -> OsString {
    let known = ["/usr/sbin/mariadbd", "/usr/libexec/mariadbd", "/usr/local/sbin/mariadbd"];
    known.iter().find(|file| Path::new(file).exists()).map_or_else(|| "mariadbd".into(), Into::into)
}

/// Root has to say that it means it.
fn as_root() -> Option<&'static str> {
    rustix::process::geteuid().is_root().then_some("--user=root")
}

fn named(option: &str, file: &Path) -> OsString {
    let mut argument = OsString::from(format!("--{option}="));
    argument.push(file);
    argument
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;

    use super::*;

    #[test]
    fn keeps_its_data_and_its_port_over_a_restart_and_is_gone_after_its_drop() {
        let server = MariaDb::start();
        server.execute("CREATE TABLE t (id INT, title TEXT); INSERT INTO t VALUES (1, 'ä'), (2, NULL)");
        let address = server.address();
        server.stop();
        assert!(TcpStream::connect(address).is_err());
        server.restart();
        assert_eq!(server.query("SELECT * FROM t ORDER BY id"), "1\tä\n2\tNULL");
        assert_eq!((server.running(), server.connections()), (Vec::new(), 0));
        TcpStream::connect(address).unwrap();
        let folder = server.0.folder().to_owned();
        server.pause();
        drop(server);
        assert!(!folder.exists() && TcpStream::connect(address).is_err());
    }
}
