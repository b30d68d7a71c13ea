//! What the disk tier keeps over a restart: answers, and that they were purged.
//!
//! The disk answers from threads of its own, so that time cannot stand still here.

use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cache::{Scope, Store};
use disk::Disk;
use http::Method;
use plan::CachePolicy;
use tokio::runtime::{Builder, LocalOptions};

use crate::origin::{AUTHORITY, Origin, Reply, request};

const FRESH: &[(&str, &str)] = &[("cache-control", "max-age=600"), ("etag", "\"1\""), ("cache-tag", "t")];
const LONG: Duration = Duration::from_secs(30);

fn story<F: Future<Output = ()>>(tell: impl FnOnce() -> F) {
    let runtime = Builder::new_current_thread().enable_time().build_local(LocalOptions::default()).unwrap();
    runtime.block_on(async { tokio::time::timeout(LONG, tell()).await.unwrap() });
}

/// A fleetfoot started on this folder.
fn start(folder: &Path) -> (Origin, Arc<Disk>) {
    let disk = Arc::new(Disk::open(folder, 64 * 1024 * 1024).unwrap());
    let mut origin = Origin::new(CachePolicy::default());
    origin.store =
        Store::with_tiers(16 * 1024 * 1024, cache::Tiers { disk: Some(Arc::clone(&disk)), redis: None })
            .unwrap();
    (origin, disk)
}

/// Ends it properly.
fn end(origin: Origin, disk: Arc<Disk>) {
    assert!(disk.close(LONG));
    drop((origin, disk));
}

#[test]
fn what_was_stored_is_there_after_a_restart() {
    story(|| async {
        let folder = tempfile::tempdir().unwrap();
        let (origin, disk) = start(folder.path());
        origin.will(Reply::new(200, FRESH, "kept"));
        origin.get("/", &[]).await;
        end(origin, disk);
        let (origin, _disk) = start(folder.path());
        let told = origin.get("/", &[]).await;
        assert_eq!((told.text(), told.status), ("kept", 200));
        assert!(told.cache.contains("hit"), "{}", told.cache);
        assert!(origin.has_stored("/"), "and in memory again");
    });
}

#[test]
fn what_was_purged_does_not_come_back_with_a_restart() {
    story(|| async {
        let folder = tempfile::tempdir().unwrap();
        let (origin, disk) = start(folder.path());
        for target in ["/tagged", "/written"] {
            origin.will(Reply::new(200, FRESH, "old"));
            origin.get(target, &[]).await;
        }
        origin.will(Reply::new(200, &[("cache-control", "max-age=600")], "other"));
        origin.get("/other", &[]).await;
        assert!(disk.settle(LONG));
        origin.purge(Scope::Tag("t".into()), false);
        origin.will(Reply::new(204, &[], ""));
        origin.ask(request(Method::PUT, "/written", &[])).await;
        drop((origin, disk));
        let (origin, disk) = start(folder.path());
        for target in ["/tagged", "/written"] {
            origin.will(Reply::new(200, FRESH, "new"));
            assert_eq!(origin.get(target, &[]).await.text(), "new");
        }
        assert_eq!(origin.get("/other", &[]).await.text(), "other");
        end(origin, disk);
        let (origin, _disk) = start(folder.path());
        assert_eq!(origin.get("/tagged", &[]).await.text(), "new", "what came after the purge stays");
    });
}

#[test]
fn a_soft_purge_asks_again_after_a_restart() {
    story(|| async {
        let folder = tempfile::tempdir().unwrap();
        let (origin, disk) = start(folder.path());
        origin.will(Reply::new(200, FRESH, "kept"));
        origin.get("/", &[]).await;
        assert!(disk.settle(LONG));
        origin.purge(Scope::Host(AUTHORITY.into()), true);
        end(origin, disk);
        let (origin, _disk) = start(folder.path());
        origin.will(Reply::new(304, &[("etag", "\"1\"")], ""));
        let told = origin.get("/", &[]).await;
        assert_eq!(told.text(), "kept");
        assert!(told.cache.contains("fwd=stale; fwd-status=304"), "{}", told.cache);
    });
}

#[test]
fn long_content_streams_from_the_disk() {
    story(|| async {
        let folder = tempfile::tempdir().unwrap();
        let (origin, disk) = start(folder.path());
        let long: &'static str = "0123456789".repeat(300_000).leak();
        origin.will(Reply::new(200, FRESH, long));
        origin.get("/", &[]).await;
        end(origin, disk);
        let (origin, _disk) = start(folder.path());
        let told = origin.get("/", &[]).await;
        assert!(told.text() == long && told.cache.contains("hit"), "{}", told.cache);
        assert!(!origin.has_stored("/"), "it does not fill the memory");
        assert_eq!(origin.get("/", &[("range", "bytes=10-14")]).await.text(), "01234");
        assert_eq!(origin.get("/", &[("if-none-match", "\"1\"")]).await.status, 304);
    });
}

