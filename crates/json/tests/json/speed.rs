//! How fast it is, beside serde_json: `cargo test --release -p json -- --ignored --nocapture`.
#![allow(clippy::print_stdout, reason = "figures for whoever asked for them")]

use std::collections::HashMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use json::Step;
use serde::Deserialize;
use serde_json::value::RawValue;

/// A list of users within a map, and the last thing asked for behind it.
fn document(bytes: usize) -> String {
    let mut users = Vec::new();
    while users.iter().map(String::len).sum::<usize>() < bytes - 150 {
        let id = users.len();
        users.push(format!(
            r#"{{"id":{id},"name":"User \"{id}\" of many","active":true,"score":{id}.25,"tags":["a","b"],"address":{{"city":"Ulm","zip":"89073"}}}}"#
        ));
    }
    format!(r#"{{"users":[{}],"page":{{"next":"/users?page=2","count":{}}}}}"#, users.join(","), users.len())
}

/// Microseconds of one, in the best of many batches: whatever else runs disturbs some of them.
fn time(mut work: impl FnMut()) -> f64 {
    let mut batch = || {
        let start = Instant::now();
        (0..20).for_each(|_| work());
        start.elapsed().as_secs_f64() * 1e6 / 20.0
    };
    let start = Instant::now();
    let mut best = f64::INFINITY;
    while start.elapsed() < Duration::from_millis(500) {
        best = best.min(batch());
    }
    best
}

#[derive(Deserialize)]
struct Borrowed<'j>(#[serde(borrow)] HashMap<&'j str, &'j RawValue>);

#[test]
#[ignore = "a measurement"]
fn figures() {
    let path = [Step::Field("page".into()), Step::Field("count".into())];
    for kib in [1, 100] {
        let json = document(kib * 1024);
        let mib = json.len() as f64 / 1e6;
        let rate = |us: f64| format!("{us:8.2} µs {:6.0} MB/s", mib / (us / 1e6));
        println!("{kib} KiB ({} bytes)", json.len());
        println!("  is_valid       {}", rate(time(|| assert!(json::is_valid(black_box(json.as_bytes()))))));
        println!(
            "  find           {}",
            rate(time(|| assert!(json::find(black_box(&json), &path).is_some())))
        );
        let raw = |json: &str| {
            let outer: Borrowed<'_> = serde_json::from_str(json).unwrap();
            let inner: Borrowed<'_> = serde_json::from_str(outer.0["page"].get()).unwrap();
            inner.0.contains_key("count")
        };
        println!("  find, RawValue {}", rate(time(|| assert!(raw(black_box(&json))))));
        let whole = |json: &str| {
            let value: serde_json::Value = serde_json::from_str(json).unwrap();
            value["page"]["count"].is_number()
        };
        println!("  find, Value    {}", rate(time(|| assert!(whole(black_box(&json))))));
        let mut out = Vec::new();
        let pick = json::Shape::Pick(vec!["users.id".into(), "users.address.city".into(), "page".into()]);
        let picked = time(|| {
            out.clear();
            json::reshape(black_box(&json), &pick, &mut out);
        });
        println!("  pick           {}", rate(picked));
        let users =
            json::find(&json, &path[..0]).and_then(|json| json::find(json, &[Step::Field("users".into())]));
        let merged = time(|| {
            out.clear();
            json::merge(
                black_box(users.unwrap()),
                users.unwrap(),
                "id",
                "id",
                Some("same"),
                usize::MAX,
                &mut out,
            )
            .unwrap();
        });
        println!("  merge          {}", rate(merged));
    }
}
