//! Local: a running plan as one core has it: its own pools, and where its routes lead. Made anew with each reload.

use std::rc::Rc;
use std::sync::Arc;

use http::HeaderValue;
use plan::{SourceId, StatusForm};
use policy::{AskedFor, Stack};
use redis_link::Link;
use response::Saying;
use source::{LocalSource, ReadSource};

use crate::walk::composed::Composed;
use crate::walk::counting::CountingLinks;
use crate::walk::end::End;
use crate::walk::identity::Identity;
use crate::walk::layers::{Kit, Place};
use crate::walk::lines::Lines;
use crate::walk::running::{Running, Way};

/// See the module.
pub(crate) struct Local {
    pub(crate) running: Arc<Running>,
    /// What wraps each route's call, and where it ends, in the order of [`Running::ways`].
    pub(crate) stacks: Vec<Stack<End>>,
    /// This core's ways to everything.
    pub(crate) lines: Rc<Lines>,
    counting: CountingLinks,
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
        let counting = CountingLinks::of(&running, before.map(|before| &before.counting));
        let kit =
            Kit { store, tier, remedies: &running.remedies, sources: &running.sources, counting: &counting };
        let before = before.map(|before| (&*before.running, &*before.lines));
        let lines = Rc::new(Lines::new(&running, before, &kit));
        let routes = running.plan.routes.iter().zip(running.destinations()).zip(&running.ways);
        let stacks = routes.map(|((route, destination), way)| {
            let place = Place {
                route: &destination.route,
                names: &destination.names,
                source: &destination.source_name,
                targets: &origin(&lines, way).map(LocalSource::targets).unwrap_or_default(),
                hosts: &origin(&lines, way).map(LocalSource::hosts).unwrap_or_default(),
                stands_in: false,
                asked: AskedFor { by_path: matches!(way, Way::Proxy(_)), for_json: false },
            };
            Stack::new(destination.gate.clone(), kit.layers(&route.layers, &place), end(way, &lines))
        });
        let stacks = stacks.collect();
        let cache_id = identity.cache_id(&running.plan.location);
        Rc::new(Local { running, stacks, lines, counting, cache_id })
    }

    /// How answers say what the cache did.
    pub(crate) fn saying(&self, form: StatusForm) -> Saying<'_> {
        Saying { form, id: &self.cache_id }
    }
}

/// Where a route leads, if that is an origin.
fn origin<'l>(lines: &'l Lines, way: &Way) -> Option<&'l LocalSource> {
    match way {
        Way::Proxy(source) => Some(&lines.sources[source.place()]),
        Way::Read(..) | Way::Compose(_) | Way::Respond => None,
    }
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
        Way::Respond => End::Respond,
    }
}
