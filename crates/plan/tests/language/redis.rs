//! Redis, stores and reads: what is meant, and what is wrong.

use std::fs;
use std::time::Duration;

use http::StatusCode;
use plan::{
    Plan, ReadCommand, ReadForm, ReadMode, RedisServer, RedisSource, RouteEnd, Source, SourceId, Topology,
    compile, load,
};

use crate::bad::{bad, one};

const ROUTE: &str = "routes: [{ match: \"GET /t/{key}\", read: { redis: \"GET t:${path.key}\" } }]\n";

fn good(text: &str) -> Plan {
    compile(text, "fleetfoot.yaml").unwrap_or_else(|faults| panic!("{text}\n{faults}"))
}

/// The Redis of this number among those of a plan.
fn redis_at(plan: &Plan, number: usize) -> &RedisSource {
    plan.sources.iter().filter_map(Source::redis).nth(number).unwrap()
}

/// The fault of a source at a Redis with these keys.
#[track_caller]
fn source_says(keys: &str, expected: &str) {
    let faults = bad(&format!("sources:\n  redis: {{ {keys} }}\n{ROUTE}"));
    let fault = faults.iter().next().unwrap();
    assert_eq!(format!("{} | {}", fault.cause, fault.remedy), expected, "{keys}");
}

/// The fault of a route with this read.
#[track_caller]
fn read_says(read: &str, expected: &str) {
    let faults = bad(&format!(
        "sources: {{ api: http://a, redis: redis://a }}\nroutes: [{{ match: \"GET /t/{{key}}\", read: {read} }}]\n"
    ));
    assert_eq!(faults.count(), 1, "{faults}");
    let fault = faults.iter().next().unwrap();
    assert_eq!(format!("{} | {}", fault.cause, fault.remedy), expected, "{read}");
}

#[test]
fn a_url_is_a_redis_with_every_default() {
    let plan = good(&format!("sources: {{ redis: redis://127.0.0.1 }}\n{ROUTE}"));
    let redis = redis_at(&plan, 0);
    let server = RedisServer::Tcp { host: "127.0.0.1".to_owned(), port: 6379, tls: false };
    assert_eq!(redis.topology, Topology::Standalone(server));
    assert_eq!((&redis.mode, redis.timeout), (&ReadMode::Central, Duration::from_millis(100)));
    let RouteEnd::Read(read) = &plan.routes[0].end else { panic!("{:?}", plan.routes[0]) };
    assert_eq!((read.from, read.command, read.form), (SourceId::at(0), ReadCommand::Get, ReadForm::Json));
    assert_eq!(read.missing, StatusCode::NOT_FOUND);
    assert_eq!(read.arguments[0].text(), "t:${path.key}");
}

#[test]
fn every_word_of_a_redis_is_meant() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ca.pem"), "-").unwrap();
    fs::write(folder.path().join("pw"), "secret\n").unwrap();
    fs::write(folder.path().join("tokens.json"), "{}").unwrap();
    let file = folder.path().join("fleetfoot.yaml");
    let text = r#"
