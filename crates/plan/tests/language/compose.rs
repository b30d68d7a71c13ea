//! Compose as people write it, and what it means.

use std::time::Duration;

use plan::{
    Compose, Graph, HttpForm, Layer, Otherwise, Plan, Route, RouteEnd, Rows, Run, Step, StepCall, Task,
    compile,
};

/// Any file stands for a module here: it is only looked whether there is one.
const SOURCES: &str = "\
sources: { api: http://a, other: http://b, redis: redis://a, db: mysql://app@a/shop, math: { wasm: Cargo.toml } }
policies: { live: { cache: { ttl: 5s } }, mine: { signed: { keys: { main: MDEyMzQ1Njc4OTAxMjM0NQ } } } }
";

/// A whole file around routes; they begin at line 4.
pub(crate) fn file(routes: &str) -> String {
    format!("{SOURCES}routes:\n{routes}\n")
}

/// A whole file around the words of one route for GET; they begin at line 5.
pub(crate) fn route(lines: &str) -> String {
    let lines: String = lines.lines().flat_map(|line| ["    ", line, "\n"]).collect();
    file(&format!("  - match: GET /u/{{id}}\n{lines}"))
}

fn compiled(text: &str) -> Plan {
    compile(text, "fleetfoot.yaml").unwrap_or_else(|faults| panic!("{text}\n{faults}"))
}

fn meant(text: &str) -> Compose {
    let plan = compiled(text);
    let [Route { end: RouteEnd::Compose(compose), .. }] = plan.routes.as_slice() else {
        panic!("{text}\nis no compose")
    };
    Compose::clone(compose)
}

fn step<'g>(graph: &'g Graph, name: &str) -> &'g Step {
    graph.steps.iter().find(|step| &*step.name == name).unwrap_or_else(|| panic!("there is no step {name}"))
}

/// The names of the caches around a step of the only route.
fn caches(text: &str, name: &str) -> Vec<String> {
    let wrapping = step(&meant(text).graph, name).wrapping.expect("a step that calls");
    let plan = compiled(text);
    let name = |layer: &Layer| match layer {
        Layer::Cache(cache) => Some(cache.name.clone()),
        _ => None,
    };
    plan.wrappings[wrapping].layers.iter().filter_map(name).collect()
}

fn needs(graph: &Graph, name: &str) -> Vec<String> {
    step(graph, name).needs.iter().map(|index| graph.steps[*index].name.to_string()).collect()
}

fn names(graph: &Graph) -> Vec<&str> {
    graph.steps.iter().map(|step| &*step.name).collect()
}

#[test]
fn the_least_compose_has_every_default() {
    let compose = meant(&route("compose: { user: { api: GET /user } }"));
    assert_eq!(compose.run, Run::Parallel);
    assert_eq!(compose.timeout, Duration::from_secs(30));
    assert!(compose.save.dedupe && compose.save.coalesce && compose.save.pipeline && compose.server_timing);
    assert!(!compose.reads_body && compose.vary.is_none());
    let user = step(&compose.graph, "user");
    assert_eq!((user.on_error.stale, &user.on_error.then), (false, &Otherwise::Fail));
    assert!(user.when.is_none() && user.over.is_none() && user.timeout.is_none());
    assert!(caches(&route("compose: { user: { api: GET /user } }"), "user").is_empty());
}

#[test]
fn the_words_of_the_route_are_meant() {
    for (written, run) in [
        ("parallel", Run::Parallel),
        ("serial", Run::Serial),
        ("pool(10, 20)", Run::Pool { places: 10, queue: 20 }),
        ("pool(1,0)", Run::Pool { places: 1, queue: 0 }),
    ] {
        assert_eq!(meant(&route(&format!("compose: {{ a: {{ api: GET /a }} }}\nrun: {written}"))).run, run);
    }
    let compose = meant(&route(
        "compose: { a: { api: GET /a } }\ntimeout: 1s\nserver_timing: false\nsave: { dedupe: false, coalesce: false, pipeline: false }",
    ));
    assert_eq!(compose.timeout, Duration::from_secs(1));
    assert!(
        !compose.save.dedupe && !compose.save.coalesce && !compose.save.pipeline && !compose.server_timing
    );
}

