//! Table: all marks in force. When there are too many the older ones are folded: they forget more than they named, and
//! never less.

use std::collections::HashMap;

use super::folded::Folded;
use super::note::{Mark, MarkedPlace, Note, Standing, hash};
use super::prefixes::Prefixes;
use crate::key::KeyView;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Table {
    everything: Mark,
    places: HashMap<MarkedPlace, Mark>,
    prefixes: Prefixes,
    /// Places that had no room.
    folded: Folded,
    /// How many marks have been folded so far.
    folds: u64,
    /// The latest purge of a tag: what is still on its way has no tags yet.
    latest_tag: u64,
    /// Marks up to this epoch may be gone from here: what was asked for before it cannot be compared any more.
    retired: u64,
}

/// Above so many places, or prefixes, the older half is folded.
pub(super) const MOST: usize = 65_536;
/// The same for the bytes of prefixes.
const MOST_BYTES: usize = 8 * 1024 * 1024;

impl Table {
    /// The latest purge of a tag; 0: none.
    pub(super) fn latest_tag(&self) -> u64 {
        self.latest_tag
    }

    /// How many marks had no room of their own any more, since the start.
    pub(super) fn folds(&self) -> u64 {
        self.folds
    }

    #[cfg(test)]
    pub(super) fn retired(&self) -> u64 {
        self.retired
    }

    pub(super) fn take(&mut self, note: &Note) {
        match note {
            Note::Retired(epoch) => self.retired = self.retired.max(*epoch),
            Note::Everything(mark) => self.everything.add(mark),
            Note::Place(place, mark) => {
                if matches!(place, MarkedPlace::Tag(_)) {
                    self.latest_tag = self.latest_tag.max(mark.latest());
                }
                self.places.entry(*place).or_default().add(mark);
            }
            Note::Prefix(prefix, mark) => self.prefixes.add(prefix, mark),
        }
        if self.places.len() > MOST {
            self.fold_places();
        }
        if self.prefixes.len() > MOST || self.prefixes.bytes() > MOST_BYTES {
            self.fold_prefixes();
        }
    }

    pub(super) fn standing(&self, key: &KeyView<'_>, tags: &str, since: u64) -> Standing {
        if since < self.retired {
            return Standing::Gone;
        }
        let (host, path) = (key.authority, key.path());
        let ruled = key.has_rule().then(|| MarkedPlace::PathOfTarget(hash(host, path)));
        let places = [
            MarkedPlace::Host(hash(host, "")),
            MarkedPlace::Path(hash(host, path)),
            MarkedPlace::Target(hash(host, key.target)),
        ];
        let tags = tags.split('\n').filter(|tag| !tag.is_empty()).map(|tag| MarkedPlace::Tag(hash("", tag)));
        let marked = places.into_iter().chain(ruled).chain(tags).map(|place| {
            let own = self.places.get(&place).map_or(Standing::Kept, |mark| mark.standing(since));
            own.worse(self.folded.standing(&place, since))
        });
        let begun = self.prefixes.of(key).map(|mark| mark.standing(since));
        marked.chain(begun).fold(self.everything.standing(since), Standing::worse)
    }

    pub(super) fn retire(&mut self, old: impl Fn(&Mark) -> bool) {
        let mut newest_dropped = 0;
        let mut keep = |mark: &Mark| {
            let drop = old(mark);
            if drop {
                newest_dropped = newest_dropped.max(mark.latest());
            }
            !drop
        };
        self.places.retain(|_, mark| keep(mark));
        self.prefixes.retain(&mut keep);
        if !keep(self.folded.mark()) {
            self.folded = Folded::default();
        }
        if !keep(&self.everything) {
            self.everything = Mark::default();
        }
        self.retired = self.retired.max(newest_dropped);
    }

    fn fold_places(&mut self) {
        let median = median(self.places.values());
        let (places, folded) = (&mut self.places, &mut self.folded);
        let before = places.len();
        places.retain(|place, mark| {
            let stays = mark.latest() > median;
            if !stays {
                folded.add(place, mark);
            }
            stays
        });
        self.folds += (before - places.len()) as u64;
    }

    /// Where even whole hosts are too many, the older ones are all of them.
    fn fold_prefixes(&mut self) {
        let median = median(self.prefixes.iter().map(|(_, mark)| mark));
        self.folds += self.prefixes.fold(median, MOST, MOST_BYTES) as u64;
        if self.prefixes.len() > MOST {
            let everything = &mut self.everything;
            self.prefixes.retain(|mark| {
                let stays = mark.latest() > median;
                if !stays {
                    everything.add(mark);
                }
                stays
            });
        }
    }

    pub(super) fn len(&self) -> usize {
        let latest = [self.everything.latest(), self.folded.mark().latest()];
        latest.iter().filter(|epoch| **epoch > 0).count() + self.places.len() + self.prefixes.len()
    }

    /// What is folded has no names any more: a journal says instead that all from before it is gone.
    pub(super) fn notes(&self) -> Vec<Note> {
        let retired = self.retired.max(self.folded.mark().latest());
        let mut notes = vec![Note::Retired(retired), Note::Everything(self.everything)];
        notes.extend(self.places.iter().map(|(place, mark)| Note::Place(*place, *mark)));
        notes.extend(self.prefixes.iter().map(|(prefix, mark)| Note::Prefix(prefix, *mark)));
        notes
    }
}

fn median<'a>(marks: impl Iterator<Item = &'a Mark>) -> u64 {
    let mut epochs: Vec<u64> = marks.map(Mark::latest).collect();
    let middle = epochs.len() / 2;
    if epochs.is_empty() { 0 } else { *epochs.select_nth_unstable(middle).1 }
}
