//! Database line: one core's way to a database. In: statements with their parameters. Out: JSON.

use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use expression::Parameter;
use message::Result;
use plan::Statement;

use crate::gather::Gather;
use crate::keys;
use crate::pool::Pool;
use crate::shared_database::{Reach, SharedDatabase};
use crate::sheet::Sheet;
use crate::text::{Placeholders, Text};
use crate::trouble::{self, Trouble};

/// See the module. Clones are the same way.
#[derive(Clone)]
pub struct DatabaseLine(Rc<Inner>);

struct Inner {
    shared: Arc<SharedDatabase>,
    /// Of SQLite there is none: its threads serve all cores.
    pool: Option<Pool>,
    gather: Gather,
}

impl DatabaseLine {
    /// Connects nothing yet.
    pub fn new(shared: Arc<SharedDatabase>) -> DatabaseLine {
        let pool = match shared.reach() {
            Reach::MySql(_) | Reach::Postgres(_) => Some(Pool::new(Arc::clone(&shared))),
            Reach::Sqlite(_) => None,
        };
        DatabaseLine(Rc::new(Inner { shared, pool, gather: Gather::default() }))
    }

    /// What it shares with those of the other cores.
    pub fn shared(&self) -> &Arc<SharedDatabase> {
        &self.0.shared
    }

    /// The rows of a statement as JSON, in the form that it says. There are as many parameters as placeholders.
    ///
    /// Dropped, it stops the statement, in the database too.
    pub async fn query(&self, statement: &Statement, parameters: &[Parameter]) -> Result<Bytes> {
        debug_assert_eq!(parameters.len() + 1, statement.pieces.len(), "one for each placeholder");
        if let Some(batch) = &statement.batch
            && statement.reads
            && let Some(wanted) = keys::mergeable(batch, parameters)
        {
            return self.look_up(statement, batch, parameters, wanted).await;
        }
        self.alone(statement, parameters).await
    }

    /// The same without others.
    pub(crate) async fn alone(&self, statement: &Statement, parameters: &[Parameter]) -> Result<Bytes> {
        let mut sheet = Sheet::new(statement.rows);
        self.ask(statement, parameters, &mut sheet).await?;
        Ok(sheet.finish())
    }

    pub(crate) fn gather(&self) -> &Gather {
        &self.0.gather
    }

    /// Whether a key is bound as the number that it is also where it is asked for alone. In SQLite a column of no type
    /// tells a number from a text; servers compare it as the column's type says.
    pub(crate) fn binds_numbers(&self) -> bool {
        matches!(self.0.shared.reach(), Reach::Sqlite(_))
    }

    /// One statement; its rows are on the sheet. Boxed here, so that drivers are compiled in this crate rather than in
    /// whoever asks.
    pub(crate) fn ask<'a>(
        &'a self,
        statement: &'a Statement,
        parameters: &'a [Parameter],
        sheet: &'a mut Sheet,
    ) -> Pin<Box<dyn Future<Output = Result<()>> + 'a>> {
        Box::pin(self.carry_out(statement, parameters, sheet))
    }

    async fn carry_out(
        &self,
        statement: &Statement,
        parameters: &[Parameter],
        sheet: &mut Sheet,
    ) -> Result<()> {
        let shared = &self.0.shared;
        let (counters, name) = (shared.counters(), shared.name());
        let placeholders = match shared.reach() {
            Reach::Postgres(_) => Placeholders::Numbers,
            Reach::MySql(_) | Reach::Sqlite(_) => Placeholders::Marks,
        };
        let text = Text::new(name, &statement.pieces, parameters, placeholders)?;
        let asked = match (&self.0.pool, shared.reach()) {
            (Some(pool), _) => self.ask_server(pool, statement.reads, &text, sheet).await,
            (None, Reach::Sqlite(threads)) => threads.ask(statement.reads, text, sheet).await,
            (None, _) => unreachable!("a server has a pool"),
        };
        if asked.is_err() {
            counters.failed.one();
        }
        asked
    }

    async fn ask_server(&self, pool: &Pool, reads: bool, text: &Text<'_>, sheet: &mut Sheet) -> Result<()> {
        let shared = &self.0.shared;
        let counters = shared.counters();
        let limit = shared.plan().timeout;
        let mut again = false;
        loop {
            let mut lease = pool.lease(reads).await?;
            counters.queries.one();
            let ran = tokio::time::timeout(limit, lease.connection().run(text, sheet)).await;
            let trouble = match ran {
                Ok(Ok(())) => {
                    lease.give_back();
                    return Ok(());
                }
                Ok(Err(trouble)) => trouble,
                Err(_) => {
                    counters.timed_out.one();
                    return Err(trouble::late(shared.name(), limit));
                }
            };
            match trouble {
                Trouble::Refused(error) => {
                    lease.give_back();
                    return Err(error);
                }
                Trouble::Unwanted(error) => return Err(error),
                Trouble::Broken { error, sent } => {
                    lease.give_up().await;
                    pool.give_up_idle();
                    if again || (sent && !reads) {
                        return Err(error);
                    }
                    again = true;
                    counters.repeated.one();
                    sheet.clear();
                }
            }
        }
    }
}
