//! Shared database: what all cores share of one database: the plan, whom TLS trusts, figures, SQLite's threads. Made by control
//! for each source; a reload that leaves the plan of the source as it was keeps it.

use std::sync::Arc;

use message::Result;
use plan::{Database, SqlSource};

use crate::figures::{DatabaseCounters, DatabaseFigures};
use crate::{mysql, postgres, sqlite};

/// See the module.
pub struct SharedDatabase {
    plan: Arc<SqlSource>,
    cores: usize,
    name: Arc<str>,
    counters: Arc<DatabaseCounters>,
    reach: Reach,
}

/// How the database is reached.
pub(crate) enum Reach {
    MySql(mysql_async::Opts),
    Postgres(Box<postgres::Options>),
    Sqlite(sqlite::Threads),
}

impl SharedDatabase {
    /// Reads the certificate authorities and opens a file of SQLite; nothing is connected yet. `Kind::Internal` says
    /// which file is at fault.
    pub fn new(plan: Arc<SqlSource>, cores: usize) -> Result<Arc<SharedDatabase>> {
        let counters = Arc::<DatabaseCounters>::default();
        let reach = match &plan.database {
            Database::MySql(server) => Reach::MySql(mysql::options(&plan, server)?),
            Database::Postgres(server) => Reach::Postgres(Box::new(postgres::Options::new(&plan, server)?)),
            Database::Sqlite(file) => Reach::Sqlite(sqlite::Threads::start(&plan, file, cores, &counters)?),
        };
        Ok(Arc::new(SharedDatabase {
            name: plan.name.as_str().into(),
            cores: cores.max(1),
            plan,
            counters,
            reach,
        }))
    }

    /// What the configuration says.
    pub fn plan(&self) -> &SqlSource {
        &self.plan
    }

    /// What has been asked of it, by all cores together.
    pub fn figures(&self) -> DatabaseFigures {
        self.counters.figures()
    }

    /// Of the pool, what one core may have.
    pub(crate) fn share(&self) -> usize {
        self.plan.pool.div_ceil(self.cores).max(1)
    }

    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    pub(crate) fn counters(&self) -> &Arc<DatabaseCounters> {
        &self.counters
    }

    pub(crate) fn reach(&self) -> &Reach {
        &self.reach
    }
}
