//! Local: a running plan as one core has it: its own pools, and where its routes lead. Made anew with each reload.

use std::rc::Rc;
use std::sync::Arc;

use compose::SingleFlight;
use http::HeaderValue;
use plan::{SourceId, StatusForm};
use policy::{CacheLayer, Stack};
use redis_link::Link;
use response::Saying;
use source::{LocalSource, ReadSource};

use crate::walk::composed::Composed;
use crate::walk::end::End;
use crate::walk::identity::Identity;
use crate::walk::running::{Destination, Running, Way};
use crate::walk::steps::Lines;

/// See the module.
pub(crate) struct Local {
    pub(crate) running: Arc<Running>,
    /// What wraps each route's call, and where it ends, in the order of [`Running::ways`].
    pub(crate) stacks: Vec<Stack<End>>,
    /// This core's ways to everything.
    pub(crate) lines: Rc<Lines>,
    /// What this core calls itself, where the plan says it is.
    pub(crate) cache_id: HeaderValue,
}

impl Local {
    /// This core's pools for a plan; those of sources that stayed are kept. Steps behind a cache use `store` and `tier`.
    pub(crate) fn new(
        running: Arc<Running>,
        before: Option<&Local>,
        identity: &Identity,
        store: &Arc<cache::Store>,
        tier: Option<&Link>,
    ) -> Rc<Local> {
        let sources = running.sources.iter().map(|source| {
            let kept = before.and_then(|before| {
                let place = before.running.sources.iter().position(|old| old.is(source))?;
                Some(before.lines.sources[place].clone())
            });
            kept.unwrap_or_else(|| LocalSource::new(source))
        });
        let lines = Rc::new(Lines {
            plan: Arc::clone(&running.plan),
            sources: sources.collect(),
            flights: SingleFlight::default(),
            store: Arc::clone(store),
            tier: tier.cloned(),
        });
        let routes = running.destinations().zip(&running.ways);
        let stacks = routes.map(|(destination, way)| stack(destination, way, &lines)).collect();
        let cache_id = identity.cache_id(&running.plan.location);
        Rc::new(Local { running, stacks, lines, cache_id })
    }

    /// How answers say what the cache did.
    pub(crate) fn saying(&self, form: StatusForm) -> Saying<'_> {
        Saying { form, id: &self.cache_id }
    }
}

fn stack(destination: &Destination, way: &Way, lines: &Rc<Lines>) -> Stack<End> {
    let cache = destination.cache.as_ref().map(|policy| CacheLayer {
        policy: Arc::clone(policy),
        names: Arc::clone(&destination.names),
        source: destination.source_name.clone(),
        store: Arc::clone(&lines.store),
        link: lines.tier.clone(),
    });
    Stack::new(destination.gate.clone(), cache, end(way, lines))
}

fn end(way: &Way, lines: &Rc<Lines>) -> End {
    let line = |source: SourceId| lines.sources[source.place()].clone();
    match way {
        Way::Proxy(source) => match line(*source) {
            LocalSource::Http(http) => End::Http(http),
            _ => unreachable!("the plan proxies to origins alone"),
        },
        Way::Read(read, names) => match line(read.from) {
            LocalSource::Read(from) => End::Read(ReadSource::new(Arc::clone(read), Arc::clone(names), from)),
            _ => unreachable!("the plan reads from what can be read"),
        },
        Way::Compose(composition) => End::Compose(Composed::new(Arc::clone(composition), Rc::clone(lines))),
    }
}
