//! Marks: what has been purged, and when: the purges that answers are still to be compared with.
//!
//! A purge writes a mark and raises the epoch; both take as long for one answer as for a million. An entry remembers the
//! epoch up to which it has been compared, so that a hit only compares two numbers. After a purge each entry is compared
//! once more: on its next use, or by the sweep, after which old marks are not needed any more. Why: decision 0007.
//!
//! URLs and tags are kept as hashes of 128 bits, so that marks are small whatever somebody writes to; two that share one
//! would be forgotten together, which harms nobody.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use message::Timestamp;
use twox_hash::XxHash3_128;

use crate::key::KeyView;
use crate::purge::{Purge, Scope};

/// See the module. Shared by all cores.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// How many purges there have been.
    epoch: AtomicU64,
    /// The latest that a sweep should follow soon: what writes make out of date can wait.
    urgent: AtomicU64,
    /// All answers in memory have been compared with the purges up to this one.
    swept: AtomicU64,
    /// When, in milliseconds.
    swept_at: AtomicU64,
    table: RwLock<Table>,
}

#[derive(Debug, Default)]
struct Table {
    everything: Mark,
    places: HashMap<Place, Mark>,
    /// The latest marked last, so that only those are looked at that an answer has not been compared with.
    prefixes: Vec<(Prefix, Mark)>,
    /// The latest purge of a tag: what is still on its way has no tags yet.
    latest_tag: u64,
    /// Marks up to this epoch may be gone from here: what was asked for before it cannot be compared any more.
    retired: u64,
}

/// What is marked, but for prefixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    Host(u128),
    Path(u128),
    Target(u128),
    /// A path of which a target is marked, for keys that hold only what a `No-Vary-Search` left of theirs.
    PathOfTarget(u128),
    Tag(u128),
}

/// Paths that begin so; without an authority on any host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prefix {
    pub(crate) authority: Option<Box<str>>,
    pub(crate) path: Box<str>,
}

/// The latest hard and the latest soft purge of one place; epoch 0: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) hard: u64,
    pub(crate) soft: u64,
    /// When the soft one was.
    pub(crate) soft_at: Timestamp,
    /// When the latest was.
    pub(crate) at: Timestamp,
}

/// What the purges since an epoch mean for an answer, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    /// Nothing.
    Kept,
    /// It is stale from that moment on.
    StaleSince(Timestamp),
    /// It is gone.
    Gone,
}

/// One line of a journal of purges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    /// Whatever was asked for before this epoch is gone.
    Retired(u64),
    Everything(Mark),
    Place(Place, Mark),
    Prefix(Prefix, Mark),
}

/// Above so many the older half is dropped, and all that was asked for before those is gone with them.
const MOST: usize = 65_536;
/// The same for prefixes, which are compared one by one.
const MOST_PREFIXES: usize = 4096;
/// Longer prefixes are cut, so that they cover more.
const LONGEST_PREFIX: usize = 1024;
/// How long marks stay after a sweep, for answers that were on their way meanwhile.
const KEPT_FOR: Duration = Duration::from_mins(1);
/// How long a sweep for the sake of writes may wait.
const PATIENCE: Duration = Duration::from_secs(30);

impl Marks {
    /// The number of purges so far.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Writes a purge down. In force when this returns. Given back: what to keep of it in a journal.
    pub(crate) fn mark(&self, purge: &Purge, urgent: bool, now: Timestamp) -> Vec<Note> {
        let mut table = self.write();
        let epoch = self.epoch.load(Ordering::Relaxed) + 1;
        let notes = notes_of(&purge.scope, Mark::of(epoch, purge.soft, now));
        for note in &notes {
            table.take(note);
        }
        if urgent {
            self.urgent.store(epoch, Ordering::Relaxed);
        }
        // Raised while the table is locked: whoever sees the new epoch finds the mark.
        self.epoch.store(epoch, Ordering::Release);
        notes
    }

    /// Takes up what was noted before this process began. `least`: epochs go on from there.
    pub(crate) fn recall(&self, notes: &[Note], least: u64) {
        let mut table = self.write();
        for note in notes {
            table.take(note);
        }
        let noted = notes.iter().map(Note::latest).max().unwrap_or(0);
        let latest = least.max(noted).max(self.epoch.load(Ordering::Relaxed));
        self.epoch.store(latest, Ordering::Release);
        self.swept.store(latest, Ordering::Relaxed);
    }

