//! Open: a connection to a file of SQLite that is there already.

use std::path::Path;
use std::time::Duration;

use message::{Error, Kind, Result};
use rusqlite::{Connection, OpenFlags};

use super::busy;

/// Statements that each connection keeps prepared.
const PREPARED: usize = 256;

/// How long opening may wait for somebody who has the file locked.
const LOCKED: Duration = Duration::from_secs(5);

/// `Internal`, which names the file.
pub(super) fn open(source: &str, file: &Path) -> Result<Connection> {
    let fault = |error: rusqlite::Error| {
        let file = file.display();
        Error::new(Kind::Internal, format!("source {source}: the database {file} cannot be opened"))
            .caused_by(error)
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(file, flags).map_err(fault)?;
    connection.set_prepared_statement_cache_capacity(PREPARED);
    // For the statements below; whoever else has the file is done with it by then, or something is wrong.
    connection.busy_timeout(LOCKED).map_err(fault)?;
    connection.pragma_update(None, "foreign_keys", true).map_err(fault)?;
    // A file that we may only read keeps the journal that it has.
    drop(connection.pragma_update(None, "journal_mode", "WAL"));
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())).map_err(fault)?;
    connection.busy_handler(Some(busy::wait)).map_err(fault)?;
    Ok(connection)
}
