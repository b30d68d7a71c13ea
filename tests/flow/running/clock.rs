//! The wall clock is set while the program runs: dates follow it, ages and lifetimes do not.
//!
//! Another clock is what `libfaketime` of Debian gives a process; where it is not installed, there is nothing to try here,
//! and the tests of `message` and `rules` have to do.

use std::path::{Path, PathBuf};

use serde_json::json;
use testkit::{Fleetfoot, Origin, http_date, ok};

use crate::control_port::port::purge;
use crate::disk::folder as disk;
use crate::hostile::signed::{MAIN, signed_as};

/// A program whose wall clock is set by a file.
pub(crate) struct Machine {
    pub(crate) fleetfoot: Fleetfoot,
    offset: PathBuf,
    _folder: tempfile::TempDir,
}

impl Machine {
    /// Started with a clock that is so many seconds ahead.
    pub(crate) fn start(config: &str, ahead: i64) -> Option<Self> {
        let library = library()?;
        let folder = tempfile::tempdir().expect("a temporary directory");
        let offset = folder.path().join("offset");
        set(&offset, ahead);
        let variables = [
            ("LD_PRELOAD", library.to_string_lossy()),
            ("FAKETIME_TIMESTAMP_FILE", offset.to_string_lossy()),
            ("FAKETIME_NO_CACHE", "1".into()),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1".into()),
            ("NO_FAKE_STAT", "1".into()),
        ];
        let variables: Vec<_> = variables.iter().map(|(name, value)| (*name, &**value)).collect();
        let fleetfoot = Fleetfoot::start_among(config, &variables);
        Some(Machine { fleetfoot, offset, _folder: folder })
    }

    /// Somebody sets it.
    fn set(&self, ahead: i64, said: &str) {
        set(&self.offset, ahead);
        assert!(self.fleetfoot.stderr().wait_for(said).is_some(), "{:?}", self.fleetfoot.stderr().all());
    }
}

fn set(offset: &Path, ahead: i64) {
    let fresh = offset.with_extension("new");
    std::fs::write(&fresh, format!("{ahead:+}")).expect("a file in the folder");
    std::fs::rename(fresh, offset).expect("a rename within the folder");
}

fn library() -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib").ok()?.filter_map(Result::ok);
    folders.map(|folder| folder.path().join("faketime/libfaketimeMT.so.1")).find(|library| library.exists())
}

fn config(origin: &Origin) -> String {
    format!(
        "listen: {{ http: 127.0.0.1:0, admin: 127.0.0.1:0 }}\ncores: 1\n\
         sources: {{ api: {{ http: \"{}\" }} }}\n\
         policies:\n  members: {{ signed: {{ keys: {{ main: \"{MAIN}\" }} }} }}\n  public: {{ cache: {{ ttl: origin }} }}\n\
         routes: [ {{ match: /open/**, proxy: api, use: public }}, {{ match: /**, proxy: api, use: members }} ]\n",
        origin.url()
    )
}

fn seconds(date: &str) -> u64 {
    let date = httpdate::parse_http_date(date).expect("a date");
    date.duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_secs()
}

#[test]
fn a_clock_that_was_an_hour_ahead_at_the_start_makes_nothing_stale_once_it_is_right() {
    let origin = Origin::start();
    origin.on("*").answer(|_| ok(&format!("Cache-Control: max-age=600\nDate: {}", http_date(0)), "x"));
    let Some(machine) = Machine::start(&config(&origin), 3600) else { return };
    let before = machine.fleetfoot.get("/open/before");
    assert_eq!(before.status, 200);
    machine.set(0, "the wall clock was set back by");
    machine.fleetfoot.get("/open/after");
    let after = machine.fleetfoot.get("/open/after");
    assert!(after.is_hit(), "{after:?}");
    assert!(after.age().unwrap_or(0) < 300, "{after:?}");
    // What fleetfoot dates itself has the right hour.
    let refused = machine.fleetfoot.get("/closed");
    assert_eq!(refused.status, 403);
    let off = seconds(refused.field("Date").unwrap()).abs_diff(seconds(&http_date(0)));
    assert!(off < 300, "{refused:?}");
}

#[test]
fn what_is_stored_neither_ages_nor_grows_younger_when_the_clock_is_set() {
    let origin = Origin::start();
    origin.on("*").answer(|_| ok(&format!("Cache-Control: max-age=600\nDate: {}", http_date(0)), "x"));
    let Some(machine) = Machine::start(&config(&origin), 0) else { return };
    machine.fleetfoot.get("/open/x");
    for (ahead, said) in [(3600, "set forward by"), (-3600, "set back by")] {
        machine.set(ahead, said);
        let stored = machine.fleetfoot.get("/open/x");
        assert!(stored.is_hit() && stored.age().unwrap_or(0) < 300, "{stored:?}");
    }
    assert_eq!(origin.count("GET /open/x"), 1);
}

#[test]
fn what_fleetfoot_dates_for_a_head_has_the_date_of_now() {
    let origin = Origin::start();
    origin.on("*").reply("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 0\r\n\r\n");
    let Some(machine) = Machine::start(&config(&origin), 3600) else { return };
    machine.fleetfoot.get("/open/before");
    machine.set(0, "the wall clock was set back by");
    for method in ["HEAD", "GET"] {
        let answer = machine.fleetfoot.send(method, &format!("/open/{method}"), "");
        let off = seconds(answer.field("Date").unwrap()).abs_diff(seconds(&http_date(0)));
        assert!(off < 300, "{method}: {answer:?}");
    }
}

#[test]
fn what_was_made_stale_under_a_clock_that_was_ahead_is_stale_after_a_restart() {
    let origin = Origin::start();
    origin.on("*").answer(|_| ok("Cache-Control: max-age=7200", "x"));
    let folder = tempfile::tempdir().expect("a temporary directory");
    let text = disk::config(&origin, folder.path(), "64MiB", "ttl: origin");
    let Some(mut machine) = Machine::start(&text, 0) else { return };
    machine.fleetfoot.get("/soft");
    disk::until_on_disk(&mut machine.fleetfoot, 1);
    machine.set(3600, "set forward by");
    machine.fleetfoot.get("/later");
    disk::until_on_disk(&mut machine.fleetfoot, 2);
    purge(&machine.fleetfoot, &json!({ "prefix": "/soft", "soft": true }));
    disk::stop(machine.fleetfoot);
    let fleetfoot = Fleetfoot::start(&text);
    for path in ["/soft", "/later"] {
        assert!(
            !fleetfoot.get(path).is_hit(),
            "nobody knows how old {path} is, or for how long it has been stale"
        );
        assert_eq!(origin.count(&format!("GET {path}")), 2);
    }
}

#[test]
fn a_signed_url_that_expired_half_an_hour_ago_is_refused_once_the_clock_is_right() {
    let origin = Origin::start();
    origin.on("*").reply(ok("", "x"));
    let Some(machine) = Machine::start(&config(&origin), -3600) else { return };
    let expired = signed_as("/x", seconds(&http_date(-1800)), "main", MAIN);
    assert_eq!(machine.fleetfoot.get(&expired).status, 200, "an hour ago by its clock");
    machine.set(0, "set forward by");
    assert_eq!(machine.fleetfoot.get(&expired).status, 403);
    let valid = signed_as("/x", seconds(&http_date(1800)), "main", MAIN);
    assert_eq!(machine.fleetfoot.get(&valid).status, 200);
}