#[test]
fn an_answer_that_is_soon_useless_is_not_written() {
    story(|| async {
        let folder = tempfile::tempdir().unwrap();
        let (origin, disk) = start(folder.path());
        origin.will(Reply::new(200, &[("cache-control", "max-age=5")], "live"));
        origin.get("/", &[]).await;
        assert!(disk.settle(LONG));
        assert_eq!(disk.figures().records, 0);
    });
}

#[test]
fn what_the_origin_can_confirm_is_kept_for_asking() {
    story(|| async {
        let folder = tempfile::tempdir().unwrap();
        let (origin, disk) = start(folder.path());
        let soon_stale = &[("cache-control", "no-cache"), ("etag", "\"1\"")];
        origin.will(Reply::new(200, soon_stale, "kept")).will(Reply::new(304, soon_stale, ""));
        origin.get("/", &[]).await;
        origin.get("/", &[]).await;
        assert!(disk.settle(LONG));
        assert_eq!(disk.figures().writes, 1, "a confirmation costs no write");
        end(origin, disk);
        let (origin, _disk) = start(folder.path());
        origin.will(Reply::new(304, soon_stale, ""));
        let told = origin.get("/", &[]).await;
        assert_eq!(told.text(), "kept");
        assert!(told.cache.contains("fwd-status=304"), "{}", told.cache);
    });
}

#[test]
fn a_newer_answer_that_is_not_worth_a_write_drives_out_the_older() {
    story(|| async {
        for newer in [
            Reply::new(200, &[("cache-control", "max-age=5")], "second"),
            Reply::new(304, &[("cache-control", "max-age=1"), ("etag", "\"1\""), ("age", "2")], ""),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let (origin, disk) = start(folder.path());
            origin.will(Reply::new(200, FRESH, "first"));
            origin.get("/", &[]).await;
            origin.will(newer);
            origin.get("/", &[("cache-control", "no-cache")]).await;
            end(origin, disk);
            let (origin, _disk) = start(folder.path());
            origin.will(Reply::new(200, FRESH, "third"));
            assert_eq!(origin.get("/", &[]).await.text(), "third");
        }
    });
}

#[test]
fn what_is_on_disk_never_takes_the_place_of_what_is_in_memory() {
    story(|| async {
        let folder = tempfile::tempdir().unwrap();
        let (origin, disk) = start(folder.path());
        origin.will(Reply::new(200, FRESH, "first"));
        origin.get("/", &[]).await;
        assert!(disk.settle(LONG));
        origin.will(Reply::new(200, &[("cache-control", "max-age=9")], "second"));
        origin.get("/", &[("cache-control", "no-cache")]).await;
        origin.will(Reply::new(200, &[], "for one user"));
        origin.get("/", &[("authorization", "x")]).await;
        assert_eq!(origin.get("/", &[]).await.text(), "second");
    });
}

#[test]
fn many_purges_keep_the_journal_short_and_the_disk_full() {
    story(|| async {
        let folder = tempfile::tempdir().unwrap();
        let (origin, disk) = start(folder.path());
        for number in 0..10_000 {
            let scope = Scope::Target { authority: AUTHORITY.into(), target: "/always/the/same".into() };
            origin.purge(scope, false);
            if number % 1000 == 0 {
                origin.store.sweep(message::Clock::now());
            }
        }
        origin.store.sweep(message::Clock::now());
        assert!(disk.journal().bytes() <= disk.journal().capacity() / 2, "{}", disk.journal().bytes());
        origin.will(Reply::new(200, FRESH, "kept"));
        origin.get("/", &[]).await;
        assert!(disk.settle(LONG));
        origin.purge(Scope::Tag("another".into()), false);
        assert!(disk.settle(LONG));
        assert_eq!(disk.figures().records, 1);
    });
}

#[test]
fn a_journal_that_overflowed_begins_anew() {
    story(|| async {
        let folder = tempfile::tempdir().unwrap();
        let (origin, disk) = start(folder.path());
        let mut number = 0_u32;
        // Without a sweep nobody shortens it.
        while disk.journal().bytes() < disk.journal().capacity() - 100 {
            origin.purge(Scope::Tag(number.to_string().into()), false);
            number += 1;
        }
        origin.purge(Scope::Host(AUTHORITY.into()), false);
        origin.purge(Scope::Host(AUTHORITY.into()), false);
        assert_eq!(origin.store.after_restart(), Some(disk::Noted::EmptiesAll));
        origin.store.sweep(message::Clock::now());
        assert_eq!(origin.store.after_restart(), Some(disk::Noted::Kept));
        assert!(disk.journal().bytes() < disk.journal().capacity() / 2);
        origin.will(Reply::new(200, FRESH, "kept"));
        origin.get("/", &[]).await;
        assert!(disk.settle(LONG));
        origin.purge(Scope::Tag("another".into()), false);
        assert!(disk.settle(LONG));
        assert_eq!(disk.figures().records, 1);
    });
}
