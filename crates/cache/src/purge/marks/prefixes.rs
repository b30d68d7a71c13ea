//! Prefixes: marks of paths that begin so, sorted, so that those of one target are found in a few steps however many there
//! are. In: prefixes and marks. Out: the marks of all prefixes that a key begins with. Called by `table`.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound::{Included, Unbounded};

use super::note::{Mark, Prefix};
use crate::key::KeyView;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Prefixes {
    /// Of any host.
    any: Sorted,
    hosts: HashMap<Box<str>, Sorted>,
    count: usize,
    bytes: usize,
}

/// The prefixes of one host.
#[derive(Debug, Default)]
struct Sorted(BTreeMap<Box<str>, Mark>);

/// How far a prefix is widened when there are too many: one level, one more, down to the first, or to the
/// whole host. Not level
/// by level, since a path may have a thousand of them.
const WIDER: [fn(&str) -> &str; 4] = [parent, parent, |path| root(path, 1), |path| root(path, 0)];

impl Prefixes {
    pub(super) fn add(&mut self, prefix: &Prefix, mark: &Mark) {
        let sorted = match &prefix.authority {
            None => &mut self.any,
            Some(host) => self.hosts.entry(host.clone()).or_default(),
        };
        if let Some(known) = sorted.0.get_mut(&prefix.path) {
            return known.add(mark);
        }
        sorted.0.insert(prefix.path.clone(), *mark);
        self.count += 1;
        self.bytes += prefix.path.len();
    }

    /// The marks of all that this key begins with. A key without a host belongs to all of them.
    pub(super) fn of<'a>(&'a self, key: &'a KeyView<'_>) -> impl Iterator<Item = &'a Mark> {
        let all = key.authority.is_empty().then(|| self.hosts.values()).into_iter().flatten();
        let own = self.hosts.get(key.authority).filter(|_| !key.authority.is_empty());
        all.chain(own).chain([&self.any]).flat_map(|sorted| sorted.of(key.target))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Prefix, &Mark)> {
        let hosts = self.hosts.iter().map(|(host, sorted)| (Some(host), sorted));
        hosts.chain([(None, &self.any)]).flat_map(|(host, sorted)| {
            let prefix = move |path: &str| Prefix { authority: host.cloned(), path: path.into() };
            sorted.0.iter().map(move |(path, mark)| (prefix(path), mark))
        })
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Of the paths.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn retain(&mut self, mut keep: impl FnMut(&Mark) -> bool) {
        let (mut count, mut bytes) = (0, 0);
        for sorted in self.hosts.values_mut().chain([&mut self.any]) {
            sorted.0.retain(|path, mark| {
                let stays = keep(mark);
                (count, bytes) = (count + usize::from(stays), bytes + usize::from(stays) * path.len());
                stays
            });
        }
        self.hosts.retain(|_, sorted| !sorted.0.is_empty());
        (self.count, self.bytes) = (count, bytes);
    }

    /// Widens the marks up to this epoch, until a quarter of what is allowed is free or each covers a host. Says
    /// how many were widened.
    pub(super) fn fold(&mut self, epoch: u64, most: usize, most_bytes: usize) -> usize {
        let is_old = |mark: &Mark| mark.latest() <= epoch;
        let mut folded = 0;
        for wider in WIDER {
            let old: Vec<(Prefix, Mark)> =
                self.iter().filter(|(_, mark)| is_old(mark)).map(|(prefix, mark)| (prefix, *mark)).collect();
            folded = folded.max(old.len());
            self.retain(|mark| !is_old(mark));
            for (Prefix { authority, path }, mark) in old {
                self.add(&Prefix { authority, path: wider(&path).into() }, &mark);
            }
            if self.count <= most - most / 4 && self.bytes <= most_bytes - most_bytes / 4 {
                break;
            }
        }
        folded
    }
}

