//! Keys and values of a file, read as if they were a Redis's.

use std::path::Path;

use testkit::{Fleetfoot, run_to_end};

use super::commands::{ROWS, hold, routes};
use super::support::of_source;

const VALUES: &str = r#"{
    "json": {"a": [1, 2.50]},
    "text": "a \"b\"",
    "hash": { "name": "ann", "age": 30 },
    "list": ["a", 1, "c"],
    "sorted": { "cat": 3, "ann": 1, "bob": 2.5 },
    "set": ["x"]
}"#;

fn started(values: &str, routes: &[&str]) -> (tempfile::TempDir, Fleetfoot) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("store.json");
    std::fs::write(&file, values).expect("the file is written");
    let fleetfoot = Fleetfoot::start(&config(&file, routes));
    (folder, fleetfoot)
}

fn config(file: &Path, routes: &[&str]) -> String {
    of_source(&format!("{{ store: \"{}\", public: true }}", file.display()), routes)
}

const GET: &str = r#"match: "GET /get/{key}", read: { redis: "GET ${path.key}", as: text }"#;

/// But that an object is no value to Redis's `GET`, and text is not JSON there.
#[test]
fn commands_mean_what_they_mean_to_redis() {
    let rows: Vec<_> =
        ROWS.iter().filter(|row| !matches!(row.0, "GET hash" | "ZRANGE set 0 -1")).copied().collect();
    let routes = routes(&rows, "redis");
    let routes: Vec<_> = routes.iter().map(String::as_str).collect();
    let (_folder, fleetfoot) = started(VALUES, &routes);
    hold(&fleetfoot, &rows);
}

#[test]
fn each_kind_of_value_has_its_text() {
    let values =
        r#"{ "t": "a\nb", "n": 1.50, "b": true, "z": null, "o": { "x":  1 }, "l": [ 1,2 ], "": "nothing" }"#;
    let (_folder, fleetfoot) = started(values, &[GET]);
    for (key, text) in [
        ("t", "a\nb"),
        ("n", "1.50"),
        ("b", "true"),
        ("z", "null"),
        ("o", r#"{ "x":  1 }"#),
        ("l", "[ 1,2 ]"),
    ] {
        let answer = fleetfoot.get(&format!("/get/{key}"));
        assert_eq!((answer.status, answer.text().as_str()), (200, text), "{key}");
        assert_eq!(answer.field("cache-control"), Some("no-cache"));
        let tag = answer.joined("etag");
        assert_eq!(fleetfoot.get_with(&format!("/get/{key}"), &format!("If-None-Match: {tag}")).status, 304);
    }
    assert_eq!(fleetfoot.get("/get/none").status, 404);
}

#[test]
fn a_changed_file_is_read_again_and_a_wrong_one_is_not() {
    let (folder, mut fleetfoot) = started(r#"{ "a": "one" }"#, &[GET]);
    let file = folder.path().join("store.json");
    assert_eq!(fleetfoot.get("/get/a").text(), "one");
    std::fs::write(&file, r#"{ "a": "two" }"#).unwrap();
    fleetfoot.wait_until("changed", |fleetfoot| fleetfoot.get("/get/a").text() == "two");

    std::fs::write(&file, "{ \"a\": \"three\",\n  \"b\" }").unwrap();
    let told = fleetfoot.stderr().wait_for("everything stays as it was").unwrap();
    assert!(told.contains("store.json:2: "), "{told}");
    assert_eq!(fleetfoot.get("/get/a").text(), "two");

    let other = folder.path().join("other.json");
    std::fs::write(&other, r#"{ "a": "four" }"#).unwrap();
    std::fs::rename(&other, &file).unwrap();
    fleetfoot.wait_until("replaced", |fleetfoot| fleetfoot.get("/get/a").text() == "four");

    std::fs::remove_file(&file).unwrap();
    fleetfoot.stderr().wait_for("it cannot be read").unwrap();
    assert_eq!(fleetfoot.get("/get/a").text(), "four");
}

#[test]
fn a_broken_file_is_found_before_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let (file, configuration) = (folder.path().join("store.json"), folder.path().join("fleetfoot.yaml"));
    std::fs::write(&configuration, config(&file, &[GET])).unwrap();
    let check = || run_to_end(&["check", configuration.to_str().unwrap()]);
    for (values, told) in
        [("{ \"a\": 1,\n \"a\": 2 }", "store.json:2: `a` stands there twice"), ("[]", "store.json:1: ")]
    {
        std::fs::write(&file, values).unwrap();
        let finished = check();
        assert!(finished.stderr.contains(told), "{finished:?}");
    }
    std::fs::write(&file, "{}").unwrap();
    assert!(check().stdout.contains("ok"));
}