    /// All there is to note.
    pub(crate) fn notes(&self) -> Vec<Note> {
        self.read().notes()
    }

    /// What the purges after `since` mean for an answer with this key and these tags (joined by `\n`).
    pub(crate) fn standing(&self, key: &KeyView<'_>, tags: &str, since: u64) -> Standing {
        if since >= self.epoch() {
            return Standing::Kept;
        }
        self.read().standing(key, tags, since)
    }

    /// Whether somebody who asks now may follow a fetch that began at epoch `since`, of whose answer's tags nobody knows.
    pub(crate) fn may_follow(&self, key: &KeyView<'_>, since: u64) -> bool {
        if since >= self.epoch() {
            return true;
        }
        let table = self.read();
        table.latest_tag <= since && table.standing(key, "", since) == Standing::Kept
    }

    /// Whether a sweep is due.
    pub(crate) fn wants_sweep(&self, now: Timestamp) -> bool {
        let swept = self.swept.load(Ordering::Relaxed);
        let is_due = || {
            let swept_at = Timestamp::from_millis(self.swept_at.load(Ordering::Relaxed));
            now.since(swept_at) >= PATIENCE || self.read().len() > MOST / 4
        };
        self.urgent.load(Ordering::Relaxed) > swept || (self.epoch() > swept && is_due())
    }

    /// Everything in memory has been compared with the purges up to this one.
    pub(crate) fn swept(&self, epoch: u64, now: Timestamp) {
        self.swept.fetch_max(epoch, Ordering::Relaxed);
        self.swept_at.store(now.as_millis(), Ordering::Relaxed);
    }

    /// Drops marks that everything has been compared with and that have been in force for long enough.
    pub(crate) fn retire(&self, now: Timestamp) {
        let swept = self.swept.load(Ordering::Relaxed);
        if self.read().len() > 0 {
            self.write().retire(|mark| mark.latest() <= swept && now.since(mark.at) >= KEPT_FOR);
        }
    }

    /// Marks in force.
    pub(crate) fn len(&self) -> usize {
        self.read().len()
    }

    fn read(&self) -> RwLockReadGuard<'_, Table> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Table> {
        self.table.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a purge marks. A key without a host belongs to all of them, so hosts' paths are marked for those as well.
fn notes_of(scope: &Scope, mark: Mark) -> Vec<Note> {
    let of_hosts = |authority: &str, place: &dyn Fn(&str) -> Place| {
        vec![Note::Place(place(authority), mark), Note::Place(place(""), mark)]
    };
    match scope {
        Scope::Everything => vec![Note::Everything(mark)],
        Scope::Host(authority) => of_hosts(authority, &|host| Place::Host(hash(host, ""))),
        Scope::Prefix { authority, path } => {
            let path = &path[..path.floor_char_boundary(LONGEST_PREFIX)];
            vec![Note::Prefix(Prefix { authority: authority.clone(), path: path.into() }, mark)]
        }
        Scope::Path { authority, path } => of_hosts(authority, &|host| Place::Path(hash(host, path))),
        Scope::Target { authority, target } => {
            let path = target.split_once('?').map_or(&**target, |(path, _)| path);
            let mut notes = of_hosts(authority, &|host| Place::Target(hash(host, target)));
            notes.extend(of_hosts(authority, &|host| Place::PathOfTarget(hash(host, path))));
            notes
        }
        Scope::Tag(tag) => vec![Note::Place(Place::Tag(hash("", tag)), mark)],
    }
}

/// The same in every process, since journals outlive them.
fn hash(authority: &str, text: &str) -> u128 {
    let mut hasher = XxHash3_128::new();
    hasher.write(&(authority.len() as u64).to_le_bytes());
    hasher.write(authority.as_bytes());
    hasher.write(text.as_bytes());
    hasher.finish_128()
}

impl Table {
    fn take(&mut self, note: &Note) {
        match note {
            Note::Retired(epoch) => self.retired = self.retired.max(*epoch),
            Note::Everything(mark) => self.everything.add(mark),
            Note::Place(place, mark) => {
                if matches!(place, Place::Tag(_)) {
                    self.latest_tag = self.latest_tag.max(mark.latest());
                }
                self.places.entry(*place).or_default().add(mark);
            }
            Note::Prefix(prefix, mark) => self.take_prefix(prefix, mark),
        }
        if self.places.len() > MOST {
            self.halve(self.places.values().map(Mark::latest).collect());
        }
        if self.prefixes.len() > MOST_PREFIXES {
            self.halve(self.prefixes.iter().map(|(_, mark)| mark.latest()).collect());
        }
    }

