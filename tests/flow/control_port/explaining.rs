//! `GET /explain`: what would happen to a request and by which rule, and what happened to one that was answered, for each
//! reason that an answer is not stored.

use std::thread;

use serde_json::Value;
use testkit::{Fleetfoot, Gate, Origin, Script, not_modified, ok, status, wait_until};

use super::port::{ask, get, read};
use crate::composing::support::config_with;
use crate::setup::{cached, cached_with, each};

fn strings(list: &Value) -> String {
    list.to_string()
}

#[test]
fn a_url_is_explained_from_the_route_to_the_sentence() {
    let origin = Origin::start();
    let fields =
        "Cache-Control: max-age=600\nAge: 100\nETag: \"7\"\nCache-Tag: news, home\nVary: Accept-Language";
    origin.on("*").reply(ok(fields, "hello"));
    let fleetfoot = cached_with(
        &origin,
        "ttl: origin, tags: [Cache-Tag], bypass: [Bypass-Cache], key: { query: { except: [utm_*] }, headers: [X-Tenant] }",
    );
    let question = "/explain?url=http://example.test/a%3Fb=1%26utm_source=x&header=X-Tenant:blue&header=Accept-Language:de";
    let before = get(&fleetfoot, question);
    assert!(
        before["stored_answer"].is_null()
            && before["verdict"].as_str().unwrap().contains("nothing is stored"),
        "{before}"
    );
    assert!(origin.bytes().is_empty(), "it only asks where it is told to");

    fleetfoot.get_with("/a?b=1", "X-Tenant: blue\nAccept-Language: de");
    fleetfoot.get_with("/a?b=1", "X-Tenant: blue\nAccept-Language: en");
    let told = get(&fleetfoot, question);
    assert_eq!(told["route"], "/**");
    assert_eq!(told["policy"], "cached");
    assert_eq!(told["mode"], "origin");
    assert!(told["source"].as_str().unwrap().contains(&origin.url()), "{told}");
    assert!(told["key"].as_str().unwrap().contains("example.test/a?b=1"), "{told}");
    assert!(!told["key"].as_str().unwrap().contains("utm"), "{told}");
    assert!(strings(&told["key_parts"]).contains("blue"), "{told}");
    assert!(
        strings(&told["controls"]).contains("bypass") && strings(&told["controls"]).contains("Cache-Tag")
            || strings(&told["controls"]).contains("cache-tag"),
        "{told}"
    );
    let stored = &told["stored_answer"];
    assert_eq!((&stored["status"], &stored["length"]), (&Value::from(200), &Value::from(5)));
    assert!(strings(&stored["variant"]).contains("\"de\""), "{told}");
    assert!(strings(&stored["fields"]).contains("max-age=600"), "{told}");
    assert!(strings(&stored["tags"]).contains("news") && strings(&stored["tags"]).contains("home"), "{told}");
    assert_eq!(told["other_variants"], 1);
    let arithmetic = stored["arithmetic"].as_str().unwrap();
    assert!(arithmetic.contains("= 100 (Age") && arithmetic.contains("lifetime 600"), "{arithmetic}");
    assert!(arithmetic.contains("fresh for ") && arithmetic.contains("max-age"), "{arithmetic}");
    assert!(told["verdict"].as_str().unwrap().contains("RFC 9111"), "{told}");
    let asked = origin.requests().len();

    let bypassed = get(&fleetfoot, "/explain?url=http://example.test/a&header=Bypass-Cache:1");
    assert!(bypassed["verdict"].as_str().unwrap().contains("`bypass`"), "{bypassed}");
    let method = get(&fleetfoot, "/explain?url=http://example.test/a&method=DELETE");
    assert!(method["verdict"].as_str().unwrap().contains("not asked"), "{method}");
    let pressed = get(&fleetfoot, &format!("{question}&header=Cache-Control:no-cache"));
    assert!(pressed["verdict"].as_str().unwrap().contains("no-cache"), "{pressed}");
    assert_eq!(origin.requests().len(), asked, "explaining asked nobody");

    let asked = get(&fleetfoot, "/explain?url=http://example.test/new&ask=true");
    assert_eq!(asked["answer"]["status"], 200);
    assert!(asked["verdict"].as_str().unwrap().starts_with("stored, fresh for 500 s"), "{asked}");
    assert!(!fleetfoot.get("/new").is_hit(), "and nothing was stored by asking");
}

