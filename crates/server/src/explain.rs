//! Explain: what would happen to a request, and why: route, source, policy, key, what is stored, and the rule that
//! decides.
//!
//! Called by the `explain` command, with a cache of its own that is empty, and by `GET /explain` of the admin port, with
//! the one that runs. Where it is told to, it asks the origin once, as a request without conditions. It asks nothing
//! that could change something there: a DELETE is explained without being sent (RFC 9110 §9.2.1).

mod composed;
mod controls;
mod origin;
mod read;
mod stored;

use std::sync::Arc;

use cache::Store;
use http::{HeaderMap, HeaderValue, Method};
use message::{Clock, Request, RequestView, Scheme};
use plan::{CachePolicy, Layers, Plan};
use policy::{Gate, Question, Stack, Then, Told};
use route::NoRoute;
use rules::path::Target;
use serde::Serialize;
use tokio::runtime::{Builder, LocalOptions};
use tokio::task::spawn_local;

pub use composed::ComposedAnswer;
pub use controls::Control;
pub use origin::OriginAnswer;
pub use read::ReadAnswer;
pub use stored::Stored;

use crate::configuration::StartError;
use crate::walk::end::End;
use crate::walk::find::{AMBIGUOUS, MISLEADING};
use crate::walk::identity::Identity;
use crate::walk::local::Local;
use crate::walk::preflight;
use crate::walk::running::{Destination, Running};

/// What is asked about.
#[derive(Clone, Debug)]
pub struct ExplainRequest {
    /// The method.
    pub method: Method,
    /// Scheme, authority and target as a client would ask for them.
    pub scheme: Scheme,
    /// Host and port.
    pub authority: String,
    /// Path and query.
    pub target: String,
    /// Request fields.
    pub fields: HeaderMap,
    /// Whether the origin may be asked.
    pub ask: bool,
    /// Whether the steps of a compose are to be run once.
    pub live: bool,
}

/// The way of the request, as far as it is known.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// `GET http://host/path`.
    pub request: String,
    /// The matching route's pattern; `None`: no route, 404.
    pub route: Option<String>,
    /// The source's name and targets; `None`: no route, or one that answers itself.
    pub source: Option<String>,
    /// What is read, where the route reads.
    pub read: Option<ReadAnswer>,
    /// The steps, where the route has many calls.
    pub compose: Option<ComposedAnswer>,
    /// The cache policy's name; `None`: straight through.
    pub policy: Option<String>,
    /// How far the answers' own directives are obeyed: `origin`, `static` or `force`.
    pub mode: Option<&'static str>,
    /// What the answer is stored under: scheme, host and target as they count.
    pub key: Option<String>,
    /// What else is in the key, a name and a value each.
    pub key_parts: Vec<String>,
    /// What wraps the call, outermost first, and what each layer would do.
    pub stack: Vec<Control>,
    /// The policy's other controls, and what they make of this request.
    pub controls: Vec<Control>,
    /// What is stored under the key for this request.
    pub stored_answer: Option<Stored>,
    /// How many other variants are stored under the key.
    pub other_variants: usize,
    /// The origin's answer, where it was asked.
    pub answer: Option<OriginAnswer>,
    /// What comes of it, in a sentence that names the rule.
    pub verdict: String,
    /// Whether a shared cache stores the answer; `None`: not known.
    pub stored: Option<bool>,
    /// Whether the origin was asked and gave no answer.
    pub failed: bool,
    /// The layer at which the request waits for its turn before anything else becomes of it.
    #[serde(skip)]
    waits: Option<&'static str>,
}

/// Explains a request under a plan.
///
/// # Errors
/// When the plan's sources cannot be made ready.
pub fn explain(plan: Plan, question: ExplainRequest) -> Result<Explanation, StartError> {
    let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default());
    let runtime = runtime.map_err(|error| StartError::System("no runtime", error))?;
    runtime.block_on(async {
        let store = Store::new(plan.memory);
        let running = Running::new(plan, None)?;
        let asks = question.ask || question.live;
        for (_, _, tokens) in running.remedies.tokens().filter(|_| asks) {
            spawn_local(policy::renew(Arc::clone(tokens)));
        }
        for keys in running.auths.iter().filter_map(|(_, auth)| auth.remote()) {
            if question.ask {
                drop(spawn_local(Arc::clone(keys).keep()));
            } else {
                keys.stay_offline();
            }
        }
        let local = Local::new(running, None, &Identity::new(), &store, None);
        Ok(explain_in(&local, &store, question).await)
    })
}

