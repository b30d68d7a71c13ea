//! What is done once instead of several times: equal calls of a request, of requests at the same time, reads of a Redis,
//! look-ups by key. And that nobody is given what another asked for.

use std::time::Duration;

use testkit::{Fleetfoot, Gate, Origin, RawClient, RedisServer, Script, ok, wait_until};

use super::support::{assert_complete, composing, config_with, mariadb, postgres, refs, sql};

fn get(target: &str, fields: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: example.test\r\n{fields}\r\n")
}

#[test]
fn equal_calls_of_a_request_run_once() {
    let origin = Origin::start();
    origin.on("*").answer(|request| ok("", format!("{:?}", request.target)));
    let api = format!("api: \"{}\"", origin.url());
    // The last begins when the others have ended.
    let steps = "compose: { a: { api: GET /x }, b: { api: GET /x }, c: { when: \"${a == '/x'}\", api: GET /x }, d: { api: GET /y } }";
    for (save, calls) in [
        ("{}", 1),
        ("{ coalesce: false }", 1),
        // What is under way is still shared with whoever asks for the same.
        ("{ dedupe: false }", 2),
        ("{ dedupe: false, coalesce: false }", 3),
    ] {
        let fleetfoot = composing(&[&api], &[&format!("match: GET /, save: {save}, {steps}")]);
        let before = origin.count("GET /x");
        assert_complete(&fleetfoot.get("/"), r#"{"a":"/x","b":"/x","c":"/x","d":"/y"}"#);
        assert_eq!(origin.count("GET /x") - before, calls, "{save}");
    }
}

#[test]
fn equal_calls_of_steps_that_are_wrapped_alike_run_once() {
    let origin = Origin::start();
    origin.on("*").answer(|request| ok("", format!("{:?}", request.target)));
    let sources = format!("api: \"{}\"", origin.url());
    let routes = [
        "match: GET /stale, compose: { it: { each: [1, 2, 3, 4], api: GET /stale, on_error: [stale, null] } }",
        "match: GET /use, compose: { it: { each: [1, 2, 3], api: GET /use, use: none }, other: { api: GET /use, use: none } }",
        // What is wrapped otherwise is another call.
        "match: GET /both, compose: { a: { api: GET /both }, b: { api: GET /both, use: none }, c: { api: GET /both, use: alone }, \
         d: { api: GET /both, on_error: stale }, e: { api: GET /both, use: alone, on_error: stale } }",
    ];
    // Each would ask by itself: nothing is kept, and those who ask at once do not share.
    let top = "cores: 1\npolicies: { none: { cache: { mode: force, ttl: 0s, coalesce: false } }, \
               alone: { cache: { mode: force, ttl: 0s, coalesce: false, max_body: 1KiB } } }";
    let fleetfoot = Fleetfoot::start(&config_with(top, &[&sources], &routes));
    for (target, content, calls) in [
        ("/stale", r#"{"it":["/stale","/stale","/stale","/stale"]}"#, 1),
        ("/use", r#"{"it":["/use","/use","/use"],"other":"/use"}"#, 1),
        ("/both", r#"{"a":"/both","b":"/both","c":"/both","d":"/both","e":"/both"}"#, 5),
    ] {
        assert_complete(&fleetfoot.get(target), content);
        assert_eq!(origin.count(&format!("GET {target}")), calls, "{target}");
    }
}

#[test]
fn what_writes_is_done_as_often_as_it_is_written() {
    let origin = Origin::start();
    origin.on("*").reply(ok("", "1"));
    let api = format!("api: \"{}\"", origin.url());
    let fleetfoot = composing(
        &[&api],
        &["match: POST /, compose: { a: { api: POST /x }, b: { api: POST /x }, c: { api: GET /x } }"],
    );
    assert_eq!(fleetfoot.send("POST", "/", "Content-Length: 0\n").status, 200);
    assert_eq!((origin.count("POST /x"), origin.count("GET /x")), (2, 1));
}

/// Clients that have all asked this, and been heard.
fn all_asking(fleetfoot: &Fleetfoot, count: usize, request: &str) -> Vec<RawClient> {
    let clients = (0..count).map(|_| {
        let mut client = fleetfoot.connect();
        client.send(request);
        client
    });
    let clients = clients.collect();
    // The core takes connections in the order in which they came.
    assert_eq!(fleetfoot.get("/not/there").status, 404);
    clients
}

#[test]
fn equal_calls_of_requests_at_the_same_time_run_once() {
    for (save, calls) in [("{}", 1), ("{ coalesce: false }", 20)] {
        let (origin, gate) = (Origin::start(), Gate::new());
        origin.on("*").reply(Script::new().wait(&gate).then(ok("", "1")));
        let route = format!("match: GET /, save: {save}, compose: {{ it: {{ api: GET /x }} }}");
        let fleetfoot = composing(&[&format!("api: \"{}\"", origin.url())], &[&route]);
        let mut clients = all_asking(&fleetfoot, 20, &get("/", ""));
        origin.wait_for(calls, "GET /x");
        gate.open();
        for client in &mut clients {
            assert_complete(&client.read_answer(), r#"{"it":1}"#);
        }
        assert_eq!(origin.count("GET /x"), calls);
        // It was under way; it is not kept.
        assert_complete(&fleetfoot.get("/"), r#"{"it":1}"#);
        assert_eq!(origin.count("GET /x"), calls + 1);
    }
}

#[test]
fn who_leaves_takes_nothing_from_those_who_wait_for_the_same() {
    let (origin, gate) = (Origin::start(), Gate::new());
    origin.on("*").reply(Script::new().wait(&gate).then(ok("", "1")));
    let route = "match: GET /, compose: { it: { api: GET /x } }";
    let mut fleetfoot = composing(&[&format!("api: \"{}\"", origin.url())], &[route]);
    let mut first = all_asking(&fleetfoot, 1, &get("/", ""));
    origin.wait_for(1, "GET /x");
    let mut others = all_asking(&fleetfoot, 3, &get("/", ""));
    first.clear();
    drop(others.swap_remove(1));
    fleetfoot.wait_for_metrics("gone", |metrics| metrics.count("fleetfoot_open_connections") == 2);
    gate.open();
    for client in &mut others {
        assert_complete(&client.read_answer(), r#"{"it":1}"#);
    }
    assert_eq!(origin.count("GET /x"), 1);
}

#[test]
fn calls_that_differ_in_anything_are_never_mixed() {
    let origin = Origin::start();
    origin.on("*").answer(|request| {
        let who = request.field("x-user").unwrap_or("nobody");
        let told = format!("{{\"target\":{:?},\"who\":{who:?}}}", request.target);
        Script::new().pause(Duration::from_millis(5)).then(ok("", told))
    });
    let redis = RedisServer::start();
    for id in 1..=5 {
        drop(redis.command(&["SET", &format!("k:{id}"), &format!("{id}00")]).or_panic());
    }
    let database = mariadb();
    let sources = [
        format!("api: \"{}\"", origin.url()),
        format!("redis: \"{}\"", redis.url()),
        format!("db: {}", sql(&database.url(), "")),
    ];
    let route = "match: \"GET /{id}\", compose: { \
                 api: { api: \"GET /of/${path.id}\", headers: { X-User: \"${header('X-User')}\" } }, \
                 redis: { redis: \"GET k:${path.id}\" }, \
                 db: { db: \"SELECT ? AS id, ? AS user\", args: [\"${path.id}\", \"${header('X-User')}\"], as: row } }";
    let fleetfoot = composing(&refs(&sources), &[route]);
    let ask = |client: &mut RawClient, n: usize| {
        let (id, user) = (n % 5 + 1, (n / 5) % 3);
        client.send(get(&format!("/{id}"), &format!("X-User: u{user}\r\n")));
    };
    let mut clients: Vec<RawClient> = (0..30).map(|_| fleetfoot.connect()).collect();
    for round in 0..10 {
        for (n, client) in clients.iter_mut().enumerate() {
            ask(client, n + round);
        }
        for (n, client) in clients.iter_mut().enumerate() {
            let (id, user) = ((n + round) % 5 + 1, ((n + round) / 5) % 3);
            let wanted = format!(
                "{{\"api\":{{\"target\":\"/of/{id}\",\"who\":\"u{user}\"}},\"redis\":{id}00,\
                 \"db\":{{\"id\":\"{id}\",\"user\":\"u{user}\"}}}}"
            );
            assert_complete(&client.read_answer(), &wanted);
        }
    }
}

#[test]
fn reads_of_one_redis_go_there_together() {
    let redis = RedisServer::start();
    let source = format!("redis: {{ redis: \"{}\", mode: central }}", redis.url());
    let reads = "compose: { it: { each: [1, 2, 3, 4, 5, 6, 7, 8], redis: \"GET {each}\" } }";
    let fleetfoot = composing(&[&source], &[&format!("match: GET /, {reads}")]);
    let wanted = r#"{"it":[null,null,null,null,null,null,null,null]}"#;
    assert_complete(&fleetfoot.get("/"), wanted);
    let processed = || redis.info("total_reads_processed").parse::<usize>().expect("a number");
    let (first, second) = (processed(), processed());
    assert_complete(&fleetfoot.get("/"), wanted);
    assert_eq!(processed() - second, second - first + 1, "one way there and back");
}

/// `Com_select` and its like: what a MariaDB has been asked.
fn asked(database: &testkit::MariaDb) -> usize {
    let status = database.query("SHOW GLOBAL STATUS LIKE 'Com_stmt_execute'");
    status.split('\t').nth(1).and_then(|count| count.parse().ok()).expect("a number")
}

#[test]
fn look_ups_by_key_become_few_and_each_gets_its_own() {
    let database = testkit::MariaDb::start();
    let rows: Vec<_> = (0..50).map(|id| format!("({id}, 'n{}', 'b{id}')", id % 2)).collect();
    database.execute(&format!(
        "CREATE TABLE books (id INT PRIMARY KEY, name VARCHAR(9), title TEXT); INSERT INTO books VALUES {}",
        rows.join(",")
    ));
    let source = format!("db: {}", sql(&database.url(), ", pool: 2"));
    let by = |match_: &str, key: &str, batch: bool| {
        format!(
            "match: \"GET /{match_}/{{key}}\", compose: {{ it: {{ db: \"SELECT {key}, title FROM books WHERE {key} IN (?) \
             ORDER BY id\", args: [\"${{path.key}}\"], batch: {batch} }} }}"
        )
    };
    let fleetfoot =
        composing(&[&source], &[&by("id", "id", true), &by("one", "id", false), &by("name", "name", true)]);
    let mut clients: Vec<RawClient> = (0..50).map(|_| fleetfoot.connect()).collect();
    let mut statements = |way: &str, key: &dyn Fn(usize) -> String, wanted: &dyn Fn(usize) -> String| {
        let before = asked(&database);
        for (n, client) in clients.iter_mut().enumerate() {
            client.send(get(&format!("/{way}/{}", key(n)), ""));
        }
        for (n, client) in clients.iter_mut().enumerate() {
            assert_complete(&client.read_answer(), &wanted(n));
        }
        asked(&database) - before
    };
    let own = |n: usize| format!("{{\"it\":[{{\"id\":{n},\"title\":\"b{n}\"}}]}}");
    let none = |_: usize| r#"{"it":[]}"#.to_owned();
    assert_eq!(statements("one", &|n| n.to_string(), &own), 50);
    let together = statements("id", &|n| n.to_string(), &own);
    assert!(together <= 25, "{together} statements");
    statements("id", &|n| (n + 1000).to_string(), &none);
    // What a database takes for equal among texts is its own business: all as they would be alone.
    let upper = |n: usize| if n < 25 { format!("N{n}") } else { format!("x{n}") };
    let rows = |n: usize| match n {
        0 | 1 => {
            let rows: Vec<_> = (0..50)
                .filter(|id| id % 2 == n)
                .map(|id| format!("{{\"name\":\"n{n}\",\"title\":\"b{id}\"}}"))
                .collect();
            format!("{{\"it\":[{}]}}", rows.join(","))
        }
        _ => r#"{"it":[]}"#.to_owned(),
    };
    assert_eq!(statements("name", &upper, &rows), 50);
}

#[test]
fn batches_hold_with_postgresql_too() {
    let database = postgres();
    database.execute("CREATE TABLE pages (id BIGINT, title TEXT); INSERT INTO pages SELECT n, 'p' || n FROM generate_series(0, 49) n");
    let source = format!("db: {}", sql(&database.url(), ", pool: 1"));
    let route = "match: \"GET /{id}\", compose: { it: { db: \"SELECT id, title FROM pages WHERE id IN (?)\", \
                 args: [\"${path.id}\"], as: row, batch: true } }";
    let fleetfoot = composing(&[&source], &[route]);
    let mut clients: Vec<RawClient> = (0..60).map(|_| fleetfoot.connect()).collect();
    for (n, client) in clients.iter_mut().enumerate() {
        client.send(get(&format!("/{n}"), ""));
    }
    for (n, client) in clients.iter_mut().enumerate() {
        let row = if n < 50 { format!("{{\"id\":{n},\"title\":\"p{n}\"}}") } else { "null".to_owned() };
        assert_complete(&client.read_answer(), &format!("{{\"it\":{row}}}"));
    }
    // Other stories ask the same server.
    wait_until("at rest", || !database.running().iter().any(|statement| statement.contains("FROM pages")));
}
