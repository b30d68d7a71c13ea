//! RedisOptions: what is special about a server, as lines of its config file.

use std::path::Path;

use super::RedisServer;
use crate::Certificate;

/// The user as whom a test kit talks to its servers, whatever a test does to the others. Any password is right.
pub(crate) const TESTKIT: &str = "testkit";

/// Says how a server is to be, then starts it.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct RedisOptions {
    pub(crate) lines: Vec<String>,
    pub(crate) password: Option<String>,
    pub(crate) reach: Reach,
    pub(crate) replica: bool,
}

/// How clients reach a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Reach {
    #[default]
    Tcp,
    Tls,
    Unix,
}

impl RedisOptions {
    /// A plain server.
    pub fn new() -> Self {
        Self::default()
    }

    /// A line of redis.conf; it counts more than those the test kit writes.
    pub fn line(mut self, line: impl Into<String>) -> Self {
        self.lines.push(line.into());
        self
    }

    /// Only over its Unix socket: its port refuses.
    pub fn unix_socket(mut self) -> Self {
        self.reach = Reach::Unix;
        self
    }

    /// Only over TLS, with this certificate; clients need none. It has to outlive restarts.
    pub fn tls(mut self, certificate: &Certificate) -> Self {
        self.reach = Reach::Tls;
        self.line(format!("tls-cert-file {}", quoted(&certificate.file())))
            .line(format!("tls-key-file {}", quoted(&certificate.key_file())))
            .line(format!("tls-ca-cert-file {}", quoted(&certificate.authority_file())))
            .line("tls-auth-clients no")
    }

    /// A user, as in redis.conf: `user app on >secret ~app:* +@read`.
    pub fn acl(self, user: &str) -> Self {
        self.line(user)
    }

    /// The password of the default user.
    pub fn password(mut self, password: &str) -> Self {
        self.password = Some(password.to_owned());
        self.line(format!("requirepass {password:?}"))
    }

    /// A replica of this server, which speaks TCP in cleartext.
    pub fn replica_of(mut self, master: &RedisServer) -> Self {
        self.replica = true;
        self.line(format!("replicaof 127.0.0.1 {}", master.port()))
    }

    /// Starts it and waits until it answers; a replica, until it has its master's data.
    pub fn start(self) -> RedisServer {
        RedisServer::start_with(self)
    }
}

fn quoted(path: &Path) -> String {
    format!("{:?}", path.to_string_lossy())
}
