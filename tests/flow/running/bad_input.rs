//! What people type: faults of a config all at once, with line and remedy; and every command for programs too.

use std::path::PathBuf;

use serde_json::Value;
use testkit::{Finished, Fleetfoot, Origin, ok, run_to_end};

use crate::setup::config;

/// A file with this text; deleted with the directory.
struct File {
    _directory: tempfile::TempDir,
    path: PathBuf,
}

fn file(text: &str) -> File {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("fleetfoot.yaml");
    std::fs::write(&path, text).expect("a file in it");
    File { _directory: directory, path }
}

impl File {
    fn path(&self) -> &str {
        self.path.to_str().expect("a temporary path is text")
    }
}

fn check(text: &str, more: &[&str]) -> Finished {
    let file = file(text);
    run_to_end(&[&["check", file.path()], more].concat())
}

const GOOD: &str =
    "sources:\n  api: { http: http://127.0.0.1:3000 }\nroutes:\n  - { match: /**, proxy: api }\n";

#[test]
fn a_good_file_passes() {
    let finished = check(GOOD, &[]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let finished = check(GOOD, &["--json"]);
    let verdict: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!((finished.code, &verdict["ok"]), (Some(0), &true.into()));
}

#[test]
fn an_unknown_key_names_its_line_and_the_nearest_word() {
    let finished = check(&GOOD.replace("proxy:", "proxi:"), &[]);
    assert_ne!(finished.code, Some(0));
    assert!(finished.stderr.contains("proxi") && finished.stderr.contains("`proxy`"), "{}", finished.stderr);
    assert!(finished.stderr.contains(":4:"), "{}", finished.stderr);
}

#[test]
fn all_faults_are_listed_at_once() {
    let text = "coers: 1\nmemory: lots\nsources:\n  api: { http: ftp://x }\nroutes:\n  - { match: /**, proxy: apy }\n";
    let finished = check(text, &[]);
    for word in ["coers", "lots", "ftp", "apy"] {
        assert!(finished.stderr.contains(word), "nothing about {word}: {}", finished.stderr);
    }
    let finished = check(text, &["--json"]);
    let faults: Value =
        serde_json::from_str(&finished.stdout).unwrap_or_else(|error| panic!("{error}: {finished:?}"));
    let list = faults.as_array().or(faults["faults"].as_array()).expect("a list of faults");
    assert!(list.len() >= 4, "{faults:#}");
    assert!(list.iter().all(|fault| fault["line"].is_u64() || fault["place"]["line"].is_u64()), "{faults:#}");
}

#[test]
fn files_that_the_file_names_are_read_too() {
    let pem = file("-----BEGIN CERTIFICATE-----");
    let tls = format!("tls: {{ certificate: {0}, key: {0} }}", pem.path());
    let text = format!("listen: {{ https: 127.0.0.1:0, {tls} }}\n{GOOD}");
    let finished = check(&text, &[]);
    assert_eq!(finished.code, Some(2), "{finished:?}");
    assert!(finished.stderr.contains(pem.path()), "{}", finished.stderr);
}

#[test]
fn run_refuses_what_check_refuses() {
    let file = file(&GOOD.replace("sources:", "surces:"));
    let finished = run_to_end(&["run", file.path()]);
    assert_ne!(finished.code, Some(0));
    assert!(
        finished.stderr.contains("surces") && finished.stderr.contains("`sources`"),
        "{}",
        finished.stderr
    );
}

#[test]
fn a_file_that_is_not_there_is_said() {
    let finished = run_to_end(&["run", "/nowhere/fleetfoot.yaml"]);
    assert_ne!(finished.code, Some(0));
    assert!(finished.stderr.contains("/nowhere/fleetfoot.yaml"), "{}", finished.stderr);
}

#[test]
fn a_port_in_use_is_said() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap();
    let file = file(&format!("listen: {{ http: {port} }}\n{GOOD}"));
    let finished = run_to_end(&["run", file.path()]);
    assert_ne!(finished.code, Some(0));
    assert!(finished.stderr.contains(&port.to_string()), "{}", finished.stderr);
}

#[test]
fn a_second_fleetfoot_does_not_take_half_of_the_connections() {
    let origin = Origin::start();
    let first = Fleetfoot::start(&config(origin.address(), "-"));
    let file = file(&format!("listen: {{ http: {} }}\n{GOOD}", first.address()));
    let finished = run_to_end(&["run", file.path()]);
    assert_ne!(finished.code, Some(0));
    assert!(finished.stderr.contains("another program"), "{}", finished.stderr);
}

#[test]
fn a_url_that_is_none_is_said() {
    for arguments in
        [&["up", "localhost:3000"][..], &["up", "ftp://x"], &["up"], &["explain", "GET", "x"], &["nonsense"]]
    {
        let finished = run_to_end(arguments);
        assert!(finished.code.is_some_and(|code| code != 0), "{arguments:?}");
        assert!(!finished.stderr.is_empty() && !finished.stderr.contains("panicked"), "{}", finished.stderr);
    }
}

#[test]
fn explain_tells_route_key_and_reason() {
    let origin = Origin::start();
    origin.on("/kept").reply(ok("Cache-Control: max-age=600", "x"));
    origin.on("/own").reply(ok("Cache-Control: private", "x"));
    let file = file(&config(origin.address(), "ttl: origin"));
    let explain = |target: &str, more: &[&str]| {
        let url = format!("http://example.test{target}");
        run_to_end(&[&["explain", "GET", &url, "--config", file.path()], more].concat())
    };
    let kept = explain("/kept", &[]);
    assert_eq!(kept.code, Some(0), "{kept:?}");
    for word in ["/**", "api", "cached", "200"] {
        assert!(kept.stdout.contains(word), "nothing about {word}: {}", kept.stdout);
    }
    let own = explain("/own", &["--json"]);
    let answer: Value = serde_json::from_str(&own.stdout).unwrap_or_else(|error| panic!("{error}: {own:?}"));
    assert!(answer.to_string().contains("private"), "{answer:#}");
    let offline = explain("/kept", &["--offline"]);
    assert_eq!(offline.code, Some(0), "{offline:?}");
    assert_eq!(origin.count("GET /kept"), 1);
    let part = explain("/kept", &["-H", "Range: bytes=0-0", "-H", "If-None-Match: *"]);
    assert!(part.stdout.contains("stored, fresh for 600 s"), "{part:?}");
    assert_eq!(origin.last("GET /kept").field("If-None-Match"), None);
}

#[test]
fn explain_changes_nothing_at_the_origin() {
    let origin = Origin::start();
    let file = file(&config(origin.address(), "ttl: origin"));
    for method in ["DELETE", "POST", "PUT", "PATCH", "FROB", "PURGE"] {
        let finished = run_to_end(&["explain", method, "http://example.test/1", "--config", file.path()]);
        assert_eq!(finished.code, Some(0), "{finished:?}");
        assert!(origin.requests().is_empty(), "{method}");
    }
}

#[test]
fn explain_tells_what_it_knows_of_a_dead_origin_too() {
    let origin = Origin::start();
    let file = file(&config(origin.address(), "ttl: origin"));
    origin.stop();
    let finished = run_to_end(&["explain", "GET", "http://example.test/", "--json", "--config", file.path()]);
    assert_eq!(finished.code, Some(1), "{finished:?}");
    let answer: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!(answer["route"], "/**");
    assert!(answer["verdict"].to_string().contains("no answer"), "{answer:#}");
}
