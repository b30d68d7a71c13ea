//! Running: one plan made ready: its router and its sources. A reload makes the next one; requests under way keep
//! theirs.

use std::rc::Rc;
use std::sync::Arc;

use message::Result;
use plan::{CachePolicy, Plan};
use route::Router;
use source::HttpSource;

/// A plan ready to run, shared by all cores.
pub(crate) struct Running {
    pub(crate) plan: Arc<Plan>,
    pub(crate) router: Router<Destination>,
    /// In the order of [`Plan::sources`].
    pub(crate) sources: Vec<Arc<source::Shared>>,
}

/// Where a route leads.
pub(crate) struct Destination {
    /// The pattern as written.
    pub(crate) route: Arc<str>,
    /// Index into [`Running::sources`].
    pub(crate) source: usize,
    pub(crate) cache: Option<Arc<CachePolicy>>,
}

impl Running {
    /// Makes a plan ready. Sources that stay as they were keep their names resolved, their health and their pools.
    pub(crate) fn new(plan: Plan, before: Option<&Running>) -> Result<Arc<Running>> {
        let sources = plan
            .sources
            .iter()
            .map(|source| {
                let kept = before.and_then(|before| {
                    let index = before.plan.sources.iter().position(|old| old == source)?;
                    Some(Arc::clone(&before.sources[index]))
                });
                kept.map_or_else(|| source::Shared::new(Arc::clone(source)), Ok)
            })
            .collect::<Result<Vec<_>>>()?;
        let router = Router::new(plan.routes.iter().map(|route| {
            let destination = Destination {
                route: route.pattern.text.as_str().into(),
                source: route.source,
                cache: route.cache.clone(),
            };
            (route.pattern.clone(), destination)
        }));
        Ok(Arc::new(Running { plan: Arc::new(plan), router, sources }))
    }
}

/// A running plan with this core's own pools.
pub(crate) struct Local {
    pub(crate) running: Arc<Running>,
    pub(crate) sources: Vec<HttpSource>,
}

impl Local {
    /// This core's pools for a plan; those of sources that stayed are kept.
    pub(crate) fn new(running: Arc<Running>, before: Option<&Local>) -> Rc<Local> {
        let sources = running
            .sources
            .iter()
            .map(|shared| {
                let kept = before.and_then(|before| {
                    let index = before.running.sources.iter().position(|old| Arc::ptr_eq(old, shared))?;
                    Some(before.sources[index].clone())
                });
                kept.unwrap_or_else(|| HttpSource::new(Arc::clone(shared)))
            })
            .collect();
        Rc::new(Local { running, sources })
    }
}
