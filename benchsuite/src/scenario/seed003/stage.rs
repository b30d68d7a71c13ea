//! Stage: what stands behind the sixteen calls: four tables and as many keys as rows, an API that takes 200 ms, the
//! module; and fleetfoot in front of them with a route for each way.

use std::fs;
use std::thread;

use tempfile::TempDir;
use testkit::{Answer, MariaDb};

use crate::demo_api::DemoApi;
use crate::failure::{Failure, Result};
use crate::http_client::HttpClient;
use crate::process::stay_on_load_core;
use crate::redis_server::RedisServer;
use crate::server::{Kind, Server, Setup};

/// Rows of each table.
pub(super) const ROWS: usize = 5_000;
/// Rows that are asked for of each table at once, as the seed does.
pub(super) const IDS: usize = 7;
const TABLES: usize = 4;
/// In the URL of the test kit's MariaDB; fleetfoot takes none there.
const PASSWORD: &str = ":secret";

/// Runs as long as this value lives.
pub(super) struct Stage {
    database: MariaDb,
    pub(super) redis: RedisServer,
    api: DemoApi,
    /// With the module.
    folder: TempDir,
}

/// A way to the same response.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Way {
    /// For people.
    pub(super) title: &'static str,
    /// In the path.
    pub(super) name: &'static str,
    run: &'static str,
    /// Whether equal calls run once, and look-ups of several requests become one.
    saves: bool,
}

pub(super) const SERIAL: Way = Way { title: "v1, serial", name: "serial", run: "serial", saves: false };
/// The seed's: 10 threads, 20 calls that wait.
pub(super) const POOL: Way =
    Way { title: "v2, pool(10, 20)", name: "pool", run: "pool(10, 20)", saves: false };
/// With room for all calls of ten users.
pub(super) const WIDE_POOL: Way =
    Way { title: "v2, pool(20, 160)", name: "wide-pool", run: "pool(20, 160)", saves: false };
pub(super) const PARALLEL: Way =
    Way { title: "v3, parallel", name: "parallel", run: "parallel", saves: false };
pub(super) const SAVED: Way =
    Way { title: "parallel, everything saved", name: "saved", run: "parallel", saves: true };
const WAYS: [Way; 5] = [SERIAL, POOL, WIDE_POOL, PARALLEL, SAVED];

/// What is called.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Calls {
    /// All sixteen; each calculation takes about 50 ms of a core.
    Sixteen,
    /// All sixteen; the calculations take a small part of a millisecond.
    Light,
    /// Twelve: no calculations.
    Twelve,
    /// Eight: the database and Redis.
    Eight,
}

impl Calls {
    const ALL: [Calls; 4] = [Calls::Sixteen, Calls::Light, Calls::Twelve, Calls::Eight];

    fn name(self) -> &'static str {
        match self {
            Calls::Sixteen => "sixteen",
            Calls::Light => "light",
            Calls::Twelve => "twelve",
            Calls::Eight => "eight",
        }
    }

    /// The largest of the four numbers up to which primes are counted.
    fn most(self) -> Option<u32> {
        match self {
            Calls::Sixteen => Some(1_000_000),
            Calls::Light => Some(4_000),
            Calls::Twelve | Calls::Eight => None,
        }
    }
}

impl Way {
    fn route(self, calls: Calls) -> String {
        let batch = if self.saves { ", batch: true" } else { "" };
        let mut route = format!(
            "- match: GET {}\n  timeout: 30s\n  run: {}\n{}  compose:\n    \
             tests: {{ each: [1, 2, 3, 4], db: \"SELECT * FROM test_{{each}} WHERE id IN (?)\", \
             args: [\"${{query.all('test{{each}}Id')}}\"]{batch} }}\n    \
             cached: {{ each: [1, 2, 3, 4], redis: \"GET test{{each}}:key:${{query.all('test{{each}}Id')}}\" }}\n",
            self.path(calls),
            self.run,
            if self.saves { "" } else { "  save: { dedupe: false, coalesce: false }\n" },
        );
        let mut shown = vec!["cacheModel: \"${cached}\"", "tests: \"${tests}\""];
        if let Some(most) = calls.most() {
            // Of each its own: equal calls would be one.
            let numbers: Vec<String> = (0..4).map(|less| (most - less).to_string()).collect();
            let line = format!(
                "    result: {{ each: [{}], math: execute, args: {{ n: \"${{{{each}}}}\" }} }}\n",
                numbers.join(", ")
            );
            route.push_str(&line);
            shown.push("result: \"${result}\"");
        }
        if calls != Calls::Eight {
            route.push_str(
                "    trends: { each: [1, 2, 3, 4], trends: \"GET /trends/api/realtimetrends?hl=ko&t=200ms\" }\n",
            );
            shown.push("trendModels: \"${trends}\"");
        }
        route + &format!("  respond: {{ {} }}\n", shown.join(", "))
    }