sources:
  sentinels:
    redis: [redis://a:26379, rediss://b:26379]
    topology: sentinel
    master: mymaster
    user: app
    password: { file: pw }
    database: 3
    tls: { authorities: ca.pem }
    timeout: 50ms
    connect_timeout: 2s
    mode: tracked
    track: ["user:", "token:"]
    memory: 1GiB
    silence: 1s
    max_stale: 30s
    tier: { prefix: "shop:", lock: 5s, largest: 2MiB, unheard: 10s }
  cluster: { redis: [redis://a, redis://b], topology: cluster }
  near: { redis: redis://a, mode: replica, replica: "unix:/run/r.sock", max_lag: 200ms }
  tokens: { store: tokens.json }
policies:
  public: { cache: { ttl: 2m, tier: sentinels } }
  own: { cache: { ttl: 1s } }
routes:
  - { match: GET /a, read: { tokens: "EXISTS t:${query.t}" }, use: public }
  - { match: GET /b, read: { cluster: "MGET k:${query.all('k')}", as: text, type: text/csv, missing: 204 } }
"#;
    fs::write(&file, text).unwrap();
    let plan = load(&file).unwrap_or_else(|faults| panic!("{faults}"));
    let redis = redis_at(&plan, 0);
    assert!(
        matches!(&redis.topology, Topology::Sentinel { sentinels, master } if sentinels.len() == 2 && master == "mymaster")
    );
    assert_eq!(redis.login.user.as_deref(), Some("app"));
    assert_eq!(redis.login.password.as_ref().unwrap().secret(), "secret");
    assert_eq!((redis.database, redis.memory), (3, 1 << 30));
    assert_eq!((redis.timeout, redis.connect_timeout), (Duration::from_millis(50), Duration::from_secs(2)));
    assert_eq!(
        redis.mode,
        ReadMode::Tracked {
            prefixes: vec!["user:".to_owned(), "token:".to_owned()],
            silence: Duration::from_secs(1)
        }
    );
    assert_eq!((redis.tier.prefix.as_str(), redis.tier.largest), ("shop:", 2 << 20));
    assert_eq!((redis.tier.lock, redis.tier.unheard), (Duration::from_secs(5), Duration::from_secs(10)));
    assert!(matches!(&redis_at(&plan, 1).topology, Topology::Cluster(servers) if servers.len() == 2));
    assert!(
        matches!(&redis_at(&plan, 2).mode, ReadMode::Replica { max_lag, .. } if *max_lag == Duration::from_millis(200))
    );
    assert_eq!(plan.shared_tier().unwrap().name, "sentinels");
    assert!(plan.routes[0].cache().unwrap().shared);
    let RouteEnd::Read(check) = &plan.routes[0].end else { panic!() };
    assert_eq!((plan.source(check.from).name(), check.missing), ("tokens", StatusCode::UNAUTHORIZED));
    let RouteEnd::Read(many) = &plan.routes[1].end else { panic!() };
    assert_eq!((many.form, many.missing), (ReadForm::Text, StatusCode::NO_CONTENT));
    assert_eq!(many.content_type.as_ref().unwrap(), "text/csv");
    assert!(!format!("{plan:?}").contains("secret\""), "no secret is shown");
}

#[test]
fn what_does_not_fit_together_is_said() {
    for (keys, expected) in [
        (
            "redis: [redis://a, redis://b]",
            "2 servers are named, and it is not said what they are | write `topology: cluster` or `topology: sentinel`, or one server",
        ),
        (
            "redis: redis://a, topology: sentinel",
            "`master` is missing | add what the Sentinels call it, like `master: mymaster`",
        ),
        (
            "redis: redis://a, master: m",
            "`master` is what Sentinels know | write `topology: sentinel`, or take it out",
        ),
        (
            "redis: redis://a, user: app",
            "`user` has no `password` | add it: `password: { file: redis.password }`",
        ),
        (
            "redis: redis://a, mode: replica",
            "`replica` is missing | add it: `replica: unix:/run/redis/replica.sock`",
        ),
        (
            "redis: redis://a, max_lag: 1s",
            "`max_lag` is for `mode: replica` | write that mode, or take it out",
        ),
        ("redis: redis://a, track: a", "`track` is for `mode: tracked` | write that mode, or take it out"),
        (
            "redis: redis://a, mode: tracked, track: [a, ab]",
            "`ab` is covered by `a` | take the longer one out",
        ),
        (
            "redis: redis://a, mode: tracked, silence: 10ms",
            "`10ms` is shorter than a network's hiccup | write at least `200ms`",
        ),
        (
            "redis: redis://a, topology: cluster, mode: tracked",
            "a cluster is read with `mode: central` | write `mode: central`, or take it out",
        ),
        ("redis: redis://a, topology: cluster, database: 1", "a cluster has only database 0 | take it out"),
        (
            "redis: redis://a, memory: 1GiB",
            "`memory` is for `mode: tracked` and `max_stale` | write one of them, or take it out",
        ),
        (
            "redis: redis://a, tls: { verify: false }",
            "`tls` has no effect: every server is at `redis` | write `rediss://` in the URLs, or take `tls` out",
        ),
        (
            "redis: redis://a, tier: { prefix: \"a{b}\" }",
            "`a{b}` is not a prefix | write 1 to 64 letters, digits, `_`, `-`, `.` and `:`",
        ),
        ("redis: redis://a, tier: { lock: 1ms }", "`1ms` is out of range | write from `50ms` to `5m`"),
        ("redis: redis://a, moed: tracked", "unknown key `moed` | write `mode`"),
        ("redis: 127.0.0.1:6379", "`127.0.0.1:6379` has no scheme | write `redis://127.0.0.1:6379`"),
    ] {
        source_says(keys, expected);
    }
}

#[test]
fn a_read_names_a_source_and_a_command_that_reads() {
    for (read, expected) in [
        (
            "{ redis: MGTE x }",
            "`MGTE` is none of the commands that read | write `MGET` if that is meant: only commands that read are known",
        ),
        ("{ redis: GET }", "GET has too few words behind it | write it like `GET user:${path.id}`"),
        ("{ rediss: GET x }", "there is nothing to read from that is called `rediss` | write `redis`"),
        (
            "{ as: json }",
            "it is not said what is read | write the name of a source and a command: `read: { redis: \"MGET user:${query.all('id')}\", as: json }`",
        ),
        (
            "{ redis: MGET a b, as: raw }",
            "MGET gives several values | write `json`, or `text` for one value a line",
        ),
        (
            "{ redis: GET x, missing: 200 }",
            "`200` does not say that nothing is there | write 204, or one from 400 to 499",
        ),
        ("{ redis: GET x, type: json }", "`json` is no content type | write one like `application/json`"),
        ("{ redis: GET x, form: json }", "unknown key `form` | known here: `as`, `type`, `missing`"),
        (
            "GET x",
            "`read` must be a mapping, `key: value` | write it like `read: { redis: \"MGET user:${query.all('id')}\", as: json }`",
        ),
    ] {
        read_says(read, expected);
    }
}

#[test]
fn routes_and_policies_name_what_there_is() {
    for (text, expected) in [
        (
            "sources: { redis: redis://a }\nroutes: [{ match: /x, proxy: redis }]\n",
            "2:30 routes[0].proxy | `redis` is read from, not proxied to | write `read: { redis: \"GET …\" }` instead of `proxy`",
        ),
        (
            "sources: { api: http://b, redis: redis://a }\nroutes: [{ match: /x, proxy: api, read: { redis: GET x } }]\n",
            "2:23 routes[0].proxy | `proxy` and `read` stand in one route | take one of them out",
        ),
        (
            "sources: { redis: redis://a }\nroutes: [{ match: POST /x, read: { redis: GET x } }]\n",
            "2:28 routes[0].read | `read` answers GET, not POST | write `match: GET …`",
        ),
        (
            "sources: { api: http://b }\npolicies: { p: { cache: { ttl: 1s, tier: redis } } }\nroutes: [{ match: /x, proxy: api }]\n",
            "2:42 policies.p.cache.tier | there is no Redis `redis` | there is no Redis at all: add one",
        ),
        (
            "sources: { api: http://b, r: redis://a, s: redis://b }\npolicies: { p: { cache: { ttl: 1s, tier: r } }, q: { cache: { ttl: 1s, tier: s } } }\nroutes: [{ match: /x, proxy: api }]\n",
            "2:78 policies.q.cache.tier | two policies name different tiers | write the same for all: there is one tier behind the memory",
        ),
    ] {
        let faults = bad(text);
        assert_eq!(faults.count(), 1, "{faults}");
        assert_eq!(one(&faults), expected);
    }
}
