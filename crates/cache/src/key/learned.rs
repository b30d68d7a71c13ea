//! Learned: what answers said about the parameters of their paths (`No-Vary-Search`), so that later requests find them.
//!
//! Told by fills, asked by `keying`. A path without such answers costs one atomic load.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use quick_cache::Equivalent;
use quick_cache::sync::Cache;
use rules::NoVarySearch;

use crate::key::keying::rule_piece;

/// The latest rule of each path; the least used give way, which costs nothing but another fetch.
pub(crate) struct Learned {
    rules: Cache<Path, Known>,
    any: AtomicBool,
}

/// A rule, and the piece of keys that says so, ready to be copied.
#[derive(Debug)]
pub(crate) struct Learnt {
    pub(crate) rule: NoVarySearch,
    pub(crate) piece: String,
}

const MOST: usize = 4096;

#[derive(Clone)]
struct Known {
    learnt: Arc<Learnt>,
    /// The answer for the path alone, without a query, said so too. One that does not is left where it is found: else
    /// whoever asks for some query could make everybody miss it.
    alone: bool,
}

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

    /// The rule for this target, where one is known.
    pub(crate) fn find(&self, authority: &str, target: &str) -> Option<Arc<Learnt>> {
        if !self.any.load(Ordering::Relaxed) {
            return None;
        }
        let (path, is_alone) = path_of(target);
        let known = self.rules.get(&PathView { authority, path })?;
        (known.alone || !is_alone).then_some(known.learnt)
    }

    /// Remembers what the latest answer for this target said, also that it said nothing.
    pub(crate) fn learn(&self, authority: &str, target: &str, rule: Option<NoVarySearch>) {
        let (path, is_alone) = path_of(target);
        let view = PathView { authority, path };
        let any = self.any.load(Ordering::Relaxed);
        let known = if any { self.rules.peek(&view) } else { None };
        let next = match (rule, known) {
            (Some(rule), Some(known)) if known.learnt.rule == rule => {
                Known { alone: known.alone || is_alone, ..known }
            }
            (Some(rule), _) => {
                let learnt = Arc::new(Learnt { piece: rule_piece(&rule), rule });
                Known { learnt, alone: is_alone }
            }
            (None, Some(known)) if is_alone => Known { alone: false, ..known },
            (None, Some(_)) => return drop(self.rules.remove(&view)),
            (None, None) => return,
        };
        self.rules.insert(Path { authority: authority.into(), path: path.into() }, next);
        self.any.store(true, Ordering::Relaxed);
    }
}

/// Without its query, and whether it has none.
fn path_of(target: &str) -> (&str, bool) {
    target.split_once('?').map_or((target, true), |(path, _)| (path, false))
}

impl fmt::Debug for Learned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Learned").field("paths", &self.rules.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};

    use super::*;

    fn rule(line: &'static str) -> Option<NoVarySearch> {
        NoVarySearch::of(&HeaderMap::from_iter([(
            http::HeaderName::from_static("no-vary-search"),
            HeaderValue::from_static(line),
        )]))
    }

    fn found(learned: &Learned) -> [bool; 2] {
        ["/p?a=1", "/p"].map(|target| learned.find("a.example", target).is_some())
    }

    #[test]
    fn a_path_alone_follows_its_own_answers() {
        let learned = Learned::new();
        let learn =
            |target, line: Option<&'static str>| learned.learn("a.example", target, line.and_then(rule));
        for (target, line, expected) in [
            ("/p", None, [false, false]),
            ("/p?a=1", Some("params"), [true, false]),
            ("/p", None, [true, false]),
            ("/p", Some("params"), [true, true]),
            ("/p?a=2", Some("params"), [true, true]),
            ("/p", None, [true, false]),
            ("/p", Some("params"), [true, true]),
            ("/p?a=2", Some("params=(\"a\")"), [true, false]),
            ("/p?a=2", None, [false, false]),
            ("/p", Some("params"), [true, true]),
            ("/q?a=1", None, [true, true]),
        ] {
            learn(target, line);
            assert_eq!(found(&learned), expected, "{target} {line:?}");
        }
    }
}
