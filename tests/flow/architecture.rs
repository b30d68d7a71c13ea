//! The flow is one-way: a crate uses only what stands below it in ARCHITECTURE.md's list.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Crates in the order of the list.
fn order() -> Vec<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ARCHITECTURE.md");
    let text = std::fs::read_to_string(file).expect("ARCHITECTURE.md lies at the root");
    text.lines()
        .filter_map(|line| line.strip_prefix("crates/"))
        .filter_map(|rest| rest.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

/// Each package under crates/, by its directory, with the directories of those it uses (those for tests aside).
fn uses() -> BTreeMap<String, Vec<String>> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs these tests, so it is there");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON");
    let packages = metadata["packages"].as_array().expect("packages is a list");
    packages
        .iter()
        .filter_map(|package| Some((directory(&package["manifest_path"])?, used(package))))
        .collect()
}

fn used(package: &Value) -> Vec<String> {
    let dependencies = package["dependencies"].as_array().expect("dependencies is a list");
    let for_more_than_tests = dependencies.iter().filter(|dependency| dependency["kind"] != "dev");
    for_more_than_tests.filter_map(|dependency| directory(&dependency["path"])).collect()
}

/// `…/crates/cache` or `…/crates/cache/Cargo.toml`: `cache`.
fn directory(path: &Value) -> Option<String> {
    let (_, rest) = path.as_str()?.rsplit_once("/crates/")?;
    rest.split('/').next().map(str::to_owned)
}

#[test]
fn every_crate_is_on_the_list() {
    let order = order();
    let unlisted: Vec<_> = uses().into_keys().filter(|name| !order.contains(name)).collect();
    assert!(unlisted.is_empty(), "not in ARCHITECTURE.md: {unlisted:?}");
}

#[test]
fn a_crate_uses_only_what_stands_below_it() {
    let order = order();
    let place = |name: &str| order.iter().position(|listed| listed == name);
    let mut upwards = Vec::new();
    for (name, used) in uses() {
        for other in used {
            if place(&other) <= place(&name) {
                upwards.push(format!("{name} uses {other}, which stands above it"));
            }
        }
    }
    assert!(upwards.is_empty(), "{upwards:#?}");
}
