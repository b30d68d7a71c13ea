//! Marks: what has been purged, and when: the purges that answers are still to be compared with.
//!
//! A purge writes a mark and raises the epoch; both take as long for one answer as for a million. An entry remembers the
//! epoch up to which it has been compared, so that a hit only compares two numbers. After a purge each entry is compared
//! once more: on its next use, or by the sweep, after which old marks are not needed any more. Why: decision 0007.

mod folded;
mod note;
mod prefixes;
mod table;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use message::Timestamp;

use self::note::notes_of;
pub(crate) use self::note::{Mark, MarkedPlace, Note, Prefix, Standing};
use self::table::{MOST, Table};
use crate::key::KeyView;
use crate::purge::Purge;

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
    /// When it was last told that there are too many, in milliseconds.
    told_at: AtomicU64,
    table: RwLock<Table>,
}

/// How long marks stay after a sweep, for answers that were on their way meanwhile.
const KEPT_FOR: Duration = Duration::from_mins(1);
/// A flood of purges is told of this often.
const QUIET: Duration = Duration::from_mins(1);
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
        let folds = table.folds();
        for note in &notes {
            table.take(note);
        }
        if table.folds() > folds {
            self.tell_of_folds(table.folds() - folds, now);
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
        table.latest_tag() <= since && table.standing(key, "", since) == Standing::Kept
    }

    /// Whether a sweep is due.
    pub(crate) fn wants_sweep(&self, now: Timestamp) -> bool {
        let swept = self.swept.load(Ordering::Relaxed);
        let is_due = || {
            let swept_at = Timestamp::from_millis(self.swept_at.load(Ordering::Relaxed));
            now.since(swept_at) >= PATIENCE || self.epoch() - swept > MOST as u64 / 16
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

    /// How many marks had no room of their own any more and forget more than they named, since the start.
    pub(crate) fn folds(&self) -> u64 {
        self.read().folds()
    }

    fn tell_of_folds(&self, folds: u64, now: Timestamp) {
        let told_at = Timestamp::from_millis(self.told_at.load(Ordering::Relaxed));
        if now.since(told_at) >= QUIET {
            self.told_at.store(now.as_millis(), Ordering::Relaxed);
            tracing::warn!(
                "more is purged than can be told apart: the oldest {folds} purges in force forget more than they named"
            );
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

#[cfg(test)]
mod tests {
    use message::Scheme;

    use super::*;
    use crate::purge::Scope;

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
        assert_eq!((marks.len(), marks.read().retired()), (1, 0));
    }

    #[test]
    fn a_flood_of_purges_forgets_what_it_names_and_little_else() {
        let marks = Marks::default();
        for number in 0..=MOST {
            mark(&marks, Scope::Tag(number.to_string().into()), true);
        }
        assert!(marks.len() <= MOST / 2 + 2, "{}", marks.len());
        assert!(marks.folds() as usize >= MOST / 2);
        assert_eq!(marks.standing(&key("a/"), "1", 0), Standing::Gone, "soft no longer");
        assert_eq!(marks.standing(&key("a/"), &MOST.to_string(), 0), Standing::StaleSince(NOW));
        let others = (0..1000).map(|number| format!("other{number}"));
        let gone = others.filter(|tag| marks.standing(&key("a/"), tag, 0) == Standing::Gone).count();
        assert!(gone < 50, "{gone} of 1000");
        let recalled = Marks::default();
        recalled.recall(&marks.notes(), 0);
        assert_eq!(recalled.standing(&key("a/"), "", 0), Standing::Gone, "a journal has names alone");
        assert_eq!(recalled.standing(&key("a/"), "", marks.epoch() - 100), Standing::Kept);
    }

    #[test]
    fn a_flood_of_prefixes_forgets_no_more_than_what_they_lie_in() {
        let marks = Marks::default();
        for number in 0..=MOST {
            let prefix =
                Scope::Prefix { authority: Some("a".into()), path: format!("/items/{number}").into() };
            mark(&marks, prefix, false);
        }
        assert!(marks.len() <= MOST && marks.folds() > 0);
        assert_eq!(
            gone(&marks, &["a/items/7", "a/items/x", "a/other", "b/items/7"], ""),
            ["a/items/7", "a/items/x"]
        );
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
