//! Whose a value is: what a step was given for one user, or for itself, is nobody else's, however it is kept.

use rusqlite::Connection;
use testkit::{Fleetfoot, Origin, RedisServer, ok, status};

use super::support::{assert_complete, composing, config, refs, told};
use crate::reading::support::reload;

/// An origin that says who it was told is asking, to each only once.
fn asking_who(fields: &'static str) -> Origin {
    let origin = Origin::start();
    let seen = std::sync::Mutex::new(Vec::new());
    origin.on("*").answer(move |request| {
        let who =
            format!("{:?}", request.field("x-user").or(request.field("authorization")).unwrap_or("nobody"));
        let mut seen = seen.lock().expect("nobody panics while it is held");
        if seen.contains(&who) {
            return status("500 Internal Server Error", "", "");
        }
        seen.push(who.clone());
        ok(fields, who)
    });
    origin
}

#[test]
fn what_came_last_for_one_user_never_stands_in_for_another() {
    for (name, field) in [("X-User", "header('X-User')"), ("Authorization", "header('Authorization')")] {
        let origin = asking_who("");
        let api = format!("api: \"{}\"", origin.url());
        let route = format!(
            "match: GET /me, compose: {{ me: {{ api: GET /me, headers: {{ {name}: \"${{{field}}}\" }}, \
             on_error: [stale, null] }} }}"
        );
        let fleetfoot = composing(&[&api], &[&route]);
        let ask = |who: &str| fleetfoot.get_with("/me", &format!("{name}: {who}"));
        for who in ["ann", "bob"] {
            assert_complete(&ask(who), &format!(r#"{{"me":"{who}"}}"#));
        }
        for who in ["ann", "bob"] {
            let again = ask(who);
            let own = [format!(r#"{{"me":"{who}"}}"#), r#"{"me":null}"#.to_owned()];
            assert!(own.contains(&again.text()), "{name} of {who}: {again:?}");
            assert_eq!(told(&again).0, "false", "{again:?}");
        }
    }
}

#[test]
fn a_cached_step_gives_nobody_what_another_was_given() {
    let origin = asking_who("Cache-Control: max-age=600");
    let config = config(
        &[&format!("api: \"{}\"", origin.url())],
        &[
            "match: GET /me, compose: { me: { api: GET /me, headers: { X-User: \"${header('X-User')}\" }, use: kept } }",
        ],
    );
    let fleetfoot = Fleetfoot::start(&format!("{config}policies:\n  kept: {{ cache: {{ ttl: origin }} }}\n"));
    for who in ["ann", "bob", "ann", "bob"] {
        let answer = fleetfoot.get_with("/me", &format!("X-User: {who}"));
        assert_complete(&answer, &format!(r#"{{"me":"{who}"}}"#));
    }
    assert_eq!(origin.count("GET /me"), 2);
}

/// Whoever names the host of an origin, or what a step is called inside, asks as a stranger all the same.
#[test]
fn what_is_kept_of_a_step_is_not_found_from_outside() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("a.db");
    Connection::open(&file).and_then(|file| file.execute_batch("CREATE TABLE t (id)")).expect("a table");
    let origin = Origin::start();
    origin.on("*").answer(|request| {
        let who = if request.field("x-key").is_some() { "inside" } else { "stranger" };
        ok("Cache-Control: max-age=600", format!("{who:?}"))
    });
    let config = config(
        &[&format!("api: \"{}\"", origin.url()), &format!("db: \"sqlite:{}\"", file.display())],
        &[
            "match: GET /http, compose: { it: { api: GET /it, headers: { X-Key: k }, use: kept } }",
            "match: GET /plain, compose: { it: { api: GET /other, use: kept } }",
            "match: GET /sql, compose: { it: { db: SELECT 1, as: value, use: kept } }",
            "match: /**, proxy: api, use: kept",
        ],
    );
    let fleetfoot = Fleetfoot::start(&format!("{config}policies:\n  kept: {{ cache: {{ ttl: 10m }} }}\n"));
    let ask = |host: &str, target: &str| {
        fleetfoot.connect().ask(format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n")).text()
    };
    let inside = origin.address().to_string();
    assert_complete(&fleetfoot.get("/http"), r#"{"it":"inside"}"#);
    assert_eq!(ask(&inside, "/it"), r#""stranger""#);
    // A stranger's answer does not become a step's either.
    for target in ["/other", "/SELECT%201/Value", "/SELECT%201/Value/"] {
        for host in [&inside, "db.step"] {
            ask(host, target);
        }
    }
    assert_complete(&fleetfoot.get("/sql"), r#"{"it":1}"#);
    let before = origin.count("GET /other");
    assert_complete(&fleetfoot.get("/plain"), r#"{"it":"stranger"}"#);
    assert_eq!(origin.count("GET /other"), before + 1);
}

/// Whatever of a request a step reads, a cache in front of the whole route must go by.
#[test]
fn a_cached_route_gives_nobody_what_another_was_given() {
    let origin = Origin::start();
    origin.on("*").answer(|request| ok("", format!("{:?}", request.target)));
    let route = |name: &str, expression: &str| {
        format!("match: GET /{name}, use: kept, compose: {{ it: {{ api: \"GET /of/${{{expression}}}\" }} }}")
    };
    // The same where only the response or a condition reads it.
    let routes = [
        route("header", "header('X-User')"),
        route("authorization", "header('Authorization')"),
        route("cookie", "cookie.user"),
        route("query", "query.user"),
        route("host", "host"),
        route("computed", "header('X-User') + '!'"),
        "match: GET /respond, use: kept, compose: { it: { api: GET /of/u } }, respond: { who: \"${header('X-User')}\" }".to_owned(),
        "match: GET /when, use: kept, compose: { it: { when: \"${header('X-User') == 'ann'}\", api: GET /of/ann } }".to_owned(),
        "match: GET /for, use: kept, compose: { it: { for: \"${[header('X-User')]}\", api: \"GET /of/${item}\" } }".to_owned(),
        "match: GET /inner, use: kept, compose: { it: { compose: { a: { api: \"GET /of/${header('X-User')}\" } } } }".to_owned(),
    ];
    let config = config(&[&format!("api: \"{}\"", origin.url())], &refs(&routes));
    let fleetfoot = Fleetfoot::start(&format!("{config}policies:\n  kept: {{ cache: {{ ttl: 10m }} }}\n"));
    for name in
        ["header", "authorization", "cookie", "query", "host", "computed", "respond", "when", "for", "inner"]
    {
        let ask = |who: &str| {
            let host = if name == "host" { who } else { "example.test" };
            let target = if name == "query" { format!("/{name}?user={who}") } else { format!("/{name}") };
            fleetfoot
                .connect()
                .ask(format!(
                    "GET {target} HTTP/1.1\r\nHost: {host}\r\nX-User: {who}\r\nAuthorization: {who}\r\nCookie: user={who}\r\n\r\n"
                ))
                .text()
        };
        for who in ["ann", "bob", "ann"] {
            let (text, other) = (ask(who), if who == "ann" { "bob" } else { "ann" });
            assert!(!text.contains(other), "{name}: {who} got {text}");
            assert!(text.contains(who) || text == "{}", "{name}: {who} got {text}");
        }
    }
}

/// Which source a value came from is part of what it is: also where sources share a server, or change places.
#[test]
fn what_is_kept_of_one_source_is_not_found_for_another() {
    let origin = Origin::start();
    origin.on("*").answer(|request| ok("", format!("{:?}", request.field("host").unwrap_or("none"))));
    let (first, second) = (RedisServer::start(), RedisServer::start());
    for (redis, value) in [(&first, "1"), (&second, "2")] {
        drop(redis.command(&["SET", "k", value]).or_panic());
    }
    let http = |host: &str| format!("{host}: {{ http: \"{}\", host: {host}.test }}", origin.url());
    let redis = |name: &str, redis: &RedisServer| format!("{name}: \"{}\"", redis.url());
    let (a, b) = (redis("first", &first), redis("second", &second));
    let routes = ["shop: GET /", "blog: GET /", "first: GET k", "second: GET k"].map(|step| {
        let name = step.split(':').next().expect("it has a name");
        format!("match: GET /{name}, compose: {{ it: {{ {step}, use: kept }} }}")
    });
    let with = |redis: [&str; 2]| {
        let config = config(&[&http("shop"), &http("blog"), redis[0], redis[1]], &refs(&routes));
        format!("{config}policies:\n  kept: {{ cache: {{ ttl: 10m }} }}\n")
    };
    let mut fleetfoot = Fleetfoot::start(&with([&a, &b]));
    let hold = |fleetfoot: &Fleetfoot| {
        for (name, value) in
            [("shop", "\"shop.test\""), ("blog", "\"blog.test\""), ("first", "1"), ("second", "2")]
        {
            assert_complete(&fleetfoot.get(&format!("/{name}")), &format!("{{\"it\":{value}}}"));
        }
    };
    hold(&fleetfoot);
    reload(&mut fleetfoot, &with([&b, &a]));
    hold(&fleetfoot);
}
