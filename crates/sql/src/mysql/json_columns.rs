//! JSON columns of MariaDB, which has no such type: it makes them texts that are compared byte by byte, with the check
//! `json_valid`. The protocol tells them apart only by an extension that the library does not speak, so the database is
//! asked once for each such column, on each connection. MySQL says it with the type.

use std::collections::HashMap;

use mysql_async::consts::{ColumnFlags, ColumnType};
use mysql_async::prelude::Queryable;
use mysql_async::{Column, Conn};

/// Columns of other tables than these are asked for again.
const REMEMBERED: usize = 10_000;

/// MySQL's versions are lower.
const FIRST_MARIADB: u16 = 10;

/// The character set of what is no text.
const BINARY: u16 = 63;

const IS_JSON: &str =
    "SELECT COUNT(*) FROM information_schema.check_constraints WHERE constraint_schema = ? AND table_name = ?
    AND level = 'Column' AND constraint_name = ? AND check_clause LIKE 'json_valid(%'";

/// What is known of columns, by schema, table and name.
#[derive(Default)]
pub(super) struct JsonColumns(HashMap<[String; 3], bool>);

impl JsonColumns {
    /// Which of these hold JSON; nothing, if none may.
    pub(super) async fn among(
        &mut self,
        conn: &mut Conn,
        columns: &[Column],
    ) -> mysql_async::Result<Vec<bool>> {
        if conn.server_version().0 < FIRST_MARIADB || !columns.iter().any(may_be) {
            return Ok(Vec::new());
        }
        let mut found = Vec::with_capacity(columns.len());
        for column in columns {
            found.push(may_be(column) && self.is_json(conn, column).await?);
        }
        Ok(found)
    }

    async fn is_json(&mut self, conn: &mut Conn, column: &Column) -> mysql_async::Result<bool> {
        let names = [column.schema_str(), column.org_table_str(), column.org_name_str()].map(Into::into);
        if let Some(known) = self.0.get(&names) {
            return Ok(*known);
        }
        let [schema, table, name]: &[String; 3] = &names;
        let asked = conn.exec_first::<u64, _, _>(IS_JSON, (schema, table, name)).await;
        let is_json = match asked {
            Ok(count) => count.unwrap_or(0) > 0,
            // Who may not look gets texts.
            Err(mysql_async::Error::Server(_)) => false,
            Err(error) => return Err(error),
        };
        if self.0.len() >= REMEMBERED {
            self.0.clear();
        }
        self.0.insert(names, is_json);
        Ok(is_json)
    }
}

fn may_be(column: &Column) -> bool {
    matches!(column.column_type(), ColumnType::MYSQL_TYPE_BLOB | ColumnType::MYSQL_TYPE_LONG_BLOB)
        && column.character_set() != BINARY
        && column.flags().contains(ColumnFlags::BINARY_FLAG)
        && !column.org_table_ref().is_empty()
}
