//! Running: one plan made ready: its router and its sources. A reload makes the next one; requests under way keep
//! theirs.
//!
//! A destination leads to one end by its number: those over HTTP come first, in the order of the plan, and behind them
//! one for each route that reads, in the order of the routes.

use std::rc::Rc;
use std::sync::Arc;

use cache::Look;
use http::HeaderValue;
use message::RequestView;
use plan::{CachePolicy, Invalidate, Pattern, Plan, ReadFrom, RouteEnd, Segment, StatusForm};
use policy::Gate;
use response::Saying;
use route::Router;
use source::{HttpSource, ReadSource, Reading, Redis, RedisLine, Store};

use crate::configuration::StartError;
use crate::end::End;
use crate::identity::Identity;

/// A plan ready to run, shared by all cores.
pub(crate) struct Running {
    pub(crate) plan: Arc<Plan>,
    pub(crate) router: Router<Destination>,
    /// In the order of [`Plan::sources`].
    pub(crate) sources: Vec<Arc<source::Shared>>,
    /// In the order of [`Plan::redis`]; those that no route reads are not watched.
    pub(crate) redis: Vec<Arc<Redis>>,
    /// In the order of [`Plan::stores`].
    pub(crate) stores: Vec<Arc<Store>>,
    /// Of the routes that read, in their order.
    reads: Vec<(Arc<Reading>, ReadFrom)>,
}

/// Where a route leads.
pub(crate) struct Destination {
    /// The pattern as written.
    pub(crate) route: Arc<str>,
    /// Index into [`Local::ends`].
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
    /// Makes a plan ready. Sources that stay as they were keep their names resolved, their health and their pools, and
    /// what they hold.
    pub(crate) fn new(plan: Plan, before: Option<&Running>) -> Result<Arc<Running>, StartError> {
        let old = before.map(|before| (&before.plan.sources[..], &before.sources[..]));
        let sources =
            each(&plan.sources, old, |plan| source::Shared::new(plan).map_err(StartError::Prepare))?;
        let old = before.map(|before| (&before.plan.redis[..], &before.redis[..]));
        let redis = each(&plan.redis, old, |plan| Redis::new(plan).map_err(StartError::Prepare))?;
        let old = before.map(|before| (&before.plan.stores[..], &before.stores[..]));
        let stores = each(&plan.stores, old, |plan| Store::open(plan).map_err(StartError::Store))?;
        let mut reads = Vec::new();
        let destinations: Vec<_> = plan
            .routes
            .iter()
            .map(|route| {
                let names = names(&route.pattern);
                let (source, source_name) = match &route.end {
                    RouteEnd::Proxy(source) => (*source, plan.sources[*source].name.as_str()),
                    RouteEnd::Read(read) => {
                        reads.push((Arc::new(Reading::new(Arc::clone(read), names.clone())), read.from));
                        let name = match read.from {
                            ReadFrom::Redis(redis) => plan.redis[redis].name.as_str(),
                            ReadFrom::Store(store) => plan.stores[store].name.as_str(),
                        };
                        (sources.len() + reads.len() - 1, name)
                    }
                };
                let destination = Destination {
                    route: route.pattern.text.as_str().into(),
                    source,
                    source_name: source_name.into(),
                    cache: route.cache.clone(),
                    gate: route.signed.as_deref().map(Gate::new),
                    invalidate: route.invalidate.clone(),
                    names,
                };
                (route.pattern.clone(), destination)
            })
            .collect();
        let router = Router::new(destinations);
        Ok(Arc::new(Running { plan: Arc::new(plan), router, sources, redis, stores, reads }))
    }

    /// Those that some route reads.
    pub(crate) fn redis_read(&self) -> impl Iterator<Item = &Arc<Redis>> {
        let is_read = |index| self.reads.iter().any(|(_, from)| *from == ReadFrom::Redis(index));
        self.redis.iter().enumerate().filter(move |(index, _)| is_read(*index)).map(|(_, redis)| redis)
    }
}

/// Plans, and what was made of each.
type Made<'a, P, T> = (&'a [Arc<P>], &'a [Arc<T>]);

/// Makes one of each plan. Whose plan stayed as it was is kept.
fn each<P: PartialEq, T>(
    plans: &[Arc<P>],
    before: Option<Made<'_, P, T>>,
    make: impl Fn(Arc<P>) -> Result<Arc<T>, StartError>,
) -> Result<Vec<Arc<T>>, StartError> {
    let one = |plan: &Arc<P>| {
        let kept = before.and_then(|(plans, made)| {
            let index = plans.iter().position(|old| old == plan)?;
            Some(Arc::clone(&made[index]))
        });
        kept.map_or_else(|| make(Arc::clone(plan)), Ok)
    };
    plans.iter().map(one).collect()
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
    /// Where requests end, see the module.
    pub(crate) ends: Vec<End>,
    /// In the order of [`Running::redis`].
    lines: Vec<RedisLine>,
    /// What this core calls itself, where the plan says it is.
    cache_id: HeaderValue,
}

impl Local {
    /// This core's pools for a plan; those of sources that stayed are kept.
    pub(crate) fn new(running: Arc<Running>, before: Option<&Local>, identity: &Identity) -> Rc<Local> {
        let http = running.sources.iter().map(|shared| {
            let kept = before.and_then(|before| {
                let index = before.running.sources.iter().position(|old| Arc::ptr_eq(old, shared))?;
                Some(before.ends[index].clone())
            });
            kept.unwrap_or_else(|| End::Http(HttpSource::new(Arc::clone(shared))))
        });
        let line = |shared: &Arc<Redis>| {
            let kept = before.and_then(|before| {
                before.lines.iter().find(|line| Arc::ptr_eq(line.shared(), shared)).cloned()
            });
            kept.unwrap_or_else(|| RedisLine::new(Arc::clone(shared)))
        };
        let lines: Vec<_> = running.redis.iter().map(line).collect();
        let reads = running.reads.iter().map(|(reading, from)| {
            let reading = Arc::clone(reading);
            End::Read(match from {
                ReadFrom::Redis(redis) => ReadSource::of_redis(reading, lines[*redis].clone()),
                ReadFrom::Store(store) => ReadSource::of_store(reading, Arc::clone(&running.stores[*store])),
            })
        });
        let ends = http.chain(reads).collect();
        let cache_id = identity.cache_id(&running.plan.location);
        Rc::new(Local { running, ends, lines, cache_id })
    }

    /// How answers say what the cache did.
    pub(crate) fn saying(&self, form: StatusForm) -> Saying<'_> {
        Saying { form, id: &self.cache_id }
    }
}
