//! Marks: what has been purged, and when: the purges that entries are still to be compared with.
//!
//! A purge writes a mark and raises the epoch; both take as long for one entry as for a million. An entry remembers the
//! epoch up to which it has been compared, so that a hit only compares two numbers. After a purge each entry is compared
//! once more: on its next use, or by the sweep, after which old marks are not needed any more. (Walking an index of
//! all entries by tag would make the purge itself take as long as there are entries, and cost memory for each.)

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use message::Timestamp;

use crate::key::KeyView;
use crate::purge::{Purge, Scope};

/// See the module. Shared by all cores.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// How many purges there have been.
    epoch: AtomicU64,
    /// All answers in memory have been compared with the purges up to this one.
    swept: AtomicU64,
    table: RwLock<Table>,
}

#[derive(Debug, Default)]
struct Table {
    /// For every host, also those of keys that name none.
    any: HostMarks,
    hosts: HashMap<Box<str>, HostMarks>,
    tags: HashMap<Box<str>, Mark>,
    /// The latest purge of a tag: what is still on its way has no tags yet.
    latest_tag: u64,
    /// Marks up to this epoch may be gone from here: what was asked for before it cannot be compared any more.
    retired: u64,
    count: usize,
}

#[derive(Debug, Default)]
struct HostMarks {
    all: Mark,
    paths: HashMap<Box<str>, Mark>,
    targets: HashMap<Box<str>, Mark>,
    /// The latest marked last, so that only those are compared that an answer has not been compared with.
    prefixes: Vec<(Box<str>, Mark)>,
}

/// The latest hard and the latest soft purge of one scope; epoch 0: none.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    hard: u64,
    soft: u64,
    /// When the soft one was.
    soft_at: Timestamp,
    /// When the latest was.
    at: Timestamp,
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

/// Above so many the older half is dropped, and all that was asked for before those is gone with them. A sweep a second
/// keeps memory far below that; on disk, only what is older than so many purges is lost.
const MOST: usize = 65_536;
/// How long marks stay after a sweep, for answers that were on their way meanwhile.
const KEPT_FOR: Duration = Duration::from_mins(1);

/// A purge as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Marked {
    pub(crate) epoch: u64,
    pub(crate) at: Timestamp,
    pub(crate) purge: Purge,
}

impl Marks {
    /// The number of purges so far.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Writes a purge down. In force when this returns; its epoch is given back.
    pub(crate) fn mark(&self, purge: &Purge, now: Timestamp) -> u64 {
        let mut table = self.write();
        let epoch = self.epoch.load(Ordering::Relaxed) + 1;
        table.mark(&purge.scope, &Mark::of(epoch, purge.soft, now));
        // Raised while the table is locked: whoever sees the new epoch finds the mark.
        self.epoch.store(epoch, Ordering::Release);
        epoch
    }

    /// Writes down what was purged before this process began. `least`: epochs go on from there.
    pub(crate) fn recall(&self, earlier: impl IntoIterator<Item = Marked>, least: u64) {
        let mut table = self.write();
        let mut latest = least.max(self.epoch.load(Ordering::Relaxed));
        for Marked { epoch, at, purge } in earlier {
            table.mark(&purge.scope, &Mark::of(epoch, purge.soft, at));
            latest = latest.max(epoch);
        }
        self.epoch.store(latest, Ordering::Release);
        self.swept.store(latest, Ordering::Relaxed);
    }

    /// All purges that are still to be compared with, in no order.
    pub(crate) fn all(&self) -> Vec<Marked> {
        self.read().all()
    }

    /// What the purges after `since` mean for an answer with this key and these tags (joined by `\n`).
    pub(crate) fn standing(&self, key: &KeyView<'_>, tags: &str, since: u64) -> Standing {
        if since == self.epoch() {
            return Standing::Kept;
        }
        self.read().standing(key, tags, since)
    }

    /// Whether somebody who asks now may follow a fetch that began at epoch `since`, of whose answer's tags nobody knows.
    pub(crate) fn may_follow(&self, key: &KeyView<'_>, since: u64) -> bool {
        if since == self.epoch() {
            return true;
        }
        let table = self.read();
        table.latest_tag <= since && table.standing(key, "", since) == Standing::Kept
    }

    /// Whether there are marks that a sweep would make needless.
    pub(crate) fn wants_sweep(&self) -> bool {
        self.epoch() > self.swept.load(Ordering::Relaxed)
    }

