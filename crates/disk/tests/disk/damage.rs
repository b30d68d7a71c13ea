//! Damaged files: whatever is cut off or changed, nothing wrong is ever read.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use disk::Disk;
use proptest::prelude::*;

use crate::sample::{LONG, key, store, version, wait};

const BYTES: u64 = 8 << 20;

#[derive(Clone, Debug)]
enum Harm {
    Cut(prop::sample::Index),
    Flip(prop::sample::Index, u8),
    Zero(prop::sample::Index, usize),
    Append(Vec<u8>),
    Delete,
    /// Puts another segment's bytes in its place.
    Swap,
}

fn harm() -> impl Strategy<Value = Harm> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        4 => at().prop_map(Harm::Cut),
        6 => (at(), 1..=255u8).prop_map(|(at, mask)| Harm::Flip(at, mask)),
        3 => (at(), 1..9_000usize).prop_map(|(at, length)| Harm::Zero(at, length)),
        1 => prop::collection::vec(any::<u8>(), 1..300).prop_map(Harm::Append),
        1 => Just(Harm::Delete),
        1 => Just(Harm::Swap),
    ]
}

fn inflict(harm: &Harm, path: &Path, other: &Path) {
    let Ok(file) = OpenOptions::new().read(true).write(true).open(path) else { return };
    let length = file.metadata().unwrap().len();
    let place = |at: &prop::sample::Index| at.index(length.max(1) as usize) as u64;
    match harm {
        Harm::Cut(at) => file.set_len(place(at)).unwrap(),
        Harm::Flip(at, mask) => {
            let mut byte = [0];
            if file.read_at(&mut byte, place(at)).unwrap() == 1 {
                file.write_all_at(&[byte[0] ^ mask], place(at)).unwrap();
            }
        }
        Harm::Zero(at, zeros) => {
            let zeros = vec![0; (*zeros).min((length - place(at)) as usize)];
            file.write_all_at(&zeros, place(at)).unwrap();
        }
        Harm::Append(bytes) => file.write_all_at(bytes, length).unwrap(),
        Harm::Delete => std::fs::remove_file(path).unwrap(),
        Harm::Swap => drop(std::fs::copy(other, path)),
    }
}

