//! Table: all marks in force.

use std::collections::HashMap;

use super::note::{Mark, Note, Place, Prefix, Standing, hash};
use crate::key::KeyView;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Table {
    everything: Mark,
    places: HashMap<Place, Mark>,
    /// The latest marked last, so that only those are looked at that an answer has not been compared with.
    prefixes: Vec<(Prefix, Mark)>,
    /// The latest purge of a tag: what is still on its way has no tags yet.
    latest_tag: u64,
    /// Marks up to this epoch may be gone from here: what was asked for before it cannot be compared any more.
    retired: u64,
}

/// Above so many the older half is dropped, and all that was asked for before those is gone with them.
pub(super) const MOST: usize = 65_536;
/// The same for prefixes, which are compared one by one.
const MOST_PREFIXES: usize = 4096;
impl Table {
    /// The latest purge of a tag; 0: none.
    pub(super) fn latest_tag(&self) -> u64 {
        self.latest_tag
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
        // Mostly the last; a journal may hold the notes of two cores in another order.
        let place = self.prefixes.partition_point(|(_, other)| other.latest() <= known.latest());
        self.prefixes.insert(place, (prefix, known));
    }

    pub(super) fn standing(&self, key: &KeyView<'_>, tags: &str, since: u64) -> Standing {
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

    pub(super) fn len(&self) -> usize {
        usize::from(self.everything.latest() > 0) + self.places.len() + self.prefixes.len()
    }

    pub(super) fn notes(&self) -> Vec<Note> {
        let mut notes = vec![Note::Retired(self.retired), Note::Everything(self.everything)];
        notes.extend(self.places.iter().map(|(place, mark)| Note::Place(*place, *mark)));
        notes.extend(self.prefixes.iter().map(|(prefix, mark)| Note::Prefix(prefix.clone(), *mark)));
        notes
    }
}