    fn take_prefix(&mut self, prefix: &Prefix, mark: &Mark) {
        let known = self.prefixes.iter().position(|(known, _)| known == prefix);
        let (prefix, mut known) =
            known.map_or_else(|| (prefix.clone(), Mark::default()), |index| self.prefixes.remove(index));
        known.add(mark);
        self.prefixes.push((prefix, known));
    }

    fn standing(&self, key: &KeyView<'_>, tags: &str, since: u64) -> Standing {
        if since < self.retired {
            return Standing::Gone;
        }
        let (host, path) = (key.authority, key.path());
        let ruled = key.has_rule().then(|| Place::PathOfTarget(hash(host, path)));
        let places = [
            Place::Host(hash(host, "")),
            Place::Path(hash(host, path)),
            Place::Target(hash(host, key.target)),
        ];
        let tags = tags.split('\n').filter(|tag| !tag.is_empty()).map(|tag| Place::Tag(hash("", tag)));
        let marked = places.into_iter().chain(ruled).chain(tags).filter_map(|place| self.places.get(&place));
        let newer = self.prefixes.iter().rev().take_while(|(_, mark)| mark.latest() > since);
        let begun = newer.filter(|(prefix, _)| prefix.covers(key)).map(|(_, mark)| mark);
        marked
            .chain(begun)
            .map(|mark| mark.standing(since))
            .fold(self.everything.standing(since), Standing::worse)
    }

    fn retire(&mut self, old: impl Fn(&Mark) -> bool) {
        let mut newest_dropped = 0;
        let mut keep = |mark: &Mark| {
            let drop = old(mark);
            if drop {
                newest_dropped = newest_dropped.max(mark.latest());
            }
            !drop
        };
        self.places.retain(|_, mark| keep(mark));
        self.prefixes.retain(|(_, mark)| keep(mark));
        if !keep(&self.everything) {
            self.everything = Mark::default();
        }
        self.retired = self.retired.max(newest_dropped);
    }

    fn halve(&mut self, mut epochs: Vec<u64>) {
        let middle = epochs.len() / 2;
        let median = *epochs.select_nth_unstable(middle).1;
        self.retire(|mark| mark.latest() <= median);
    }

    fn len(&self) -> usize {
        usize::from(self.everything.latest() > 0) + self.places.len() + self.prefixes.len()
    }

    fn notes(&self) -> Vec<Note> {
        let mut notes = vec![Note::Retired(self.retired), Note::Everything(self.everything)];
        notes.extend(self.places.iter().map(|(place, mark)| Note::Place(*place, *mark)));
        notes.extend(self.prefixes.iter().map(|(prefix, mark)| Note::Prefix(prefix.clone(), *mark)));
        notes
    }
}

impl Prefix {
    /// A key without a host belongs to all of them.
    fn covers(&self, key: &KeyView<'_>) -> bool {
        let host = self.authority.as_deref();
        host.is_none_or(|host| host == key.authority || key.authority.is_empty())
            && key.target.starts_with(&*self.path)
    }
}

impl Note {
    fn latest(&self) -> u64 {
        match self {
            Note::Retired(epoch) => *epoch,
            Note::Everything(mark) | Note::Place(_, mark) | Note::Prefix(_, mark) => mark.latest(),
        }
    }
}

impl Mark {
    fn of(epoch: u64, soft: bool, now: Timestamp) -> Self {
        let (hard, soft) = if soft { (0, epoch) } else { (epoch, 0) };
        Mark { hard, soft, soft_at: now, at: now }
    }

