//! Router: all patterns of a plan, ready to be asked. Built once per plan; shared by the requests of every core.
//!
//! The most specific pattern wins, and the order in the file does not matter:
//!
//! 1. host: an exact one goes before `*.example.com`, the longer wildcard before the shorter, both before any;
//! 2. path, segment by segment from the left: a literal goes before `{name}` and `*`, and these go before `**`;
//! 3. method: a named one goes before any. `GET` takes `HEAD` where no `HEAD` is named.
//!
//! A pattern that is more specific but does not take the request (another method) does not hide a less specific one.

use message::RequestView;
use plan::Pattern;

use crate::path::refuses;
use crate::trie::Trie;

/// Finds what belongs to the most specific pattern that takes a request.
#[derive(Debug)]
pub struct Router<T> {
    routes: Vec<T>,
    /// Sorted by host.
    exact: Vec<(Box<str>, Trie)>,
    /// Sorted by what stands behind `*.`.
    wildcard: Vec<(Box<str>, Trie)>,
    any: Trie,
}

impl<T> Router<T> {
    /// A router for the patterns. Of two that take the same requests the first stays; a checked plan has none.
    pub fn new(routes: impl IntoIterator<Item = (Pattern, T)>) -> Self {
        let mut router =
            Router { routes: Vec::new(), exact: Vec::new(), wildcard: Vec::new(), any: Trie::default() };
        for (pattern, route) in routes {
            let index = router.routes.len();
            router.routes.push(route);
            router.trie(pattern.host.as_deref()).add(&pattern.path, pattern.method, index);
        }
        router
    }

    /// What belongs to the request's route. `None` when no pattern takes it, and for every path that [`refuses`] names.
    pub fn find(&self, request: &RequestView<'_>) -> Option<&T> {
        let path = request.path();
        if refuses(path) {
            return None;
        }
        let find = |trie: &Trie| trie.find(request.method, path);
        let index = self.tries(request.host()).find_map(find)?;
        self.routes.get(index)
    }

    /// The tries to ask for a host, most specific first.
    fn tries<'r>(&'r self, host: &'r str) -> impl Iterator<Item = &'r Trie> {
        let exact = lookup(&self.exact, host);
        let behind_dots = host.match_indices('.').map(|(dot, _)| &host[dot + 1..]);
        let suffixes = (!self.wildcard.is_empty()).then_some(behind_dots).into_iter().flatten();
        let wildcard = suffixes.filter_map(|suffix| lookup(&self.wildcard, suffix));
        exact.into_iter().chain(wildcard).chain(std::iter::once(&self.any))
    }

    /// The trie of a host pattern, made when it is not there.
    fn trie(&mut self, host: Option<&str>) -> &mut Trie {
        let Some(host) = host else { return &mut self.any };
        let (hosts, host) = match host.strip_prefix("*.") {
            Some(suffix) => (&mut self.wildcard, suffix),
            None => (&mut self.exact, host),
        };
        let index = match hosts.binary_search_by(|(known, _)| known.as_ref().cmp(host)) {
            Ok(index) => index,
            Err(index) => {
                hosts.insert(index, (host.into(), Trie::default()));
                index
            }
        };
        &mut hosts[index].1
    }
}

/// The trie of one host. Hosts are in lower case on both sides: a plan's by its check, a request's by the listener.
fn lookup<'h>(hosts: &'h [(Box<str>, Trie)], host: &str) -> Option<&'h Trie> {
    let index = hosts.binary_search_by(|(known, _)| known.as_ref().cmp(host)).ok()?;
    Some(&hosts[index].1)
}
