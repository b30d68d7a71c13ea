//! Explain: what would happen to a request, and why: route, source, policy, key, and the rule that decides.
//!
//! Called by the `explain` command. Unless told not to, it asks the origin once, as a request without conditions. It asks
//! nothing that could change something there: a DELETE is explained without being sent (RFC 9110 §9.2.1).

use http::{HeaderMap, HeaderName, HeaderValue, Method, Version};
use message::{Body, Client, Clock, Error, Fields, Interim, Kind, Request, Response, Result, Scheme};
use plan::{CachePolicy, Plan};
use rules::{Exchange, LifetimeFrom, Terms};
use serde::Serialize;
use source::HttpSource;
use tokio::runtime::{Builder, LocalOptions};

use crate::running::{Local, Running};

/// What is asked about.
pub struct Question {
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
}

/// The way of the request, as far as it is known.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// `GET http://host/path`.
    pub request: String,
    /// The matching route's pattern; `None`: no route, 404.
    pub route: Option<String>,
    /// The source's name and targets.
    pub source: Option<String>,
    /// The cache policy's name; `None`: straight through.
    pub policy: Option<String>,
    /// What the answer would be stored under.
    pub key: Option<String>,
    /// The origin's answer, where it was asked.
    pub answer: Option<OriginAnswer>,
    /// What comes of it, in a sentence that names the rule.
    pub verdict: String,
    /// Whether a shared cache stores the answer; `None`: not known.
    pub stored: Option<bool>,
    /// Whether the origin was asked and gave no answer.
    pub failed: bool,
}

/// What the origin said that matters to a cache.
#[derive(Clone, Debug, Serialize)]
pub struct OriginAnswer {
    /// The status.
    pub status: u16,
    /// The fields that decide.
    pub fields: Vec<(String, String)>,
    /// Freshness lifetime in seconds, and where it comes from.
    pub lifetime: Option<(u64, &'static str)>,
    /// Its age on arrival, in seconds.
    pub age: Option<u32>,
}

/// The fields of an answer that caching depends on.
const DECISIVE: [&str; 11] = [
    "cache-control",
    "cdn-cache-control",
    "expires",
    "date",
    "age",
    "etag",
    "last-modified",
    "vary",
    "set-cookie",
    "pragma",
    "content-length",
];

/// Explains a request under a plan.
///
/// # Errors
/// When the plan's sources cannot be made ready.
pub fn explain(plan: Plan, question: Question) -> Result<Explanation> {
    let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default());
    let runtime = runtime.map_err(|error| Error::new(Kind::Internal, "no runtime").caused_by(error))?;
    runtime.block_on(async {
        let running = Running::new(plan, None)?;
        let local = Local::new(running, None);
        explain_in(&local, question).await
    })
}

async fn explain_in(local: &Local, question: Question) -> Result<Explanation> {
    let ask = question.ask;
    let request = request_of(question);
    let mut explanation = Explanation {
        request: format!("{} {}", request.method, cache::KeyView::of(&request.view())),
        route: None,
        source: None,
        policy: None,
        key: None,
        answer: None,
        verdict: String::new(),
        stored: None,
        failed: false,
    };
    if ["CONNECT", "PURGE", "TRACE"].contains(&request.method.as_str()) {
        return Ok(explanation.concluding("refused with 405: CONNECT, PURGE and TRACE are not served"));
    }
    if route::refuses(request.path()) {
        return Ok(explanation
            .concluding("refused with 400: the path has dot segments, a backslash or control bytes"));
    }
    let Some(destination) = local.running.router.find(&request.view()) else {
        return Ok(explanation.concluding("404: no route matches this method, host and path"));
    };
    let plan = &local.running.plan.sources[destination.source];
    let targets: Vec<_> =
        plan.targets.iter().map(|t| format!("{}://{}", t.scheme.as_str(), t.authority())).collect();
    explanation.route = Some(destination.route.to_string());
    explanation.source = Some(format!("{} ({})", plan.name, targets.join(", ")));
    let Some(policy) = &destination.cache else {
        explanation.stored = Some(false);
        return Ok(explanation.concluding("passed straight through: the route has no cache policy"));
    };
    explanation.policy = Some(policy.name.clone());
    explanation.key = Some(cache::KeyView::of(&request.view()).to_string());
    if !request.method.is_safe() {
        explanation.stored = Some(false);
        return Ok(explanation.concluding(
            "passed on, its answer not stored: only answers to GET are (RFC 9111 §3); a success makes what is stored \
             under this URL invalid (RFC 9111 §4.4). The origin was not asked, since this could change something there",
        ));
    }
    if !ask {
        return Ok(explanation.concluding("not known: the origin was not asked"));
    }
    match ask_origin(&local.sources[destination.source], policy, request, &mut explanation).await {
        Ok(()) => Ok(explanation),
        Err(error) => {
            explanation.failed = true;
            Ok(explanation.concluding(&format!("not known: the origin gave no answer: {error}")))
        }
    }
}

