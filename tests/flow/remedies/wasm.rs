//! `wasm`: functions of a module change and answer calls, wherever the policy stands: what they are told, what comes of what they say,
//! and that a cache keeps it.

use std::path::Path;

use serde_json::{Value, json};
use testkit::{Fleetfoot, Origin, ok, status};

use super::module::{Module, calls, failure};
use super::support::{EVERYWHERE, times};
use crate::control_port::port;
use crate::setup::each;

#[test]
fn a_function_changes_what_the_source_is_asked_wherever_the_policy_stands() {
    let origin = Origin::start();
    for target in ["route", "source", "step"] {
        origin.on(&format!("GET /new/{target}?v=2")).reply(ok("", "1"));
    }
    let module = Module::new(&[(
        "on_request",
        r#"{"set":{"X-Tenant":"a"},"add":{"X-Seen":["b","c"]},"remove":["X-Internal-*"],"query":"v=2","path":"/new/route"}"#,
    )]);
    let fleetfoot = module.everywhere(&origin, "wasm: { module: tools, request: on_request }");
    each(EVERYWHERE.map(|(target, place)| (place, target)), |_, target| {
        let fields = "X-Internal-A: 1\r\nX_Tenant: evil\r\nX-Tenant: evil\r\nConnection: X-Tenant";
        let answer = fleetfoot.get_with(&format!("{target}?v=1"), fields);
        assert_eq!((answer.status, answer.text().as_str()), (200, "1"), "{answer:?}");
        let asked = origin.requests().pop().unwrap();
        assert_eq!(asked.target, "/new/route?v=2");
        assert_eq!(asked.field("X-Tenant"), Some("a"), "{asked:?}");
        assert_eq!(asked.head.all("X-Seen").collect::<Vec<_>>(), ["b", "c"]);
        assert!(asked.field("X-Internal-A").is_none() && asked.field("X_Tenant").is_none(), "{asked:?}");
    });
    assert_eq!(times(&fleetfoot, "wasm", "changed"), 3);
    assert_eq!(calls(&fleetfoot), 3);
}