#[test]
fn a_request_that_would_not_get_through_is_explained_too() {
    let fleetfoot = Fleetfoot::start(
        "listen: { http: 127.0.0.1:0, admin: 127.0.0.1:0 }\nsources: { api: http://127.0.0.1:9 }\n\
         policies: { members: { signed: { keys: { main: nZtRohdNF9m3cKM24IcK4w== } } } }\n\
         routes: [{ match: GET /open/**, proxy: api }, { match: GET /members/**, proxy: api, use: members }]\n",
    );
    for (query, said) in [
        ("url=http://example.test/none", "404"),
        ("url=http://example.test/open/../x", "400"),
        ("url=http://example.test/open/x", "no cache policy"),
        ("url=http://example.test/members/x", "403"),
        ("url=http://example.test/open/x&method=PURGE", "405"),
    ] {
        let told = get(&fleetfoot, &format!("/explain?{query}"));
        assert!(told["verdict"].as_str().unwrap().contains(said), "{query}: {told}");
    }
    for wrong in [
        "",
        "?method=GET",
        "?url=",
        "?url=/path",
        "?url=http://a/&method=a%20b",
        "?url=http://a/&header=x",
        "?url=http://a/&colour=red",
    ] {
        let fault = read(&ask(&fleetfoot, "GET", &format!("/explain{wrong}"), "", ""), 400);
        assert!(fault["detail"].is_string(), "{wrong}: {fault}");
    }
}

/// What an id says of a request with these fields that is answered so.
fn told(policy: &str, method: &str, fields: &str, answer: impl Into<Script>) -> Value {
    let origin = Origin::start();
    origin.on("*").reply(answer);
    let fleetfoot = cached_with(&origin, policy);
    let answer = fleetfoot.send(method, "/why", &format!("Content-Length: 0\n{fields}"));
    assert!(answer.has("X-Request-Id"), "{answer:?}");
    let id = answer.joined("X-Request-Id");
    get(&fleetfoot, &format!("/explain?id={id}"))
}

#[test]
fn every_reason_not_to_store_is_told_by_id() {
    let origin_says = "ttl: origin";
    let with_rules = "ttl: origin, bypass: [Bypass-Cache], skip_for: [{ cookie: session }]";
    let fresh = "Cache-Control: max-age=600";
    let rows: Vec<(&str, Value)> = vec![
        ("no-store (RFC 9111 §5.2.2.5)", told(origin_says, "GET", "", ok("Cache-Control: no-store", ""))),
        (
            "private (RFC 9111 §5.2.2.7)",
            told(origin_says, "GET", "", ok("Cache-Control: private, max-age=9", "")),
        ),
        ("Vary is *", told(origin_says, "GET", "", ok(&format!("{fresh}\nVary: *"), ""))),
        ("carries Authorization", told(origin_says, "GET", "Authorization: Basic YTpi", ok(fresh, ""))),
        ("carries Cookie", told(origin_says, "GET", "Cookie: a=b", ok(fresh, ""))),
        ("sets a cookie", told(origin_says, "GET", "", ok(&format!("{fresh}\nSet-Cookie: a=b"), ""))),
        ("no lifetime", told(origin_says, "GET", "", ok("", ""))),
        ("no lifetime", told(origin_says, "GET", "", status("503 Service Unavailable", "", ""))),
        ("stale at once", told(origin_says, "GET", "", ok("Cache-Control: max-age=0", ""))),
        ("§5.2.1.5", told(origin_says, "GET", "Cache-Control: no-store", ok(fresh, ""))),
        (
            "must-understand",
            told(origin_says, "GET", "", status("299 Odd", "Cache-Control: must-understand, max-age=9", "")),
        ),
        ("only GET and HEAD", told(origin_says, "POST", "", ok(fresh, ""))),
        ("`bypass`", told(with_rules, "GET", "Bypass-Cache: 1", ok(fresh, ""))),
        ("`skip_for`", told(with_rules, "GET", "Cookie: session=x", ok(fresh, ""))),
        ("the origin failed", told(origin_says, "GET", "", "garbage\r\n\r\n")),
    ];
    each(rows.into_iter().map(|(said, told)| (said, (said, told))), |_, (said, told)| {
        assert_eq!(told["stored"], false, "{told}");
        assert!(told["verdict"].as_str().unwrap().contains(said), "{told}");
        assert!(told["url"].as_str().unwrap().ends_with("example.test/why"), "{told}");
        assert_eq!(told["route"], "/**");
        assert!(
            told["status"].is_number() && told["time"].is_string() && told["duration_ms"].is_number(),
            "{told}"
        );
    });
}

