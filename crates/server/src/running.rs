//! Running: one plan made ready: its router and its sources. A reload makes the next one; requests under way keep
//! theirs.
//!
//! A destination leads to one end by its number: those over HTTP come first, in the order of the plan, and behind them
//! one for each route that reads, and one for each that composes, in the order of the routes.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use cache::Look;
use compose::SingleFlight;
use http::HeaderValue;
use message::{Error, Kind, RequestView};
use plan::{
    CachePolicy, Graph, Invalidate, Pattern, Plan, ReadFrom, RouteEnd, Segment, StatusForm, StepCall, Task,
};
use policy::Gate;
use redis_link::Link;
use response::Saying;
use route::Router;
use source::{HttpSource, ReadLine, ReadSource, Reading, Redis, RedisLine, Store};

use crate::composed::{Composed, Composition};
use crate::configuration::StartError;
use crate::end::End;
use crate::identity::Identity;
use crate::steps::Lines;

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
    /// In the order of [`Plan::databases`].
    pub(crate) databases: Vec<Arc<sql::Shared>>,
    /// In the order of [`Plan::modules`].
    pub(crate) modules: Vec<Arc<wasm::Module>>,
    /// What routes answer by themselves, in their order.
    own: Vec<Own>,
    /// Reads of steps, by the addresses of their plans, which are kept as long.
    readings: Arc<HashMap<usize, Arc<Reading>>>,
}

/// What a route answers by itself.
enum Own {
    Read(Arc<Reading>, ReadFrom),
    Compose(Arc<Composition>),
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
        let old = before.map(|before| (&before.plan.databases[..], &before.databases[..]));
        let cores = plan.cores;
        let databases =
            each(&plan.databases, old, |plan| sql::Shared::new(plan, cores).map_err(StartError::Database))?;
        let old = before.map(|before| (&before.plan.modules[..], &before.modules[..]));
        let modules = each(&plan.modules, old, |plan| wasm::Module::new(plan).map_err(StartError::Module))?;
        let mut own = Vec::new();
        let mut readings = HashMap::new();
        let guards = plan::Guard::of(&plan.routes);
        let destinations: Vec<_> = plan
            .routes
            .iter()
            .zip(guards)
            .map(|(route, guard)| {
                let names = names(&route.pattern);
                let (source, source_name) = match &route.end {
                    RouteEnd::Proxy(source) => (*source, plan.sources[*source].name.clone()),
                    RouteEnd::Read(read) => {
                        own.push(Own::Read(
                            Arc::new(Reading::new(Arc::clone(read), names.clone())),
                            read.from,
                        ));
                        let name = match read.from {
                            ReadFrom::Redis(redis) => plan.redis[redis].name.as_str(),
                            ReadFrom::Store(store) => plan.stores[store].name.as_str(),
                        };
                        (sources.len() + own.len() - 1, name.to_owned())
                    }
                    RouteEnd::Compose(compose) => {
                        let (text, compose) = (&route.pattern.text, Arc::clone(compose));
                        let made = Composition::new(text, compose, names.clone(), plan.limits.body_size);
                        let kept = before.and_then(|before| before.composition(&made));
                        let composition = kept.unwrap_or_else(|| Arc::new(made));
                        collect_reads(&composition.plan.graph, &names, &mut readings);
                        own.push(Own::Compose(composition));
                        // No source is called so: names have no brackets. Each route makes something else of a path.
                        (sources.len() + own.len() - 1, format!("(compose) {}", route.pattern.text))
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
                (route.pattern.clone(), guard, destination)
            })
            .collect();
        let router = Router::new(destinations);
        check_functions(&plan, &modules)?;
        let (plan, readings) = (Arc::new(plan), Arc::new(readings));
        Ok(Arc::new(Running { plan, router, sources, redis, stores, databases, modules, own, readings }))
    }

    /// The one that is the same as this: its places and counts go on.
    fn composition(&self, made: &Composition) -> Option<Arc<Composition>> {
        self.own.iter().find_map(|own| match own {
            Own::Compose(composition) if composition.is_same(made) => Some(Arc::clone(composition)),
            Own::Compose(_) | Own::Read(..) => None,
        })
    }

    /// Routes with many calls, by their patterns.
    pub(crate) fn compositions(&self) -> impl Iterator<Item = (&str, &Composition)> {
        let composes = |route: &&plan::Route| matches!(route.end, RouteEnd::Compose(_));
        let patterns = self.plan.routes.iter().filter(composes).map(|route| route.pattern.text.as_str());
        let compositions = self.own.iter().filter_map(|own| match own {
            Own::Compose(composition) => Some(&**composition),
            Own::Read(..) => None,
        });
        patterns.zip(compositions)
    }

    /// Those that some route reads.
    pub(crate) fn redis_read(&self) -> impl Iterator<Item = &Arc<Redis>> {
        let is_read = |index| {
            let redis = ReadFrom::Redis(index);
            let by_route = |own: &Own| matches!(own, Own::Read(_, from) if *from == redis);
            let by_step = |reading: &Arc<Reading>| reading.from() == redis;
            self.own.iter().any(by_route) || self.readings.values().any(by_step)
        };
        self.redis.iter().enumerate().filter(move |(index, _)| is_read(*index)).map(|(_, redis)| redis)
    }
}

/// Makes the reads of all steps ready.
fn collect_reads(graph: &Graph, names: &[Option<Box<str>>], readings: &mut HashMap<usize, Arc<Reading>>) {
    for step in &graph.steps {
        match &step.task {
            Task::Call(StepCall::Read(read)) => {
                let reading = Reading::new(Arc::clone(read), names.into());
                readings.insert(Arc::as_ptr(read).addr(), Arc::new(reading));
            }
            Task::Compose(inner) => collect_reads(inner, names, readings),
            Task::Call(_) | Task::Gather(_) => {}
        }
    }
}

/// Whether each module has the functions that steps call. Only the module itself knows.
fn check_functions(plan: &Plan, modules: &[Arc<wasm::Module>]) -> Result<(), StartError> {
    plan.routes.iter().try_for_each(|route| match &route.end {
        RouteEnd::Compose(compose) => check_functions_of(&compose.graph, modules),
        RouteEnd::Proxy(_) | RouteEnd::Read(_) => Ok(()),
    })
}

fn check_functions_of(graph: &Graph, modules: &[Arc<wasm::Module>]) -> Result<(), StartError> {
    graph.steps.iter().try_for_each(|step| match &step.task {
        Task::Compose(inner) => check_functions_of(inner, modules),
        Task::Call(StepCall::Wasm(call)) => {
            let module = &modules[call.source];
            if module.has(&call.function) {
                return Ok(());
            }
            let known: Vec<_> = module.functions().collect();
            let detail = format!(
                "step {}: {} has no function `{}`; it has {}",
                step.name,
                module.plan().module.display(),
                call.function,
                if known.is_empty() { "none".to_owned() } else { known.join(", ") },
            );
            Err(StartError::Module(Error::new(Kind::Internal, detail)))
        }
        Task::Call(_) | Task::Gather(_) => Ok(()),
    })
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
    /// This core's ways to everything.
    pub(crate) lines: Rc<Lines>,
    /// What this core calls itself, where the plan says it is.
    cache_id: HeaderValue,
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
        let old = before.map(|before| &*before.lines);
        let http: Vec<_> = running
            .sources
            .iter()
            .map(|shared| {
                let kept = old.and_then(|old| old.http.iter().find(|(_, old)| Arc::ptr_eq(old, shared)));
                let source = kept.map(|(source, _)| source.clone());
                (source.unwrap_or_else(|| HttpSource::new(Arc::clone(shared))), Arc::clone(shared))
            })
            .collect();
        let redis = running.redis.iter().map(|shared| {
            let kept = old.and_then(|old| {
                let is_same = |line: &&ReadLine| matches!(line, ReadLine::Redis(line) if Arc::ptr_eq(line.shared(), shared));
                old.redis.iter().find(is_same).cloned()
            });
            kept.unwrap_or_else(|| ReadLine::Redis(RedisLine::new(Arc::clone(shared))))
        });
        let databases = running.databases.iter().map(|shared| {
            let kept = old.and_then(|old| {
                old.databases.iter().find(|line| Arc::ptr_eq(line.shared(), shared)).cloned()
            });
            kept.unwrap_or_else(|| sql::Line::new(Arc::clone(shared)))
        });
        let lines = Rc::new(Lines {
            redis: redis.collect(),
            stores: running.stores.iter().map(|store| ReadLine::Store(Arc::clone(store))).collect(),
            databases: databases.collect(),
            modules: running.modules.clone(),
            readings: Arc::clone(&running.readings),
            flights: SingleFlight::default(),
            store: Arc::clone(store),
            tier: tier.cloned(),
            http,
        });
        let own = running.own.iter().map(|own| match own {
            Own::Read(reading, from) => {
                let line = match from {
                    ReadFrom::Redis(redis) => &lines.redis[*redis],
                    ReadFrom::Store(store) => &lines.stores[*store],
                };
                End::Read(ReadSource::new(Arc::clone(reading), line.clone()))
            }
            Own::Compose(composition) => {
                End::Compose(Composed::new(Arc::clone(composition), Rc::clone(&lines)))
            }
        });
        let http = lines.http.iter().map(|(source, _)| End::Http(source.clone()));
        let ends = http.chain(own).collect();
        let cache_id = identity.cache_id(&running.plan.location);
        Rc::new(Local { running, ends, lines, cache_id })
    }

