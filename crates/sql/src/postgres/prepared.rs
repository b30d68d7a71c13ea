//! Prepared: the statements that a connection has prepared, by their text. The one used longest ago makes room.

use std::collections::HashMap;

use tokio_postgres::Statement;

/// At most.
const PREPARED: usize = 256;

#[derive(Default)]
pub(super) struct PreparedStatements {
    statements: HashMap<String, (Statement, u64)>,
    /// Goes up by one with each use.
    uses: u64,
}

impl PreparedStatements {
    pub(super) fn get(&mut self, sql: &str) -> Option<Statement> {
        self.uses += 1;
        let (statement, used) = self.statements.get_mut(sql)?;
        *used = self.uses;
        Some(statement.clone())
    }

    /// The library closes a statement in the database when it is dropped.
    pub(super) fn keep(&mut self, sql: &str, statement: Statement) {
        if self.statements.len() >= PREPARED {
            let oldest = self.statements.iter().min_by_key(|(_, (_, used))| *used);
            if let Some(oldest) = oldest.map(|(sql, _)| sql.clone()) {
                self.statements.remove(&oldest);
            }
        }
        self.statements.insert(sql.to_owned(), (statement, self.uses));
    }

    pub(super) fn forget(&mut self, sql: &str) {
        self.statements.remove(sql);
    }
}