    fn add(&mut self, newer: &Mark) {
        if newer.soft > self.soft {
            self.soft_at = newer.soft_at;
        }
        self.hard = self.hard.max(newer.hard);
        self.soft = self.soft.max(newer.soft);
        self.at = self.at.max(newer.at);
    }

    fn latest(&self) -> u64 {
        self.hard.max(self.soft)
    }

    fn standing(&self, since: u64) -> Standing {
        if self.hard > since {
            Standing::Gone
        } else if self.soft > since {
            Standing::StaleSince(self.soft_at)
        } else {
            Standing::Kept
        }
    }
}

impl Standing {
    /// Of two moments of becoming stale the earlier.
    fn worse(self, other: Self) -> Self {
        match (self, other) {
            (Standing::StaleSince(one), Standing::StaleSince(two)) => Standing::StaleSince(one.min(two)),
            _ => self.max(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use message::Scheme;

    use super::*;

    const NOW: Timestamp = Timestamp::from_secs(1_000);

    fn key(url: &str) -> KeyView<'_> {
        let (authority, target) = url.split_at(url.find('/').expect("a path"));
        KeyView { scheme: Scheme::Http, authority, target, also: "" }
    }

    fn mark(marks: &Marks, scope: Scope, soft: bool) {
        marks.mark(&Purge { scope, soft }, true, NOW);
    }

    fn gone<'k>(marks: &Marks, keys: &[&'k str], tags: &str) -> Vec<&'k str> {
        keys.iter().copied().filter(|url| marks.standing(&key(url), tags, 0) == Standing::Gone).collect()
    }

    #[test]
    fn each_scope_covers_what_it_says_and_nothing_else() {
        let keys = ["a/x", "a/x?q=1", "a/x?q=2", "a/xy", "a/x/y", "b/x", "/x?q=1"];
        let (a, x) = (|| Box::from("a"), || Box::from("/x"));
        for (scope, expected) in [
            (Scope::Everything, &keys[..]),
            (Scope::Host(a()), &["a/x", "a/x?q=1", "a/x?q=2", "a/xy", "a/x/y", "/x?q=1"]),
            (Scope::Path { authority: a(), path: x() }, &["a/x", "a/x?q=1", "a/x?q=2", "/x?q=1"]),
            (Scope::Target { authority: a(), target: "/x?q=1".into() }, &["a/x?q=1", "/x?q=1"]),
            (Scope::Prefix { authority: None, path: "/x/".into() }, &["a/x/y"]),
            (Scope::Prefix { authority: Some("b".into()), path: x() }, &["b/x", "/x?q=1"]),
            (Scope::Tag("t".into()), &[]),
        ] {
            let marks = Marks::default();
            mark(&marks, scope.clone(), false);
            assert_eq!(gone(&marks, &keys, "s\nu"), expected, "{scope:?}");
        }
    }

    #[test]
    fn a_target_is_marked_for_what_a_rule_left_of_it() {
        let marks = Marks::default();
        mark(&marks, Scope::Target { authority: "a".into(), target: "/x?q=1&s=2".into() }, false);
        let ruled = KeyView { also: "14:no-vary-search1:f", ..key("a/x?q=1") };
        assert_eq!(marks.standing(&ruled, "", 0), Standing::Gone);
        assert_eq!(marks.standing(&key("a/x?q=1"), "", 0), Standing::Kept);
    }

    #[test]
    fn a_tag_is_one_of_several() {
        let marks = Marks::default();
        mark(&marks, Scope::Tag("t".into()), false);
        for (tags, standing) in
            [("t", Standing::Gone), ("s\nt\nu", Standing::Gone), ("tt", Standing::Kept), ("", Standing::Kept)]
        {
            assert_eq!(marks.standing(&key("a/"), tags, 0), standing, "{tags:?}");
        }
    }

    #[test]
    fn what_came_after_a_purge_is_not_concerned() {
        let marks = Marks::default();
        mark(&marks, Scope::Everything, false);
        assert_eq!(marks.standing(&key("a/"), "", marks.epoch()), Standing::Kept);
        assert!(marks.may_follow(&key("a/"), marks.epoch()));
        assert!(!marks.may_follow(&key("a/"), 0));
        mark(&marks, Scope::Tag("t".into()), true);
        assert!(!marks.may_follow(&key("a/"), 1), "its answer may have that tag");
    }