    /// How answers say what the cache did.
    pub(crate) fn saying(&self, form: StatusForm) -> Saying<'_> {
        Saying { form, id: &self.cache_id }
    }
}

#[cfg(test)]
mod tests {
    use http::Method;
    use rules::path::Target;

    use super::*;

    const TWO_ROUTES: &str = "
sources: { api: http://127.0.0.1:1 }
routes:
  - { match: GET a.example/x, run: \"pool(1, 1)\", compose: { one: { api: GET /one } } }
  - { match: GET b.example/x, run: \"pool(1, 1)\", compose: { one: { api: GET /one } } }
";

    fn running(text: &str, before: Option<&Running>) -> Arc<Running> {
        let plan = plan::compile(text, "test.yaml").unwrap_or_else(|faults| panic!("{faults}"));
        Running::new(plan, before).map_err(|_| "not ready").unwrap()
    }

    #[test]
    fn routes_that_do_the_same_keep_their_own_places_and_counts_over_a_reload() {
        let first = running(TWO_ROUTES, None);
        let second = running(TWO_ROUTES, Some(&first));
        let of = |running: &Running| -> Vec<_> {
            running.compositions().map(|(_, composition)| std::ptr::from_ref(composition).addr()).collect()
        };
        assert_eq!(of(&first), of(&second));
        assert_ne!(of(&second)[0], of(&second)[1]);
    }

    #[test]
    fn what_routes_make_of_one_path_is_told_apart_where_hosts_do_not_count() {
        let running = running(TWO_ROUTES, None);
        let target = Target::read("/x").unwrap();
        let [one, other] = ["a.example", "b.example"]
            .map(|host| &running.router.find(&Method::GET, host, &target).unwrap().source_name);
        assert_ne!(one, other);
    }
}
