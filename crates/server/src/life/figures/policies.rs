//! Of what policies wrap calls with.

use std::collections::BTreeMap;

use policy::{AccountFigures, ConcurrencyFigures, Concurrents, Remedies, Tokens};
use telemetry::Family;

use super::of_each;
use crate::walk::running::Running;

const LABELS: [&str; 2] = ["policy", "account"];

pub(super) fn families(running: &Running) -> Vec<Family> {
    let limits: Vec<_> = running.remedies.limits.iter().collect();
    let mut families = of_each(
        "policy",
        &limits,
        [
            (Family::gauge("limit_keys", "Values of `per` that a limit counts apart now"), |of| of.keys()),
            (
                Family::counter(
                    "limit_keys_evicted",
                    "Values of `per` dropped before their quota was whole again",
                ),
                |of| of.evicted(),
            ),
        ],
    );
    let joint: Vec<_> = running.shared_limits().map(|(policy, joint, _)| (policy, joint)).collect();
    families.extend(of_each(
        "policy",
        &joint,
        [
            (
                Family::gauge("limit_shared", "Whether a shared limit is counted in Redis (1) or not (0)"),
                |of| u64::from(of.is_together()),
            ),
            (Family::gauge("limit_instances", "Instances that count a shared limit, as seen lately"), |of| {
                of.instances()
            }),
        ],
    ));
    let states = running.remedies.breakers.iter().flat_map(|(policy, breakers)| {
        let of = move |([source, target], is_open): ([String; 2], bool)| {
            ([policy.to_owned(), source, target], u64::from(is_open))
        };
        breakers.states().into_iter().map(of)
    });
    let states: Vec<_> = states.collect();
    if !states.is_empty() {
        let open =
            Family::gauge("breaker_open", "1 while the breaker of a policy lets no call to this target");
        families.push(open.by(["policy", "source", "target"], states));
    }
    let waiting = waiting(&running.remedies);
    if !waiting.is_empty() {
        let gauge = Family::gauge(
            "limit_waiting",
            "Calls that wait for their turn in the queue of a limit or of `learn`",
        );
        families.push(gauge.by(["policy"], waiting));
    }
    families.extend(lessons(running));
    families.extend(under_way(running));
    let counts = running.remedies.tally.counts();
    if !counts.is_empty() {
        let remedies = Family::counter("remedies", "Calls that a policy did something about");
        families.push(remedies.by(["route", "policy", "remedy", "outcome"], counts));
    }
    families.extend(tokens(running));
    families.extend(accounts(running));
    families
}

/// Calls in the queues of a policy, with those that wait under a rule that a reload has replaced.
fn waiting(remedies: &Remedies) -> Vec<([String; 1], u64)> {
    let Remedies { limits, lessons, .. } = remedies;
    let now = limits.iter().map(|(policy, of)| (policy, of.waiting()));
    let now = now.chain(lessons.iter().map(|(policy, of)| (policy, of.waiting())));
    let before = limits.replaced().map(|(policy, of)| (policy, of.waiting()));
    let before = before.chain(lessons.replaced().map(|(policy, of)| (policy, of.waiting())));
    let before = before.filter(|(_, waiting)| waiting.is_some_and(|waiting| waiting > 0));
    let mut sums = BTreeMap::new();
    for (policy, waiting) in now.chain(before).filter_map(|(policy, waiting)| Some((policy, waiting?))) {
        *sums.entry(policy.to_owned()).or_default() += waiting;
    }
    sums.into_iter().map(|(policy, sum)| ([policy], sum)).collect()
}

/// Of tokens that are asked for; without an account of several, that label is empty, which is as good as none.
fn tokens(running: &Running) -> Vec<Family> {
    let tokens: Vec<_> = running.remedies.tokens().collect();
    if tokens.is_empty() {
        return Vec::new();
    }
    let by = |family: Family, read: fn(&Tokens) -> u64| {
        family.by(LABELS, tokens.iter().map(|(policy, account, tokens)| ([*policy, *account], read(tokens))))
    };
    vec![
        by(Family::counter("token_requests", "Requests for a token of OAuth 2"), Tokens::asked),
        by(Family::counter("token_failures", "Requests for a token that failed"), Tokens::failed),
        by(Family::gauge("token_usable", "For how long the token may still be used").seconds(), |tokens| {
            tokens.good_for().as_secs()
        }),
    ]
}

fn accounts(running: &Running) -> Vec<Family> {
    let all = running.remedies.accounts.iter();
    let figures: Vec<_> = all.flat_map(|(policy, of)| of.figures().map(move |of| (policy, of))).collect();
    if figures.is_empty() {
        return Vec::new();
    }
    let by = |family: Family, read: fn(&AccountFigures<'_>) -> u64| {
        family.by(LABELS, figures.iter().map(|(policy, figures)| ([*policy, figures.name], read(figures))))
    };
    vec![
        by(Family::counter("account_calls", "Calls made by an account"), |of| of.calls),
        by(Family::counter("account_throttled", "Calls by an account that were throttled"), |of| {
            of.throttled
        }),
        by(Family::counter("account_refused", "Calls by an account that got 401 or 403"), |of| of.refused),
        by(Family::gauge("account_resting", "Whether an account rests or is set aside"), |of| {
            of.is_resting.into()
        }),
    ]
}

/// Of what sources say of their limits, where policies keep to it.
fn lessons(running: &Running) -> Vec<Family> {
    let all = running.remedies.lessons.iter();
    let each = all.flat_map(|(policy, lessons)| {
        lessons.figures().into_iter().map(move |(source, of)| ([policy.to_owned(), source], of))
    });
    let each: Vec<_> = each.collect();
    if each.is_empty() {
        return Vec::new();
    }
    let paused = each.iter().map(|(labels, of)| (labels.clone(), of.paused));
    let paces = each.iter().filter_map(|(labels, of)| Some((labels.clone(), of.per_second?)));
    let labels = ["policy", "source"];
    vec![
        Family::gauge("learn_paused", "Owners of a quota whose calls are paused, as the source has asked")
            .by(labels, paused),
        Family::gauge("learn_pace", "Calls a second that what a source says of its limits allows now")
            .by(labels, paces),
    ]
}

/// Of calls under way, where policies limit them.
fn under_way(running: &Running) -> Vec<Family> {
    let figures = |policy: &str, concurrents: &Concurrents| {
        let of_source = |(source, of)| ([policy.to_owned(), source], of);
        concurrents.figures().into_iter().map(of_source).collect::<Vec<_>>()
    };
    let concurrents = &running.remedies.concurrents;
    let now = concurrents.iter().flat_map(|(policy, of)| figures(policy, of));
    let mut each: BTreeMap<[String; 2], ConcurrencyFigures> = now.collect();
    for (labels, before) in concurrents.replaced().flat_map(|(policy, of)| figures(policy, &of)) {
        // What began under a rule that a reload has replaced: it is not counted against the one of today.
        if let Some(now) = each.get_mut(&labels) {
            now.under_way += before.under_way;
            now.waiting += before.waiting;
        }
    }
    if each.is_empty() {
        return Vec::new();
    }
    let gauge = |name, meaning, read: fn(&ConcurrencyFigures) -> u64| {
        let values = each.iter().map(|(labels, of)| (labels.clone(), read(of)));
        Family::gauge(name, meaning).by(["policy", "source"], values)
    };
    vec![
        gauge("concurrency_limit", "Calls that a policy lets be under way now", |of| of.limit),
        gauge("concurrency_under_way", "Calls under way", |of| of.under_way),
        gauge("concurrency_waiting", "Calls that wait for one of them to end", |of| of.waiting),
    ]
}
