//! Against a model: a map of what was handed in. Small enough that eviction is at work all the time.

use std::collections::HashMap;

use disk::{Disk, Settings};
use proptest::prelude::*;

use crate::sample::{LONG, size, store, version, wait};

#[derive(Clone, Debug)]
enum Step {
    Store { key: u64, length: usize },
    Read { key: u64 },
    Remove { key: u64 },
    Clear,
    Settle,
    Reopen { close: bool },
}

fn step() -> impl Strategy<Value = Step> {
    let key = 0..60u64;
    let length = prop_oneof![8 => 0..4_000usize, 2 => 60_000..70_000usize, 1 => 200_000..330_000usize];
    prop_oneof![
        20 => (key.clone(), length).prop_map(|(key, length)| Step::Store { key, length }),
        20 => key.clone().prop_map(|key| Step::Read { key }),
        5 => key.prop_map(|key| Step::Remove { key }),
        1 => Just(Step::Clear),
        5 => Just(Step::Settle),
        2 => any::<bool>().prop_map(|close| Step::Reopen { close }),
    ]
}

/// What may be read: the newest version, or nothing. After the tier was dropped without being closed, an older one
/// whose successors were all still waiting to be written.
#[derive(Default)]
struct Model {
    newest: HashMap<u64, Option<u64>>,
    older: HashMap<u64, Vec<u64>>,
    settled: HashMap<u64, Option<u64>>,
}

impl Model {
    fn set(&mut self, key: u64, version: Option<u64>) {
        if let Some(Some(old)) = self.newest.insert(key, version) {
            self.older.entry(key).or_default().push(old);
        }
    }

    fn allows(&self, key: u64, version: u64) -> bool {
        self.newest.get(&key) == Some(&Some(version))
    }

    fn settle(&mut self) {
        self.settled = self.newest.clone();
        self.older.clear();
    }

    /// What a key has turned out to be after a loss.
    fn lost(&mut self, key: u64, version: Option<u64>) {
        let allowed = version.is_none_or(|version| {
            self.allows(key, version)
                || self.settled.get(&key) == Some(&Some(version))
                || self.older.get(&key).is_some_and(|older| older.contains(&version))
        });
        assert!(allowed, "key {key} has version {version:?}");
        self.newest.insert(key, version);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn never_anything_but_the_newest_and_never_over_the_bound(steps in prop::collection::vec(step(), 1..250)) {
        let temporary = tempfile::tempdir().unwrap();
        let settings = Settings { records: 50, ..Settings::of(Settings::LEAST) };
        let mut disk = Disk::open_with(temporary.path(), settings.clone()).unwrap();
        let mut model = Model::default();
        for (number, step) in steps.into_iter().enumerate() {
            match step {
                Step::Store { key, length } => {
                    let version = number as u64 + 1;
                    let taken = store(&disk, key, version, length);
                    model.set(key, taken.then_some(version));
                }
                Step::Read { key } => {
                    if let Some(version) = wait(version(&disk, key)) {
                        prop_assert!(model.allows(key, version), "key {key} version {version}");
                    }
                }
                Step::Remove { key } => {
                    disk.remove(&crate::sample::key(key));
                    prop_assert!(disk.find(&crate::sample::key(key)).is_none());
                    model.set(key, None);
                }
                Step::Clear => {
                    disk.clear();
                    for key in 0..60 {
                        prop_assert!(disk.find(&crate::sample::key(key)).is_none());
                        model.set(key, None);
                    }
                }
                Step::Settle => {
                    prop_assert!(disk.settle(LONG));
                    model.settle();
                }
                Step::Reopen { close } => {
                    if close {
                        prop_assert!(disk.close(LONG));
                        model.settle();
                    }
                    drop(disk);
                    disk = Disk::open_with(temporary.path(), settings.clone()).unwrap();
                    for key in 0..60 {
                        let read = wait(version(&disk, key));
                        if close {
                            prop_assert!(read.is_none_or(|read| model.allows(key, read)), "{key} {read:?}");
                        }
                        model.lost(key, read);
                    }
                    model.settle();
                }
            }
            prop_assert!(size(temporary.path()) <= settings.bytes);
        }
        prop_assert!(disk.settle(LONG));
        let figures = disk.figures();
        prop_assert_eq!((figures.corrupt, figures.errors), (0, 0));
        prop_assert!(figures.records <= 60);
    }
}

#[test]
fn what_fits_stays_across_a_restart_and_is_there_at_once() {
    let temporary = tempfile::tempdir().unwrap();
    let disk = Disk::open(temporary.path(), 64 << 20).unwrap();
    for number in 0..2_000 {
        assert!(store(&disk, number, number + 5, (number as usize * 37) % 9_000));
    }
    assert!(disk.close(LONG));
    drop(disk);
    let disk = Disk::open(temporary.path(), 64 << 20).unwrap();
    assert_eq!(disk.figures().records, 2_000);
    assert_eq!(disk.last_sequence(), 2_004);
    for number in 0..2_000 {
        assert_eq!(wait(version(&disk, number)), Some(number + 5));
    }
    assert_eq!(disk.figures().hits, 2_000);
}

#[test]
fn what_is_asked_for_stays_and_the_oldest_goes() {
    let temporary = tempfile::tempdir().unwrap();
    let disk = Disk::open(temporary.path(), 4 << 20).unwrap();
    for number in 0..20_000 {
        store(&disk, number, 1, 1_000);
        if number % 100 == 0 {
            assert!(disk.settle(LONG));
            for hot in 0..20 {
                disk.find(&crate::sample::key(hot));
            }
        }
    }
    let hot = (0..20).filter(|number| wait(version(&disk, *number)).is_some()).count();
    assert_eq!(hot, 20);
    assert!(disk.find(&crate::sample::key(500)).is_none());
    let figures = disk.figures();
    assert!(figures.reinserted > 20 && figures.evicted > 10_000, "{figures:?}");
    assert!(size(temporary.path()) <= 4 << 20);
}

#[test]
fn a_smaller_size_at_the_next_start_is_kept() {
    let temporary = tempfile::tempdir().unwrap();
    let disk = Disk::open(temporary.path(), 16 << 20).unwrap();
    for number in 0..1_000 {
        store(&disk, number, 1, 10_000);
    }
    assert!(disk.close(LONG));
    drop(disk);
    let disk = Disk::open(temporary.path(), 2 << 20).unwrap();
    assert!(size(temporary.path()) <= 2 << 20);
    assert!(disk.figures().records > 50);
    assert_eq!(wait(version(&disk, 999)), Some(1), "the newest are those that stay");
}
