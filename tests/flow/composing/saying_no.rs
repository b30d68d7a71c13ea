//! What cannot be done is said, and never passed off as null, an empty list or somebody else's fault: values that are too
//! large to compute with, parts that are not there, and what is wrong in the request itself.

use rusqlite::Connection;
use testkit::{Answer, Fleetfoot, Origin, ok};

use super::support::{assert_complete, composing, mariadb, postgres, sql, told};

/// What a request with this content is answered.
fn post(fleetfoot: &Fleetfoot, target: &str, content: &str) -> Answer {
    let length = content.len();
    let request = format!(
        "POST {target} HTTP/1.1\r\nHost: example.test\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    );
    fleetfoot.connect().ask(format!("{request}{content}"))
}

/// A database without tables, as a source.
fn empty_database() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("empty.db");
    Connection::open(&file).and_then(|database| database.execute_batch("VACUUM")).expect("a file of SQLite");
    let source = format!("db: \"sqlite:{}\"", file.display());
    (folder, source)
}

/// A refusal that says this.
#[track_caller]
fn assert_refused(answer: &Answer, status: u16, detail: &str) {
    assert_eq!(answer.status, status, "{}", answer.text());
    assert!(answer.text().contains(detail), "{detail}: {}", answer.text());
}

#[test]
fn what_is_too_large_to_compute_with_is_no_null() {
    let origin = Origin::start();
    let list = |length: usize| format!("[{}]", vec![r#"{"id":1}"#; length].join(","));
    origin.on("/few").reply(ok("", list(1000)));
    origin.on("/many").reply(ok("", list(1001)));
    origin.on("/large").reply(ok("", format!("[\"{}\"]", "a".repeat(1024 * 1024))));
    let api = format!("api: \"{}\"", origin.url());
    let steps = "compose: { it: { api: \"GET /${path.which}\" }";
    let fleetfoot = composing(
        &[&api],
        &[
            &format!("match: \"GET /size/{{which}}\", {steps} }}, respond: {{ n: \"${{size(it)}}\" }}"),
            &format!(
                "match: \"GET /map/{{which}}\", {steps} }}, respond: {{ n: \"${{size(it.map(i, i.id))}}\" }}"
            ),
            &format!(
                "match: \"GET /text/{{which}}\", {steps} }}, respond: {{ n: \"there are ${{size(it)}}\" }}"
            ),
            &format!(
                "match: \"GET /when/{{which}}\", {steps}, more: {{ when: \"${{size(it) < 1001}}\", api: GET /few }} }}, \
                 respond: {{ n: \"${{has(more[0].id)}}\" }}"
            ),
            &format!(
                "match: \"GET /omit/{{which}}\", {steps}, more: {{ when: \"${{size(it) < 1001}}\", api: GET /few, on_error: omit }} }}, \
                 respond: {{ n: \"${{has(more[0].id)}}\" }}"
            ),
            &format!("match: \"GET /whole/{{which}}\", {steps} }}, respond: \"${{it}}\""),
        ],
    );
    assert_complete(&fleetfoot.get("/size/few"), r#"{"n":1000}"#);
    assert_complete(&fleetfoot.get("/when/few"), r#"{"n":true}"#);
    assert_complete(&fleetfoot.get("/text/few"), r#"{"n":"there are 1000"}"#);
    for which in ["many", "large"] {
        for way in ["size", "map", "text", "when"] {
            let answer = fleetfoot.get(&format!("/{way}/{which}"));
            assert_eq!(answer.status, 502, "{way} {which}: {}", answer.text());
        }
        // A condition that nobody can decide is a step that fails.
        let answer = fleetfoot.get(&format!("/omit/{which}"));
        assert_eq!((answer.status, answer.text().as_str()), (200, r#"{"n":false}"#));
        assert_eq!(told(&answer), ("false", "more;error=unusable-reply"));
        // What only passes through has no such bound.
        assert!(fleetfoot.get(&format!("/whole/{which}")).body.len() > 8000);
    }
}

#[test]
fn what_is_not_there_is_not_bound_as_null() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("notes.db");
    let database = Connection::open(&file).expect("a file of SQLite");
    database.execute_batch("CREATE TABLE notes (who TEXT, note TEXT)").expect("a table");
    let origin = Origin::start();
    origin.on("/user").reply(ok("", r#"{"name":"ann"}"#));
    origin.on("*").answer(|request| ok("", String::from_utf8_lossy(&request.body).into_owned()));
    let sources = [format!("db: \"sqlite:{}\"", file.display()), format!("api: \"{}\"", origin.url())];
    let insert = "db: \"INSERT INTO notes VALUES (?, ?)\"";
    let fleetfoot = composing(
        &[&sources[0], &sources[1]],
        &[
            &format!(
                "match: POST /notes, compose: {{ it: {{ {insert}, args: [\"${{body.who}}\", \"${{body.note}}\"], on_error: null }} }}"
            ),
            &format!(
                "match: POST /late, compose: {{ user: {{ api: GET /user }}, it: {{ when: \"${{user.name == 'ann'}}\", {insert}, \
                 args: [\"${{user.name}}\", {{ of: \"${{body.note}}\" }}], on_error: null }} }}"
            ),
            &format!(
                "match: POST /step, compose: {{ user: {{ api: GET /user }}, it: {{ {insert}, args: [\"${{user.name}}\", \"${{user.note}}\"] }} }}"
            ),
            "match: POST /send, compose: { it: { api: POST /x, body: { note: \"${body.note}\" }, on_error: null } }",
            "match: POST /each, compose: { it: { for: \"${body.items}\", api: GET /user } }",
            &format!(
                "match: POST /if, compose: {{ it: {{ {insert}, args: [\"${{body.who}}\", \"${{has(body.note) ? body.note : null}}\"] }} }}"
            ),
        ],
    );
    for (target, content, lacks) in [
        ("/notes", r#"{"who":"ann"}"#, "`body.note` is missing"),
        ("/notes", "{}", "`body.who`, `body.note` are missing"),
        ("/notes", "", "`body.who`, `body.note` are missing"),
        ("/late", "{}", "`body.note` is missing"),
        ("/send", r#"{"other":1}"#, "`body.note` is missing"),
        ("/each", "{}", "`body.items` is missing"),
    ] {
        assert_refused(&post(&fleetfoot, target, content), 400, lacks);
    }
    // What a step does not give is not the client's fault.
    assert_eq!(post(&fleetfoot, "/step", "{}").status, 502);
    let rows = || {
        database.query_row("SELECT count(*) FROM notes", [], |row| row.get::<_, i64>(0)).expect("a number")
    };
    assert_eq!(rows(), 0);
    // Null that is written is null, and so is what is asked for first.
    assert_eq!(post(&fleetfoot, "/notes", r#"{"who":"ann","note":null}"#).status, 200);
    assert_eq!(post(&fleetfoot, "/if", r#"{"who":"ann"}"#).status, 200);
    assert_eq!(rows(), 2);
    assert_complete(&post(&fleetfoot, "/send", r#"{"note":null}"#), r#"{"it":{"note":null}}"#);
    assert_complete(
        &post(&fleetfoot, "/each", r#"{"items":[1,2]}"#),
        r#"{"it":[{"name":"ann"},{"name":"ann"}]}"#,
    );
}

#[test]
fn what_is_wrong_in_a_request_is_told_by_its_name_whatever_stands_in() {
    let (mariadb, postgres) = (mariadb(), postgres());
    mariadb.execute("CREATE TABLE wrong (id INT, day DATE NOT NULL, name VARCHAR(3)) DEFAULT CHARSET=latin1");
    mariadb.execute("ALTER TABLE wrong ADD kind ENUM('a', 'b')");
    postgres.execute("CREATE TABLE wrong (id INT, day DATE, name VARCHAR(3))");
    let sources = [format!("m: {}", sql(&mariadb.url(), "")), format!("p: {}", sql(&postgres.url(), ""))];
    let routes = ["m", "p"].map(|db| {
        let step = |statement: &str, args: &str| {
            format!("{{ it: {{ {db}: \"{statement}\", args: {args}, on_error: null }} }}")
        };
        let select = "SELECT id FROM wrong WHERE";
        [
            // A value of the file beside it changes nothing about whose fault it is.
            format!(
                "match: GET /{db}/list, compose: {}",
                step(&format!("{select} id < ? AND id IN (?)"), "[9, \"${query.all('id')}\"]")
            ),
            format!(
                "match: POST /{db}/list, compose: {}",
                step(&format!("{select} id IN (?)"), "[\"${body.ids}\"]")
            ),
            format!(
                "match: POST /{db}/not, compose: {}",
                step(&format!("{select} id NOT IN (?)"), "[\"${body.ids}\"]")
            ),
            format!(
                "match: POST /{db}/one, compose: {}",
                step(&format!("{select} id = ?"), "[\"${body.id}\"]")
            ),
            format!(
                "match: POST /{db}/day, compose: {}",
                step("INSERT INTO wrong (id, day) VALUES (?, ?)", "[1, \"${body.day}\"]")
            ),
            format!(
                "match: POST /{db}/number, compose: {}",
                step("INSERT INTO wrong (day, id) VALUES ('2026-01-01', ?)", "[\"${body.id}\"]")
            ),
            format!(
                "match: POST /{db}/name, compose: {}",
                step("INSERT INTO wrong (day, name) VALUES ('2026-01-01', ?)", "[\"${body.name}\"]")
            ),
            // Nobody's value does not fit.
            format!(
                "match: POST /{db}/fixed, compose: {}",
                step("INSERT INTO wrong (day, name) VALUES ('2026-01-01', ?)", "[long]")
            ),
        ]
    });
    let own = [
        "match: GET /p/first, compose: { it: { p: SELECT id FROM wrong LIMIT ?, args: [\"${query.n}\"], on_error: null } }",
        "match: GET /m/named, compose: { it: { m: SELECT id FROM wrong WHERE name = ?, args: [\"${query.name}\"], on_error: null } }",
        "match: POST /m/kind, compose: { it: { m: \"INSERT INTO wrong (day, kind) VALUES ('2026-01-01', ?)\", args: [\"${body.kind}\"], on_error: null } }",
    ];
    let each = "match: POST /each, compose: { it: { for: \"${body.ids}\", most: 3, compose: {}, respond: 1, on_error: null } }";
    let each = each.replace("compose: {}", "compose: { x: { m: SELECT 1 } }");
    let routes: Vec<_> = routes.iter().flatten().chain([&each]).map(String::as_str).chain(own).collect();
    let fleetfoot = composing(&[&sources[0], &sources[1]], &routes);
    let ids: Vec<_> = (0..1001).map(|id| id.to_string()).collect();
    for db in ["m", "p"] {
        let query: Vec<_> = ids.iter().map(|id| format!("id={id}")).collect();
        let long = fleetfoot.get(&format!("/{db}/list?{}", query.join("&")));
        assert_refused(&long, 400, "the parameter `id` does not fit: it takes a list of at most 1000 values");
        let ids = format!("{{\"ids\":[{}]}}", ids.join(","));
        assert_refused(&post(&fleetfoot, &format!("/{db}/list"), &ids), 400, "`body.ids` does not fit");
        assert_refused(
            &post(&fleetfoot, &format!("/{db}/not"), r#"{"ids":[]}"#),
            400,
            "`body.ids` does not fit",
        );
        assert_refused(
            &post(&fleetfoot, &format!("/{db}/one"), r#"{"id":[1,2]}"#),
            400,
            "`body.id` does not fit",
        );
        assert_refused(
            &post(&fleetfoot, &format!("/{db}/day"), r#"{"day":"soon"}"#),
            400,
            "`body.day` does not fit",
        );
        assert_refused(
            &post(&fleetfoot, &format!("/{db}/number"), r#"{"id":"one"}"#),
            400,
            "`body.id` does not fit",
        );
        let name = post(&fleetfoot, &format!("/{db}/name"), r#"{"name":"long"}"#);
        assert_refused(&name, 400, "`body.name` does not fit");
        let fixed = post(&fleetfoot, &format!("/{db}/fixed"), "{}");
        assert_eq!(told(&fixed), ("false", "it;error=unusable-reply"));
    }
    assert_refused(&fleetfoot.get("/p/first?n=-1"), 400, "the parameter `n` does not fit");
    assert_eq!(fleetfoot.get("/m/named?name=a").status, 200);
    // What its character set does not have.
    assert_refused(&fleetfoot.get("/m/named?name=%F0%9F%98%80"), 400, "the parameter `name` does not fit");
    assert_refused(&post(&fleetfoot, "/m/kind", r#"{"kind":"c"}"#), 400, "`body.kind` does not fit");
    for (content, detail) in [
        (r#"{"ids":[1,2,3,4]}"#, "`body.ids` has 4 items, and `most` is 3"),
        (r#"{"ids":"1"}"#, "`body.ids` is no list"),
    ] {
        assert_refused(&post(&fleetfoot, "/each", content), 400, detail);
    }
}

#[test]
fn decimals_are_bound_digit_for_digit() {
    let (mariadb, postgres) = (mariadb(), postgres());
    for execute in [&|text: &str| mariadb.execute(text) as _, &|text: &str| postgres.execute(text) as _]
        as [&dyn Fn(&str); 2]
    {
        execute("CREATE TABLE prices (price DECIMAL(30, 10), shown VARCHAR(40))");
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("prices.db");
    let connection = Connection::open(&file).expect("a file of SQLite");
    connection.execute_batch("CREATE TABLE prices (price NUMERIC, shown TEXT)").expect("a table");
    let sources = [
        format!("m: {}", sql(&mariadb.url(), "")),
        format!("p: {}", sql(&postgres.url(), "")),
        format!("s: \"sqlite:{}\"", file.display()),
    ];
    let routes: Vec<_> = ["m", "p", "s"]
        .iter()
        .flat_map(|db| {
            [
                format!(
                    "match: POST /{db}, compose: {{ it: {{ {db}: \"INSERT INTO prices VALUES (?, ?)\", args: [\"${{body.price}}\", \"${{body.price}}\"] }} }}"
                ),
                format!("match: GET /{db}, compose: {{ it: {{ {db}: SELECT price FROM prices ORDER BY price, as: column }} }}, respond: \"${{it}}\""),
                format!(
                    "match: POST /{db}/above, compose: {{ it: {{ {db}: SELECT count(*) FROM prices WHERE price * 1 > ?, args: [\"${{body.price}}\"], as: value }} }}, respond: \"${{it}}\""
                ),
            ]
        })
        .collect();
    let sources: Vec<_> = sources.iter().map(String::as_str).collect();
    let routes: Vec<_> = routes.iter().map(String::as_str).collect();
    let fleetfoot = composing(&sources, &routes);
    for db in ["m", "p", "s"] {
        for price in ["19.99", "1.50", "12345678901234567.89"] {
            let answer = post(&fleetfoot, &format!("/{db}"), &format!("{{\"price\":{price}}}"));
            assert_eq!(answer.status, 200, "{db} {price}: {}", answer.text());
        }
        let above = post(&fleetfoot, &format!("/{db}/above"), r#"{"price":1.50}"#);
        assert_eq!(above.text(), "2", "{db}");
    }
    for db in ["/m", "/p"] {
        assert_eq!(fleetfoot.get(db).text(), "[1.5000000000,19.9900000000,12345678901234567.8900000000]");
    }
}

#[test]
fn what_would_keep_a_core_busy_is_refused() {
    let origin = Origin::start();
    let lists = |name: &str, length: usize, members: &str| {
        let items: Vec<_> = (0..length).map(|id| format!("{{\"id\":{id}{members}}}")).collect();
        let list = format!("[{}]", items.join(","));
        origin.on(&format!("/{name}")).reply(ok("", list.clone()));
        // It does not matter how deep they are.
        origin.on(&format!("/inner-{name}")).reply(ok("", format!("{{\"of\":{list}}}")));
    };
    lists("few", 12_000, "");
    lists("wide", 2_000, &(0..49).map(|at| format!(",\"m{at}\":1")).collect::<Vec<_>>().concat());
    lists("some", 120_000, "");
    lists("many", 126_000, "");
    let members = |length: usize| {
        let members: Vec<_> = (0..length).map(|at| format!("\"m{at}\":1")).collect();
        ok("", format!("{{{}}}", members.join(",")))
    };
    origin.on("/map").reply(members(90_000));
    origin.on("/large-map").reply(members(101_000));
    let api = format!("api: \"{}\"", origin.url());
    let steps = "compose: { it: { api: \"GET /${path.which}\" }, few: { api: GET /few } }";
    let route = |way: &str, shape: &str| {
        format!("match: \"GET /{way}/{{which}}\", {steps}, respond: {{ n: \"${{{shape}}}\" }}")
    };
    let fleetfoot = composing(
        &[&api],
        &[
            &route("merge", "few.merge(it, 'id')"),
            &route("merge-with", "it.merge(few, 'id')"),
            &route("pick", "it.pick('id', 'of.id')"),
            &route("flatten", "it.flatten()"),
            &route("concat", "it.concat(few)"),
        ],
    );
    for (target, status) in [
        ("/merge/few", 200),
        ("/merge-with/few", 200),
        ("/merge/wide", 502),
        ("/merge-with/wide", 502),
        ("/pick/wide", 200),
        ("/pick/some", 200),
        ("/pick/inner-some", 200),
        ("/pick/many", 502),
        ("/pick/inner-many", 502),
        ("/flatten/some", 200),
        ("/flatten/map", 200),
        ("/flatten/large-map", 502),
        ("/concat/many", 200),
    ] {
        assert_eq!(fleetfoot.get(target).status, status, "{target}");
    }
}

#[test]
fn what_is_no_number_is_no_null() {
    let (_folder, db) = empty_database();
    let origin = Origin::start();
    origin.on("/half").reply(ok("", r#"{"x":1.0,"y":2.0}"#));
    origin.on("/infinite").reply(ok("", r#"{"x":1.0,"y":0.0}"#));
    origin.on("/none").reply(ok("", r#"{"x":0.0,"y":0.0}"#));
    let api = format!("api: \"{}\"", origin.url());
    let steps = "compose: { it: { api: \"GET /${path.which}\" }";
    let fleetfoot = composing(
        &[&api, &db],
        &[
            &format!("match: \"GET /alone/{{which}}\", {steps} }}, respond: {{ n: \"${{it.x / it.y}}\" }}"),
            &format!("match: \"GET /list/{{which}}\", {steps} }}, respond: {{ n: \"${{[it.x / it.y]}}\" }}"),
            &format!(
                "match: \"GET /text/{{which}}\", {steps} }}, respond: {{ n: \"it is ${{it.x / it.y}}\" }}"
            ),
            &format!(
                "match: \"GET /bound/{{which}}\", {steps}, of: {{ db: \"SELECT ? AS n\", args: [\"${{it.x / it.y}}\"], as: value }} }}"
            ),
        ],
    );
    for way in ["alone", "list", "text", "bound"] {
        assert_eq!(fleetfoot.get(&format!("/{way}/half")).status, 200, "{way}");
        for which in ["infinite", "none"] {
            let answer = fleetfoot.get(&format!("/{way}/{which}"));
            assert_eq!(answer.status, 502, "{way} {which}: {}", answer.text());
        }
    }
}

#[test]
fn what_is_wrong_in_an_item_or_deep_inside_is_the_clients_fault_too() {
    let (_folder, db) = empty_database();
    let origin = Origin::start();
    origin.on("*").reply(ok("", "{}"));
    origin.on("/dots").reply(ok("", r#"["..", null]"#));
    let api = format!("api: \"{}\"", origin.url());
    let fleetfoot = composing(
        &[&api, &db],
        &[
            "match: POST /each, compose: { it: { for: \"${body.ids}\", api: \"GET /x/${item}\", on_error: null } }",
            "match: GET /each, compose: { it: { for: \"${query.all('id')}\", api: \"GET /x/${item}\", on_error: null } }",
            "match: POST /inside, compose: { it: { on_error: null, compose: { at: { api: \"GET /x/${body.id}\", on_error: null } } } }",
            "match: POST /lists, compose: { it: { for: \"${body.ids}\", on_error: null, \
             compose: { at: { db: \"SELECT 1 AS n WHERE 1 NOT IN (?)\", args: [\"${item.of}\"], on_error: null } } } }",
            "match: GET /step, compose: { ids: { api: GET /dots }, it: { for: \"${ids}\", api: \"GET /x/${item}\", on_error: null } }",
        ],
    );
    for (target, content, status) in [
        ("/each", r#"{"ids":[1]}"#, 200),
        ("/each", r#"{"ids":[1,".."]}"#, 400),
        ("/each", r#"{"ids":[1,null]}"#, 400),
        ("/each", r#"{"ids":[{"a":1}]}"#, 400),
        ("/inside", r#"{"id":1}"#, 200),
        ("/inside", r#"{"id":".."}"#, 400),
        ("/inside", r#"{"id":""}"#, 400),
        ("/lists", r#"{"ids":[{"of":[2]}]}"#, 200),
        ("/lists", r#"{"ids":[{"of":[]}]}"#, 400),
        ("/lists", r#"{"ids":[{"of":{"a":[]}},{}]}"#, 400),
    ] {
        let answer = post(&fleetfoot, target, content);
        assert_eq!(answer.status, status, "{target} {content}: {}", answer.text());
    }
    assert_eq!(fleetfoot.get("/each?id=1").status, 200);
    assert_refused(&fleetfoot.get("/each?id=1&id=.."), 400, "leads out of its path segment");
    // What a step gave is not.
    assert_eq!(told(&fleetfoot.get("/step")), ("false", "it;error=unusable-reply"));
}

#[test]
fn what_of_the_request_does_not_fit_is_the_clients_fault_beside_what_steps_gave() {
    let origin = Origin::start();
    origin.on("/list").reply(ok("", r#"["ann","ben"]"#));
    origin.on("/map").reply(ok("", r#"{"name":"ann"}"#));
    origin.on("*").answer(|request| ok("", format!("\"{}\"", request.target)));
    let api = format!("api: \"{}\"", origin.url());
    let route = |way: &str, then: &str| {
        format!("match: \"GET /{way}/{{which}}\", compose: {{ a: {{ api: \"GET /${{path.which}}\" }}{then}")
    };
    let step = |rest: &str| format!(", it: {{ {rest} }} }}, respond: {{ it: \"${{it}}\" }}");
    let fleetfoot = composing(
        &[&api],
        &[
            &route("path", &step(r#"api: "GET /users/${a[int(query.i)]}""#)),
            &route("two", &step(r#"api: "GET /${a[0]}/${query.i}""#)),
            &route("sum", &step(r#"api: "GET /${a[0] + query.i}""#)),
            &route("field", &step(r#"api: GET /x, headers: { X-User: "${a[int(query.i)]}" }"#)),
            &route("when", &step(r#"when: "${a[int(query.i)] == 'ann'}", api: GET /x"#)),
            &route("either", &step(r#"api: GET /x, when: "${a[0] == 'ann' && int(query.i) == 0}""#)),
            &route("respond", r#" }, respond: { n: "${a[int(query.i)]}" }"#),
            &route("large", r#" }, respond: { n: "${size(a) + size(query.all('i'))}" }"#),
        ],
    );
    assert_complete(&fleetfoot.get("/path/list?i=1"), r#"{"it":"/users/ben"}"#);
    for way in ["path", "two", "sum", "field", "when", "either", "respond", "large"] {
        assert_eq!(fleetfoot.get(&format!("/{way}/list?i=0")).status, 200, "{way}");
    }
    for way in ["path", "field", "when", "respond"] {
        assert_refused(&fleetfoot.get(&format!("/{way}/list?i=x")), 400, "cannot be worked out");
        // A step that gave no list.
        assert_eq!(fleetfoot.get(&format!("/{way}/map?i=0")).status, 502, "{way}");
    }
    assert_refused(&fleetfoot.get("/two/list"), 400, "the parameter `i` is missing");
    assert_refused(&fleetfoot.get("/sum/list"), 400, "is missing");
    // What cannot be worked out first is a step's.
    assert_eq!(fleetfoot.get("/sum/map").status, 502);
    assert_refused(&fleetfoot.get(&format!("/large/list?{}", "i=1&".repeat(65))), 400, "more than 64 values");
}
