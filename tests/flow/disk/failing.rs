//! A disk tier that cannot be written: purges that were answered stay in force, or the answer says that they do not; it is
//! told once, and it comes back by itself.

use std::path::Path;

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::{Value, json};
use testkit::Fleetfoot;

use super::folder::{kept, until_on_disk};
use crate::control_port::port::{counting, get, purge};

const ANSWERS: u32 = 50;

/// No file may grow over so many bytes: as on a full disk, what is laid down can be written over, and nothing added.
fn limit_files(fleetfoot: &Fleetfoot, most: Option<u64>) {
    let pid = i32::try_from(fleetfoot.pid()).ok().and_then(Pid::from_raw);
    prlimit(pid, Resource::Fsize, Rlimit { current: most, maximum: None }).expect("it is our child");
}

fn fill(fleetfoot: &mut Fleetfoot) {
    for number in 0..ANSWERS {
        fleetfoot.get(&format!("/{number}"));
    }
    until_on_disk(fleetfoot, ANSWERS);
}

fn forget(fleetfoot: &Fleetfoot, number: u32) -> Value {
    purge(fleetfoot, &json!({"url": format!("http://example.test/{number}")}))
}

/// What `/readyz` says of the disk tier, which never makes the instance unfit.
fn trouble(fleetfoot: &Fleetfoot) -> Option<String> {
    let ready = get(fleetfoot, "/readyz");
    assert_eq!(ready["ready"], true);
    let degraded = ready["degraded"].as_array()?.iter().find(|check| check["check"] == "tier disk")?;
    degraded["missing"].as_str().map(str::to_owned)
}

fn full(folder: &Path) -> u64 {
    folder.join("journal").metadata().expect("there is one").len()
}

#[test]
fn what_was_purged_on_a_full_disk_does_not_come_back_with_a_restart() {
    let (origin, folder) = (counting("Cache-Tag: t"), tempfile::tempdir().unwrap());
    let mut fleetfoot = kept(&origin, folder.path());
    fill(&mut fleetfoot);
    assert_eq!(forget(&fleetfoot, 0)["after_restart"], "in force");
    limit_files(&fleetfoot, Some(full(folder.path())));
    for number in 0..ANSWERS {
        let done = forget(&fleetfoot, number);
        assert_eq!(done["after_restart"], "in force: the disk tier begins empty");
    }
    let said = trouble(&fleetfoot).expect("it is degraded");
    assert!(said.contains("journal") && said.contains("begins with an empty disk tier"), "{said}");
    assert!(fleetfoot.metrics().sum("fleetfoot_disk_up", &[]) < 1.0);
    let told = fleetfoot.stderr().all().iter().filter(|line| line.contains("the disk tier fails")).count();
    assert_eq!(told, 1, "{:?}", fleetfoot.stderr().all());
    drop(fleetfoot); // kill -9
    let fleetfoot = kept(&origin, folder.path());
    for number in 0..ANSWERS {
        assert!(!fleetfoot.get(&format!("/{number}")).is_hit(), "{number} came back");
    }
    assert_eq!(trouble(&fleetfoot), None);
}

#[test]
fn a_disk_that_was_full_for_a_while_loses_nothing_but_what_was_purged() {
    let (origin, folder) = (counting("Cache-Tag: t"), tempfile::tempdir().unwrap());
    let mut fleetfoot = kept(&origin, folder.path());
    fill(&mut fleetfoot);
    limit_files(&fleetfoot, Some(full(folder.path())));
    assert_eq!(forget(&fleetfoot, 1)["after_restart"], "in force: the disk tier begins empty");
    limit_files(&fleetfoot, None);
    fleetfoot.wait_until("well again", |fleetfoot| trouble(fleetfoot).is_none());
    assert_eq!(forget(&fleetfoot, 2)["after_restart"], "in force");
    drop(fleetfoot); // kill -9
    let fleetfoot = kept(&origin, folder.path());
    for number in 0..ANSWERS {
        assert_eq!(fleetfoot.get(&format!("/{number}")).is_hit(), !(1..=2).contains(&number), "{number}");
    }
}

#[test]
fn where_not_even_that_can_be_written_it_is_said() {
    let (origin, folder) = (counting("Cache-Tag: t"), tempfile::tempdir().unwrap());
    let mut fleetfoot = kept(&origin, folder.path());
    fill(&mut fleetfoot);
    // Not a byte, not even in place.
    limit_files(&fleetfoot, Some(0));
    // Its folder would do as well: nothing may be taken away from it either.
    let journal = folder.path().join("journal");
    if !immutable(&journal, true) {
        return;
    }
    let done = forget(&fleetfoot, 1);
    let said = trouble(&fleetfoot).expect("it is degraded");
    immutable(&journal, false);
    assert_eq!(
        (&done["in_force"], &done["after_restart"]),
        (&json!(true), &json!("not in force: the disk tier cannot be written"))
    );
    assert!(said.contains("comes back with a restart"), "{said}");
    assert!(!fleetfoot.get("/1").is_hit(), "here it is in force all the same");
    // As soon as it can be written, the next purge gives the tier up.
    limit_files(&fleetfoot, Some(full(folder.path())));
    assert_eq!(forget(&fleetfoot, 2)["after_restart"], "in force: the disk tier begins empty");
    drop(fleetfoot);
    assert!(!kept(&origin, folder.path()).get("/3").is_hit());
}

/// Whether nobody may change or remove the file, which only some file systems offer, and only to root.
fn immutable(file: &Path, yes: bool) -> bool {
    let change = if yes { "+i" } else { "-i" };
    let changed = std::process::Command::new("chattr").arg(change).arg(file).output();
    changed.is_ok_and(|output| output.status.success())
}