/// Explains a request on a core.
pub(crate) async fn explain_in(local: &Local, store: &Store, question: ExplainRequest) -> Explanation {
    let (ask, live) = (question.ask, question.live);
    let mut request = request_of(question);
    let mut explanation = Explanation::of(&request);
    if ["CONNECT", "PURGE", "TRACE"].contains(&request.method.as_str()) {
        return explanation.concluding("refused with 405: CONNECT, PURGE and TRACE are not served");
    }
    if let Some((destination, response)) = preflight::answered(local, &request) {
        explanation.destination(destination, local.stacks[destination.number].end());
        explanation.stored = Some(false);
        return explanation.concluding(&format!(
            "answered with {} here: a preflight, which comes before everything else",
            response.status.as_str()
        ));
    }
    let sent = request.target.clone();
    let Some(target) = Target::read(&sent) else {
        return explanation.concluding(&format!("refused with 400: {MISLEADING}"));
    };
    let destination = match local.running.router.find(&request.method, request.view().host(), &target) {
        Ok(destination) => destination,
        Err(NoRoute::Unknown) => {
            return explanation.concluding("404: no route matches this method, host and path");
        }
        Err(NoRoute::Ambiguous) => {
            return explanation.concluding(&format!("refused with 400: {AMBIGUOUS}"));
        }
    };
    if let Some(text) = target.into_changed() {
        request.parts_mut().target = text.into();
    }
    let stack = &local.stacks[destination.number];
    let end = stack.end();
    explanation.destination(destination, end);
    if let Some(gate) = stack.gate()
        && let Err(error) = explanation.gate(gate, &mut request, &sent).await
    {
        explanation.stored = Some(false);
        let status = response::status_of(error.kind());
        return explanation.concluding(&format!("refused with {}: {}", status.as_u16(), error.detail()));
    }
    let layers = &local.running.plan.routes[destination.number].layers;
    if let Some(refused) = explanation.stack(layers, stack, &request.view(), &destination.names) {
        explanation.stored = Some(false);
        return explanation.concluding(&refused);
    }
    if let End::Read(source) = end {
        let read = ReadAnswer::of(source, &request.view());
        let verdict = read.verdict(&request.method);
        let is_answered = read.missing.is_some() || destination.cache.is_none();
        explanation.read = Some(read);
        if is_answered {
            return explanation.concluding(&verdict);
        }
    }
    if let End::Compose(composed) = end {
        let mut answer = ComposedAnswer::of(composed, &local.running.plan.wrappings, &request.view());
        let verdict = if !live {
            "not known: the steps were not run; `--live` runs them once".to_owned()
        } else if request.method.is_safe() {
            answer.run(composed, request.again()).await
        } else {
            // RFC 9110 §9.2.1.
            format!("not run: {} could change something", request.method)
        };
        let is_answered = destination.cache.is_none() || live;
        explanation.compose = Some(answer);
        if is_answered {
            return explanation.concluding(&verdict);
        }
    }
    let Some(policy) = &destination.cache else {
        explanation.stored = Some(false);
        return explanation.concluding("passed straight through: the route has no cache policy");
    };
    explanation.policy(policy);
    let known_as = stack.known_as(&request.target).unwrap_or_else(|| request.target.clone());
    let view = RequestView { target: &known_as, ..request.view() };
    let look = destination.look(&view, policy);
    let now = Clock::now();
    let shown = store.shown(&look, now);
    explanation.controls.extend(controls::of(&look, &shown));
    explanation.key = Some(shown.key.clone());
    explanation.key_parts.clone_from(&shown.also);
    let reads_content = controls::reads_content(policy, &request.method);
    if !request.method.is_safe() && !reads_content {
        explanation.stored = Some(false);
        return explanation.concluding(
            "passed on, its answer not stored: only answers to GET are (RFC 9111 §3); a success makes what is stored \
             under this URL invalid (RFC 9111 §4.4). The origin was not asked, since this could change something there",
        );
    }
    if let Some(why) = shown.bypass {
        explanation.stored = Some(false);
        return explanation
            .concluding(&format!("sent past the cache, nothing read or stored: {}", controls::bypass(why)));
    }
    if let Some(entry) = &shown.chosen {
        explanation.stored_answer = Some(Stored::of(entry, &look, now));
    }
    explanation.other_variants = shown.variants - usize::from(shown.chosen.is_some());
    if !ask {
        let verdict = match &explanation.stored_answer {
            Some(stored) => stored.verdict.clone(),
            None if explanation.other_variants > 0 => {
                "what is stored is for other values of the fields in `Vary` (RFC 9111 §4.1): the origin would be asked"
                    .to_owned()
            }
            None => "not known: nothing is stored for it in memory, and the origin was not asked".to_owned(),
        };
        return explanation.concluding(&verdict);
    }
    if reads_content && request.method != Method::GET {
        return explanation
            .concluding("not known: its content decides, and the origin was not asked without it");
    }
    match origin::ask(end, stack.layers(), policy, request, shown.personal, &mut explanation).await {
        Ok(()) => explanation,
        Err(error) => {
            explanation.failed = true;
            explanation.concluding(&format!("not known: the origin gave no answer: {error}"))
        }
    }
}

