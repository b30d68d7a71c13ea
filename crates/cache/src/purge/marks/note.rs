//! Note: what one purge marks, as it stands in the table and in a journal.
//!
//! URLs and tags are kept as hashes of 128 bits, so that marks are small whatever somebody writes to; two that share one
//! would be forgotten together, which harms nobody.

use message::Timestamp;
use twox_hash::XxHash3_128;

use crate::purge::Scope;

/// What is marked, but for prefixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum MarkedPlace {
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
    Place(MarkedPlace, Mark),
    Prefix(Prefix, Mark),
}

/// Longer prefixes are cut, so that they cover more.
const LONGEST_PREFIX: usize = 1024;
/// What a purge marks. A key without a host belongs to all of them, so hosts' paths are marked for those as well.
pub(super) fn notes_of(scope: &Scope, mark: Mark) -> Vec<Note> {
    let of_hosts = |authority: &str, place: &dyn Fn(&str) -> MarkedPlace| {
        vec![Note::Place(place(authority), mark), Note::Place(place(""), mark)]
    };
    match scope {
        Scope::Everything => vec![Note::Everything(mark)],
        Scope::Host(authority) => of_hosts(authority, &|host| MarkedPlace::Host(hash(host, ""))),
        Scope::Prefix { authority, path } => {
            let path = &path[..path.floor_char_boundary(LONGEST_PREFIX)];
            vec![Note::Prefix(Prefix { authority: authority.clone(), path: path.into() }, mark)]
        }
        Scope::Path { authority, path } => of_hosts(authority, &|host| MarkedPlace::Path(hash(host, path))),
        Scope::Target { authority, target } => {
            let path = target.split_once('?').map_or(&**target, |(path, _)| path);
            let mut notes = of_hosts(authority, &|host| MarkedPlace::Target(hash(host, target)));
            notes.extend(of_hosts(authority, &|host| MarkedPlace::PathOfTarget(hash(host, path))));
            notes
        }
        Scope::Tag(tag) => vec![Note::Place(MarkedPlace::Tag(hash("", tag)), mark)],
    }
}

/// The same in every process, since journals outlive them.
pub(super) fn hash(authority: &str, text: &str) -> u128 {
    let mut hasher = XxHash3_128::new();
    hasher.write(&(authority.len() as u64).to_le_bytes());
    hasher.write(authority.as_bytes());
    hasher.write(text.as_bytes());
    hasher.finish_128()
}

impl Note {
    pub(crate) fn latest(&self) -> u64 {
        match self {
            Note::Retired(epoch) => *epoch,
            Note::Everything(mark) | Note::Place(_, mark) | Note::Prefix(_, mark) => mark.latest(),
        }
    }
}

impl Mark {
    pub(super) fn of(epoch: u64, soft: bool, now: Timestamp) -> Self {
        let (hard, soft) = if soft { (0, epoch) } else { (epoch, 0) };
        Mark { hard, soft, soft_at: now, at: now }
    }

    pub(super) fn add(&mut self, newer: &Mark) {
        if newer.soft > self.soft {
            self.soft_at = newer.soft_at;
        }
        self.hard = self.hard.max(newer.hard);
        self.soft = self.soft.max(newer.soft);
        self.at = self.at.max(newer.at);
    }

    pub(super) fn latest(&self) -> u64 {
        self.hard.max(self.soft)
    }

    pub(super) fn standing(&self, since: u64) -> Standing {
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
    pub(super) fn worse(self, other: Self) -> Self {
        match (self, other) {
            (Standing::StaleSince(one), Standing::StaleSince(two)) => Standing::StaleSince(one.min(two)),
            _ => self.max(other),
        }
    }
}
