//! Hosts: the tries of all hosts that patterns name. Built by the router, once for paths as they are, and for those that
//! servers read in more ways than one.

use http::Method;
use plan::Pattern;

use crate::trie::{Path, Trie};

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    /// Sorted by host.
    exact: Vec<(Box<str>, Trie)>,
    /// Sorted by what stands behind `*.`.
    wildcard: Vec<(Box<str>, Trie)>,
    any: Trie,
}

impl Hosts {
    /// All patterns, their literals as `literal` writes them.
    pub(crate) fn of(patterns: &[Pattern], literal: impl Fn(&str) -> Box<[u8]>) -> Self {
        let mut hosts = Hosts::default();
        for (index, pattern) in patterns.iter().enumerate() {
            let trie = hosts.trie(pattern.host.as_deref());
            trie.add(&pattern.path, pattern.method.clone(), index, &literal);
        }
        hosts
    }

    /// The most specific route.
    pub(crate) fn find<P: Path>(
        &self,
        host: &str,
        method: &Method,
        path: Option<P>,
        loosely: bool,
    ) -> Option<usize> {
        self.tries(host).find_map(|trie| trie.find(method, path, loosely))
    }

    /// The tries to ask for a host, most specific first.
    fn tries<'h>(&'h self, host: &'h str) -> impl Iterator<Item = &'h Trie> {
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