#[test]
fn what_was_stored_confirmed_or_stood_in_is_told_too() {
    let origin = Origin::start();
    let stale = "Cache-Control: max-age=60\nAge: 100\nETag: \"1\"";
    origin.on("/confirmed").replies([ok(stale, "x"), not_modified(stale)]);
    origin.on("/failing").replies([
        ok("Cache-Control: max-age=60, stale-if-error=600\nAge: 100", "x"),
        status("503 Service Unavailable", "", ""),
    ]);
    let fleetfoot = cached(&origin);
    let verdict = |path: &str, id: &str| {
        fleetfoot.get_with(path, &format!("X-Request-Id: {id}"));
        let told = get(&fleetfoot, &format!("/explain?id={id}"));
        assert_eq!(told["id"], id);
        told["verdict"].as_str().unwrap().to_owned()
    };
    assert!(verdict("/confirmed", "first").ends_with("its answer was stored"));
    let confirmed = verdict("/confirmed", "second");
    assert!(confirmed.contains("304"), "{confirmed}");
    verdict("/failing", "third");
    let stood_in = verdict("/failing", "fourth");
    assert!(stood_in.contains("stood in") && stood_in.contains("RFC 5861"), "{stood_in}");
}

#[test]
fn an_id_is_the_clients_own_where_it_is_fit_for_that() {
    let origin = Origin::start();
    origin.on("*").reply(ok("Cache-Control: no-store", "x"));
    let fleetfoot = cached(&origin);
    let id = |fields: &str| fleetfoot.get_with("/", fields).field("X-Request-Id").unwrap().to_owned();
    assert_eq!(id("X-Request-Id: Order-7.b_2"), "Order-7.b_2");
    for unfit in ["", "X-Request-Id: a b", "X-Request-Id: <script>", "X-Request-Id:"] {
        let own = id(unfit);
        assert!(own.len() == 16 && own.bytes().all(|byte| byte.is_ascii_hexdigit()), "{unfit}: {own}");
    }
    assert_ne!(id(""), id(""));
    // The latest of an id that is used again.
    fleetfoot.get_with("/one", "X-Request-Id: again");
    fleetfoot.get_with("/two", "X-Request-Id: again");
    assert!(get(&fleetfoot, "/explain?id=again")["url"].as_str().unwrap().ends_with("/two"));
    let unknown = read(&ask(&fleetfoot, "GET", "/explain?id=unknown", "", ""), 404);
    assert!(unknown["detail"].as_str().unwrap().contains("remembered"), "{unknown}");
}

#[test]
fn an_explanation_tells_no_secrets() {
    let origin = Origin::start();
    origin
        .on("*")
        .reply(ok("Cache-Control: public, max-age=600\nVary: Cookie\nSet-Cookie: id=SECRET-7731", "x"));
    let fleetfoot = cached_with(&origin, "ttl: origin, store_set_cookie: true");
    let fields = "Authorization: Bearer SECRET-7731\nCookie: session=SECRET-7731\nX-Request-Id: mine";
    fleetfoot.get_with("/?token=SECRET-7731&password=SECRET-7731", fields);
    for target in [
        "/explain?id=mine",
        "/explain?url=http://example.test/%3Fa=1&header=Authorization:Bearer%20SECRET-7731&header=Cookie:session=SECRET-7731",
        "/explain?url=http://example.test/&ask=true",
    ] {
        let told = get(&fleetfoot, target).to_string();
        assert!(!told.contains("SECRET-7731"), "{target}: {told}");
    }
}

/// What the layer of this name would do, and the verdict.
fn layer_and_verdict(fleetfoot: &Fleetfoot, target: &str, name: &str) -> (String, String) {
    let told = get(fleetfoot, &format!("/explain?url=http://example.test{target}"));
    let layer = told["stack"].as_array().and_then(|stack| stack.iter().find(|layer| layer["name"] == name));
    let text = |value: &Value| value.as_str().expect("a sentence").to_owned();
    (text(&layer.expect("the layer is there")["effect"]), text(&told["verdict"]))
}