fn segments(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = entries.filter(|path| path.extension().is_some_and(|e| e == "segment")).collect();
    paths.sort();
    paths
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    /// Harm to segments, as they are after being closed (sealed) or as a kill leaves them (the last without an
    /// index); then reading, writing and reading again.
    #[test]
    fn no_harm_to_the_segments_makes_a_wrong_answer(
        lengths in prop::collection::vec(
            prop_oneof![5 => 0..3_000usize, 2 => 60_000..140_000usize, 1 => 280_000..500_000usize], 5..40),
        harms in prop::collection::vec((any::<prop::sample::Index>(), harm()), 1..6),
        cut_index in any::<bool>(),
    ) {
        let temporary = tempfile::tempdir().unwrap();
        let disk = Disk::open(temporary.path(), BYTES).unwrap();
        for (number, length) in lengths.iter().enumerate() {
            store(&disk, number as u64, 1, *length);
        }
        prop_assert!(disk.close(LONG));
        drop(disk);
        if cut_index && let Some(last) = segments(temporary.path()).last() {
            let file = OpenOptions::new().write(true).open(last).unwrap();
            file.set_len(file.metadata().unwrap().len() - 64).unwrap();
        }
        for (which, harm) in &harms {
            let paths = segments(temporary.path());
            if !paths.is_empty() {
                inflict(harm, &paths[which.index(paths.len())], &paths[0]);
            }
        }
        for round in 0..3 {
            let disk = Disk::open(temporary.path(), BYTES).unwrap();
            for number in 0..lengths.len() as u64 {
                let read = wait(version(&disk, number));
                prop_assert!(matches!(read, None | Some(1)) || round > 0);
                if round == 1 {
                    store(&disk, number, 2, lengths[number as usize]);
                }
            }
            prop_assert!(disk.settle(LONG));
            if round == 1 {
                for number in 0..lengths.len() as u64 {
                    prop_assert_eq!(wait(version(&disk, number)), Some(2), "it works as ever");
                }
            }
            if round == 2 {
                for number in 0..lengths.len() as u64 {
                    prop_assert_eq!(wait(version(&disk, number)), Some(2));
                }
            }
        }
    }

    /// Harm to a tier that is open: what is read is checked then.
    #[test]
    fn harm_while_it_is_open_is_noticed(
        harms in prop::collection::vec((any::<prop::sample::Index>(), harm()), 1..6),
    ) {
        let temporary = tempfile::tempdir().unwrap();
        let disk = Disk::open(temporary.path(), BYTES).unwrap();
        for number in 0..20 {
            store(&disk, number, 1, if number % 5 == 0 { 400_000 } else { 5_000 });
        }
        prop_assert!(disk.settle(LONG));
        for (which, harm) in &harms {
            let paths = segments(temporary.path());
            if !paths.is_empty() {
                inflict(harm, &paths[which.index(paths.len())], &paths[0]);
            }
        }
        for round in 0..2 {
            for number in 0..20 {
                let read = wait(version(&disk, number));
                prop_assert!(matches!(read, None | Some(1)), "round {round}");
            }
        }
        for number in 0..200 {
            store(&disk, number, 2, 60_000);
        }
        prop_assert!(disk.settle(LONG));
        let read = (0..200).filter(|number| wait(version(&disk, *number)) == Some(2)).count();
        prop_assert!(read > 50, "it goes on working: {read}");
    }
}

#[test]
fn a_record_cut_short_takes_its_key_with_it() {
    let temporary = tempfile::tempdir().unwrap();
    let disk = Disk::open(temporary.path(), BYTES).unwrap();
    store(&disk, 1, 1, 1_000);
    store(&disk, 2, 1, 1_000);
    assert!(disk.settle(LONG));
    store(&disk, 1, 2, 1_000);
    assert!(disk.close(LONG));
    drop(disk);
    let path = segments(temporary.path()).pop().unwrap();
    let file = OpenOptions::new().write(true).open(path).unwrap();
    // The index (three entries and the trailer), and half of the last record.
    file.set_len(file.metadata().unwrap().len() - 3 * 16 - 64 - 500).unwrap();
    for _ in 0..3 {
        let disk = Disk::open(temporary.path(), BYTES).unwrap();
        assert_eq!(
            wait(version(&disk, 1)),
            None,
            "the first version does not come back, however often we start"
        );
        assert_eq!(wait(version(&disk, 2)), Some(1));
    }
}

#[test]
fn without_its_journal_nothing_that_is_stored_is_trusted() {
    for harm in ["delete", "flip", "cut"] {
        let temporary = tempfile::tempdir().unwrap();
        let disk = Disk::open(temporary.path(), BYTES).unwrap();
        store(&disk, 1, 1, 1_000);
        assert_eq!(disk.journal().append(b"purge everything before 5"), disk::Noted::Kept);
        assert!(disk.close(LONG));
        drop(disk);
        let journal = temporary.path().join("journal");
        let mut bytes = std::fs::read(&journal).unwrap();
        match harm {
            "delete" => std::fs::remove_file(&journal).unwrap(),
            "flip" => {
                bytes[40] ^= 1;
                std::fs::write(&journal, bytes).unwrap();
            }
            _ => std::fs::write(&journal, &bytes[..10]).unwrap(),
        }
        let disk = Disk::open(temporary.path(), BYTES).unwrap();
        assert!(disk.find(&key(1)).is_none(), "{harm}");
        assert!(disk.journal().take_entries().is_empty());
        assert_eq!(disk.figures().corrupt, 1);
    }
}
