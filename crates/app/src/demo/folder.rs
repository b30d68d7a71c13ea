//! Folder: what fleetfoot of the demo reads by itself: tokens and cached values in a file, four tables in a database;
//! and its configuration. Called by `demo`.

use std::fmt::{Display, Write};
use std::net::SocketAddr;
use std::path::PathBuf;

use plan::Plan;
use rusqlite::Connection;

use super::sixteen_calls::ROUTES;

/// Rows of each table.
const ROWS: usize = 1_000;
const TABLES: usize = 4;

/// Of this process; gone with it.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn write() -> Result<Self, String> {
        let folder = std::env::temp_dir().join(format!("fleetfoot-demo-{}", std::process::id()));
        let folder = Folder(folder);
        let wrong = |error: &dyn Display| format!("{}: {error}", folder.0.display());
        std::fs::create_dir_all(&folder.0)
            .and_then(|()| std::fs::write(folder.0.join("values.json"), values()))
            .map_err(|error| wrong(&error))?;
        folder.write_tables().map_err(|error| wrong(&error))?;
        Ok(folder)
    }

    /// What fleetfoot does in front of this API.
    pub(super) fn plan(&self, api: SocketAddr) -> Result<Plan, String> {
        let text = format!(
            "listen: {{ http: 127.0.0.1:0 }}\n\
             sources:\n  \
             api: http://{api}\n  \
             db: {{ sql: \"sqlite:./tables.db\" }}\n  \
             values: {{ store: ./values.json }}\n\
             policies: {{ live: {{ cache: true }} }}\n\
             routes:\n\
             - {{ match: \"GET /token/{{key}}\", read: {{ values: \"GET token:${{path.key}}\" }} }}\n\
             - {{ match: /**, proxy: api, use: live }}\n\
             {}",
            ROUTES.map(|route| route.text()).concat()
        );
        let file = self.0.join("fleetfoot.yaml");
        plan::compile(&text, &file.to_string_lossy()).map_err(|faults| faults.to_string())
    }

    fn write_tables(&self) -> rusqlite::Result<()> {
        let mut statements = String::from("BEGIN;");
        for table in 1..=TABLES {
            let _infallible = write!(
                statements,
                "CREATE TABLE test_{table} (id INTEGER PRIMARY KEY, title TEXT, description TEXT);
                 WITH RECURSIVE number(id) AS (VALUES (1) UNION ALL SELECT id + 1 FROM number WHERE id < {ROWS})
                 INSERT INTO test_{table} SELECT id, 'title ' || id, 'table {table}' FROM number;"
            );
        }
        statements.push_str("COMMIT");
        Connection::open(self.0.join("tables.db"))?.execute_batch(&statements)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed stays in the folder of temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn values() -> String {
    let mut values = String::from("{ \"token:ann\": { \"user\": \"ann\" }");
    for table in 1..=TABLES {
        let _infallible = write!(values, ", \"test{table}:key:1,2,3\": \"what is cached of table {table}\"");
    }
    values + " }"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `make demo` builds without WebAssembly.
    #[test]
    fn nothing_in_it_needs_webassembly() {
        let plan = Folder::write().unwrap().plan("127.0.0.1:1".parse().unwrap()).unwrap();
        assert!(!plan.sources.iter().any(|source| matches!(source, plan::Source::Wasm(_))));
    }
}
