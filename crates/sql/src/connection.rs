//! Connection: one to a server, whichever it is, with what the pool has to know of it. Made by the pool.

use std::sync::Arc;
use std::time::Duration;

use message::Error;
use tokio::time::{Instant, timeout};

use crate::figures::Present;
use crate::shared_database::{Reach, SharedDatabase};
use crate::sheet::Sheet;
use crate::text::Text;
use crate::trouble::{self, Trouble};
use crate::{mysql, postgres};

/// How long cleaning up after a statement may take, or looking whether a connection still works.
const CLEANING: Duration = Duration::from_secs(2);

/// What a network between us and the server may forget, we ask for before it is used.
const LONG_IDLE: Duration = Duration::from_secs(30);

/// A write is never sent twice, so it had better not meet a server that was restarted meanwhile.
const IDLE: Duration = Duration::from_millis(100);

/// See the module.
pub(crate) struct Connection {
    /// None once it has ended.
    kind: Option<Kind>,
    used: Instant,
    shared: Arc<SharedDatabase>,
    _open: Present,
}

enum Kind {
    MySql(mysql::Connection),
    Postgres(postgres::Connection),
}

impl Connection {
    /// Connected and logged in, within the plan's time.
    pub(crate) async fn open(shared: &Arc<SharedDatabase>) -> Result<Self, Error> {
        let (plan, name) = (shared.plan(), shared.name());
        let unconnected = |error: &(dyn std::error::Error + 'static)| {
            trouble::unconnected(name, &plan.database.address(), error)
        };
        let opening = async {
            match shared.reach() {
                Reach::MySql(options) => {
                    let opened = mysql::Connection::open(options.clone(), Arc::clone(name)).await;
                    opened.map(Kind::MySql).map_err(|error| unconnected(&error))
                }
                Reach::Postgres(options) => {
                    let opened = postgres::Connection::open(options, Arc::clone(name)).await;
                    opened.map(Kind::Postgres).map_err(|error| unconnected(&error))
                }
                Reach::Sqlite(_) => unreachable!("SQLite has threads, no pool"),
            }
        };
        let opened = timeout(plan.connect_timeout, opening).await;
        let opened = opened.unwrap_or_else(|_| Err(trouble::late_connection(name, &plan.database.address())));
        let counters = shared.counters();
        match &opened {
            Ok(_) => counters.connects.one(),
            Err(_) => counters.unconnected.one(),
        }
        let open = Present::new(counters, |counters| &counters.open);
        Ok(Connection { kind: Some(opened?), used: Instant::now(), shared: Arc::clone(shared), _open: open })
    }

    /// Writes the rows of a statement on the sheet.
    pub(crate) async fn run(&mut self, text: &Text<'_>, sheet: &mut Sheet) -> Result<(), Trouble> {
        match &mut self.kind {
            Some(Kind::MySql(connection)) => connection.run(text, sheet).await,
            Some(Kind::Postgres(connection)) => connection.run(text, sheet).await,
            None => unreachable!("a connection that has ended is never lent"),
        }
    }

    /// It is idle from now on.
    pub(crate) fn rests(&mut self) {
        self.used = Instant::now();
    }

    /// Whether it may carry out a statement. Asks the server where it has been idle for a while; what comes of a read
    /// on a broken connection can be mended, so that has to be longer.
    pub(crate) async fn is_sound(&mut self, reads: bool) -> bool {
        match &self.kind {
            Some(Kind::Postgres(connection)) if connection.is_closed() => return false,
            Some(_) => {}
            None => return false,
        }
        if self.used.elapsed() < if reads { LONG_IDLE } else { IDLE } {
            return true;
        }
        let check = async {
            match &mut self.kind {
                Some(Kind::MySql(connection)) => connection.check().await,
                Some(Kind::Postgres(connection)) => connection.check().await,
                None => false,
            }
        };
        timeout(CLEANING, check).await.unwrap_or(false)
    }

    /// Stops what it is carrying out, in the database too, and ends. Takes two seconds at most.
    pub(crate) async fn cancel(&mut self) {
        let name = Arc::clone(self.shared.name());
        let cancelling = async {
            match (self.kind.take(), self.shared.reach()) {
                (Some(Kind::MySql(connection)), Reach::MySql(options)) => {
                    connection.cancel(options.clone()).await.map_err(|error| error.to_string())
                }
                (Some(Kind::Postgres(connection)), Reach::Postgres(options)) => {
                    connection.cancel(options).await.map_err(|error| error.to_string())
                }
                _ => Ok(()),
            }
        };
        match timeout(CLEANING, cancelling).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(source = &*name, error, "a statement could not be cancelled"),
            Err(_) => tracing::debug!(source = &*name, "a statement could not be cancelled in time"),
        }
    }

    /// Ends, whatever state it is in.
    pub(crate) async fn close(&mut self) {
        if let Some(Kind::MySql(connection)) = self.kind.take() {
            drop(timeout(CLEANING, connection.close()).await);
        }
    }
}
