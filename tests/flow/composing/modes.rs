//! How steps follow one another: all at once, in the order of the file, in a pool; behind what they name, for each item
//! of a list, within one another, and only where they are wanted.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use testkit::{Gate, Origin, RawClient, Script, ok, status};

use super::support::{assert_complete, assert_incomplete, composing};

const GET: &str = "GET / HTTP/1.1\r\nHost: example.test\r\n\r\n";

/// An origin that tells the target, and how many were asked of it at once at most.
fn counting() -> (Origin, Arc<AtomicUsize>) {
    let origin = Origin::start();
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let seen = Arc::clone(&most);
    origin.on("*").talk(move |conversation| {
        let at_once = now.fetch_add(1, Ordering::SeqCst) + 1;
        seen.fetch_max(at_once, Ordering::SeqCst);
        let content = format!("{:?}", conversation.request().target);
        conversation.play(Script::new().pause(Duration::from_millis(20)));
        now.fetch_sub(1, Ordering::SeqCst);
        conversation.play(ok("", content));
    });
    (origin, most)
}

#[test]
fn a_full_pool_refuses_at_once_and_loses_nobody() {
    let (origin, gate) = (Origin::start(), Gate::new());
    origin.on("*").reply(Script::new().wait(&gate).then(ok("", "1")));
    let route = "match: GET /, run: \"pool(1, 0)\", save: { coalesce: false }, \
                 compose: { it: { api: GET /x, on_error: null } }";
    let fleetfoot = composing(&[&format!("api: \"{}\"", origin.url())], &[route]);
    let mut first = fleetfoot.connect();
    first.send(GET);
    origin.wait_for(1, "GET /x");
    for _ in 0..10 {
        let refused = fleetfoot.get("/");
        assert_eq!(
            (refused.status, refused.field("fleetfoot-error")),
            (503, Some("overloaded")),
            "{refused:?}"
        );
        assert_eq!(refused.field("retry-after"), Some("1"));
    }
    assert_eq!(origin.count("GET /x"), 1);
    gate.open();
    assert_complete(&first.read_answer(), r#"{"it":1}"#);
    assert_complete(&fleetfoot.get("/"), r#"{"it":1}"#);
}

#[test]
fn a_place_comes_back_from_whoever_leaves_or_fails() {
    let (origin, gate) = (Origin::start(), Gate::new());
    origin.on("/slow").reply(Script::new().wait(&gate).then(ok("", "1")));
    origin.on("/bad").reply(status("500 Internal Server Error", "", ""));
    origin.on("/good").reply(ok("", "1"));
    let route =
        "match: \"GET /{what}\", run: \"pool(1, 1)\", compose: { it: { api: \"GET /${path.what}\" } }";
    let mut fleetfoot = composing(&[&format!("api: \"{}\"", origin.url())], &[route]);
    for round in 1..=5 {
        let mut leaves = fleetfoot.connect();
        leaves.send("GET /slow HTTP/1.1\r\nHost: example.test\r\n\r\n");
        origin.wait_for(round, "GET /slow");
        let mut waits = fleetfoot.connect();
        waits.send("GET /good HTTP/1.1\r\nHost: example.test\r\n\r\n");
        drop(leaves);
        assert_complete(&waits.read_answer(), r#"{"it":1}"#);
        assert_eq!(fleetfoot.get("/bad").status, 502);
        assert_complete(&fleetfoot.get("/good"), r#"{"it":1}"#);
    }
    fleetfoot.wait_until("free", |fleetfoot| fleetfoot.get("/good").status == 200);
    gate.open();
}

#[test]
fn a_pool_is_for_all_requests_of_its_route_and_all_cores() {
    let (origin, most) = counting();
    let config = super::support::config_with(
        "cores: 2",
        &[&format!("api: \"{}\"", origin.url())],
        &["match: GET /, run: \"pool(3, 1000)\", save: { dedupe: false, coalesce: false }, \
           compose: { it: { each: [1, 2, 3, 4], api: \"GET /{each}\" } }"],
    );
    let fleetfoot = testkit::Fleetfoot::start(&config);
    let mut clients: Vec<RawClient> = (0..20).map(|_| fleetfoot.connect()).collect();
    for client in &mut clients {
        client.send(GET);
    }
    for client in &mut clients {
        assert_complete(&client.read_answer(), r#"{"it":["/1","/2","/3","/4"]}"#);
    }
    assert_eq!(most.load(Ordering::SeqCst), 3);
}

#[test]
fn serial_goes_by_the_file_and_one_after_the_other() {
    let (origin, most) = counting();
    let api = format!("api: \"{}\"", origin.url());
    let steps = "compose: { c: { each: [1, 2], api: \"GET /c{each}\" }, late: { api: \"GET${a}\" }, b: { api: GET /b }, \
                 a: { api: GET /a }, list: { for: \"${['x', 'y']}\", api: \"GET /${item}\" } }, respond: \"${a}\"";
    let steps = steps.replace("\"GET${a}\"", "\"GET /late${a}\"");
    let fleetfoot = composing(&[&api], &[&format!("match: GET /, run: serial, {steps}")]);
    assert_complete(&fleetfoot.get("/"), r#""/a""#);
    let asked: Vec<_> = origin.requests().iter().map(|request| request.target.clone()).collect();
    assert_eq!(asked, ["/c1", "/c2", "/b", "/a", "/late%2Fa", "/x", "/y"]);
    assert_eq!(most.load(Ordering::SeqCst), 1);
}

#[test]
fn a_step_waits_for_those_it_names_and_for_no_other() {
    let (origin, gate) = (Origin::start(), Gate::new());
    origin.on("/a").reply(ok("", r#"{"id":7}"#));
    origin.on("/slow").reply(Script::new().wait(&gate).then(ok("", "1")));
    origin.on("/b/7").reply(ok("", r#"["x","y"]"#));
    origin.on("/c/7/x").reply(ok("", "\"cx\""));
    let route = "match: GET /, compose: { c: { api: \"GET /c/${a.id}/${b[0]}\" }, b: { api: \"GET /b/${a.id}\" }, \
                 a: { api: GET /a }, slow: { api: GET /slow } }";
    let fleetfoot = composing(&[&format!("api: \"{}\"", origin.url())], &[route]);
    let mut client = fleetfoot.connect();
    client.send(GET);
    // All of them while the slow one has not answered.
    origin.wait_for(1, "GET /c/7/x");
    gate.open();
    assert_complete(&client.read_answer(), r#"{"c":"cx","b":["x","y"],"a":{"id":7},"slow":1}"#);
}

#[test]
fn lists_and_conditions_and_steps_within_steps() {
    let origin = Origin::start();
    origin
        .on("/users")
        .reply(ok("", r#"[{"id":1,"name":"ann"},{"id":2,"name":"bob"},{"id":3,"name":"cy"}]"#));
    origin.on("/bad/2").reply(status("500 Internal Server Error", "", ""));
    origin.on("*").answer(|request| ok("", format!("{:?}", request.target)));
    let routes = [
        // In the order of the list, whichever is first.
        "match: GET /list, compose: { users: { api: GET /users }, pages: { for: \"${users}\", width: 2, api: \"GET /page/${item.id}\" } }, \
         respond: { pages: \"${pages}\" }",
        "match: GET /nested, compose: { users: { api: GET /users }, all: { for: \"${users}\", compose: { \
         a: { api: \"GET /a/${item.id}\" }, b: { api: \"GET /b${a}\" } }, respond: { of: \"${item.name}\", a: \"${a}\", b: \"${b}\" } } }, \
         respond: \"${all}\"",
        "match: GET /when, compose: { extra: { when: \"${has(query.extra)}\", api: \"GET /extra\" }, \
         then: { when: \"${has(query.extra)}\", api: \"GET /then${extra}\" }, always: { api: GET /always } }",
        "match: GET /most, compose: { users: { api: GET /users }, \
         pages: { for: \"${users}\", most: 2, api: \"GET /page/${item.id}\", on_error: null } }, respond: { pages: \"${pages}\" }",
        "match: GET /one_bad, compose: { users: { api: GET /users }, \
         pages: { for: \"${users}\", api: \"GET /bad/${item.id}\", on_error: [] } }, respond: { pages: \"${pages}\" }",
        "match: GET /named, compose: { it: { each: { x: 1, y: 2 }, api: \"GET /of/{each}\" } }",
        "match: GET /nothing, compose: { none: { api: GET /bad/2, on_error: omit }, \
         then: { for: \"${none}\", api: \"GET /page/${item}\" } }, respond: { then: \"${then}\" }",
    ];
    let fleetfoot = composing(&[&format!("api: \"{}\"", origin.url())], &routes);
    assert_complete(&fleetfoot.get("/list"), r#"{"pages":["/page/1","/page/2","/page/3"]}"#);
    assert_complete(
        &fleetfoot.get("/nested"),
        r#"[{"of":"ann","a":"/a/1","b":"/b%2Fa%2F1"},{"of":"bob","a":"/a/2","b":"/b%2Fa%2F2"},{"of":"cy","a":"/a/3","b":"/b%2Fa%2F3"}]"#,
    );
    assert_complete(&fleetfoot.get("/when"), r#"{"always":"/always"}"#);
    assert_complete(
        &fleetfoot.get("/when?extra"),
        r#"{"extra":"/extra","then":"/then%2Fextra","always":"/always"}"#,
    );
    assert_incomplete(&fleetfoot.get("/most"), "pages;error=unusable-reply", r#"{"pages":null}"#);
    assert_incomplete(&fleetfoot.get("/one_bad"), "pages;error=unusable-reply", r#"{"pages":[]}"#);
    assert_complete(&fleetfoot.get("/named"), r#"{"it":{"x":"/of/1","y":"/of/2"}}"#);
    assert_incomplete(&fleetfoot.get("/nothing"), "none;error=unusable-reply", r#"{"then":[]}"#);
}

/// Each takes a while; together they take as long as the longest.
#[test]
fn what_need_not_wait_does_not() {
    let origin = Origin::start();
    let slow = Script::new().pause(Duration::from_millis(300)).then(ok("", "1"));
    origin.on("*").reply(slow);
    let steps = "compose: { it: { each: [1, 2, 3, 4, 5, 6, 7, 8], api: \"GET /{each}\" } }";
    let fleetfoot = composing(&[&format!("api: \"{}\"", origin.url())], &[&format!("match: GET /, {steps}")]);
    let begun = Instant::now();
    assert_complete(&fleetfoot.get("/"), r#"{"it":[1,1,1,1,1,1,1,1]}"#);
    assert!(begun.elapsed() < Duration::from_millis(8 * 300), "{:?}", begun.elapsed());
}