impl Sorted {
    /// Whatever begins a target stands at or before it, and so begins whatever stands between the two as well: from one
    /// neighbour to the next only as much is left as both have in common.
    fn of(&self, target: &str) -> impl Iterator<Item = &Mark> {
        let mut left = Some(target);
        std::iter::from_fn(move || {
            loop {
                let rest = left?;
                let (path, mark) = self.0.range::<str, _>((Unbounded, Included(rest))).next_back()?;
                let common = path.bytes().zip(rest.bytes()).take_while(|(one, other)| one == other).count();
                if common == path.len() {
                    left = common.checked_sub(1).map(|shorter| &rest[..rest.floor_char_boundary(shorter)]);
                    return Some(mark);
                }
                left = Some(&rest[..rest.floor_char_boundary(common)]);
            }
        })
    }
}

/// What the path lies in: `/a/` for `/a/b`, `/` for `/a/`.
fn parent(path: &str) -> &str {
    let inner = path.strip_suffix(['/', '?', '&']).unwrap_or(path);
    let end = inner.rfind(['/', '?', '&']).map_or(0, |at| at + 1);
    if end == 0 { "/" } else { &path[..end] }
}

/// So many levels of it.
fn root(path: &str, levels: usize) -> &str {
    path.match_indices('/').nth(levels).map_or_else(|| parent(path), |(at, _)| &path[..=at])
}

#[cfg(test)]
mod tests {
    use message::{Scheme, Timestamp};
    use proptest::prelude::*;

    use super::*;

    fn prefix(host: Option<&str>, path: &str) -> Prefix {
        Prefix { authority: host.map(Box::from), path: path.into() }
    }

    fn epochs(prefixes: &Prefixes, host: &str, target: &str) -> Vec<u64> {
        let key = KeyView { scheme: Scheme::Http, authority: host, target, also: "" };
        let mut epochs: Vec<_> = prefixes.of(&key).map(Mark::latest).collect();
        epochs.sort_unstable();
        epochs
    }

    #[test]
    fn a_path_lies_in_its_parent() {
        for (path, expected) in
            [("/a/b", "/a/"), ("/a/", "/"), ("/", "/"), ("/a?b=1&c", "/a?b=1&"), ("", "/")]
        {
            assert_eq!(parent(path), expected, "{path}");
        }
        assert_eq!((root("/a/b/c", 1), root("/a/b/c", 0), root("/a", 1)), ("/a/", "/", "/"));
    }

    #[test]
    fn too_many_are_widened_and_cover_all_they_did() {
        let mut prefixes = Prefixes::default();
        for number in 0..1000 {
            prefixes.add(
                &prefix(Some("a"), &format!("/u/{number}/{number}")),
                &Mark::of(number, false, Timestamp::default()),
            );
        }
        assert_eq!(prefixes.fold(499, 1000, usize::MAX), 500);
        assert!(prefixes.len() <= 750, "{}", prefixes.len());
        assert_eq!(epochs(&prefixes, "a", "/u/7/7"), [499]);
        assert_eq!(epochs(&prefixes, "a", "/u/700/700"), [499, 700]);
        assert_eq!(epochs(&prefixes, "a", "/v"), [0; 0]);
        assert_eq!(epochs(&prefixes, "b", "/u/7/7"), [0; 0]);
    }

    proptest! {
        /// As if each were looked at.
        #[test]
        fn finds_what_a_key_begins_with(
            paths in proptest::collection::vec(("[ab]?", "/[abä/]{0,4}"), 0..40),
            host in "[abc]?",
            target in "/[abä/]{0,6}",
        ) {
            let mut prefixes = Prefixes::default();
            let mut marked = HashMap::new();
            for (number, (host, path)) in paths.iter().enumerate() {
                let prefix = prefix(Some(&**host).filter(|host| !host.is_empty()), path);
                prefixes.add(&prefix, &Mark::of(number as u64, false, Timestamp::default()));
                marked.insert((host, path), number as u64);
            }
            let covers = |of: &str| of.is_empty() || host.is_empty() || of == host;
            let mut expected: Vec<u64> = marked
                .iter()
                .filter(|((of, path), _)| covers(of) && target.starts_with(&***path))
                .map(|(_, number)| *number)
                .collect();
            expected.sort_unstable();
            prop_assert_eq!(epochs(&prefixes, &host, &target), expected);
            prop_assert_eq!(prefixes.len(), marked.len());
        }
    }
}
