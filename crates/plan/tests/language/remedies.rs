//! Remedies as people write them: what they mean, in which order they stand, and what is wrong with them.

use std::sync::Arc;
use std::time::Duration;

use plan::{Algorithm, Layer, LimitBy, Plan, Timeout, WhenGone, compile};

use crate::bad::{bad, one};

const SOURCES: &str = "sources: { api: http://a, redis: { redis: redis://a, use: inner }, wrapped: { http: http://b, use: [inner] } }";

/// A file with these policies and routes; the policies begin at 2:11.
fn file(policies: &str, routes: &str) -> String {
    format!("{SOURCES}\npolicies: {{ {policies}, inner: {{ timeout: 9s }} }}\nroutes: [{routes}]\n")
}

fn meant(policies: &str, routes: &str) -> Plan {
    let text = file(policies, routes);
    compile(&text, "fleetfoot.yaml").unwrap_or_else(|faults| panic!("{text}\n{faults}"))
}

fn words(plan: &Plan) -> Vec<&'static str> {
    plan.routes[0].layers.iter().map(Layer::word).collect()
}

/// The only layer of a policy with these words.
fn layer(policy: &str) -> Layer {
    let plan = meant(&format!("p: {{ {policy} }}"), "{ match: /, proxy: api, use: p }");
    plan.routes[0].layers.iter().next().unwrap().clone()
}

#[test]
fn the_order_inside_a_policy_is_fixed_and_that_between_policies_is_the_written_one() {
    let all = "timeout: { per_try: 1s, overall: 2s }, credentials: { bearer: x }, concurrency: 8, learn: true, limit: 1/s, breaker: true, retry: true, hedge: true, cache: true";
    let plan = meant(&format!("all: {{ {all} }}"), "{ match: /, proxy: api, use: all }");
    assert_eq!(
        words(&plan),
        [
            "cache",
            "timeout.overall",
            "hedge",
            "retry",
            "breaker",
            "limit",
            "learn",
            "concurrency",
            "credentials",
            "timeout.per_try"
        ]
    );
    let both = "clients: { limit: 1/s }, live: { cache: true, retry: true }";
    let plan = meant(both, "{ match: /, proxy: wrapped, use: [clients, live] }");
    assert_eq!(
        words(&plan),
        ["limit", "cache", "retry", "timeout.overall"],
        "that of the source is innermost"
    );
    let plan = meant(both, "{ match: /, proxy: wrapped, use: [live, clients] }");
    assert_eq!(words(&plan), ["cache", "retry", "limit", "timeout.overall"]);
}

#[test]
fn what_wraps_a_source_wraps_whatever_asks_it() {
    let routes = "{ match: GET /r, read: { redis: GET k } }, { match: GET /s, compose: { a: { redis: GET k }, b: { api: GET /b }, c: { wrapped: GET /c } } }";
    let plan = meant("p: { retry: true }", routes);
    assert_eq!(words(&plan), ["timeout.overall"]);
    let mut around: Vec<usize> =
        plan.wrappings.iter().map(|wrapping| wrapping.layers.iter().count()).collect();
    around.sort_unstable();
    assert_eq!(around, [0, 1, 1]);
}