#[test]
fn what_would_wait_is_told_apart_from_what_would_be_refused() {
    let (origin, gate) = (Origin::start(), Gate::new());
    origin.on("*").reply(ok("", "1"));
    origin.on("GET /hold").reply(Script::new().wait(&gate).then(ok("", "1")));
    origin.on("GET /kept").reply(Script::new().wait(&gate).then(ok("", "1")));
    let top = "cores: 1\npolicies: { patient: { limit: { rate: 1/m, queue: { wait: 2m } } }, hasty: { limit: { rate: 1/m, queue: { wait: 2s } } }, late: { timeout: 2s, limit: { rate: 1/m, queue: { wait: 2m } } }, full: { concurrency: 1 }, line: { concurrency: { max: 1, queue: { wait: 2s } } } }";
    let api = format!("api: \"{}\"", origin.url());
    let routes = [
        "match: /patient, proxy: api, use: patient",
        "match: /hasty, proxy: api, use: hasty",
        "match: /late, proxy: api, use: late",
        "match: /hold, proxy: api, use: full",
        "match: /kept, proxy: api, use: line",
    ];
    let fleetfoot = Fleetfoot::start(&config_with(top, &[&api], &routes));
    for target in ["/patient", "/hasty", "/late"] {
        let (effect, verdict) = layer_and_verdict(&fleetfoot, target, "limit");
        assert!(
            effect.contains("lets it pass") && verdict.starts_with("passed straight"),
            "{effect}, {verdict}"
        );
        fleetfoot.get(target);
    }
    let (effect, verdict) = layer_and_verdict(&fleetfoot, "/patient", "limit");
    assert!(
        effect.contains("waits for its turn, ") && effect.contains("120 s at most, 0 before it"),
        "{effect}"
    );
    assert!(verdict.starts_with("waits for its turn at `limit`; then: passed straight through"), "{verdict}");
    for target in ["/hasty", "/late"] {
        let (effect, verdict) = layer_and_verdict(&fleetfoot, target, "limit");
        assert!(effect.contains("refused with 429") && effect.contains("2 s at most"), "{target}: {effect}");
        assert_eq!(effect, verdict);
        assert_eq!(fleetfoot.get(target).status, 429);
    }
    thread::scope(|scope| {
        scope.spawn(|| fleetfoot.get("/hold"));
        scope.spawn(|| fleetfoot.get("/kept"));
        origin.wait_for(1, "GET /hold");
        origin.wait_for(1, "GET /kept");
        let (effect, verdict) = layer_and_verdict(&fleetfoot, "/hold", "concurrency");
        assert_eq!((effect.as_str(), &verdict), ("1 of 1 calls under way: refused with 503", &effect));
        let (effect, verdict) = layer_and_verdict(&fleetfoot, "/kept", "concurrency");
        assert_eq!(effect, "1 of 1 calls under way: waits for its turn, 2 s at most, 0 before it");
        assert!(verdict.starts_with("waits for its turn at `concurrency`"), "{verdict}");
        gate.open();
    });
    let (effect, verdict) = layer_and_verdict(&fleetfoot, "/hold", "concurrency");
    assert!(
        effect.ends_with("lets it pass") && verdict.starts_with("passed straight"),
        "{effect}, {verdict}"
    );
}

#[test]
fn an_open_breaker_is_told_from_one_that_lets_a_probe_pass_on_steps_too() {
    let (origin, gate) = (Origin::start(), Gate::new());
    let no = || status("503 Service Unavailable", "", "no");
    origin.on("GET /long").reply(no());
    origin.on("GET /short").replies([no(), Script::new().wait(&gate).then(ok("", "1"))]);
    let top = "cores: 1\npolicies: { long: { breaker: { in_a_row: 1, probe: 1h } }, short: { breaker: { in_a_row: 1, probe: 1ms } } }";
    let api = format!("api: \"{}\"", origin.url());
    let routes = [
        "match: /long, proxy: api, use: long",
        "match: /short, proxy: api, use: short",
        "match: GET /page, compose: { it: { api: GET /long, use: long } }",
    ];
    let fleetfoot = Fleetfoot::start(&config_with(top, &[&api], &routes));
    let step = || {
        let told = get(&fleetfoot, "/explain?url=http://example.test/page");
        let state = &told["compose"]["steps"][0]["states"][0];
        assert_eq!(state["name"], "breaker", "{told}");
        state["effect"].as_str().unwrap().to_owned()
    };
    let route = |target: &str| layer_and_verdict(&fleetfoot, target, "breaker");
    assert_eq!(step(), "closed: lets it pass");
    fleetfoot.get("/long");
    let (effect, verdict) = route("/long");
    assert!(
        effect.starts_with("open: refused with 503 for another 3") && effect.ends_with("00 s")
            || effect.ends_with("99 s"),
        "{effect}"
    );
    assert_eq!((&step(), &verdict), (&effect, &effect));
    fleetfoot.get("/short");
    wait_until("it has rested", || route("/short").0 == "open, and has rested: lets it pass as a probe");
    assert!(route("/short").1.starts_with("passed straight through"));
    thread::scope(|scope| {
        scope.spawn(|| fleetfoot.get("/short"));
        origin.wait_for(2, "GET /short");
        let (effect, verdict) = route("/short");
        assert_eq!(effect, "open: refused with 503 until the probe under way has ended");
        assert_eq!(verdict, effect);
        gate.open();
    });
}
