//! What a look-up of seven keys costs this process: `cargo run --release -p sql --example look_up [mysql|postgres] [count]`.
//! Prints the CPU time and the wall time of one, of many that come one after the other on each of some connections.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "it talks to a terminal")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use expression::{Parameter, Scalar};
use plan::{Database, DatabaseAddress, DatabaseServer, Rows, SqlSource, Statement, Token};
use sql::{DatabaseLine, SharedDatabase};
use testkit::{MariaDb, Postgres};

const CONNECTIONS: usize = 8;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let which = arguments.next().unwrap_or_else(|| "mysql".to_owned());
    let count: usize = arguments.next().map_or(40_000, |count| count.parse().unwrap());
    let rows: Vec<_> = (0..1_000)
        .map(|id| format!("({id}, 'Title number {id}', '{}')", "a longer text ".repeat(10)))
        .collect();
    let tables = format!(
        "CREATE TABLE t (id INT PRIMARY KEY, title VARCHAR(100), description TEXT); INSERT INTO t VALUES {}",
        rows.join(",")
    );
    let (mut mariadb, mut postgres) = (None, None);
    let database = if which == "postgres" {
        let server = postgres.insert(Postgres::start());
        server.execute(&tables);
        Database::Postgres(login(server.port()))
    } else {
        let server = mariadb.insert(MariaDb::start());
        server.execute(&tables);
        Database::MySql(login(server.port()))
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build_local(tokio::runtime::LocalOptions::default())
        .unwrap();
    runtime.block_on(async {
        let line = DatabaseLine::new(SharedDatabase::new(Arc::new(plan(database)), 1).unwrap());
        ask(&line, 100).await;
        let (cpu, start) = (cpu_time(), Instant::now());
        ask(&line, count).await;
        let (cpu, wall) = (cpu_time().checked_sub(cpu).unwrap(), start.elapsed());
        let count = u32::try_from(count).unwrap();
        println!("{which}: {:?} of CPU and {:?} for a query", cpu / count, wall / count);
    });
}

async fn ask(line: &DatabaseLine, count: usize) {
    let statement = Statement {
        pieces: ["SELECT id, title, description FROM t WHERE id IN (", ")"].map(str::to_owned).into(),
        reads: true,
        rows: Rows::All,
        batch: None,
    };
    let tasks: Vec<_> = (0..CONNECTIONS)
        .map(|task| {
            let (line, statement) = (line.clone(), statement.clone());
            tokio::task::spawn_local(async move {
                for turn in 0..count / CONNECTIONS {
                    let key = |place: usize| Scalar::Uint(((task + turn * 7 + place * 131) % 1_000) as u64);
                    let json =
                        line.query(&statement, &[Parameter::List((0..7).map(key).collect())]).await.unwrap();
                    assert!(json.len() > 1_000);
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}

fn login(port: u16) -> DatabaseServer {
    DatabaseServer {
        address: DatabaseAddress::Tcp { host: "127.0.0.1".to_owned(), port, tls: false },
        user: "app".to_owned(),
        password: Some(Token::new("secret".to_owned())),
        database: "app".to_owned(),
    }
}

fn plan(database: Database) -> SqlSource {
    SqlSource {
        name: "shop".to_owned(),
        database,
        pool: CONNECTIONS,
        queue: 100,
        wait: Duration::from_secs(5),
        connect_timeout: Duration::from_secs(5),
        timeout: Duration::from_secs(10),
        verify: true,
        authorities: None,
    }
}

/// Of this process, user and system together; in ticks of ten milliseconds.
fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<_> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}
