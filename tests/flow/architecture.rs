//! The flow is one-way: a crate uses only what stands below it in ARCHITECTURE.md's list.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn architecture() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ARCHITECTURE.md");
    std::fs::read_to_string(file).expect("ARCHITECTURE.md lies at the root")
}

/// Crates in the order of the list.
fn order() -> Vec<String> {
    architecture()
        .lines()
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

/// What ARCHITECTURE.md says of rooms: `server/life`.
fn rooms() -> BTreeSet<String> {
    let text = architecture();
    let (_, section) = text.split_once("## The rooms of the larger crates").expect("it has that section");
    let (_, block) = section.split_once("```text\n").expect("with a list");
    let (list, _) = block.split_once("```").expect("that ends");
    list.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

/// The folders of a crate, without those of tests.
fn folders(name: &str) -> BTreeSet<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates").join(name).join("src");
    let entries = std::fs::read_dir(source).expect("every crate has sources").flatten();
    let folders = entries.filter(|entry| entry.path().is_dir());
    folders.map(|folder| format!("{name}/{}", folder.file_name().to_string_lossy())).collect()
}

#[test]
fn rooms_are_where_the_map_has_them() {
    let drawn = rooms();
    let crates: BTreeSet<_> = drawn.iter().filter_map(|room| room.split('/').next()).collect();
    let built: BTreeSet<_> = crates.into_iter().flat_map(folders).collect();
    assert_eq!(drawn, built);
}