#[test]
fn a_function_answers_in_place_of_the_source_and_sees_what_is_asked() {
    let origin = Origin::start();
    let module = Module::new(&[
        ("on_request", r#"{"respond":{"status":203,"headers":{"X-By":"hook"},"body":…}}"#),
        ("on_response", r#"{"set":{"X-Twice":"1"}}"#),
    ]);
    let policy = "wasm: { module: tools, request: on_request, response: on_response }";
    let fleetfoot = module.everywhere(&origin, policy);
    each(EVERYWHERE.map(|(target, place)| (place, target)), |_, target| {
        let forged = "X-Forwarded-For: 10.0.0.1\r\nX_Real_IP: 10.0.0.1\r\nForwarded: for=10.0.0.1\r\nConnection: X-B\r\nX-B: 1";
        let answer =
            fleetfoot.get_with(&format!("{target}?a=%20b"), &format!("X-A: 1\r\nX-A: 2\r\n{forged}"));
        let told: Value = serde_json::from_str(&answer.text()).unwrap_or_else(|_| panic!("{answer:?}"));
        assert_eq!(
            (&told["method"], &told["scheme"], &told["path"]),
            (&json!("GET"), &json!("http"), &json!(target))
        );
        if target == "/step" {
            assert_eq!((&told["query"], &told["headers"]), (&json!(null), &json!({})), "its own request");
            assert_eq!(told["client"], json!(null), "it may be made for several clients");
            return;
        }
        assert_eq!((&told["headers"], &told["client"]), (&json!({ "x-a": ["1", "2"] }), &json!("127.0.0.1")));
        assert_eq!((answer.status, answer.joined("X-By").as_str()), (203, "hook"));
        assert_eq!((&told["query"], &told["headers"]["x-a"]), (&json!("a=%20b"), &json!(["1", "2"])));
        assert_eq!(answer.field("Content-Type"), Some("application/json"));
        assert!(!answer.has("X-Twice"), "the other function is not asked");
        let head = fleetfoot.send("HEAD", target, "");
        assert_eq!((head.status, head.text().as_str()), (203, ""));
    });
    assert!(origin.requests().is_empty());
    assert_eq!(times(&fleetfoot, "wasm", "answered"), 5);
}

#[test]
fn a_function_changes_what_comes_back_wherever_the_policy_stands() {
    let origin = Origin::start();
    let fields = "ETag: \"1\"\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-MD5: x\r\nRepr-Digest: x\r\n\
                  Content-Type: application/json\r\nX-Secret: 1\r\nAccept-Ranges: bytes";
    for (target, _) in EVERYWHERE {
        origin.on(target).reply(ok(fields, "{\"n\": 1.50}"));
    }
    let module =
        Module::new(&[("on_response", r#"{"set":{"X-By":"hook"},"remove":["X-Secret"],"body":{"was":…}}"#)]);
    let fleetfoot = module.everywhere(&origin, "wasm: { module: tools, response: on_response, body: 64KiB }");
    each(EVERYWHERE.map(|(target, place)| (place, target)), |_, target| {
        let conditions = "Accept-Encoding: gzip\r\nRange: bytes=0-1\r\nIf-None-Match: \"1\"";
        // A compose answers conditions and ranges itself.
        let answer = fleetfoot.get_with(target, if target == "/step" { "" } else { conditions });
        assert_eq!(answer.status, 200, "{answer:?}");
        let told: Value = serde_json::from_str(&answer.text()).unwrap();
        let was = &told["was"];
        assert_eq!((&was["status"], &was["body"]), (&json!(200), &json!({ "n": 1.5 })), "{was}");
        assert!(answer.text().contains("{\"n\": 1.50}"), "byte for byte");
        assert_eq!(was["request"], json!({ "method": "GET", "path": target, "query": null }));
        assert_eq!(was["headers"]["etag"], json!("\"1\""));
        let asked = origin.last(target);
        assert_eq!(asked.field("Accept-Encoding"), Some("identity"));
        assert!(asked.field("Range").is_none() && asked.field("If-None-Match").is_none());
        if target == "/step" {
            return;
        }
        assert_eq!(answer.joined("X-By"), "hook");
        for name in ["ETag", "Last-Modified", "Content-MD5", "Repr-Digest", "X-Secret", "Accept-Ranges"] {
            assert!(!answer.has(name), "{name} says nothing of other content");
        }
        let head = fleetfoot.send("HEAD", target, "");
        assert_eq!((head.joined("X-By").as_str(), head.has("ETag")), ("hook", false), "{head:?}");
    });
}

#[test]
fn what_it_does_not_change_stays_as_it_is() {
    let origin = Origin::start();
    origin.on("GET /").reply(ok("ETag: \"1\"\r\nContent-Type: text/plain", "x"));
    origin.on("GET /gone").reply(status("404 Not Found", "", "no"));
    origin.on("GET /range").answer(|asked| match asked.field("Range") {
        Some(_) => status("206 Partial Content", "Content-Range: bytes 0-0/2", "x"),
        None => ok("", "xy"),
    });
    let module = Module::new(&[
        ("nothing", "null"),
        ("text", r#"{"status":200,"body":"<p>"}"#),
        ("empty", r#"{"body":""}"#),
        ("gone", r#"{"status":204}"#),
    ]);
    let fleetfoot = module.around(
        &origin,
        "  nothing: { wasm: { module: tools, request: nothing, response: nothing, body: 1KiB } }\n  \
         plain: { wasm: { module: tools, response: nothing } }\n  \
         text: { wasm: { module: tools, response: text, body: 1KiB } }\n  \
         empty: { wasm: { module: tools, response: empty, body: 1KiB } }\n  \
         gone: { wasm: { module: tools, response: gone } }\n",
        &[
            "match: a.example/**, proxy: api, use: nothing",
            "match: b.example/**, proxy: api, use: plain",
            "match: c.example/**, proxy: api, use: text",
            "match: d.example/**, proxy: api, use: empty",
            "match: e.example/**, proxy: api, use: gone",
        ],
    );
    let get = |host: &str, target: &str, more: &str| {
        fleetfoot.connect().ask(format!("GET {target} HTTP/1.1\r\nHost: {host}.example\r\n{more}\r\n"))
    };
    for host in ["a", "b"] {
        let answer = get(host, "/", "");
        assert_eq!((answer.status, answer.text().as_str(), answer.field("ETag")), (200, "x", Some("\"1\"")));
        assert_eq!(get(host, "/gone", "").status, 404);
    }
    let range = |host| get(host, "/range", "Range: bytes=0-0\r\n");
    assert_eq!((range("a").status, range("b").status), (200, 206), "a function is given all or nothing");
    assert_eq!(times(&fleetfoot, "wasm", "changed"), 0);
    let page = get("c", "/gone", "");
    assert_eq!((page.status, page.text().as_str()), (200, "<p>"));
    assert_eq!(page.field("Content-Type"), Some("text/plain; charset=utf-8"), "nobody has said what it is");
    assert_eq!(get("c", "/", "").field("Content-Type"), Some("text/plain"));
    let empty = get("d", "/", "");
    assert_eq!((empty.status, empty.text().as_str(), empty.field("Content-Length")), (200, "", Some("0")));
    let gone = get("e", "/", "");
    assert_eq!((gone.status, gone.text().as_str(), gone.has("Content-Length")), (204, "", false), "{gone:?}");
}

#[test]
fn a_hit_calls_no_function_and_is_what_was_changed() {
    let origin = Origin::start();
    origin.on("GET /inside").reply(ok("Cache-Control: max-age=600\r\nSet-Cookie: a=1", "x"));
    origin.on("GET /before").reply(ok("Cache-Control: max-age=600", "x"));
    let module = Module::new(&[
        ("on_request", r#"{"set":{"X-A":"1"}}"#),
        ("on_response", r#"{"remove":["Set-Cookie"],"set":{"X-By":"hook"},"body":"y"}"#),
    ]);
    let words = "wasm: { module: tools, request: on_request, response: on_response, body: 1KiB }";
    let policies = format!(
        "  inside: {{ cache: {{ ttl: origin }}, {words} }}\n  hooked: {{ {words} }}\n  live: {{ cache: {{ ttl: origin }} }}\n"
    );
    let fleetfoot = module.around(
        &origin,
        &policies,
        &["match: /inside, proxy: api, use: inside", "match: /before, proxy: api, use: [hooked, live]"],
    );
    for _ in 0..3 {
        let answer = fleetfoot.get("/inside");
        assert_eq!((answer.text().as_str(), answer.joined("X-By").as_str()), ("y", "hook"), "{answer:?}");
    }
    assert_eq!((origin.count("GET /inside"), calls(&fleetfoot)), (1, 2), "two hits asked nobody");
    for is_hit in [false, true, true] {
        let answer = fleetfoot.get("/before");
        assert_eq!((answer.text().as_str(), answer.is_hit()), ("y", is_hit), "{answer:?}");
    }
    let counts = (origin.count("GET /before"), calls(&fleetfoot));
    assert_eq!(counts, (1, 8), "before the cache they are asked for each");
}

#[test]
fn behind_a_cache_a_function_is_told_of_nothing_that_others_would_get() {
    let origin = Origin::start();
    let module = Module::new(&[(
        "tell",
        r#"{"respond":{"status":200,"headers":{"Cache-Control":"max-age=600"},"body":…}}"#,
    )]);
    let fleetfoot = module.around(
        &origin,
        "  inside: { cache: { ttl: origin, key: { headers: [X-Tenant], cookies: [currency] } }, wasm: { module: tools, request: tell } }\n  \
         plain: { cache: { ttl: origin }, wasm: { module: tools, request: tell } }\n",
        &["match: /inside, proxy: api, use: inside", "match: /plain, proxy: api, use: plain"],
    );
    let headers = |target: &str| {
        let fields = "X-Tenant: a\r\nX-User: b\r\nCookie: id=5EC4E7; currency=EUR";
        let told: Value = serde_json::from_str(&fleetfoot.get_with(target, fields).text()).unwrap();
        told["headers"].clone()
    };
    assert_eq!(headers("/inside"), json!({ "x-tenant": "a", "cookie": "currency=EUR" }));
    assert_eq!(headers("/plain"), json!({}));
}

#[test]
fn what_varies_by_a_field_of_a_function_varies_by_all_that_it_was_told() {
    let origin = Origin::start();
    origin.on("GET /").reply(ok("Vary: X-Tenant", "x"));
    let module = Module::new(&[("on_request", r#"{"set":{"X-Tenant":"a"}}"#)]);
    let fleetfoot = module.around(
        &origin,
        "  before: { wasm: { module: tools, request: on_request } }\n  \
         behind: { cache: { ttl: origin, key: { headers: [X-User] } }, wasm: { module: tools, request: on_request } }\n",
        &["match: a.example/**, proxy: api, use: before", "match: b.example/**, proxy: api, use: behind"],
    );
    let vary = |host: &str| {
        let request = format!("GET / HTTP/1.1\r\nHost: {host}.example\r\nX-User: u\r\n\r\n");
        fleetfoot.connect().ask(request).joined("Vary").to_ascii_lowercase()
    };
    assert_eq!(vary("a"), "x-tenant, *");
    assert!(vary("b").contains("x-user"), "{}", vary("b"));
}

#[test]
fn a_reload_with_another_module_changes_what_is_done() {
    let origin = Origin::start();
    origin.on("GET /").reply(ok("", "x"));
    let module = Module::new(&[("on_response", r#"{"body":"old"}"#)]);
    let mut fleetfoot = module.around(
        &origin,
        "  p: { wasm: { module: tools, response: on_response, body: 1KiB } }\n",
        &["match: /**, proxy: api, use: p"],
    );
    assert_eq!(fleetfoot.get("/").text(), "old");
    module.write(&[("on_response", r#"{"body":"new"}"#)]);
    fleetfoot.hang_up();
    fleetfoot.wait_until("the new module", |fleetfoot| fleetfoot.get("/").text() == "new");
    module.write(&[("renamed", "{}")]);
    fleetfoot.hang_up();
    assert!(fleetfoot.stderr().wait_for("has no function `on_response`").is_some());
    assert_eq!(fleetfoot.get("/").text(), "new", "what is wrong changes nothing");
}

#[test]
fn what_a_function_says_is_part_of_a_page_only_if_it_is_json() {
    let origin = Origin::start();
    origin.on("GET /user").reply(ok("Cache-Control: max-age=600", "{\"name\":\"a\"}"));
    let module = Module::new(&[
        ("text", r#"{"body":"Back \"at\" noon."}"#),
        ("json", r#"{"body":[1.50]}"#),
        ("answer", r#"{"respond":{"status":200,"body":"{"}}"#),
    ]);
    let policies = "  text: { cache: { ttl: origin }, wasm: { module: tools, response: text, body: 1KiB } }\n  \
                    pass: { wasm: { module: tools, response: text, body: 1KiB, on_error: pass } }\n  \
                    json: { wasm: { module: tools, response: json, body: 1KiB } }\n  \
                    answer: { wasm: { module: tools, request: answer } }\n";
    let route = |name| {
        format!("match: GET /{name}, compose: {{ user: {{ api: GET /user, use: {name}, on_error: null }} }}")
    };
    let routes = ["text", "pass", "json", "answer"].map(route);
    let as_text = "match: GET /as-text, compose: { user: { api: GET /user, use: pass, as: text } }";
    let routes = [&*routes[0], &*routes[1], &*routes[2], &*routes[3], as_text];
    let fleetfoot = module.around(&origin, policies, &routes);
    for (target, times) in [("/text", 3), ("/answer", 1)] {
        for _ in 0..times {
            let page = fleetfoot.get(target);
            assert_eq!(page.text(), "{\"user\":null}");
            assert_eq!(page.field("X-Fleetfoot-Failed"), Some("user;error=hook-failed"));
        }
    }
    assert_eq!(origin.count("GET /user"), 3, "what no step can use is not kept");
    assert_eq!(fleetfoot.get("/pass").text(), "{\"user\":{\"name\":\"a\"}}");
    assert_eq!(fleetfoot.get("/json").text(), "{\"user\":[1.50]}");
    assert_eq!(fleetfoot.get("/as-text").text(), "{\"user\":\"Back \\\"at\\\" noon.\"}");
}

#[test]
fn explain_names_the_functions_and_content_of_requests_streams_past_them() {
    let origin = Origin::start();
    origin.on("POST /").answer(|asked| ok("", asked.body.len().to_string()));
    let module = Module::new(&[("on_request", "{}"), ("on_response", "{}")]);
    let fleetfoot = module.around(
        &origin,
        "  p: { wasm: { module: tools, request: on_request, response: on_response, body: 64KiB } }\n",
        &["match: /**, proxy: api, use: p"],
    );
    let body = "x".repeat(3 << 20);
    let answer = fleetfoot
        .connect()
        .ask(format!("POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: {}\r\n\r\n{body}", body.len()));
    assert_eq!((failure(&answer), answer.text()), ((200, None), (3 << 20).to_string()));
    let explained = port::get(&fleetfoot, "/explain?url=http://a.example/").to_string();
    for said in [
        "calls `on_request` of `tools` before the source is asked",
        "calls `on_response` of `tools` with its response and up to 65536 bytes",
    ] {
        assert!(explained.contains(said), "{explained}");
    }
}

#[test]
fn the_example_does_what_it_says() {
    let origin = Origin::start();
    origin.on("GET /x").reply(ok("Cache-Control: max-age=600\r\nServer: demo\r\nX-Powered-By: demo", "x"));
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let example = std::fs::read_to_string(examples.join("hooks.yaml")).unwrap();
    let config = example
        .replace("127.0.0.1:8080", "127.0.0.1:0")
        .replace("127.0.0.1:9090", "127.0.0.1:0")
        .replace("http://127.0.0.1:3000", &origin.url())
        .replace("./hooks.wat", &examples.join("hooks.wat").to_string_lossy());
    let fleetfoot = Fleetfoot::start(&config);
    for _ in 0..2 {
        let answer = fleetfoot.get_with("/x", "X-Client: me");
        assert_eq!((answer.text().as_str(), answer.field("X-Content-Type-Options")), ("x", Some("nosniff")));
        assert!(!answer.has("Server") && !answer.has("X-Powered-By"), "{answer:?}");
    }
    assert_eq!(origin.last("GET /x").field("X-Edge"), Some("fleetfoot"));
    let nobody = fleetfoot.get_with("/x", "X-A: \"x-client\":\"me\"\r\nX-Clients: me");
    assert_eq!((nobody.status, nobody.text().as_str()), (400, "{\"error\":\"say who you are in X-Client\"}"));
    assert_eq!(origin.requests().len(), 1);
}