impl Explanation {
    fn of(request: &Request) -> Self {
        let (scheme, authority, target) = (request.scheme.as_str(), &request.authority, &request.target);
        Explanation {
            request: telemetry::redacted(&format!("{} {scheme}://{authority}{target}", request.method)),
            route: None,
            source: None,
            read: None,
            compose: None,
            policy: None,
            mode: None,
            key: None,
            key_parts: Vec::new(),
            stack: Vec::new(),
            controls: Vec::new(),
            stored_answer: None,
            other_variants: 0,
            answer: None,
            verdict: String::new(),
            stored: None,
            failed: false,
            waits: None,
        }
    }

    fn destination(&mut self, destination: &Destination, end: &End) {
        self.route = Some(destination.route.to_string());
        self.source = match end {
            End::Respond => None,
            End::Http(http) => {
                let source = http.shared().plan();
                let targets = source.targets.iter();
                let targets: Vec<_> = targets
                    .map(|target| format!("{}://{}", target.scheme.as_str(), target.authority()))
                    .collect();
                Some(format!("{} ({})", source.name, targets.join(", ")))
            }
            End::Compose(composed) => {
                let steps = compose::shown(&composed.composition.plan.graph).len();
                Some(format!("compose ({steps} steps)"))
            }
            End::Read(source) => Some(format!("{} ({})", destination.source_name, source.place())),
        };
    }

    /// Whom the gate lets in; the request as it is let in.
    async fn gate(&mut self, gate: &Gate, request: &mut Request, sent: &str) -> message::Result<()> {
        if let Some(signed) = gate.signed() {
            let refused = |_: &message::Error| self.controls.push(Control::new("signed", "refused"));
            let target = signed.admit(&request.view(), sent, Clock::date()).inspect_err(refused)?.into();
            request.parts_mut().target = target;
            signed.strip_cookie(&mut request.parts_mut().fields);
            self.controls.push(Control::new("signed", "the signature is valid, and taken off"));
        }
        for auth in gate.auth() {
            let refused = |_: &message::Error| self.controls.push(Control::new("auth", "refused"));
            let told = auth.explain(request).await.inspect_err(refused)?;
            self.controls.push(Control::new("auth", told));
        }
        Ok(())
    }

    /// The layers in their order. Given back: why one of them refuses before anything could be at hand.
    fn stack(
        &mut self,
        layers: &Layers,
        stack: &Stack<End>,
        request: &RequestView<'_>,
        names: &[Option<Box<str>>],
    ) -> Option<String> {
        let (mut refused, mut is_behind_cache) = (None, false);
        let (mut target, mut within): (Box<str>, _) = (request.target.into(), None);
        for (meant, layer) in layers.iter().zip(stack.layers()) {
            let question = Question { request: &RequestView { target: &target, ..*request }, names, within };
            let Told { effect, then } = layer.explain(question);
            within = question.inside(layer).within;
            target = layer.onward(&target).unwrap_or(target);
            // What stands behind a cache is asked only where that has nothing.
            if !is_behind_cache && refused.is_none() {
                match then {
                    Then::Refused => refused = Some(effect.clone()),
                    Then::Waits => self.waits = self.waits.or(Some(meant.word())),
                    Then::Passes => {}
                }
            }
            is_behind_cache |= matches!(meant, plan::Layer::Cache(_));
            self.stack.push(Control::new(meant.word(), effect));
        }
        refused
    }

    fn policy(&mut self, policy: &CachePolicy) {
        self.policy = Some(policy.name.clone());
        self.mode = Some(match policy.rules.mode {
            rules::Mode::Origin => "origin",
            rules::Mode::Static => "static",
            rules::Mode::Force => "force",
        });
    }

    fn concluding(mut self, verdict: &str) -> Self {
        self.verdict = match self.waits {
            Some(word) => format!("waits for its turn at `{word}`; then: {verdict}"),
            None => verdict.to_owned(),
        };
        self
    }
}

fn request_of(question: ExplainRequest) -> Request {
    let mut fields = question.fields;
    fields.entry(http::header::USER_AGENT).or_insert(HeaderValue::from_static("fleetfoot-explain"));
    let ExplainRequest { method, scheme, authority, target, .. } = question;
    crate::walk::errand::request(method, scheme, &authority, &target, fields)
}
