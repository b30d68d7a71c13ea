//! Counting: one core's ways to each Redis where instances count together. Connections of their own: a count has less time than a read
//! that brings a megabyte, and is not to wait behind one. Made by `local` for each plan; lent to `layers`.

use std::collections::BTreeMap;
use std::sync::Arc;

use redis_link::Link;

use crate::walk::running::Running;

/// See the module. By the names of their sources.
#[derive(Default)]
pub(crate) struct CountingLinks(BTreeMap<String, Link>);

impl CountingLinks {
    /// For a plan; the connections to sources that stayed are kept.
    pub(crate) fn of(running: &Running, before: Option<&CountingLinks>) -> Self {
        let link = |(_, _, shared): (_, _, &Arc<redis_link::SharedLink>)| {
            let name = &shared.plan().name;
            let kept = before.and_then(|before| before.0.get(name));
            let kept = kept.filter(|link| Arc::ptr_eq(link.shared(), shared)).cloned();
            (name.clone(), kept.unwrap_or_else(|| Link::new(Arc::clone(shared))))
        };
        CountingLinks(running.shared_limits().map(link).collect())
    }

    /// That to this source.
    pub(crate) fn to(&self, source: &str) -> Link {
        self.0.get(source).cloned().expect("each source that a limit of the plan names has one")
    }
}
