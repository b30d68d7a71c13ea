//! Explain: what each layer of a stack would do with a request, for people. Asks nobody and takes nothing.

use std::time::Duration;

use message::{FieldPattern, RequestView};
use plan::FieldEdits;
use tokio::time::Instant;

use crate::remedies::cors;
use crate::remedies::kept::Remedy;
use crate::stack::layer::Layer;

/// What a layer would do with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// In a sentence.
    pub effect: String,
    /// What becomes of the request.
    pub then: Then,
}

/// What becomes of a request at a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// It goes on at once.
    Passes,
    /// It goes on after its turn has come.
    Waits,
    /// It does not go on.
    Refused,
}

impl Told {
    pub(crate) fn new(effect: impl Into<String>, then: Then) -> Self {
        Told { effect: effect.into(), then }
    }
}

/// What is known of a request where layers are explained.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// The request.
    pub request: &'a RequestView<'a>,
    /// What its route calls the segments of its path.
    pub names: &'a [Option<Box<str>>],
    /// What timeouts around the layer leave; `None`: there are none.
    pub within: Option<Duration>,
}

impl Question<'_> {
    /// The same, inside of this layer.
    #[must_use]
    pub fn inside(self, layer: &Layer) -> Self {
        let within = match layer {
            Layer::Timeout(timeout) => {
                Some(self.within.map_or(timeout.within, |outer| outer.min(timeout.within)))
            }
            // What it fetches goes on for others, whoever gives up.
            Layer::Cache(_) => None,
            _ => self.within,
        };
        Question { within, ..self }
    }
}

/// As people say it: one digit after the point below ten seconds, none above; below one, in milliseconds.
pub(crate) fn spoken(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds >= 9.95 => format!("{seconds:.0} s"),
        seconds if seconds >= 0.9995 => format!("{} s", (seconds * 10.0).round() / 10.0),
        seconds => format!("{} ms", (seconds * 1000.0).ceil()),
    }
}

impl Layer {
    /// The same, for those whose word depends on what has happened before; `None`: what they do stands in the file.
    pub fn state(&self, question: Question<'_>) -> Option<Told> {
        match self {
            Layer::Breaker(breaker) => Some(breaker.explain(Instant::now().into_std())),
            Layer::Limit(limit) => Some(limit.explain(question)),
            Layer::Learn(learn) => Some(learn.explain(question)),
            Layer::Concurrency(concurrency) => Some(concurrency.explain(question.within)),
            Layer::Accounts(accounts) => {
                let (effect, refuses) = accounts.accounts.explain();
                Some(Told::new(effect, if refuses { Then::Refused } else { Then::Passes }))
            }
            _ => None,
        }
    }

    /// What it would do with a request.
    pub fn explain(&self, question: Question<'_>) -> Told {
        self.state(question).unwrap_or_else(|| {
            let (effect, refuses) = self.effect(question.request);
            Told::new(effect, if refuses { Then::Refused } else { Then::Passes })
        })
    }

    /// What it does, in a sentence; and whether it refuses the request.
    fn effect(&self, request: &RequestView<'_>) -> (String, bool) {
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
                    Some(after) => {
                        format!("makes a call that takes longer than {} a second time", spoken(after))
                    }
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
                let (tries, pause, share) = (rule.attempts, spoken(rule.longest), rule.share * 100.0);
                let told = format!(
                    "up to {tries} tries in all, at most {pause} apart; at most {share:.0} % of calls are retries"
                );
                (told, false)
            }
            Layer::Breaker(_)
            | Layer::Limit(_)
            | Layer::Learn(_)
            | Layer::Concurrency(_)
            | Layer::Accounts(_) => unreachable!("they have a state"),
            Layer::Credentials(credentials) => (credentials.credentials.explain(), false),
            Layer::Headers(layer) => (changes(&layer.headers), false),
            Layer::Cors(cors) => {
                let origin = cors::origin(request.fields);
                let told = match origin {
                    None => "no page of another origin asks",
                    Some(origin) if cors.0.allows(origin) => "the page that asks may read the response",
                    Some(_) => "the page that asks may not read the response",
                };
                (told.to_owned(), false)
            }
            Layer::Respond(respond) => respond.explain(request),
            Layer::Wasm(wasm) => (wasm.explain(), false),
            Layer::Faults(faults) if !faults.is_meant(request, &faults.names) => {
                ("leaves this request alone".to_owned(), false)
            }
            Layer::Faults(faults) => (goes_wrong(&faults.faults), false),
            Layer::Rewrite(rewrite) => match rewrite.target(request.target) {
                Ok(Some(target)) => {
                    (format!("asks for {}", target.split('?').next().unwrap_or_default()), false)
                }
                Ok(None) => ("leaves this path as it is".to_owned(), false),
                Err(error) => (format!("refused with 400: {}", error.detail()), true),
            },
            Layer::Timeout(timeout) => (format!("gives up after {}", spoken(timeout.within)), false),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_as_people_say_them() {
        for (nanos, told) in [
            (54_427_713_517_u64, "54 s"),
            (9_940_000_000, "9.9 s"),
            (9_960_000_000, "10 s"),
            (2_000_000_000, "2 s"),
            (999_999_999, "1 s"),
            (300_000_000, "300 ms"),
            (1, "1 ms"),
            (0, "0 ms"),
        ] {
            assert_eq!(spoken(Duration::from_nanos(nanos)), told, "{nanos}");
        }
    }
}
