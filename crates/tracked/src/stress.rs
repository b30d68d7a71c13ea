//! Stress: the real races, on threads, for a second.
//!
//! A writer moves the versions of a few keys on, announces them, and publishes what was announced; now and then the
//! line is flushed, or lost with changes that nobody announces. Readers note what is published, get, and must not see
//! less; what they miss, they read and insert.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use message::Timestamp;

use crate::{Inserted, Tracked};

const KEYS: usize = 16;
const READERS: usize = 3;
const NOW: Timestamp = Timestamp::from_secs(1);

/// A read of two keys, and of one where they are the same.
type Answer = Arc<[u64; 2]>;

struct Shared {
    tracked: Tracked<Answer>,
    versions: [AtomicU64; KEYS],
    /// What a get that begins afterwards may not be older than.
    published: [AtomicU64; KEYS],
    is_over: AtomicBool,
}

#[test]
fn no_thread_gets_what_was_announced_as_changed_before_it_asked() {
    let numbers = || std::array::from_fn(|_| AtomicU64::new(0));
    // Room for a part of the 256 answers, and counters that are shared.
    let tracked = Tracked::shaped(30_000, 64, Duration::from_secs(1), Duration::ZERO, 1);
    let shared =
        Shared { tracked, versions: numbers(), published: numbers(), is_over: AtomicBool::new(false) };
    shared.tracked.connected(NOW);
    let hits: u64 = std::thread::scope(|scope| {
        let shared = &shared;
        let readers: Vec<_> =
            (0..READERS).map(|reader| scope.spawn(move || read(shared, reader as u64))).collect();
        write(shared);
        readers.into_iter().map(|reader| reader.join().expect("a reader saw an old value")).sum()
    });
    let figures = shared.tracked.figures();
    println!("{hits} hits, {figures:?}");
    assert!(hits > 1000 && figures.evicted > 0 && figures.outdated > 0 && figures.lives > 1, "{figures:?}");
}

fn write(shared: &Shared) {
    let end = Instant::now() + Duration::from_secs(1);
    let change = |key: usize| shared.versions[key].fetch_add(1, Ordering::SeqCst) + 1;
    for round in 1_u64.. {
        if Instant::now() > end {
            break;
        }
        let key = round as usize % KEYS;
        if round % 1000 == 0 {
            shared.tracked.disconnected();
            let versions: Vec<_> = (0..KEYS).map(change).collect();
            shared.tracked.connected(NOW);
            publish(shared, &versions);
        } else if round % 700 == 0 {
            let versions: Vec<_> = (0..KEYS).map(change).collect();
            shared.tracked.flush();
            publish(shared, &versions);
        } else {
            let version = change(key);
            shared.tracked.invalidate(&[key as u8]);
            shared.published[key].store(version, Ordering::SeqCst);
        }
        if round % 16 == 0 {
            std::thread::yield_now();
        }
    }
    shared.is_over.store(true, Ordering::SeqCst);
}

fn publish(shared: &Shared, versions: &[u64]) {
    for (published, version) in shared.published.iter().zip(versions) {
        published.store(*version, Ordering::SeqCst);
    }
}

/// The number of hits.
fn read(shared: &Shared, reader: u64) -> u64 {
    let mut random = reader + 1;
    let mut hits = 0;
    while !shared.is_over.load(Ordering::Relaxed) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let keys = [random as usize % KEYS, (random >> 32) as usize % KEYS];
        let name = keys.map(|key| key as u8);
        let least = keys.map(|key| shared.published[key].load(Ordering::SeqCst));
        if let Some(seen) = shared.tracked.get(&name, NOW) {
            hits += 1;
            assert!(seen[0] >= least[0] && seen[1] >= least[1], "{keys:?}: {seen:?}, announced {least:?}");
            continue;
        }
        let ticket = shared.tracked.begin([&name[..1], &name[1..]]);
        let answer = keys.map(|key| shared.versions[key].load(Ordering::SeqCst));
        // The answer is on its way: time for the writer.
        (0..random % 64).for_each(|_| std::hint::spin_loop());
        let inserted = shared.tracked.insert(ticket, &name, Arc::new(answer), 32, Timestamp::default(), None);
        assert!(inserted != Inserted::TooLarge, "a small answer fits");
    }
    hits
}
