//! Running: one plan made ready: its router and its sources. A reload makes the next one; requests under way keep
//! theirs.

use std::collections::HashSet;
use std::sync::Arc;

use cache::Look;
use message::{Error, Kind, RequestView};
use plan::{
    CachePolicy, Graph, Invalidate, Pattern, Plan, Read, RouteEnd, Segment, SourceId, StatusForm, StepCall,
    Task,
};
use policy::{Auths, Gate, JointLimit, Remedies};
use route::Router;
use source::{SharedRedis, Source};

use crate::configuration::StartError;
use crate::walk::composition::{Composition, Names};

/// A plan ready to run, shared by all cores.
pub(crate) struct Running {
    pub(crate) plan: Arc<Plan>,
    pub(crate) router: Router<Destination>,
    /// In the order of [`Plan::sources`].
    pub(crate) sources: Vec<Source>,
    /// Where routes lead, in the order of [`Plan::routes`].
    pub(crate) ways: Vec<Way>,
    /// What all cores share of the policies.
    pub(crate) remedies: Remedies,
    /// And of those that say who may ask.
    pub(crate) auths: Auths,
}

/// Where a route leads, as all cores share it.
pub(crate) enum Way {
    /// To an origin.
    Proxy(SourceId),
    /// To one read.
    Read(Arc<Read>, Names),
    /// To many calls.
    Compose(Arc<Composition>),
    /// Nowhere: a layer answers.
    Respond,
}

/// What is known of a route once a request has found it.
pub(crate) struct Destination {
    /// The pattern as written.
    pub(crate) route: Arc<str>,
    /// Which route it is: index into [`Running::ways`], and into what each core has of them.
    pub(crate) number: usize,
    /// The name of its source in the file.
    pub(crate) source_name: Box<str>,
    pub(crate) cache: Option<Arc<CachePolicy>>,
    /// Whom it lets in; `None`: everybody.
    pub(crate) gate: Option<Arc<Gate>>,
    /// What a successful write makes the cache forget.
    pub(crate) invalidate: Vec<Invalidate>,
    pub(crate) names: Names,
}

impl Destination {
    /// How its responses say what a cache did: where it has no policy, what is held of a Redis.
    pub(crate) fn status_form(&self) -> StatusForm {
        self.cache.as_ref().map_or(StatusForm::Field, |policy| policy.status_form)
    }

    /// A request as the cache of this route looks at it.
    pub(crate) fn look<'a>(&'a self, request: &'a RequestView<'a>, policy: &'a CachePolicy) -> Look<'a> {
        Look { request, policy, names: &self.names, source: &self.source_name }
    }
}

impl Running {
    /// Makes a plan ready. Sources that stay as they were keep their names resolved, their health and their pools, and
    /// what they hold.
    pub(crate) fn new(plan: Plan, before: Option<&Running>) -> Result<Arc<Running>, StartError> {
        let sources = sources(&plan, before)?;
        let auths =
            Auths::of(plan.routes.iter(), before.map(|before| &before.auths)).map_err(StartError::Prepare)?;
        let mut ways = Vec::new();
        let mut destinations = Vec::new();
        let protections = plan::Protection::of(&plan.routes);
        for ((number, route), protection) in plan.routes.iter().enumerate().zip(protections) {
            let names = names(&route.pattern);
            let way = way(route, &names, &plan, before);
            let source_name = match &way {
                Way::Proxy(source) => plan.source(*source).name().to_owned(),
                Way::Read(read, _) => plan.source(read.from).name().to_owned(),
                // No source is called so: names have no brackets. Each route makes something else of a path.
                Way::Compose(_) => format!("(compose) {}", route.pattern.text),
                Way::Respond => format!("(respond) {}", route.pattern.text),
            };
            let destination = Destination {
                route: route.pattern.text.as_str().into(),
                number,
                source_name: source_name.into(),
                cache: route.cache().cloned(),
                gate: Gate::new(route.signed.as_deref(), auths.of_route(route)),
                invalidate: route.invalidate.clone(),
                names,
            };
            ways.push(way);
            destinations.push((route.pattern.clone(), protection, destination));
        }
        check_functions(&plan, &sources)?;
        let router = Router::new(destinations);
        let remedies = Remedies::of(plan.layers(), before.map(|before| &before.remedies));
        remedies.check().map_err(StartError::Prepare)?;
        Ok(Arc::new(Running { plan: Arc::new(plan), router, sources, ways, remedies, auths }))
    }

    /// The route of this pattern, if it has many calls. No two routes have the same.
    fn composition(&self, pattern: &Pattern) -> Option<&Composition> {
        self.compositions().find_map(|(text, composition)| (text == pattern.text).then_some(composition))
    }

    /// What is known of each route, in their order.
    pub(crate) fn destinations(&self) -> impl Iterator<Item = &Destination> {
        self.router.routes()
    }

    /// Routes with many calls, by their patterns.
    pub(crate) fn compositions(&self) -> impl Iterator<Item = (&str, &Composition)> {
        self.plan.routes.iter().zip(&self.ways).filter_map(|(route, way)| match way {
            Way::Compose(composition) => Some((route.pattern.text.as_str(), &**composition)),
            Way::Proxy(_) | Way::Read(..) | Way::Respond => None,
        })
    }

