//! Running: one plan made ready: its router and its sources. A reload makes the next one; requests under way keep
//! theirs.

use std::rc::Rc;
use std::sync::Arc;

use cache::Look;
use http::HeaderValue;
use message::{RequestView, Result};
use plan::{CachePolicy, Invalidate, Pattern, Plan, Segment, StatusForm};
use policy::Gate;
use response::Saying;
use route::Router;
use source::HttpSource;

use crate::identity::Identity;

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
    /// Its name in the file.
    pub(crate) source_name: Box<str>,
    pub(crate) cache: Option<Arc<CachePolicy>>,
    /// Whom it lets in; `None`: everybody.
    pub(crate) gate: Option<Gate>,
    /// What a successful write makes the cache forget.
    pub(crate) invalidate: Vec<Invalidate>,
    /// What it calls the segments of its path, for expressions.
    pub(crate) names: Box<[Option<Box<str>>]>,
}

impl Destination {
    /// A request as the cache of this route looks at it.
    pub(crate) fn look<'a>(&'a self, request: &'a RequestView<'a>, policy: &'a CachePolicy) -> Look<'a> {
        Look { request, policy, names: &self.names, source: &self.source_name }
    }
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
                source_name: plan.sources[route.source].name.as_str().into(),
                cache: route.cache.clone(),
                gate: route.signed.as_deref().map(Gate::new),
                invalidate: route.invalidate.clone(),
                names: names(&route.pattern),
            };
            (route.pattern.clone(), destination)
        }));
        Ok(Arc::new(Running { plan: Arc::new(plan), router, sources }))
    }
}

fn names(pattern: &Pattern) -> Box<[Option<Box<str>>]> {
    let name = |segment: &Segment| match segment {
        Segment::One(name) => name.as_deref().map(Box::from),
        Segment::Literal(_) | Segment::Rest => None,
    };
    pattern.path.iter().map(name).collect()
}

/// A running plan with this core's own pools.
pub(crate) struct Local {
    pub(crate) running: Arc<Running>,
    pub(crate) sources: Vec<HttpSource>,
    /// What this core calls itself, where the plan says it is.
    cache_id: HeaderValue,
}

impl Local {
    /// This core's pools for a plan; those of sources that stayed are kept.
    pub(crate) fn new(running: Arc<Running>, before: Option<&Local>, identity: &Identity) -> Rc<Local> {
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
        let cache_id = identity.cache_id(&running.plan.location);
        Rc::new(Local { running, sources, cache_id })
    }

    /// How answers say what the cache did.
    pub(crate) fn saying(&self, form: StatusForm) -> Saying<'_> {
        Saying { form, id: &self.cache_id }
    }
}