    #[test]
    fn hard_is_worse_than_soft_whatever_comes_first() {
        for order in [[false, true], [true, false]] {
            let marks = Marks::default();
            for soft in order {
                mark(&marks, Scope::Host("a".into()), soft);
            }
            assert_eq!(marks.standing(&key("a/"), "", 0), Standing::Gone);
        }
        let marks = Marks::default();
        mark(&marks, Scope::Host("a".into()), true);
        assert_eq!(marks.standing(&key("a/"), "", 0), Standing::StaleSince(NOW));
    }

    #[test]
    fn marks_go_once_everything_was_compared_and_a_minute_passed() {
        let marks = Marks::default();
        mark(&marks, Scope::Tag("t".into()), false);
        mark(&marks, Scope::Prefix { authority: Some("a".into()), path: "/x".into() }, false);
        let swept = marks.epoch();
        mark(&marks, Scope::Everything, true);
        assert!(marks.wants_sweep(NOW));
        marks.swept(swept, NOW);
        marks.retire(NOW);
        assert_eq!(marks.standing(&key("b/"), "t", 0), Standing::Gone, "still there");
        marks.retire(NOW + KEPT_FOR);
        assert_eq!(marks.len(), 1, "the last came after the sweep");
        assert!(marks.wants_sweep(NOW));
        assert_eq!(
            marks.standing(&key("b/"), "t", 0),
            Standing::Gone,
            "from before what nobody knows any more"
        );
        assert_eq!(marks.standing(&key("b/"), "t", swept), Standing::StaleSince(NOW));
    }

    #[test]
    fn what_writes_make_out_of_date_is_swept_in_time() {
        let marks = Marks::default();
        marks.swept(0, NOW);
        let scope = Scope::Target { authority: "a".into(), target: "/".into() };
        marks.mark(&Purge { scope, soft: false }, false, NOW);
        assert!(!marks.wants_sweep(NOW) && marks.wants_sweep(NOW + PATIENCE));
    }

    #[test]
    fn purging_the_same_again_takes_no_more_room() {
        let marks = Marks::default();
        for _ in 0..2 * MOST {
            mark(&marks, Scope::Tag("t".into()), false);
        }
        assert_eq!((marks.len(), marks.read().retired), (1, 0));
    }

    #[test]
    fn of_a_flood_of_purges_the_older_half_is_taken_for_everything() {
        let flooded = || {
            let marks = Marks::default();
            for number in 0..=MOST {
                mark(&marks, Scope::Tag(number.to_string().into()), true);
            }
            marks
        };
        let recalled = Marks::default();
        recalled.recall(&flooded().notes(), 0);
        for marks in [flooded(), recalled] {
            assert!(marks.len() <= MOST / 2 + 2, "{}", marks.len());
            assert_eq!(marks.standing(&key("a/"), "", 0), Standing::Gone);
            let half = marks.epoch() - 100;
            assert_eq!(marks.standing(&key("a/"), "", half), Standing::Kept);
            assert_eq!(marks.standing(&key("a/"), &MOST.to_string(), half), Standing::StaleSince(NOW));
        }
    }

    #[test]
    fn marks_can_be_noted_and_recalled() {
        let marks = Marks::default();
        mark(&marks, Scope::Tag("t".into()), false);
        mark(&marks, Scope::Tag("t".into()), true);
        mark(&marks, Scope::Host("a".into()), true);
        mark(&marks, Scope::Prefix { authority: None, path: "/x".into() }, false);
        let recalled = Marks::default();
        recalled.recall(&marks.notes(), 2);
        assert_eq!(recalled.epoch(), marks.epoch());
        assert!(!recalled.wants_sweep(NOW), "nothing is in memory yet");
        for (url, tags) in [("a/", ""), ("b/", "t"), ("b/x", ""), ("/", ""), ("b/", "")] {
            for since in 0..=4 {
                let (one, other) = (&marks, &recalled);
                assert_eq!(one.standing(&key(url), tags, since), other.standing(&key(url), tags, since));
            }
        }
    }
}
