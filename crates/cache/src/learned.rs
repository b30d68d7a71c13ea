//! Learned: what answers said about the parameters of their paths (`No-Vary-Search`), so that later requests find them.
//!
//! Told by fills, asked by `keying`. A path without such answers costs one atomic load.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use quick_cache::Equivalent;
use quick_cache::sync::Cache;
use rules::NoVarySearch;

/// The latest rule of each path; the least used give way, which costs nothing but another fetch.
pub(crate) struct Learned {
    rules: Cache<Path, Arc<NoVarySearch>>,
    any: AtomicBool,
}

const MOST: usize = 4096;

#[derive(Clone, PartialEq, Eq, Hash)]
struct Path {
    authority: Box<str>,
    path: Box<str>,
}

#[derive(Hash)]
struct PathView<'a> {
    authority: &'a str,
    path: &'a str,
}

impl Equivalent<Path> for PathView<'_> {
    fn equivalent(&self, other: &Path) -> bool {
        self.authority == &*other.authority && self.path == &*other.path
    }
}

impl Learned {
    pub(crate) fn new() -> Self {
        Learned { rules: Cache::new(MOST), any: AtomicBool::new(false) }
    }

    /// The rule for this target, where it has a query and a rule is known.
    pub(crate) fn find(&self, authority: &str, target: &str) -> Option<Arc<NoVarySearch>> {
        if !self.any.load(Ordering::Relaxed) {
            return None;
        }
        let (path, _) = target.split_once('?')?;
        self.rules.get(&PathView { authority, path })
    }

    /// Remembers what the latest answer for this target said, also that it said nothing.
    pub(crate) fn learn(&self, authority: &str, target: &str, rule: Option<NoVarySearch>) {
        let (path, _) = target.split_once('?').unwrap_or((target, ""));
        let view = PathView { authority, path };
        match rule {
            Some(rule) if self.rules.peek(&view).is_some_and(|known| *known == rule) => {}
            Some(rule) => {
                self.rules.insert(Path { authority: authority.into(), path: path.into() }, Arc::new(rule));
                self.any.store(true, Ordering::Relaxed);
            }
            None if !self.any.load(Ordering::Relaxed) => {}
            None => drop(self.rules.remove(&view)),
        }
    }
}

impl fmt::Debug for Learned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Learned").field("paths", &self.rules.len()).finish_non_exhaustive()
    }
}