    /// Everything in memory has been compared with the purges up to this one.
    pub(crate) fn swept(&self, epoch: u64) {
        self.swept.fetch_max(epoch, Ordering::Relaxed);
    }

    /// Drops marks that everything has been compared with and that have been in force for long enough.
    pub(crate) fn retire(&self, now: Timestamp) {
        let swept = self.swept.load(Ordering::Relaxed);
        if self.read().count > 0 {
            self.write().retire(|mark| mark.latest() <= swept && now.since(mark.at) >= KEPT_FOR);
        }
    }

    /// Marks in force.
    pub(crate) fn count(&self) -> usize {
        self.read().count
    }

    fn read(&self) -> RwLockReadGuard<'_, Table> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Table> {
        self.table.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn mark(&mut self, scope: &Scope, mark: &Mark) {
        self.count += 1;
        if self.count > MOST {
            self.halve();
        }
        match scope {
            Scope::Everything => self.any.all.add(mark),
            Scope::Prefix { authority: None, path } => self.any.add_prefix(path, mark),
            Scope::Tag(tag) => {
                self.tags.entry(tag.clone()).or_default().add(mark);
                self.latest_tag = mark.latest();
            }
            Scope::Host(authority) => self.of_host(authority, |host| host.all.add(mark)),
            Scope::Prefix { authority: Some(authority), path } => {
                self.of_host(authority, |host| host.add_prefix(path, mark));
            }
            Scope::Path { authority, path } => {
                self.of_host(authority, |host| host.paths.entry(path.clone()).or_default().add(mark));
            }
            Scope::Target { authority, target } => {
                self.of_host(authority, |host| host.targets.entry(target.clone()).or_default().add(mark));
            }
        }
    }

    /// A key without a host belongs to all of them.
    fn of_host(&mut self, authority: &str, add: impl Fn(&mut HostMarks)) {
        add(self.hosts.entry(authority.into()).or_default());
        add(self.hosts.entry(Box::default()).or_default());
    }

    fn standing(&self, key: &KeyView<'_>, tags: &str, since: u64) -> Standing {
        if since < self.retired {
            return Standing::Gone;
        }
        let of_host = self.hosts.get(key.authority).map_or(Standing::Kept, |host| host.standing(key, since));
        let of_tags = tags.split('\n').filter_map(|tag| self.tags.get(tag)).map(|mark| mark.standing(since));
        of_tags.fold(of_host.max(self.any.standing(key, since)), Standing::worse)
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
        self.tags.retain(|_, mark| keep(mark));
        for host in self.hosts.values_mut().chain(std::iter::once(&mut self.any)) {
            host.retain(&mut keep);
        }
        self.hosts.retain(|_, host| !host.is_empty());
        self.retired = self.retired.max(newest_dropped);
        let in_hosts = self.hosts.values().chain(std::iter::once(&self.any)).map(HostMarks::len);
        self.count = self.tags.len() + in_hosts.sum::<usize>();
    }

    fn halve(&mut self) {
        let mut epochs: Vec<_> = self.all().iter().map(|marked| marked.epoch).collect();
        let middle = epochs.len() / 2;
        let (_, median, _) = epochs.select_nth_unstable(middle);
        let median = *median;
        self.retire(|mark| mark.latest() <= median);
    }

    fn all(&self) -> Vec<Marked> {
        let mut all = Vec::new();
        let mut add = |scope: Scope, mark: &Mark| {
            for (epoch, soft, at) in [(mark.hard, false, mark.at), (mark.soft, true, mark.soft_at)] {
                if epoch > 0 {
                    all.push(Marked { epoch, at, purge: Purge { scope: scope.clone(), soft } });
                }
            }
        };
        for (tag, mark) in &self.tags {
            add(Scope::Tag(tag.clone()), mark);
        }
        add(Scope::Everything, &self.any.all);
        for (path, mark) in &self.any.prefixes {
            add(Scope::Prefix { authority: None, path: path.clone() }, mark);
        }
        // What is marked for hosts is marked for those who name none as well.
        for (authority, host) in self.hosts.iter().filter(|(authority, _)| !authority.is_empty()) {
            let authority = || authority.clone();
            add(Scope::Host(authority()), &host.all);
            for (path, mark) in &host.paths {
                add(Scope::Path { authority: authority(), path: path.clone() }, mark);
            }
            for (target, mark) in &host.targets {
                add(Scope::Target { authority: authority(), target: target.clone() }, mark);
            }
            for (path, mark) in &host.prefixes {
                add(Scope::Prefix { authority: Some(authority()), path: path.clone() }, mark);
            }
        }
        all
    }
}

