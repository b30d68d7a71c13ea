//! Databases: real MariaDB and PostgreSQL servers on free ports, in folders of their own, stopped and removed on drop.
//!
//! Each has a database `app` and a user `app` with the password `secret`. What a test sets up or looks at goes through
//! the server's own command line client, as another user over the Unix socket.

mod mariadb;
mod postgres;
mod server;

use std::path::Path;

use tempfile::TempDir;

pub use mariadb::MariaDb;
pub use postgres::Postgres;

/// The user whom tests give to what they test, and its database.
const USER: &str = "app";

/// Its password.
const PASSWORD: &str = "secret";

/// So much has to be free in memory for a server to have its folder there.
const ROOM: u64 = 1 << 30;

/// A new folder: in memory where there is room, since a new database is a thousand files.
fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let has_room = rustix::fs::statvfs(memory).is_ok_and(|memory| memory.f_bavail * memory.f_frsize >= ROOM);
    let in_memory = if has_room { tempfile::tempdir_in(memory).ok() } else { None };
    in_memory.unwrap_or_else(|| tempfile::tempdir().expect("a temporary directory"))
}