#[test]
fn the_defaults_are_those_of_the_reference() {
    let Layer::Retry(retry) = layer("retry: true") else { panic!("it retries") };
    assert_eq!(*retry, plan::Retry { name: "p".to_owned(), ..plan::Retry::default() });
    let Layer::Retry(retry) = layer(
        "retry: { attempts: 5, backoff: 50ms..2s, budget: 10%, floor: 60/m, on: [500, broke-off], methods: all, replay: 1MiB }",
    ) else {
        panic!("it retries")
    };
    assert_eq!((retry.attempts, retry.share, retry.floor, retry.replay), (5, 0.1, 1.0, 1 << 20));
    assert_eq!((retry.first, retry.longest), (Duration::from_millis(50), Duration::from_secs(2)));
    assert_eq!((retry.on.statuses.len(), retry.on.errors.len(), retry.any_method), (1, 1, true));
    let Layer::Hedge(hedge) = layer("hedge: true") else { panic!("it hedges") };
    assert_eq!((hedge.after, hedge.share), (plan::HedgeAfter::Percentile(0.95), 0.05));
    let Layer::Hedge(hedge) = layer("hedge: { after: 200ms, budget: 1% }") else { panic!("it hedges") };
    assert_eq!((hedge.after, hedge.share), (plan::HedgeAfter::Time(Duration::from_millis(200)), 0.01));
    let Layer::Limit { limit, .. } = layer("limit: 100/s") else { panic!("it limits") };
    assert_eq!((limit.amount, limit.per, limit.burst), (100, Duration::from_secs(1), 100));
    assert_eq!((limit.algorithm, &limit.by, limit.keys), (Algorithm::Gcra, &LimitBy::All, 100_000));
    let Layer::Limit { limit, .. } =
        layer("limit: { rate: 10/30s, algorithm: sliding, per: provider, values: 7 }")
    else {
        panic!("it limits")
    };
    assert_eq!((limit.amount, limit.per), (10, Duration::from_secs(30)));
    assert_eq!((limit.algorithm, &limit.by, limit.keys), (Algorithm::Sliding, &LimitBy::Source, 7));
    for (written, when_gone, prefix) in [
        ("redis", WhenGone::Local, "fleetfoot"),
        ("{ redis: redis, when_gone: allow, prefix: shop }", WhenGone::Allow, "shop"),
    ] {
        let Layer::Limit { limit, .. } = layer(&format!("limit: {{ rate: 5/s, shared: {written} }}")) else {
            panic!("it limits")
        };
        let shared = limit.shared.as_ref().expect("it is shared");
        assert_eq!((&*shared.redis.name, shared.when_gone, &*shared.prefix), ("redis", when_gone, prefix));
    }
    let timeout = Arc::new(Timeout { name: "p".to_owned(), within: Duration::from_secs(2) });
    assert_eq!(layer("timeout: 2s"), Layer::Overall(Arc::clone(&timeout)));
    assert_eq!(layer("timeout: { per_try: 2s }"), Layer::PerTry(timeout));
}

