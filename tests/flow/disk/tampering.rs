//! A folder that somebody wrote into: what is damaged is fetched anew, and never served.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use serde_json::json;
use testkit::{Origin, ok};

use super::folder::{kept, stop, until_on_disk};
use crate::control_port::port::purge;
use crate::setup::each;

const TARGETS: u32 = 40;

fn content(target: &str) -> Vec<u8> {
    let length = if target == "/0" { 2_500_000 } else { 3_000 };
    format!("{target} ").repeat(length / (target.len() + 1)).into_bytes()
}

fn echoing() -> Origin {
    let origin = Origin::start();
    origin.on("*").answer(|request| ok("Cache-Control: max-age=600\nCache-Tag: t", content(&request.target)));
    origin
}

/// A folder in which all targets are stored.
fn filled(origin: &Origin) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let mut fleetfoot = kept(origin, folder.path());
    for number in 0..TARGETS {
        fleetfoot.get(&format!("/{number}"));
    }
    until_on_disk(&mut fleetfoot, TARGETS);
    stop(fleetfoot);
    folder
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let files = folder.read_dir().expect("the folder is there").flatten().map(|file| file.path());
    let mut files: Vec<_> = files.filter(|file| file.to_string_lossy().ends_with(ending)).collect();
    files.sort();
    assert!(!files.is_empty(), "no {ending} in {}", folder.display());
    files
}

/// Turns one bit in every so many bytes.
fn flip(file: &Path, every: u64) {
    let open = fs::File::options().read(true).write(true).open(file).expect("the file is there");
    let mut byte = [0];
    for at in (every / 2..open.metadata().expect("it is open").len()).step_by(every as usize) {
        open.read_exact_at(&mut byte, at).expect("it is that long");
        open.write_all_at(&[byte[0] ^ 0x10], at).expect("it can be written");
    }
}

/// Starts with this folder and asks for everything, twice: all must be right the second time, and nothing wrong before.
/// Gives how many came from the folder.
fn all_is_right(origin: &Origin, folder: &Path) -> usize {
    let fleetfoot = kept(origin, folder);
    let mut hits = 0;
    for round in 0..2 {
        for number in 0..TARGETS {
            let target = format!("/{number}");
            let mut client = fleetfoot.connect();
            client.send(format!("GET {target} HTTP/1.1\r\nHost: example.test\r\n\r\n"));
            match client.try_answer_to("GET") {
                Ok(answer) => {
                    assert_eq!(answer.status, 200, "{target}");
                    assert!(answer.body == content(&target), "{target} is wrong, {:?}", answer.head);
                    hits += usize::from(round == 0 && answer.is_hit());
                }
                // Found damaged while it was being sent: the client sees the break.
                Err(_) => assert!(round == 0 && number == 0, "{target} broke off"),
            }
        }
    }
    hits
}

/// What somebody does to a folder, or a file.
type Act = fn(&Path);

#[test]
fn an_untouched_folder_has_everything() {
    let origin = echoing();
    let folder = filled(&origin);
    assert_eq!(all_is_right(&origin, folder.path()), TARGETS as usize);
}

#[test]
fn flipped_bits_are_never_served() {
    let origin = echoing();
    each([37, 1_000, 10_007, 100_003, 1_000_003].map(|every| (every.to_string(), every)), |_, every| {
        let folder = filled(&origin);
        for file in files(folder.path(), ".segment") {
            flip(&file, every);
        }
        all_is_right(&origin, folder.path());
    });
}

#[test]
fn flipped_bits_under_a_running_program_are_never_served() {
    let origin = echoing();
    let folder = filled(&origin);
    let fleetfoot = kept(&origin, folder.path());
    for file in files(folder.path(), ".segment") {
        flip(&file, 1_000);
    }
    for number in 1..TARGETS {
        let target = format!("/{number}");
        let answer = fleetfoot.get(&target);
        assert!(answer.status == 200 && answer.body == content(&target), "{target}");
    }
}

#[test]
fn cut_files_are_never_served() {
    let origin = echoing();
    each([1, 64, 1_000, 50_000, 2_000_000].map(|bytes| (bytes.to_string(), bytes)), |_, bytes| {
        let folder = filled(&origin);
        for file in files(folder.path(), ".segment") {
            let file = fs::File::options().write(true).open(file).unwrap();
            let length = file.metadata().unwrap().len();
            file.set_len(length.saturating_sub(bytes)).unwrap();
        }
        all_is_right(&origin, folder.path());
    });
}

#[test]
fn files_that_are_gone_or_strange_do_no_harm() {
    let origin = echoing();
    let acts: [(&str, Act); 7] = [
        ("an empty segment", |folder| fs::write(folder.join("000000ff.segment"), "").unwrap()),
        ("a segment of noise", |folder| fs::write(folder.join("000000fe.segment"), [0xa5; 10_000]).unwrap()),
        ("a copied segment", |folder| {
            assert!(fs::copy(&files(folder, ".segment")[0], folder.join("000000fd.segment")).is_ok());
        }),
        ("segments gone", |folder| {
            for file in files(folder, ".segment") {
                fs::remove_file(file).unwrap();
            }
        }),
        ("no identity", |folder| fs::remove_file(folder.join("identity")).unwrap()),
        ("another identity", |folder| flip(&folder.join("identity"), 24)),
        ("an empty identity", |folder| fs::write(folder.join("identity"), "").unwrap()),
    ];
    each(acts, |_, act| {
        let folder = filled(&origin);
        act(folder.path());
        all_is_right(&origin, folder.path());
    });
}

#[test]
fn a_damaged_journal_brings_nothing_back_that_was_purged() {
    let acts: [(&str, Act); 4] = [
        ("flipped", |journal| flip(journal, 16)),
        ("cut", |journal| fs::File::options().write(true).open(journal).unwrap().set_len(3).unwrap()),
        ("empty", |journal| fs::write(journal, "").unwrap()),
        ("gone", |journal| fs::remove_file(journal).unwrap()),
    ];
    each(acts, |_, act| {
        let (origin, folder) = (Origin::start(), tempfile::tempdir().unwrap());
        let fields = "Cache-Control: max-age=600\nCache-Tag: t";
        origin.on("/").replies([ok(fields, "old"), ok(fields, "new")]);
        let mut fleetfoot = kept(&origin, folder.path());
        fleetfoot.get("/");
        until_on_disk(&mut fleetfoot, 1);
        purge(&fleetfoot, &json!({"tag": "t"}));
        drop(fleetfoot); // kill -9
        act(&folder.path().join("journal"));
        assert_eq!(kept(&origin, folder.path()).get("/").text(), "new");
    });
}