impl HostMarks {
    fn add_prefix(&mut self, path: &str, mark: &Mark) {
        let known = self.prefixes.iter().position(|(known, _)| **known == *path);
        let (path, mut known) =
            known.map_or_else(|| (path.into(), Mark::default()), |index| self.prefixes.remove(index));
        known.add(mark);
        self.prefixes.push((path, known));
    }

    fn standing(&self, key: &KeyView<'_>, since: u64) -> Standing {
        let exact = [self.paths.get(key.path()), self.targets.get(key.target)].into_iter().flatten();
        let newer = self.prefixes.iter().rev().take_while(|(_, mark)| mark.latest() > since);
        let prefixes = newer.filter(|(path, _)| key.target.starts_with(&**path)).map(|(_, mark)| mark);
        exact.chain(prefixes).map(|mark| mark.standing(since)).fold(self.all.standing(since), Standing::worse)
    }

    fn retain(&mut self, keep: &mut impl FnMut(&Mark) -> bool) {
        if !keep(&self.all) {
            self.all = Mark::default();
        }
        self.paths.retain(|_, mark| keep(mark));
        self.targets.retain(|_, mark| keep(mark));
        self.prefixes.retain(|(_, mark)| keep(mark));
    }

    fn len(&self) -> usize {
        usize::from(self.all.latest() > 0) + self.paths.len() + self.targets.len() + self.prefixes.len()
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Mark {
    fn of(epoch: u64, soft: bool, now: Timestamp) -> Self {
        let (hard, soft) = if soft { (0, epoch) } else { (epoch, 0) };
        Mark { hard, soft, soft_at: now, at: now }
    }

    fn add(&mut self, newer: &Mark) {
        if newer.soft > 0 {
            self.soft_at = newer.soft_at;
        }
        self.hard = self.hard.max(newer.hard);
        self.soft = self.soft.max(newer.soft);
        self.at = newer.at;
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
        marks.mark(&Purge { scope, soft }, NOW);
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
        assert!(marks.wants_sweep());
        marks.swept(swept);
        marks.retire(NOW);
        assert_eq!(marks.standing(&key("b/"), "t", 0), Standing::Gone, "still there");
        marks.retire(NOW + KEPT_FOR);
        assert_eq!(marks.count(), 1, "the last came after the sweep");
        assert!(marks.wants_sweep());
        assert_eq!(
            marks.standing(&key("b/"), "t", 0),
            Standing::Gone,
            "from before what nobody knows any more"
        );
        assert_eq!(marks.standing(&key("b/"), "t", swept), Standing::StaleSince(NOW));
    }

    #[test]
    fn of_a_flood_of_purges_the_older_half_is_taken_for_everything() {
        let marks = Marks::default();
        for number in 0..=MOST {
            mark(&marks, Scope::Tag(number.to_string().into()), true);
        }
        assert!(marks.count() <= MOST / 2 + 2, "{}", marks.count());
        assert_eq!(marks.standing(&key("a/"), "", 0), Standing::Gone);
        let half = marks.epoch() - 100;
        assert_eq!(marks.standing(&key("a/"), "", half), Standing::Kept);
        assert_eq!(marks.standing(&key("a/"), &MOST.to_string(), half), Standing::StaleSince(NOW));
    }

    #[test]
    fn marks_can_be_written_down_and_recalled() {
        let marks = Marks::default();
        mark(&marks, Scope::Tag("t".into()), false);
        mark(&marks, Scope::Tag("t".into()), true);
        mark(&marks, Scope::Host("a".into()), true);
        mark(&marks, Scope::Prefix { authority: None, path: "/x".into() }, false);
        let recalled = Marks::default();
        recalled.recall(marks.all(), 2);
        assert_eq!(recalled.epoch(), marks.epoch());
        assert!(!recalled.wants_sweep(), "nothing is in memory yet");
        for (url, tags) in [("a/", ""), ("b/", "t"), ("b/x", ""), ("/", ""), ("b/", "")] {
            for since in 0..=4 {
                let (one, other) = (&marks, &recalled);
                assert_eq!(one.standing(&key(url), tags, since), other.standing(&key(url), tags, since));
            }
        }
    }
}