#[test]
fn what_makes_no_sense_is_told() {
    let routes = "{ match: /, proxy: api, use: p }";
    for (policy, expected) in [
        (
            "limit: 100",
            "2:25 policies.p.limit | `100` is not a rate | write how many in how long, like `100/s`",
        ),
        (
            "limit: 0/s",
            "2:25 policies.p.limit | `0/s` is not a rate | write a whole number above zero before the slash, like `100/s`",
        ),
        (
            "limit: { burst: 5 }",
            "2:25 policies.p.limit | `rate` is missing | add it: `limit: { rate: 20/s, burst: 40, per: \"${client.network}\" }`",
        ),
        (
            "limit: { rate: 5/s, algorithm: fixed, burst: 5 }",
            "2:56 policies.p.limit.burst | `burst` is for `algorithm: gcra` | take it out: a window lets all of `rate` come at once",
        ),
        (
            "limit: { rate: 5/s, per: host }",
            "2:43 policies.p.limit.per | this is the same for every call | write an expression, like `\"${client.network}\"`, or `provider` for each source",
        ),
        (
            "limit: { rate: 5/s, shared: counts }",
            "2:46 policies.p.limit.shared | there is no Redis `counts` | write one of `redis`",
        ),
        (
            "limit: { rate: 5/s, shared: { when_gone: local } }",
            "2:46 policies.p.limit.shared | `redis` is missing | add it: `shared: { redis: redis, when_gone: local }`",
        ),
        (
            "limit: { rate: 5/s, shared: { redis: redis, when_gone: global } }",
            "2:73 policies.p.limit.shared.when_gone | `global` is not known here | write `local`; known here: `local`, `refuse`, `allow`",
        ),
        (
            "limit: { rate: 5/s, burst: 10, shares: { by: \"${header('X')}\", of: { a: 60% } }, shared: redis }",
            "2:99 policies.p.limit.shared | `shares` are counted by each instance for itself, so `shared` and `shares` do not go together | take one of them out; or write a policy with a `shared` limit for each group",
        ),
        (
            "limit: { rate: 1/300d, burst: 2, shared: redis }",
            "2:51 policies.p.limit.shared | it takes more than a year until the whole quota is there again | write a shorter time in `rate`, or a smaller `burst`",
        ),
        (
            "limit: { rate: 2000000000000/s, algorithm: fixed, shared: redis }",
            "2:68 policies.p.limit.shared | that is more than can be counted in Redis | write a `rate` of at most 1000000000000",
        ),
        (
            "retry: { attempts: 1 }",
            "2:37 policies.p.retry.attempts | `1` is out of range | write a whole number from 2 to 10",
        ),
        (
            "retry: { backoff: 1s }",
            "2:36 policies.p.retry.backoff | `1s` is no range of pauses | write the first pause and the longest, like `50ms..2s`",
        ),
        (
            "retry: { on: [conect] }",
            "2:32 policies.p.retry.on[0] | `conect` is no error of a source | write `connect`",
        ),
        (
            "retry: { on: 200 }",
            "2:31 policies.p.retry.on | `200` is no status of an error | write one of 400 to 599, like `503`",
        ),
        (
            "hedge: { after: p20 }",
            "2:34 policies.p.hedge.after | `p20` is no percentile to hedge at | write one from `p50` to `p99.9`, or a time like `200ms`",
        ),
        (
            "breaker: { in_a_row: 5, errors: 10% }",
            "2:42 policies.p.breaker.errors | `errors` is for a share of failures, and `in_a_row` for failures in a row | take one of them out",
        ),
        (
            "breaker: { probe: 5s..1s }",
            "2:36 policies.p.breaker.probe | the first rest is longer than the longest | write it like `1s..30s`",
        ),
        (
            "breaker: { instead: \"${url}\" }",
            "2:38 policies.p.breaker.instead | an expression cannot stand here | write the value itself",
        ),
        (
            "limit: { rate: 5/s, queue: { size: 5 } }",
            "2:45 policies.p.limit.queue | `wait` is missing | add it: `queue: { wait: 2s, size: 500, priority: \"${header('X-Priority')}\", fair: \"${client.network}\" }`",
        ),
        (
            "limit: { rate: 5/s, shares: { by: \"${url}\", of: { a: 80%, b: 30% } } }",
            "2:66 policies.p.limit.shares.of | the shares are more than 100 % together | write smaller ones",
        ),
        (
            "limit: { rate: 5/s, algorithm: fixed, shares: { by: \"${url}\", of: { a: 80% } } }",
            "2:56 policies.p.limit.shares | `shares` and `algorithm` do not go together: all groups are within one limit, counted by `gcra` | take `algorithm` out",
        ),
        (
            "concurrency: { adaptive: { least: 9, most: 3 } }",
            "2:52 policies.p.concurrency.adaptive.least | `least` is more than `most` | write less than `most`",
        ),
        (
            "limit: 99999999999999999999/s",
            "2:25 policies.p.limit | `99999999999999999999` is too large | write a smaller number, like `100/s`",
        ),
        (
            "limit: 1/100000d",
            "2:25 policies.p.limit | `100000d` is too long | write at most `24855d` (68 years)",
        ),
        (
            "limit: 5/0s",
            "2:25 policies.p.limit | `5/0s` is not a rate | write `/s`, `/m`, `/h` or `/d` after the number, like `100/s`, or a time above zero, like `10/30s`",
        ),
        (
            "breaker: { window: 0s }",
            "2:37 policies.p.breaker.window | `0s` is no time at all | write a duration above zero",
        ),
        (
            "breaker: { errors: 0% }",
            "2:37 policies.p.breaker.errors | `0%` is nothing at all | write a share above `0%`",
        ),
        (
            "breaker: { probe: 0s }",
            "2:36 policies.p.breaker.probe | the first rest is no time at all | write a duration above zero, like `1s..30s`",
        ),
        (
            "breaker: { probe: 0s..1s }",
            "2:36 policies.p.breaker.probe | the first rest is no time at all | write a duration above zero, like `1s..30s`",
        ),
        (
            "hedge: { after: 0ms }",
            "2:34 policies.p.hedge.after | `0ms` is no time at all | write a duration above zero: after none, every call is made twice",
        ),
        (
            "hedge: { budget: 0% }",
            "2:35 policies.p.hedge.budget | `0%` is nothing at all | write a share above `0%`",
        ),
        (
            "limit: { rate: 5/s, shares: { by: \"${url}\", of: { a: 0% } } }",
            "2:71 policies.p.limit.shares.of.a | `0%` is nothing at all | write a share above `0%`",
        ),
        (
            "concurrency: { adaptive: { first: 5000 } }",
            "2:52 policies.p.concurrency.adaptive.first | `first` is not between `least` (1) and `most` (1000) | write a number between the two, or move them",
        ),
        (
            "concurrency: { adaptive: { least: 20, first: 8 } }",
            "2:63 policies.p.concurrency.adaptive.first | `first` is not between `least` (20) and `most` (1000) | write a number between the two, or move them",
        ),
        (
            "timeout: { overall: 1s, per_try: 2s }",
            "2:51 policies.p.timeout.per_try | one try may take longer than all of them together | write less than `overall`",
        ),
    ] {
        let faults = bad(&file(&format!("p: {{ {policy} }}"), routes));
        assert_eq!(one(&faults), expected, "{policy}");
    }
    for (policies, route, expected) in [
        (
            "p: { retry: true }, q: { retry: true }",
            "{ match: /, proxy: api, use: [p, q] }",
            "3:43 routes[0].use[1] | `p` and `q` both say how to retry | use one of them",
        ),
        (
            "p: { retry: true }",
            "{ match: GET /, compose: { a: { use: p, compose: { b: { api: GET /b } } } } }",
            "3:47 routes[0].compose.a.use | a policy wraps a call, and this step has steps of its own | take `use` out; put it on the steps inside",
        ),
        (
            "p: { retry: true }",
            "{ match: PUT /, use: p, compose: { a: { api: POST /b } } }",
            "3:31 routes[0].use | `p` would carry out a step that writes again | put `retry` on the steps that read",
        ),
        (
            "p: { cache: true, limit: { rate: 1/s, per: \"${client.address}\" } }",
            "{ match: /, proxy: api, use: p }",
            "3:39 routes[0].use | `p` counts by who asks, and behind a cache nobody knows: one fetch is for many | put the limit into a policy of its own, and name it before the one that caches",
        ),
        (
            "p: { cache: true, concurrency: { max: 1, queue: { wait: 1s, priority: \"${header('P')}\" } } }",
            "{ match: /, proxy: api, use: p }",
            "3:39 routes[0].use | `p` orders its `queue` by who asks, and behind a cache nobody knows: one fetch is for many | put `concurrency` into a policy of its own, and name it before the one that caches",
        ),
        (
            "p: { cache: true, limit: { rate: 1/s, queue: { wait: 1s, fair: \"${client.network}\" } } }",
            "{ match: /, proxy: api, use: p }",
            "3:39 routes[0].use | `p` orders its `queue` by who asks, and behind a cache nobody knows: one fetch is for many | put the limit into a policy of its own, and name it before the one that caches",
        ),
        (
            "p: { cache: true }, q: { limit: { rate: 1/s, per: \"${url}\" } }",
            "{ match: GET /, compose: { a: { api: GET /a, use: [p, q] } } }",
            "3:60 routes[0].compose.a.use | `q` counts by who asks, and behind a cache nobody knows: one fetch is for many | put the limit into a policy of its own, and name it before the one that caches",
        ),
        (
            "p: { cache: true }",
            "{ match: GET /, read: { redis: \"GET geo:${client.address}\" }, use: p }",
            "3:41 routes[0].read.redis | `client.address` is known in policies alone: what is made of it here could be given to others | use it in `limit.per`, in `headers`, or in `cache.per` and `cache.key.by`",
        ),
    ] {
        let faults = bad(&file(policies, route));
        assert_eq!(one(&faults), expected, "{policies}");
    }
    let steps =
        bad(&file("p: { retry: true }", "{ match: GET /, use: p, compose: { a: { api: GET /a, use: p } } }"));
    assert_eq!(
        one(&steps),
        "3:31 routes[0].use | `p` has `retry`, and so has `p` around a step: their tries multiply | take one of them out"
    );
    for (counting, word) in [
        ("concurrency: 1", "concurrency"),
        ("limit: 1/s", "limit"),
        ("learn: true", "learn"),
        ("breaker: true", "breaker"),
    ] {
        let twice = bad(&file(&format!("p: {{ {counting} }}"), "{ match: /, proxy: api, use: [p, p] }"));
        let expected = format!(
            "3:43 routes[0].use[1] | `p` is named twice, and its `{word}` would count each call twice | name it once"
        );
        assert_eq!(one(&twice), expected);
        let expected = format!(
            "`p` is also around the source, and its `{word}` would count each call twice | take one of them out"
        );
        for (route, place) in [
            ("match: /, proxy: api, use: p", "3:39 routes[0].use"),
            ("match: GET /, compose: { a: { api: GET /a, use: p } }", "3:60 routes[0].compose.a.use"),
        ] {
            let text = format!(
                "sources: {{ api: {{ http: http://a, use: p }} }}\npolicies: {{ p: {{ {counting} }} }}\nroutes: [{{ {route} }}]\n"
            );
            assert_eq!(one(&bad(&text)), format!("{place} | {expected}"), "{counting}");
        }
        let apart = format!("p: {{ {counting} }}, q: {{ {counting} }}");
        assert_eq!(words(&meant(&apart, "{ match: /, proxy: api, use: [p, q] }")), [word, word]);
    }
    let text = "sources: { api: { http: http://a, use: q } }\npolicies: { p: { retry: true }, q: { retry: true } }\nroutes: [{ match: /, proxy: api, use: p }]\n";
    assert_eq!(
        one(&bad(text)),
        "3:39 routes[0].use | `p` has `retry`, and so has `q` around the source: their tries multiply | take one of them out"
    );
}