    pub(super) fn path(self, calls: Calls) -> String {
        format!("/{}/{}", self.name, calls.name())
    }

    /// The path with the parameters of the seed, the ids from this one on.
    pub(super) fn target(self, calls: Calls, first: usize) -> String {
        let ids = |table| (first..first + IDS).map(move |id| format!("test{table}Id={id}"));
        let parameters: Vec<String> = (1..=TABLES).flat_map(ids).collect();
        format!("{}?{}", self.path(calls), parameters.join("&"))
    }
}

impl Stage {
    pub(super) fn build() -> Result<Self> {
        let api = DemoApi::start()?;
        let redis = RedisServer::start()?;
        let folder = tempfile::Builder::new().prefix("bench-").tempdir()?;
        fs::write(folder.path().join("math.wat"), include_str!("../../../../examples/compose/math.wat"))?;
        fs::write(folder.path().join("password"), PASSWORD.trim_start_matches(':'))?;
        // Whatever this thread starts stays on its core.
        let database = thread::spawn(|| {
            stay_on_load_core();
            let database = MariaDb::start();
            (1..=TABLES).for_each(|table| database.execute(&rows(table)));
            database
        });
        let database = database.join().map_err(|_| Failure("MariaDB does not start".to_owned()))?;
        let keys = (1..=TABLES).flat_map(|table| (1..=ROWS - IDS).map(move |first| key(table, first)));
        redis.write(keys.map(|key| {
            let value = format!("what {key} holds");
            (key, value)
        }))?;
        eprintln!("seed003: 4 tables of {ROWS} rows in MariaDB, as many keys in Redis");
        Ok(Stage { database, redis, api, folder })
    }

    /// fleetfoot with a route for each way and what each calls: on this many cores.
    pub(super) fn start(&self, cores: usize) -> Result<Server> {
        let mut config = include_str!("../../../rivals/fleetfoot-seed003.yaml")
            .replace("{cores}", &cores.to_string())
            .replace("{database}", &self.database.url().replace(PASSWORD, ""))
            .replace("{redis}", &self.redis.url());
        for way in WAYS {
            config.extend(Calls::ALL.map(|calls| way.route(calls)));
        }
        let target = PARALLEL.target(Calls::Eight, 1);
        let setup = Setup {
            config: &config,
            folder: self.folder.path(),
            target: &target,
            everywhere: cores > 1,
            ..Setup::of(Kind::Fleetfoot, self.api.address)
        };
        setup.start()
    }

    /// SELECTs that the database was asked so far, as it counts itself.
    pub(super) fn selects(&self) -> Result<u64> {
        let said = self.database.query("SHOW GLOBAL STATUS LIKE 'Com_select'");
        Ok(said.split_whitespace().last().unwrap_or_default().parse()?)
    }
}

/// A table of the seed with all its rows.
fn rows(table: usize) -> String {
    let rows: Vec<String> = (1..=ROWS)
        .map(|id| format!("({id}, 'title {id} of {table}', 'what there is to say about {id}')"))
        .collect();
    format!(
        "CREATE TABLE test_{table} (id bigint NOT NULL AUTO_INCREMENT, title varchar(255), \
         description varchar(255), createdAt datetime DEFAULT '2024-01-31 12:00:00', \
         modifiedAt datetime DEFAULT '2024-01-31 12:00:00', PRIMARY KEY (id)) ENGINE=InnoDB; \
         INSERT INTO test_{table} (id, title, description) VALUES {}; ANALYZE TABLE test_{table};",
        rows.join(", ")
    )
}

/// As an expression writes a list within a text.
fn key(table: usize, first: usize) -> String {
    let ids: Vec<String> = (first..first + IDS).map(|id| id.to_string()).collect();
    format!("test{table}:key:{}", ids.join(","))
}

/// One answer with its content, which has to be whole.
pub(super) fn ask(client: &mut HttpClient, target: &str) -> Result<Answer> {
    let answer = client.ask(target, &[])?;
    match answer.field("x-fleetfoot-completed") {
        Some("true") => Ok(answer),
        other => Err(Failure(format!("{target} is not complete but {other:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_is_asked_for_the_ids_of_its_key() {
        assert_eq!(key(2, 3), "test2:key:3,4,5,6,7,8,9");
        let target = SAVED.target(Calls::Eight, 3);
        assert!(target.starts_with("/saved/eight?test1Id=3&test1Id=4&"), "{target}");
        assert!(target.ends_with("&test4Id=8&test4Id=9"), "{target}");
        let route = POOL.route(Calls::Light);
        assert!(
            route.contains("each: [4000, 3999, 3998, 3997], math: execute, args: { n: \"${{each}}\" }"),
            "{route}"
        );
        assert!(route.contains("run: pool(10, 20)\n  save: { dedupe: false, coalesce: false }"), "{route}");
        assert!(SAVED.route(Calls::Twelve).contains("batch: true") && !route.contains("batch"));
    }
}
