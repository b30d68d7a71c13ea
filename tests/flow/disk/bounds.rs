//! A small tier under much content: it keeps to its bytes, forgets the oldest, and purges reach what is on disk alone.

use serde_json::json;
use testkit::{Fleetfoot, Origin, ok};

use super::folder::{config, until_decided, until_on_disk};
use crate::control_port::port::purge;

/// 16 MiB on disk, behind little memory.
fn small(origin: &Origin, folder: &std::path::Path) -> Fleetfoot {
    let text = config(origin, folder, "1MiB", "ttl: origin, tags: [Cache-Tag], stale: 1h");
    Fleetfoot::start(&text.replace("64MiB", "16MiB"))
}

fn content(target: &str) -> String {
    target.repeat(200_000 / target.len())
}

fn echoing() -> Origin {
    let origin = Origin::start();
    origin
        .on("*")
        .answer(|request| ok("Cache-Control: max-age=600\nCache-Tag: all", content(&request.target)));
    origin
}

fn bytes(folder: &std::path::Path) -> u64 {
    let files = folder.read_dir().expect("the folder is there").flatten();
    files.filter_map(|file| file.metadata().ok()).map(|data| data.len()).sum()
}

#[test]
fn a_small_tier_stays_small_and_right() {
    let (origin, folder) = (echoing(), tempfile::tempdir().unwrap());
    let mut fleetfoot = small(&origin, folder.path());
    // Twice what fits.
    for number in 100..260 {
        fleetfoot.get(&format!("/{number}"));
        assert!(bytes(folder.path()) <= 16 << 20, "{} bytes", bytes(folder.path()));
        // What a slow disk cannot take is dropped, and would be missed below.
        if number % 20 == 19 {
            until_decided(&mut fleetfoot, number - 99);
        }
    }
    let mut hits = 0;
    for number in (100..260).rev() {
        let target = format!("/{number}");
        let answer = fleetfoot.get(&target);
        assert!(answer.text() == content(&target), "{target}");
        hits += u32::from(answer.is_hit());
    }
    assert!(hits >= 20, "{hits} hits");
    drop(fleetfoot); // kill -9
    let fleetfoot = small(&origin, folder.path());
    for number in 100..260 {
        let target = format!("/{number}");
        assert!(fleetfoot.get(&target).text() == content(&target), "{target}");
    }
    assert!(bytes(folder.path()) <= 16 << 20, "{} bytes", bytes(folder.path()));
}

#[test]
fn what_is_on_disk_alone_is_purged_too() {
    for call in [json!({"tag": "all"}), json!({"prefix": "/"}), json!({"everything": true})] {
        let (origin, folder) = (echoing(), tempfile::tempdir().unwrap());
        let mut fleetfoot = small(&origin, folder.path());
        for number in 10..40 {
            fleetfoot.get(&format!("/{number}"));
        }
        until_on_disk(&mut fleetfoot, 30);
        let fetched = origin.requests().len();
        purge(&fleetfoot, &call);
        for number in 10..40 {
            assert!(!fleetfoot.get(&format!("/{number}")).is_hit(), "{number} after {call}");
        }
        assert_eq!(origin.requests().len(), fetched + 30);
    }
}

#[test]
fn what_is_on_disk_alone_is_made_stale_too() {
    let (origin, folder) = (echoing(), tempfile::tempdir().unwrap());
    let mut fleetfoot = small(&origin, folder.path());
    for number in 10..40 {
        fleetfoot.get(&format!("/{number}"));
    }
    until_on_disk(&mut fleetfoot, 30);
    purge(&fleetfoot, &json!({"everything": true, "soft": true}));
    for number in 10..40 {
        let answer = fleetfoot.get(&format!("/{number}"));
        assert!(answer.text() == content(&format!("/{number}")));
        assert!(answer.ttl().is_none_or(|left| left <= 0), "{number}: {:?}", answer.head);
    }
}

#[test]
fn a_change_of_the_tier_waits_for_a_restart() {
    let (origin, folder, other) = (echoing(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let fleetfoot = small(&origin, folder.path());
    fleetfoot.get("/10");
    fleetfoot.rewrite(&config(&origin, other.path(), "1MiB", "ttl: origin"));
    fleetfoot.hang_up();
    assert!(fleetfoot.stderr().wait_for("`disk` changes only with a restart").is_some());
    assert!(fleetfoot.get("/10").is_hit());
    assert_eq!(other.path().read_dir().unwrap().count(), 0);
}
