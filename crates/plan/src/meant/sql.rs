//! Sql: what a source at a database means, and what a statement is once it has been taken apart.

use std::path::PathBuf;
use std::time::Duration;

use super::Token;

/// A database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlSource {
    /// Its name in the file.
    pub name: String,
    /// What it is and where.
    pub database: Database,
    /// Connections at most, over all cores; each core has its share, one at least.
    pub pool: usize,
    /// Queries of one core that may wait for a connection; above: refused at once.
    pub queue: usize,
    /// How long a query may wait for a connection.
    pub wait: Duration,
    /// For name, TCP, TLS and login together.
    pub connect_timeout: Duration,
    /// From a statement to its last row; what takes longer has failed, and is cancelled in the database too.
    pub timeout: Duration,
    /// Whether TLS certificates are verified. True unless somebody wrote otherwise.
    pub verify: bool,
    /// A PEM file of certificate authorities to trust instead of the system's.
    pub authorities: Option<PathBuf>,
}

/// What a database is and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Database {
    /// MySQL or MariaDB.
    MySql(DatabaseServer),
    /// PostgreSQL.
    Postgres(DatabaseServer),
    /// SQLite, in a file of this machine.
    Sqlite(PathBuf),
}

/// A database server, and who we are there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseServer {
    /// Where it listens.
    pub address: DatabaseAddress,
    /// Who we are.
    pub user: String,
    /// Never shown.
    pub password: Option<Token>,
    /// The database of that server.
    pub database: String,
}

/// Where a database server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatabaseAddress {
    /// Over TCP.
    Tcp {
        /// Name or address, without brackets.
        host: String,
        /// TCP port.
        port: u16,
        /// Whether to use TLS.
        tls: bool,
    },
    /// Over a socket of this machine; for PostgreSQL the folder that it is in.
    Unix(PathBuf),
}

/// A statement, taken apart at its placeholders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The text before, between and behind the placeholders: one more than there are placeholders.
    pub pieces: Vec<String>,
    /// Whether it only reads. What does not is never sent twice, nor shared.
    pub reads: bool,
    /// How its rows are written.
    pub rows: Rows,
    /// How look-ups of several requests become one, where they may.
    pub batch: Option<Batch>,
}

/// How rows are written as JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rows {
    /// A list with an object for each row.
    #[default]
    All,
    /// The first row as an object; null where there is none.
    First,
    /// The first column of the first row; null where there is none.
    Value,
    /// A list with the first column of each row.
    Column,
}

/// How look-ups become one: `… WHERE id IN (?)` asks for the keys of all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The placeholder of the list of keys.
    pub parameter: usize,
    /// The column of the answer that holds the key, by which rows are handed back.
    pub column: String,
}

impl Database {
    /// For messages and logs: what it is and where, without credentials.
    pub fn address(&self) -> String {
        match self {
            Database::MySql(server) => format!("mysql at {}", server.address.shown()),
            Database::Postgres(server) => format!("postgres at {}", server.address.shown()),
            Database::Sqlite(file) => format!("sqlite in {}", file.display()),
        }
    }
}

impl DatabaseAddress {
    fn shown(&self) -> String {
        match self {
            DatabaseAddress::Tcp { host, port, .. } if host.contains(':') => format!("[{host}]:{port}"),
            DatabaseAddress::Tcp { host, port, .. } => format!("{host}:{port}"),
            DatabaseAddress::Unix(path) => path.display().to_string(),
        }
    }
}

impl Statement {
    /// As it was written, a question mark for each placeholder.
    pub fn text(&self) -> String {
        self.pieces.join("?")
    }
}