#[test]
fn a_step_waits_for_those_it_names_and_for_nobody_else() {
    let compose = meant(&route(
        "\
compose:
  page: { api: \"GET /page/${user.id}?q=${query.q}\" }
  user: { api: \"GET /users/${path.id}\" }
  orders: { db: SELECT * FROM orders WHERE user_id = ?, args: [\"${user.id}\"], when: \"${page.wanted}\" }
  friends: { for: \"${user.friends}\", api: \"GET /users/${item.id}/${orders[0].id}\" }
  alone: { redis: \"GET a:${path.id}\" }",
    ));
    let graph = &compose.graph;
    assert_eq!(names(graph), ["page", "user", "orders", "friends", "alone"]);
    assert_eq!(needs(graph, "page"), ["user"]);
    assert_eq!(needs(graph, "orders"), ["page", "user"]);
    assert_eq!(needs(graph, "friends"), ["user", "orders"]);
    assert_eq!(needs(graph, "user"), [""; 0]);
    assert_eq!(needs(graph, "alone"), [""; 0]);
}

#[test]
fn each_makes_steps_and_one_that_gathers_them() {
    let compose = meant(&route(
        "\
compose:
  tests: { each: [1, 2], db: \"SELECT * FROM test_{each} WHERE id IN (?)\", args: [\"${query.all('test{each}Id')}\"] }
  maps: { each: { left: a, right: b }, api: \"GET /{each}\", on_error: { side: \"{each}\" }, headers: { X-Side: \"{each}\" } }
  second: { api: \"GET /${tests[1].id}/${maps.left.id}\" }
  all: { math: execute, args: \"${tests}\" }",
    ));
    let graph = &compose.graph;
    assert_eq!(
        names(graph),
        ["tests[0]", "tests[1]", "tests", "maps.left", "maps.right", "maps", "second", "all"]
    );
    // What is read of the first does not wait for the others.
    assert_eq!(needs(graph, "second"), ["tests[1]", "maps.left"]);
    assert_eq!(needs(graph, "all"), ["tests"]);
    assert_eq!(needs(graph, "tests"), ["tests[0]", "tests[1]"]);
    let Task::Call(StepCall::Sql(call)) = &step(graph, "tests[1]").task else { panic!("it is a statement") };
    assert_eq!(call.statement.text(), "SELECT * FROM test_2 WHERE id IN (?)");
    let right = step(graph, "maps.right");
    assert_eq!(right.on_error.then, Otherwise::Value("{\"side\":\"b\"}".to_owned()));
    let Task::Call(StepCall::Http(call)) = &right.task else { panic!("it is a request") };
    assert_eq!((call.target.text(), call.fields[0].1.text()), ("/b", "b"));
}

#[test]
fn steps_inside_use_those_around_them_and_the_item() {
    let compose = meant(&route(
        "\
compose:
  shop: { api: GET /shop }
  users:
    for: \"${shop.users}\"
    width: 4
    most: 10
    compose:
      user: { api: \"GET /users/${item.id}?shop=${shop.id}\" }
      orders: { db: SELECT * FROM orders WHERE user = ?, args: [\"${user.id}\"] }
    respond: { id: \"${item.id}\", name: \"${user.name}\", orders: \"${orders}\" }
  nested: { compose: { a: { compose: { b: { api: \"GET /${shop.id}\" } } } } }",
    ));
    let graph = &compose.graph;
    assert_eq!(needs(graph, "users"), ["shop"]);
    assert_eq!(needs(graph, "nested"), ["shop"]);
    let users = step(graph, "users");
    let over = users.over.as_ref().unwrap();
    assert_eq!((over.width, over.most), (4, 10));
    let Task::Compose(inner) = &users.task else { panic!("it has steps of its own") };
    assert_eq!(names(inner), ["user", "orders"]);
    assert_eq!(needs(inner, "user"), [""; 0]);
    assert_eq!(needs(inner, "orders"), ["user"]);
    // The content of the request, three steps, the item.
    assert_eq!(inner.before, 5);
}

#[test]
fn on_error_in_all_its_forms() {
    let value = |json: &str| Otherwise::Value(json.to_owned());
    for (written, stale, then) in [
        ("fail", false, Otherwise::Fail),
        ("omit", false, Otherwise::Omit),
        ("null", false, value("null")),
        ("stale", true, Otherwise::Fail),
        ("[stale, null]", true, value("null")),
        ("[stale, omit]", true, Otherwise::Omit),
        ("[stale, { a: [1, x] }]", true, value("{\"a\":[1,\"x\"]}")),
        ("[]", false, value("[]")),
        ("0", false, value("0")),
        ("1.50", false, value("1.50")),
        ("true", false, value("true")),
        ("\"omit\"", false, value("\"omit\"")),
        ("\"true\"", false, value("\"true\"")),
        ("{ items: [], total: 0 }", false, value("{\"items\":[],\"total\":0}")),
    ] {
        let text = route(&format!("compose: {{ a: {{ api: GET /a, on_error: {written} }} }}"));
        let compose = meant(&text);
        let step = step(&compose.graph, "a");
        assert_eq!((step.on_error.stale, &step.on_error.then), (stale, &then), "{written}");
        assert_eq!(!caches(&text, "a").is_empty(), stale, "{written}: what is stale was kept");
    }
}

#[test]
fn every_kind_of_source_is_asked_in_its_own_words() {
    let text = file(
        "  - match: POST /u/{id}
    timeout: 10s
    compose:
      plain: { api: /plain }
      sent: { api: \"POST /a%20b/${path.id}?x=${header('X-Q')}\", headers: { X-A: \"a ${cookie.c}\" }, body: { id: \"${body.id}\", n: 1.50 }, as: text, timeout: 2s }
      kept: { other: GET /kept, use: live }
      rows: { db: SELECT 1 }
      row: { db: SELECT a FROM b WHERE c = ? AND d IN (?), args: [\"${body.c}\", [1, 2]], as: row }
      value: { db: SELECT count(*) FROM b, as: value }
      column: { db: SELECT a FROM b, as: column }
      books: { db: \"SELECT id, title FROM books WHERE id IN (?)\", args: \"${body.ids}\", batch: true }
      written: { db: INSERT INTO b VALUES (?), args: [\"${body}\"] }
      cached: { redis: \"GET key:${path.id}\", as: text }
      several: { redis: \"MGET b:${body.ids} fixed\" }
      work: { math: execute, args: { n: \"${body.n}\", all: [\"${rows}\", null] } }",
    );
    let compose = meant(&text);
    let graph = &compose.graph;
    let call = |name: &str| match &step(graph, name).task {
        Task::Call(call) => call.clone(),
        other => panic!("{other:?}"),
    };
    let StepCall::Http(sent) = call("sent") else { panic!("it is a request") };
    assert_eq!((sent.method.as_str(), sent.form, sent.fields.len()), ("POST", HttpForm::Text, 1));
    assert_eq!(step(graph, "sent").timeout, Some(Duration::from_secs(2)));
    assert_eq!(caches(&text, "kept"), ["live"]);
    for (name, rows) in
        [("rows", Rows::All), ("row", Rows::First), ("value", Rows::Value), ("column", Rows::Column)]
    {
        let StepCall::Sql(call) = call(name) else { panic!("it is a statement") };
        assert_eq!(call.statement.rows, rows);
        assert!(call.statement.reads && call.statement.batch.is_none());
    }
    let StepCall::Sql(books) = call("books") else { panic!("it is a statement") };
    assert_eq!(books.statement.batch.as_ref().unwrap().column, "id");
    let StepCall::Sql(written) = call("written") else { panic!("it is a statement") };
    assert!(!written.statement.reads);
    assert!(matches!(call("cached"), StepCall::Read(_)));
    assert!(matches!(call("work"), StepCall::Wasm(_)));
    assert_eq!(needs(graph, "work"), ["rows"]);
    assert!(compose.reads_body);
    assert_eq!(compose.vary.unwrap(), "cookie, x-q");
}

#[test]
fn no_file_makes_more_steps_than_there_is_room_for() {
    let many = vec!["1"; 250].join(", ");
    let mut inner = "{ a: { api: GET /a } }".to_owned();
    for _ in 0..4 {
        inner = format!("{{ a: {{ each: [{many}], compose: {inner} }} }}");
    }
    let started = std::time::Instant::now();
    let faults = crate::bad::bad(&route(&format!("compose: {inner}")));
    assert!(started.elapsed() < Duration::from_mins(1));
    assert_eq!(faults.count(), 1, "{faults}");
    assert!(faults.to_string().contains("write at most 16384 in a file"), "{faults}");
}
