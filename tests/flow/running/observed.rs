//! What the program says about its work: metrics by reason, the access log in both forms, liveness and readiness.

use serde_json::Value;
use testkit::{Fleetfoot, Origin, ok};

use crate::setup::{cached, config_with};

#[test]
fn it_is_alive_and_ready() {
    let origin = Origin::start();
    let fleetfoot = cached(&origin);
    assert_eq!(fleetfoot.get_admin("/livez").status, 200);
    assert_eq!(fleetfoot.get_admin("/readyz").status, 200);
    assert_eq!(fleetfoot.get_admin("/other").status, 404);
    assert!(origin.requests().is_empty());
    // And nothing of it is on the data port.
    for target in ["/livez", "/readyz", "/metrics"] {
        assert_eq!(fleetfoot.get(target).text(), "no such rule");
    }
}

#[test]
fn metrics_count_what_happened_by_reason() {
    let origin = Origin::start();
    origin.on("/kept").reply(ok("Cache-Control: max-age=600", "x".repeat(100)));
    origin.on("/own").reply(ok("Cache-Control: private", "x"));
    let mut fleetfoot = cached(&origin);
    for target in ["/kept", "/kept", "/kept", "/own", "/own"] {
        fleetfoot.get(target);
    }
    fleetfoot.connect().ask("GET / HTTP/1.1\r\n\r\n");
    let metrics = fleetfoot.wait_for_metrics("all counted", |metrics| {
        metrics.sum("fleetfoot_requests_total", &["cache=\"hit\""]) >= 2.0
            && metrics.sum("fleetfoot_errors_total", &["kind=\"malformed-request\""]) >= 1.0
            && metrics.sum("fleetfoot_requests_total", &["cache=\"miss\""]) >= 3.0
    });
    let is = |name: &str, labels: &[&str], expected: f64| {
        let sum = metrics.sum(name, labels);
        assert!((sum - expected).abs() < 0.01, "{name}{labels:?} is {sum}, not {expected}: {metrics:#?}");
    };
    is("fleetfoot_requests_total", &["cache=\"hit\""], 2.0);
    is("fleetfoot_forwarded_total", &["reason=\"uri-miss\""], 3.0);
    is("fleetfoot_forwarded_total", &["detail=\"private\""], 2.0);
    is("fleetfoot_responses_total", &["2xx"], 5.0);
    is("fleetfoot_responses_total", &["4xx"], 1.0);
    is("fleetfoot_errors_total", &["side=\"client\""], 1.0);
    is("fleetfoot_sent_bytes_total", &[], 302.0);
    assert!(metrics.has("fleetfoot_overhead_seconds_bucket"), "{metrics:#?}");
    assert!(metrics.sum("fleetfoot_source_wait_seconds_count", &[]) >= 3.0);
}

#[test]
fn fills_coalesced_and_stored_bytes_are_counted() {
    let origin = Origin::start();
    origin.on("*").reply(ok("Cache-Control: max-age=600", "x".repeat(1000)));
    let fleetfoot = cached(&origin);
    fleetfoot.get("/1");
    fleetfoot.get("/2");
    let metrics = fleetfoot.metrics();
    let mentions = |word: &str| metrics.0.keys().any(|name| name.contains(word));
    for word in ["fill", "coalesced", "evictions", "cache_keys", "cache_bytes"] {
        assert!(mentions(word), "nothing about {word}: {:#?}", metrics.0.keys());
    }
}

#[test]
fn content_is_counted_as_it_comes_in() {
    let origin = Origin::start();
    origin.on("*").reply(ok("", "x"));
    let mut fleetfoot = cached(&origin);
    let mut client = fleetfoot.connect();
    client.ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
    let head = "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    client.ask(format!("{head}3\r\none\r\n4\r\nfour\r\n0\r\n\r\n"));
    client.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    let metrics = fleetfoot
        .wait_for_metrics("all counted", |metrics| metrics.sum("fleetfoot_responses_total", &["2xx"]) >= 3.0);
    let received = metrics.sum("fleetfoot_received_bytes_total", &[]);
    assert!((received - 12.0).abs() < 0.1, "{received}");
}

fn logging(origin: &Origin, form: &str) -> Fleetfoot {
    origin.on("/kept").reply(ok("Cache-Control: max-age=600", "hello"));
    Fleetfoot::start(&config_with(origin.address(), "ttl: origin", &format!("access_log: {form}")))
}

#[test]
fn the_json_log_tells_the_decision_and_its_reason() {
    let origin = Origin::start();
    let fleetfoot = logging(&origin, "json");
    fleetfoot.get_with("/kept?token=secret", "User-Agent: probe \"1\"");
    origin.on("/kept?token=secret").reply(ok("", ""));
    fleetfoot.get("/kept");
    fleetfoot.get("/kept");
    fleetfoot.connect().ask("GET / HTTP/1.1\r\n\r\n");
    let lines: Vec<Value> = fleetfoot
        .stdout()
        .wait_for_count(4)
        .iter()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}")))
        .collect();
    assert_eq!(lines.len(), 4, "{lines:#?}");
    assert_eq!((&lines[0]["status"], &lines[0]["cache"]), (&200.into(), &"miss".into()));
    assert_eq!(
        (&lines[0]["cache_fwd"], &lines[0]["user_agent"]),
        (&"uri-miss".into(), &"probe \"1\"".into())
    );
    assert!(!lines[0]["target"].to_string().contains("secret"), "{}", lines[0]);
    assert_eq!((&lines[1]["cache"], &lines[1]["cache_stored"]), (&"miss".into(), &true.into()));
    assert_eq!((&lines[2]["cache"], &lines[2]["bytes"]), (&"hit".into(), &5.into()));
    assert_eq!((&lines[3]["status"], &lines[3]["error"]), (&400.into(), &"malformed-request".into()));
}

#[test]
fn the_text_log_is_a_line_each() {
    let origin = Origin::start();
    let fleetfoot = logging(&origin, "text");
    fleetfoot.get("/kept");
    fleetfoot.get("/kept");
    let lines = fleetfoot.stdout().wait_for_count(2);
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(
        lines[0].contains("GET") && lines[0].contains("/kept") && lines[0].contains("uri-miss"),
        "{}",
        lines[0]
    );
    assert!(lines[1].contains(" 200 ") && lines[1].contains(" hit"), "{}", lines[1]);
}

#[test]
fn nobody_can_forge_a_line() {
    let origin = Origin::start();
    let fleetfoot = logging(&origin, "text");
    fleetfoot.get_with("/kept%0a127.0.0.1?a=\x1b[31m", "User-Agent: a\tb");
    fleetfoot.get_with("/kept", "User-Agent: \u{85}\u{2028}forged");
    let lines = fleetfoot.stdout().wait_for_count(2);
    assert!(lines.iter().all(|line| !line.contains('\x1b') && line.starts_with("20")), "{lines:?}");
}
