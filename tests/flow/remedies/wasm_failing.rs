//! `wasm`, where a function fails: it costs one bounded time, is told with a word of its own or passed over, and says nothing of the
//! source.

use std::time::{Duration, Instant};

use testkit::{Origin, ok, run_to_end, wait_until};

use super::module::{Module, calls, failure};
use super::support::{EVERYWHERE, times};
use crate::setup::each;

/// What a function of a request may not say, and one of a response.
const UNFIT_REQUEST: [(&str, &str); 14] = [
    ("number", "1"),
    ("word", r#"{"sets":{}}"#),
    ("shape", r#"{"set":{"X-A":1}}"#),
    ("host", r#"{"set":{"Host":"evil.example"}}"#),
    ("framing", r#"{"remove":["Content-Length"]}"#),
    ("hop", r#"{"add":{"Transfer-Encoding":"chunked"}}"#),
    ("claim", r#"{"set":{"X-Forwarded-For":"10.0.0.1"}}"#),
    ("line", r#"{"set":{"X-A":"a\r\nX-B: b"}}"#),
    ("name", r#"{"set":{"X A":"a"}}"#),
    ("climbs", r#"{"path":"/a/..%2fb"}"#),
    ("host_in_path", r#"{"path":"//evil.example/x"}"#),
    ("splits", r#"{"path":"/a HTTP/1.1"}"#),
    ("part", r#"{"respond":{"status":206}}"#),
    ("both", r#"{"respond":{"status":200},"set":{"X-A":"a"}}"#),
];
const UNFIT_RESPONSE: [(&str, &str); 6] = [
    ("r_list", "[]"),
    ("r_framing", r#"{"set":{"Connection":"close"}}"#),
    ("r_ours", r#"{"set":{"Cache-Status":"hit"}}"#),
    ("r_status", r#"{"status":99}"#),
    ("r_empty", r#"{"status":204,"body":"x"}"#),
    ("r_body", r#"{"body":"x"}"#),
];

#[test]
fn whatever_a_function_does_is_our_failure_or_is_passed_over() {
    let origin = Origin::start();
    let module = Module::new(&[UNFIT_REQUEST.as_slice(), UNFIT_RESPONSE.as_slice()].concat());
    let (mut policies, mut routes, mut rows) = (String::new(), Vec::new(), Vec::new());
    let request = UNFIT_REQUEST.map(|(name, _)| name);
    let response = UNFIT_RESPONSE.map(|(name, _)| name);
    let functions =
        request.iter().map(|name| ("request", *name)).chain(response.iter().map(|name| ("response", *name)));
    let bodies =
        [("request", "traps"), ("request", "endless"), ("response", "traps"), ("response", "endless")];
    for (word, function) in functions.chain(bodies) {
        for on_error in ["fail", "pass"] {
            let name = format!("{word}-{function}-{on_error}");
            // One may not change content that it was not given.
            let body = if word == "response" && function != "r_body" { ", body: 1KiB" } else { "" };
            let words = format!("module: tools, {word}: {function}, on_error: {on_error}{body}");
            policies.extend(["  ", &name, ": { wasm: { ", &words, " } }\n"]);
            routes.push(format!("match: /{name}, proxy: api, use: {name}"));
            origin.on(&format!("GET /{name}")).reply(ok("ETag: \"1\"", "x"));
            rows.push((name, (word, on_error)));
        }
    }
    let fleetfoot = module.around(&origin, &policies, &routes.iter().map(String::as_str).collect::<Vec<_>>());
    let count = rows.len() as u64;
    each(rows, |name, (word, on_error)| {
        let began = Instant::now();
        let answer = fleetfoot.get(&format!("/{name}"));
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        let asked = origin.count(&format!("GET /{name}"));
        if on_error == "fail" {
            assert_eq!(failure(&answer), (500, Some("hook-failed")), "{answer:?}");
            assert_eq!(answer.text(), "a function that this route calls failed\n");
            assert_eq!(asked, usize::from(word == "response"));
        } else {
            assert_eq!((answer.status, answer.text().as_str(), asked), (200, "x", 1), "{answer:?}");
            assert_eq!(answer.field("ETag"), Some("\"1\""), "untouched");
            assert!(origin.last(&format!("GET /{name}")).field("X-A").is_none());
        }
    });
    assert_eq!((times(&fleetfoot, "wasm", "failed"), times(&fleetfoot, "wasm", "changed")), (count, 0));
}

#[test]
fn a_function_that_never_ends_costs_one_bounded_time() {
    let origin = Origin::start();
    origin.on("GET /").reply(ok("", "x"));
    let module = Module::new(&[]);
    let policies = "  slow: { retry: { attempts: 3, backoff: 1ms..1ms, budget: 100% }, wasm: { module: tools, request: endless } }\n  \
                    passed: { wasm: { module: tools, request: endless, response: endless, on_error: pass } }\n";
    let routes =
        ["match: a.example/**, proxy: api, use: slow", "match: b.example/**, proxy: api, use: passed"];
    let fleetfoot = module.around(&origin, policies, &routes);
    let get = |host: &str| {
        let began = Instant::now();
        let answer = fleetfoot.connect().ask(format!("GET / HTTP/1.1\r\nHost: {host}.example\r\n\r\n"));
        (failure(&answer).0, began.elapsed())
    };
    let (status, took) = get("a");
    assert_eq!((status, calls(&fleetfoot)), (500, 1), "another try would not do better");
    assert!((Duration::from_millis(300)..Duration::from_secs(5)).contains(&took), "{took:?}");
    let (status, took) = get("b");
    assert_eq!((status, calls(&fleetfoot)), (200, 3));
    assert!((Duration::from_millis(600)..Duration::from_secs(5)).contains(&took), "{took:?}");
}

#[test]
fn content_that_cannot_be_given_fails_or_goes_on_untouched() {
    let origin = Origin::start();
    let long = "0123456789".repeat(400_000);
    let chunked = format!(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{long}\r\n0\r\n\r\n",
        long.len()
    );
    origin.on("GET /long").reply(ok("ETag: \"1\"", &long));
    origin.on("GET /chunked").reply(testkit::Script::new().send(chunked));
    origin.on("GET /coded").reply(ok("Content-Encoding: gzip", b"\x1f\x8b-coded"));
    origin.on("GET /bytes").reply(ok("", b"\xff\xfe"));
    origin.on("GET /part").reply(testkit::status("206 Partial Content", "Content-Range: bytes 0-0/9", "x"));
    origin.on("GET /fits").reply(ok("", "x".repeat(1000)));
    let module = Module::new(&[("on_response", r#"{"body":"changed"}"#)]);
    let policies = "  fail: { wasm: { module: tools, response: on_response, body: 1KiB } }\n  \
                    pass: { wasm: { module: tools, response: on_response, body: 1KiB, on_error: pass } }\n";
    let routes = ["match: a.example/**, proxy: api, use: fail", "match: b.example/**, proxy: api, use: pass"];
    let fleetfoot = module.around(&origin, policies, &routes);
    let rows: [(&str, &[u8]); 5] = [
        ("/long", long.as_bytes()),
        ("/chunked", long.as_bytes()),
        ("/coded", b"\x1f\x8b-coded"),
        ("/bytes", b"\xff\xfe"),
        ("/part", b"x"),
    ];
    let get = |host: &str, target: &str| {
        fleetfoot.connect().ask(format!("GET {target} HTTP/1.1\r\nHost: {host}.example\r\n\r\n"))
    };
    each(rows, |target, content| {
        assert_eq!(failure(&get("a", target)), (500, Some("hook-failed")));
        let passed = get("b", target);
        assert!(passed.body == content, "{target}: {} bytes", passed.body.len());
    });
    assert_eq!(calls(&fleetfoot), 0);
    for host in ["a", "b"] {
        assert_eq!(get(host, "/fits").text(), "changed");
    }
}

#[test]
fn a_function_that_fails_says_nothing_of_the_target() {
    let origin = Origin::start();
    for (target, _) in EVERYWHERE {
        origin.on(target).reply(ok("", "1"));
    }
    let module = Module::new(&[("no", r#"{"respond":{"status":503}}"#)]);
    for hooks in ["request: traps", "response: traps", "request: no", "request: endless", "response: endless"]
    {
        // What is late by a timeout of the call is late in the function.
        let policy = format!(
            "breaker: {{ in_a_row: 2, probe: 1h }}, timeout: 100ms, wasm: {{ module: tools, {hooks} }}"
        );
        let fleetfoot = module.everywhere(&origin, &policy);
        each(EVERYWHERE.map(|(target, place)| (place, target)), |_, target| {
            for _ in 0..4 {
                let answer = fleetfoot.get(target);
                assert!(
                    answer.status >= 500 && answer.field("Fleetfoot-Error") != Some("breaker-open"),
                    "{answer:?}"
                );
            }
        });
        assert_eq!(times(&fleetfoot, "breaker", "opened"), 0, "{hooks}");
    }
}

#[test]
fn a_breaker_around_all_of_it_leaves_time_of_functions_out() {
    let origin = Origin::start();
    origin.on("GET /").reply(ok("", "1"));
    let module = Module::new(&[]);
    let policies = "  guarded: { breaker: { in_a_row: 2, probe: 1h } }\n  \
                    limited: { timeout: 100ms, limit: 1000/s, wasm: { module: tools, request: endless } }\n";
    let fleetfoot = module.around(&origin, policies, &["match: /**, proxy: api, use: [guarded, limited]"]);
    for _ in 0..5 {
        assert_eq!(failure(&fleetfoot.get("/")), (504, Some("hook-timeout")));
    }
    assert_eq!(times(&fleetfoot, "breaker", "opened"), 0);
}

#[test]
fn a_call_whose_time_runs_out_in_a_function_is_late_whatever_on_error_says() {
    let origin = Origin::start();
    for (target, _) in EVERYWHERE {
        origin.on(target).reply(ok("", "1"));
    }
    let module = Module::new(&[]);
    for (hooks, asked) in [("request: endless", 0), ("response: endless", 1)] {
        for on_error in ["fail", "pass"] {
            let words = format!("module: tools, {hooks}, on_error: {on_error}");
            let policy = format!(
                "timeout: 100ms, retry: {{ attempts: 3, backoff: 1ms..1ms, budget: 100% }}, wasm: {{ {words} }}"
            );
            let fleetfoot = module.everywhere(&origin, &policy);
            let before = origin.requests().len();
            each(EVERYWHERE.map(|(target, place)| (place, target)), |_, target| {
                for _ in 0..3 {
                    assert_eq!(failure(&fleetfoot.get(target)), (504, Some("hook-timeout")), "{words}");
                }
            });
            assert_eq!(origin.requests().len() - before, 9 * asked, "{words}");
            assert_eq!(times(&fleetfoot, "timeout.overall", "late"), 9, "{words}");
            assert_eq!(times(&fleetfoot, "wasm", "failed"), 0, "{words}");
        }
    }
}

#[test]
fn a_full_queue_of_the_module_is_over_in_a_moment_and_says_so() {
    let origin = Origin::start();
    let module = Module::new(&[]);
    let sources =
        [format!("api: \"{}\"", origin.url()), module.source(", timeout: 1s, threads: 1, queue: 0")];
    let top = "cores: 1\npolicies: { p: { wasm: { module: tools, request: endless } } }";
    let fleetfoot = testkit::Fleetfoot::start(&crate::composing::support::config_with(
        top,
        &sources.each_ref().map(String::as_str),
        &["match: /**, proxy: api, use: p"],
    ));
    let mut first = fleetfoot.connect();
    first.send("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n");
    wait_until("it computes", || fleetfoot.metrics().count("fleetfoot_wasm_running") == 1);
    let refused = fleetfoot.get("/");
    assert_eq!((failure(&refused), refused.field("Retry-After")), ((503, Some("overloaded")), Some("1")));
    assert_eq!(failure(&first.read_answer()), (500, Some("hook-failed")));
}

#[test]
fn a_function_that_the_module_lacks_is_told_before_anything_starts() {
    let origin = Origin::start();
    let module = Module::new(&[("on_request", "{}")]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fleetfoot.yaml");
    let policies = "  p: { wasm: { module: tools, request: on_request, response: on_response } }\n";
    std::fs::write(&file, module.config(&origin, policies, &["match: /**, proxy: api, use: p"])).unwrap();
    let checked = run_to_end(&["check", &file.to_string_lossy()]);
    assert_ne!(checked.code, Some(0));
    assert!(checked.stderr.contains("policy p: "), "{}", checked.stderr);
    assert!(
        checked.stderr.contains("has no function `on_response`; it has endless, on_request, traps"),
        "{}",
        checked.stderr
    );
}