    /// Each limit that instances count together, with the name of its policy, and where.
    pub(crate) fn shared_limits(
        &self,
    ) -> impl Iterator<Item = (&str, &Arc<JointLimit>, &Arc<redis_link::SharedLink>)> {
        self.remedies.limits.iter().filter_map(|(policy, limited)| {
            let joint = limited.joint()?;
            let named = |source: &&Arc<SharedRedis>| source.plan().name == joint.plan().redis.name;
            let redis = self.sources.iter().filter_map(Source::redis).find(named)?;
            Some((policy, joint, redis.link()))
        })
    }

    /// Each Redis that some route or step reads; those that are only a tier of the cache are not watched.
    pub(crate) fn redis_read(&self) -> impl Iterator<Item = &Arc<SharedRedis>> {
        let read: HashSet<usize> = self.plan.reads().iter().map(|read| read.from.place()).collect();
        self.sources
            .iter()
            .enumerate()
            .filter_map(move |(place, source)| source.redis().filter(|_| read.contains(&place)))
    }
}

/// The sources of a plan. Those that stay as they were are kept.
fn sources(plan: &Plan, before: Option<&Running>) -> Result<Vec<Source>, StartError> {
    let one = |wanted: &plan::Source| {
        let kept = before.and_then(|before| {
            let place = before.plan.sources.iter().position(|old| old == wanted)?;
            Some(before.sources[place].clone())
        });
        kept.map_or_else(|| Source::new(wanted, plan.cores).map_err(StartError::from), Ok)
    };
    plan.sources.iter().map(one).collect()
}

fn way(route: &plan::Route, names: &Names, plan: &Plan, before: Option<&Running>) -> Way {
    match &route.end {
        RouteEnd::Proxy(source) => Way::Proxy(*source),
        RouteEnd::Read(read) => Way::Read(Arc::clone(read), Arc::clone(names)),
        RouteEnd::Compose(compose) => {
            let before = before.and_then(|before| before.composition(&route.pattern));
            let (compose, names) = (Arc::clone(compose), Arc::clone(names));
            Way::Compose(Arc::new(Composition::new(compose, names, plan.limits.body_size, before)))
        }
        RouteEnd::Respond => Way::Respond,
    }
}

/// Whether each module has the functions that steps and policies call. Only the module itself knows.
fn check_functions(plan: &Plan, sources: &[Source]) -> Result<(), StartError> {
    for layer in plan.layers() {
        let plan::Layer::Wasm(hooks) = layer else { continue };
        let place = || format!("policy {}", hooks.name);
        hooks.functions().try_for_each(|function| check_function(&place, function, hooks.module, sources))?;
    }
    plan.routes.iter().try_for_each(|route| match &route.end {
        RouteEnd::Compose(compose) => check_functions_of(&compose.graph, sources),
        RouteEnd::Proxy(_) | RouteEnd::Read(_) | RouteEnd::Respond => Ok(()),
    })
}

fn check_functions_of(graph: &Graph, sources: &[Source]) -> Result<(), StartError> {
    graph.steps.iter().try_for_each(|step| match &step.task {
        Task::Compose(inner) => check_functions_of(inner, sources),
        Task::Call(StepCall::Wasm(call)) => {
            check_function(&|| format!("step {}", step.name), &call.function, call.source, sources)
        }
        Task::Call(_) | Task::Gather(_) => Ok(()),
    })
}

/// `place`: who calls it.
fn check_function(
    place: &dyn Fn() -> String,
    function: &str,
    module: SourceId,
    sources: &[Source],
) -> Result<(), StartError> {
    let module = sources[module.place()].wasm().expect("the plan calls functions of modules alone");
    if module.has(function) {
        return Ok(());
    }
    let known: Vec<_> = module.functions().collect();
    let detail = format!(
        "{}: {} has no function `{function}`; it has {}",
        place(),
        module.plan().module.display(),
        if known.is_empty() { "none".to_owned() } else { known.join(", ") },
    );
    Err(StartError::Module(Error::new(Kind::Internal, detail)))
}

fn names(pattern: &Pattern) -> Names {
    let name = |segment: &Segment| match segment {
        Segment::One(name) => name.as_deref().map(Box::from),
        Segment::Literal(_) | Segment::Rest => None,
    };
    pattern.path.iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use guard::Places;
    use http::Method;
    use rules::path::Target;

    use super::*;
    use crate::walk::composition::ComposeCounters;

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

    /// Where the counts and the places of each composition are.
    fn kept(running: &Running) -> Vec<(*const ComposeCounters, *const Places)> {
        let of = |(_, composition): (&str, &Composition)| {
            let places = composition.places.as_ref().expect("a pool");
            (Arc::as_ptr(&composition.counters), Arc::as_ptr(places))
        };
        running.compositions().map(of).collect()
    }

    #[test]
    fn a_route_keeps_its_own_counts_and_places_over_a_reload_whatever_else_changes() {
        let first = running(TWO_ROUTES, None);
        let before = kept(&first);
        assert!(before[0].0 != before[1].0 && before[0].1 != before[1].1, "each route has its own");
        for (what, text) in [
            ("nothing", TWO_ROUTES.to_owned()),
            ("a source above", TWO_ROUTES.replace("sources: {", "sources: { other: http://127.0.0.1:2,")),
            ("what a step asks", TWO_ROUTES.replace("/one", "/two")),
        ] {
            assert_eq!(kept(&running(&text, Some(&first))), before, "{what}");
        }
        let wider = kept(&running(&TWO_ROUTES.replace("pool(1, 1)", "pool(2, 1)"), Some(&first)));
        assert!(wider[0].0 == before[0].0 && wider[0].1 != before[0].1, "more places are other places");
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
