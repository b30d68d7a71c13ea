//! What the stories of this folder begin with, and that a disk tier's folder is its own: nobody else's files are touched,
//! and no two programs share one.

use std::path::Path;

use testkit::{Command, Fleetfoot, Origin, ok};

/// A config with a disk tier in this folder, and so much memory.
pub(crate) fn config(origin: &Origin, folder: &Path, memory: &str, cache: &str) -> String {
    format!(
        "listen: {{ http: 127.0.0.1:0, admin: 127.0.0.1:0 }}\ncores: 1\nmemory: {memory}\n\
         disk: {{ folder: \"{}\", size: 64MiB }}\nsources: {{ api: {{ http: \"{}\" }} }}\n\
         policies: {{ cached: {{ cache: {{ {cache} }} }} }}\nroutes: [ {{ match: /**, proxy: api, use: cached }} ]\n",
        folder.display(),
        origin.url()
    )
}

/// The usual one.
pub(crate) fn kept(origin: &Origin, folder: &Path) -> Fleetfoot {
    Fleetfoot::start(&config(origin, folder, "64MiB", "ttl: origin, tags: [Cache-Tag]"))
}

/// Ends it in order.
pub(crate) fn stop(mut fleetfoot: Fleetfoot) {
    fleetfoot.terminate();
    assert!(fleetfoot.wait_for_exit().success());
}

/// Ends it in order and starts it again.
pub(crate) fn restarted(fleetfoot: Fleetfoot, origin: &Origin, folder: &Path) -> Fleetfoot {
    stop(fleetfoot);
    kept(origin, folder)
}

/// Waits until so many answers are on disk.
pub(crate) fn until_on_disk(fleetfoot: &mut Fleetfoot, records: u32) {
    fleetfoot.wait_for_metrics("on disk", |metrics| {
        metrics.sum("fleetfoot_disk_records", &[]) >= f64::from(records)
    });
}

/// Waits until it is decided of so many answers whether they are written.
pub(crate) fn until_decided(fleetfoot: &mut Fleetfoot, answers: u32) {
    fleetfoot.wait_for_metrics("written", |metrics| {
        let written = metrics.sum("fleetfoot_disk_writes_total", &[]);
        written + metrics.sum("fleetfoot_disk_dropped_total", &[]) >= f64::from(answers)
    });
}

/// Starts the program with this folder, which it must refuse; what it said.
fn refused(origin: &Origin, folder: &Path) -> String {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("fleetfoot.yaml");
    std::fs::write(&file, config(origin, folder, "64MiB", "ttl: origin")).expect("a file in it");
    let finished = Command::new(&["run", &file.to_string_lossy()]).run("");
    assert_ne!(finished.code, Some(0), "{finished:?}");
    assert!(finished.stderr.contains(&*folder.to_string_lossy()), "it says which folder: {finished:?}");
    assert!(!finished.stderr.contains("panicked"), "{finished:?}");
    finished.stderr
}

#[test]
fn two_programs_do_not_share_a_folder() {
    let (origin, folder) = (Origin::start(), tempfile::tempdir().unwrap());
    origin.on("*").reply(ok("Cache-Control: max-age=600", "x"));
    let first = kept(&origin, folder.path());
    first.get("/");
    let said = refused(&origin, folder.path());
    assert!(said.contains("in use by another process"), "{said}");
    assert!(first.get("/").is_hit());
    // Nor does the second one spoil anything: what the first one has is there after its end.
    let second = restarted(first, &origin, folder.path());
    assert!(second.get("/").is_hit());
}

#[test]
fn a_folder_with_somebody_elses_files_is_left_alone() {
    let (origin, folder) = (Origin::start(), tempfile::tempdir().unwrap());
    let file = folder.path().join("thesis.txt");
    std::fs::write(&file, "three years of work").unwrap();
    let said = refused(&origin, folder.path());
    assert!(said.contains("a folder of its own"), "{said}");
    assert_eq!(std::fs::read(&file).unwrap(), b"three years of work");
    assert_eq!(folder.path().read_dir().unwrap().count(), 1, "and nothing was put beside it");
}

#[test]
fn a_folder_that_cannot_be_one_is_named() {
    let (origin, folder) = (Origin::start(), tempfile::tempdir().unwrap());
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    refused(&origin, &file);
    refused(&origin, &file.join("below"));
}

#[test]
fn a_folder_that_is_not_there_is_made_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let (origin, folder) = (Origin::start(), tempfile::tempdir().unwrap());
    origin.on("*").reply(ok("Cache-Control: max-age=600", "x"));
    let path = folder.path().join("some/where");
    let mut fleetfoot = kept(&origin, &path);
    fleetfoot.get("/");
    until_on_disk(&mut fleetfoot, 1);
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o77, 0);
    for file in path.read_dir().unwrap() {
        let file = file.unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o77, 0, "{file:?}");
    }
}
