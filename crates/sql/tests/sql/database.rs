//! The three databases, so that a story can be told of each; servers are shared by the stories that run at the same time.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use plan::{Database, DatabaseAddress, DatabaseServer, SqlSource, Token};
use tempfile::TempDir;
use testkit::{MariaDb, Postgres};

pub(crate) fn plan(database: Database) -> SqlSource {
    SqlSource {
        name: "shop".to_owned(),
        database,
        pool: 4,
        queue: 100,
        wait: Duration::from_secs(5),
        connect_timeout: Duration::from_secs(5),
        timeout: Duration::from_secs(10),
        verify: true,
        authorities: None,
    }
}

pub(crate) fn server(port: u16) -> DatabaseServer {
    DatabaseServer {
        address: DatabaseAddress::Tcp { host: "127.0.0.1".to_owned(), port, tls: false },
        user: "app".to_owned(),
        password: Some(Token::new("secret".to_owned())),
        database: "app".to_owned(),
    }
}

pub(crate) fn mysql(server: &MariaDb) -> SqlSource {
    plan(Database::MySql(self::server(server.port())))
}

pub(crate) fn postgres(server: &Postgres) -> SqlSource {
    plan(Database::Postgres(self::server(server.port())))
}

/// A file of SQLite with these tables in it.
pub(crate) fn sqlite(tables: &str) -> (TempDir, SqlSource) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shop.db");
    rusqlite::Connection::open(&file).unwrap().execute_batch(tables).unwrap();
    (folder, plan(Database::Sqlite(file)))
}

/// The one that a story running just now uses, or a new one.
fn shared<T>(running: &Mutex<Weak<T>>, start: fn() -> T) -> Arc<T> {
    let mut running = running.lock().unwrap_or_else(PoisonError::into_inner);
    running.upgrade().unwrap_or_else(|| {
        let started = Arc::new(start());
        *running = Arc::downgrade(&started);
        started
    })
}

/// A server for stories that neither stop it nor count its connections.
pub(crate) fn mariadb() -> Arc<MariaDb> {
    static RUNNING: Mutex<Weak<MariaDb>> = Mutex::new(Weak::new());
    shared(&RUNNING, MariaDb::start)
}

/// The same of PostgreSQL.
pub(crate) fn postgresql() -> Arc<Postgres> {
    static RUNNING: Mutex<Weak<Postgres>> = Mutex::new(Weak::new());
    shared(&RUNNING, Postgres::start)
}

/// A server for stories that stop it or count its connections, one after the other.
pub(crate) struct OneByOne<S> {
    pub(crate) server: S,
    /// Held until the story is told.
    pub(crate) turn: tokio::sync::Mutex<()>,
}

impl<S: Server> OneByOne<S> {
    fn start() -> Self {
        OneByOne { server: S::start(), turn: tokio::sync::Mutex::const_new(()) }
    }
}

/// What stories do with a server, whichever it is.
pub(crate) trait Server: Send + Sized + Sync + 'static {
    /// A statement that takes thirty seconds.
    const SLOW: &str;

    fn start() -> Self;
    /// One that stories have to themselves, in turn.
    fn one_by_one() -> Arc<OneByOne<Self>>;
    fn plan(&self) -> SqlSource;
    fn execute(&self, statements: &str);
    fn running(&self) -> Vec<String>;
    fn connections(&self) -> usize;
    fn end_connections(&self);
    fn stop(&self);
    fn restart(&self);
    fn pause(&self);
    fn resume(&self);
}

macro_rules! server {
    ($server:ty, $plan:path, $slow:literal) => {
        impl Server for $server {
            const SLOW: &str = $slow;

            fn start() -> Self {
                <$server>::start()
            }

            fn one_by_one() -> Arc<OneByOne<Self>> {
                static RUNNING: Mutex<Weak<OneByOne<$server>>> = Mutex::new(Weak::new());
                shared(&RUNNING, OneByOne::start)
            }

            fn plan(&self) -> SqlSource {
                $plan(self)
            }

            fn execute(&self, statements: &str) {
                self.execute(statements);
            }

            fn running(&self) -> Vec<String> {
                self.running()
            }

            fn connections(&self) -> usize {
                self.connections()
            }

            fn end_connections(&self) {
                self.end_connections();
            }

            fn stop(&self) {
                self.stop();
            }

            fn restart(&self) {
                self.restart();
            }

            fn pause(&self) {
                self.pause();
            }

            fn resume(&self) {
                self.resume();
            }
        }
    };
}

server!(MariaDb, mysql, "SELECT SLEEP(30)");
server!(Postgres, postgres, "SELECT 1 FROM pg_sleep(30)");