impl Explanation {
    fn concluding(mut self, verdict: &str) -> Self {
        verdict.clone_into(&mut self.verdict);
        self
    }
}

async fn ask_origin(
    source: &HttpSource,
    policy: &CachePolicy,
    mut request: Request,
    explanation: &mut Explanation,
) -> Result<()> {
    // As the cache asks: for the whole answer, whatever part or condition the client names.
    rules::validate::remove_conditions(&mut request.fields);
    let asked = request.head_only();
    let requested_at = Clock::now();
    let Response { status, fields, .. } = source.send(request).await?;
    let exchange = Exchange {
        method: &asked.method,
        request: Fields::Map(&asked.fields),
        status,
        response: &fields,
        personal: false,
        requested_at,
        received_at: Clock::now(),
    };
    let terms = Terms::of(&exchange, &policy.rules);
    let lifetime = terms.as_ref().ok().zip(LifetimeFrom::of(&exchange, &policy.rules));
    explanation.answer = Some(OriginAnswer {
        status: status.as_u16(),
        fields: decisive(&fields),
        lifetime: lifetime.map(|(terms, from)| (terms.lifetime().as_secs(), from.word())),
        age: terms.as_ref().ok().map(|terms| terms.age(exchange.received_at)),
    });
    explanation.stored = Some(terms.is_ok());
    explanation.verdict = match &terms {
        Err(reason) => format!("not stored ({}): {}", reason.word(), reason.sentence()),
        Ok(terms) if terms.is_fresh(exchange.received_at) => {
            let from = lifetime.map_or("its validator", |(_, from)| from.word());
            let left = terms.fresh_for(exchange.received_at);
            let (lifetime, age) = (terms.lifetime().as_secs(), terms.age(exchange.received_at));
            format!("stored, fresh for {left} s: lifetime {lifetime} s from {from}, less an age of {age} s")
        }
        Ok(_) => {
            "stored, but stale at once: every use asks the origin whether it is still good (RFC 9111 §4.3)"
                .to_owned()
        }
    };
    Ok(())
}

fn decisive(fields: &HeaderMap) -> Vec<(String, String)> {
    let words = |name: &'static str| {
        let values = fields.get_all(HeaderName::from_static(name)).into_iter();
        values.map(move |value| {
            // A cookie's value may be a secret; that there is one is all that matters.
            let value =
                if name == "set-cookie" { "…".into() } else { String::from_utf8_lossy(value.as_bytes()) };
            (name.to_owned(), value.into_owned())
        })
    };
    DECISIVE.into_iter().flat_map(words).collect()
}

fn request_of(question: Question) -> Request {
    let nobody = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    let mut fields = question.fields;
    fields.entry(http::header::USER_AGENT).or_insert(HeaderValue::from_static("fleetfoot-explain"));
    Request {
        method: question.method,
        scheme: question.scheme,
        authority: question.authority.into(),
        target: question.target.into(),
        version: Version::HTTP_11,
        fields,
        body: Body::Empty,
        client: Client { address: nobody, local: nobody, trusted: false },
        interim: Interim::default(),
    }
}
