//! Explain: what each layer of a stack would do with a request, for people. Asks nobody and takes nothing.

use guard::{LearntFigures, QuotaLeft};
use message::{FieldPattern, RequestView};
use plan::FieldEdits;
use tokio::time::Instant;

use crate::remedies::concurrency::ConcurrencyFigures;
use crate::remedies::kept::Remedy;
use crate::stack::layer::Layer;

impl Layer {
    /// What it would do, in a sentence; and whether it would refuse the request.
    pub fn explain(&self, request: &RequestView<'_>) -> (String, bool) {
        match self {
            Layer::Cache(cache) => {
                let name = &cache.policy.name;
                (
                    format!("answers from the cache if HTTP and `{name}` allow, else calls the next layer"),
                    false,
                )
            }
            Layer::Hedge(hedge) => {
                if !request.is_idempotent() {
                    return (format!("makes no {} twice", request.method), false);
                }
                let told = match hedge.after(Instant::now()) {
                    Some(after) => format!("makes a call that takes longer than {after:?} a second time"),
                    None => "measures how long calls take: too few have ended on this core".to_owned(),
                };
                (told, false)
            }
            Layer::Retry(retry) => {
                let rule = retry.retries.rule();
                if !request.is_idempotent() && !rule.any_method {
                    let method = request.method;
                    return (format!("asks again only if this {method} never reached the source"), false);
                }
                let (tries, pause, share) = (rule.attempts, rule.longest, rule.share * 100.0);
                let told = format!(
                    "up to {tries} tries in all, at most {pause:?} apart; at most {share:.0} % of calls are retries"
                );
                (told, false)
            }
            Layer::Breaker(breaker) => match breaker.rest(Instant::now().into_std()) {
                None => ("closed: lets it pass".to_owned(), false),
                Some(rest) => (format!("open: refused with 503 for another {rest:?}"), true),
            },
            Layer::Limit(limit) => limit.explain(request),
            Layer::Learn(learn) => {
                let (figures, has_queue) = learn.figures(request);
                learnt(&figures, has_queue)
            }
            Layer::Concurrency(concurrency) => {
                let ConcurrencyFigures { limit, under_way, waiting } = concurrency.figures();
                (format!("{under_way} of {limit} calls under way, {waiting} waiting"), false)
            }
            Layer::Credentials(credentials) => (credentials.credentials.explain(), false),
            Layer::Accounts(accounts) => accounts.accounts.explain(),
            Layer::Headers(layer) => (changes(&layer.headers), false),
            Layer::Cors(cors) => {
                let origin = request.fields.first(&http::header::ORIGIN);
                let told = match origin {
                    None => "no page of another origin asks",
                    Some(origin) if cors.0.allows(origin) => "the page that asks may read the response",
                    Some(_) => "the page that asks may not read the response",
                };
                (told.to_owned(), false)
            }
            Layer::Respond(respond) if respond.is_meant(request, &respond.names) => (
                format!("`{}`: answered with {} here", respond.respond.name, respond.respond.status.as_str()),
                true,
            ),
            Layer::Respond(_) => ("leaves this request alone".to_owned(), false),
            Layer::Wasm(wasm) => (wasm.explain(), false),
            Layer::Faults(faults) => (goes_wrong(&faults.faults), false),
            Layer::Rewrite(rewrite) => match rewrite.target(request.target) {
                Ok(Some(target)) => {
                    (format!("asks for {}", target.split('?').next().unwrap_or_default()), false)
                }
                Ok(None) => ("leaves this path as it is".to_owned(), false),
                Err(error) => (format!("refused with 400: {}", error.detail()), false),
            },
            Layer::Timeout(timeout) => (format!("gives up after {:?}", timeout.within), false),
        }
    }
}

/// What a source has said of its limits, and what that makes of a call.
fn learnt(figures: &LearntFigures, has_queue: bool) -> (String, bool) {
    let LearntFigures { pause, wait, per_second, quota } = figures;
    let pause = pause.map(|pause| format!("paused for another {pause:.1?}, as the source has asked"));
    let pace = per_second.filter(|pace| *pace > 0.0).map(|pace| format!("at most {pace:.2} calls a second"));
    let quota = quota.map(|QuotaLeft { remaining, limit, reset }| {
        format!("{remaining} of {limit} left, whole again in {reset:.1?}")
    });
    let told: Vec<_> = pause.into_iter().chain(quota).chain(pace).collect();
    let told =
        if told.is_empty() { "the source has said nothing of limits".to_owned() } else { told.join("; ") };
    match wait {
        None => (format!("{told}: lets it pass"), false),
        Some(wait) if has_queue => (format!("{told}: waits, {wait:.1?} at least"), false),
        Some(wait) => (format!("{told}: refused with 429 for another {wait:.1?}"), true),
    }
}

/// Which fields are changed; not their values, which may be secret.
fn changes(headers: &plan::Headers) -> String {
    let changes = |edits: &FieldEdits| {
        let removed = edits.remove.iter().map(|pattern| match pattern {
            FieldPattern::Name(name) => format!("removes {name}"),
            FieldPattern::Prefix(prefix) => format!("removes {prefix}*"),
        });
        let set = edits.set.iter().map(|field| format!("sets {}", field.name));
        let added = edits.add.iter().map(|field| format!("adds {}", field.name));
        removed.chain(set).chain(added).collect::<Vec<_>>().join(", ")
    };
    let told = [("request", &headers.request), ("response", &headers.response)];
    let told = told.into_iter().filter(|(_, edits)| !edits.is_empty());
    told.map(|(whose, edits)| format!("{whose}: {}", changes(edits))).collect::<Vec<_>>().join("; ")
}

/// What goes wrong on purpose.
fn goes_wrong(faults: &plan::FaultInjection) -> String {
    let percent = |share: f64| share * 100.0;
    let delay = faults.delay.as_ref();
    let delay = delay.map(|it| format!("{} % wait for {:?} to {:?}", percent(it.share), it.least, it.most));
    let abort = faults.abort.as_ref();
    let abort = abort.map(|it| format!("{} % fail with {}", percent(it.share), it.status.as_str()));
    let cut = (faults.cut > 0.0).then(|| format!("{} % break off", percent(faults.cut)));
    let told: Vec<_> = delay.into_iter().chain(abort).chain(cut).collect();
    format!("on purpose: {}", told.join(", "))
}
