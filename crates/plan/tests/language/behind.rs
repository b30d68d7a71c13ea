//! Expressions where others get what comes of them: behind a cache, behind a new path, on a step. Whatever layer they stand in, what
//! they read has to be known there.

use plan::{Layer, Plan, StepCall, Task, compile};

use crate::bad::{bad, one};

/// The origin `wrapped` has the policy `p`.
fn file(policies: &str, route: &str) -> String {
    let sources = "sources: { api: http://a, wrapped: { http: http://b, use: p } }";
    format!("{sources}\npolicies: {{ {policies} }}\nroutes: [{route}]\n")
}

fn meant(policies: &str, route: &str) -> Plan {
    let text = file(policies, route);
    compile(&text, "fleetfoot.yaml").unwrap_or_else(|faults| panic!("{text}\n{faults}"))
}

/// The one fault of a file, without its line.
fn told(policies: &str, route: &str) -> String {
    let faults = bad(&file(policies, route));
    one(&faults).split_once(' ').expect("a place, then the rest").1.to_owned()
}

/// Words of a policy whose answers depend on an expression.
fn answering(expression: &str) -> [(&'static str, String); 6] {
    let when = format!("\"${{{expression} == 'a'}}\"");
    let text = format!("\"/${{{expression}}}\"");
    [
        ("respond", format!("respond: {{ status: 200, when: {when} }}")),
        ("respond", format!("respond: {{ status: 200, headers: {{ X-A: {text} }} }}")),
        ("redirect", format!("redirect: {{ to: /b, when: {when} }}")),
        ("redirect", format!("redirect: {text}")),
        ("faults", format!("faults: {{ abort: {{ share: 100% }}, when: {when} }}")),
        ("headers", format!("headers: {{ response: {{ set: {{ X-A: {text} }} }} }}")),
    ]
}

const NOBODY: &str = "depends on who asks, and behind a cache nobody knows: one response is for many";

#[test]
fn no_answer_that_depends_on_who_asks_is_kept_for_others() {
    for read in ["header('X-Who')", "cookie.c", "client.address", "claim('sub')"] {
        for (word, policy) in answering(read) {
            let policies = format!("p: {{ {policy} }}, live: {{ cache: true }}");
            let cause =
                format!("an expression in `{word}` of `p` {NOBODY} | put `{word}` into a policy of its own");
            let held = "; or let the cache's `key` or `bypass` name what it reads";
            assert_eq!(
                told(&policies, "{ match: /, proxy: api, use: [live, p] }"),
                format!("routes[0].use | {cause}, and name it before the one that caches{held}"),
                "{policy}"
            );
            assert_eq!(
                told(&policies, "{ match: /, proxy: wrapped, use: live }"),
                format!(
                    "routes[0].use | {cause}, and use that here instead of on the source, before the one that caches{held}"
                ),
                "{policy}"
            );
            meant(&policies, "{ match: /, proxy: api, use: [p, live] }");
        }
    }
}

#[test]
fn what_the_keys_of_all_caches_around_it_hold_may_be_gone_by() {
    for (read, key) in [
        ("header('X-Who')", "headers: [X-Who]"),
        ("cookie.c", "cookies: [c]"),
        ("header('X-Who')", "bypass: X-Who"),
        ("cookie.c", "bypass: { cookie: c }"),
        ("url", "host: false"),
        ("host", "scheme: false"),
        ("scheme", "host: false"),
    ] {
        for (word, policy) in answering(read) {
            let key = if key.starts_with("bypass") { key.to_owned() } else { format!("key: {{ {key} }}") };
            let keyed = format!("p: {{ {policy} }}, live: {{ cache: {{ {key} }} }}");
            let plan = meant(&keyed, "{ match: /, proxy: api, use: [live, p] }");
            assert_eq!(plan.routes[0].layers.iter().nth(1).map(Layer::word), Some(word));
        }
    }
    for (read, key) in
        [("host", "host: false"), ("header('Host')", "host: false"), ("scheme", "scheme: false")]
    {
        for (word, policy) in answering(read) {
            let policies = format!("p: {{ {policy} }}, live: {{ cache: {{ key: {{ {key} }} }} }}");
            let told = told(&policies, "{ match: /, proxy: api, use: [live, p] }");
            assert!(told.contains(&format!("in `{word}` of `p` {NOBODY}")), "{policy}: {told}");
        }
    }
    // The inner of two caches keeps it for those whom the outer one tells apart.
    let inner = "p: { cache: true, headers: { response: { set: { X-A: \"${header('X-Who')}\" } } } }, live: { cache: { key: { headers: [X-Who] } } }";
    assert!(told(inner, "{ match: /, proxy: wrapped, use: live }").contains(NOBODY));
}

#[test]
fn what_a_route_makes_of_the_host_is_kept_by_the_host() {
    let read = "read: { store: \"GET k:${host}\" }";
    for (end, word) in [
        (read, "host"),
        ("compose: { a: { api: \"GET /${host}\" } }", "host"),
        ("compose: { a: { api: GET / } }, respond: \"${header('Host')}\"", "host"),
        ("compose: { a: { api: GET /, headers: { X-A: \"${scheme}\" } } }", "scheme"),
        ("compose: { a: { api: GET /, use: p } }", "host"),
    ] {
        let policies = |key: &str| {
            format!(
                "p: {{ respond: {{ status: 200, when: \"${{host == 'a'}}\" }} }}, live: {{ cache: {{ key: {{ {key} }} }} }}"
            )
        };
        let text = |key: &str| {
            let route = format!("{{ match: GET /, use: live, {end} }}");
            file(&policies(key), &route).replacen("api: http://a", "api: http://a, store: redis://a", 1)
        };
        let faults = bad(&text(&format!("{word}: false")));
        let expected = format!(
            "routes[0].use | what this route makes depends on the {word}, and the key of `live` leaves that out | take `{word}: false` out of `key`"
        );
        assert_eq!(one(&faults).split_once(' ').unwrap().1, expected, "{end}");
        let other = if word == "host" { "scheme" } else { "host" };
        assert!(compile(&text(&format!("{other}: false")), "fleetfoot.yaml").is_ok(), "{end}");
    }
}

#[test]
fn what_goes_by_the_client_is_not_kept_of_a_step_whose_call_says_nothing_of_it() {
    for (word, policy) in
        answering("url").into_iter().filter(|(word, _)| matches!(*word, "respond" | "faults"))
    {
        let policies = format!("p: {{ {policy} }}, live: {{ cache: {{ key: {{ headers: [X-Who] }} }} }}");
        let cause = format!("routes[0].compose.a.use | an expression in `{word}` of `p` {NOBODY} | ");
        let step = |step: &str| format!("{{ match: GET /, compose: {{ a: {{ {step} }} }} }}");
        let apart = format!("{cause}put `{word}` into a policy of its own, and ");
        assert_eq!(
            told(&policies, &step("api: GET /, use: [live, p]")),
            format!("{apart}name it before the one that caches")
        );
        assert_eq!(
            told(&policies, &step("wrapped: GET /, use: live")),
            format!("{apart}use that here instead of on the source, before the one that caches")
        );
        assert_eq!(
            told(&policies, &step("api: GET /, use: p, on_error: stale")),
            format!("{cause}take `stale` out of `on_error`, or `{word}` out of the policy")
        );
        meant(&policies, &step("api: GET /, use: [p, live]"));
    }
}

/// Whether other requests may share the call of a step with this policy, and what the response varies by.
fn shared(policy: &str) -> (bool, Option<String>) {
    let plan =
        meant(&format!("p: {{ {policy} }}"), "{ match: GET /, compose: { a: { api: GET /, use: p } } }");
    let plan::RouteEnd::Compose(compose) = &plan.routes[0].end else { panic!("it composes") };
    let step = &compose.graph.steps[0];
    assert!(matches!(step.task, Task::Call(StepCall::Http(_))));
    (step.is_shared, compose.vary.as_ref().map(|vary| vary.to_str().unwrap().to_owned()))
}

#[test]
fn a_step_shares_its_call_unless_a_policy_goes_by_the_client() {
    let varies = |by: &str| (false, Some(by.to_owned()));
    for (policy, expected) in [
        ("respond: { status: 403, when: \"${header('X-Who') != 'a'}\" }", varies("x-who")),
        ("respond: { status: 403, headers: { X-A: \"${cookie.c}\" } }", varies("cookie")),
        ("faults: { abort: { share: 1% }, when: \"${client.address != ''}\" }", varies("*")),
        ("faults: { abort: { share: 1% }, when: \"${url != ''}\" }", (false, None)),
        ("limit: { rate: 1/s, per: \"${header('X-Who')}\" }", (false, None)),
        ("limit: { rate: 9/s, shares: { by: \"${header('X-Who')}\", of: { a: 50% } } }", (false, None)),
        ("learn: { per: \"${header('X-Who')}\" }", (false, None)),
        ("respond: { status: 403 }", (true, None)),
        ("faults: { abort: { share: 1% } }", (true, None)),
        ("limit: { rate: 9/s, queue: { wait: 1s, fair: \"${client.network}\" } }", (true, None)),
        ("headers: { request: { set: { X-A: \"${header('X-Who')}\" } } }", (true, None)),
        ("cache: { key: { by: \"${header('X-Who')}\" } }", (true, None)),
    ] {
        assert_eq!(shared(policy), expected, "{policy}");
    }
}

#[test]
fn behind_a_new_path_nothing_reads_segments_by_their_names() {
    let id = "\"${path.id == 'a'}\"";
    let turn = "wait: 1s, size: 9";
    for policy in [
        format!("respond: {{ status: 503, when: {id} }}"),
        format!("respond: {{ status: 503, headers: {{ X-A: {id} }} }}"),
        format!("redirect: {{ to: /z, when: {id} }}"),
        "redirect: \"/z/${path.id}\"".to_owned(),
        format!("faults: {{ abort: {{ share: 1% }}, when: {id} }}"),
        format!("headers: {{ response: {{ set: {{ X-A: {id} }} }} }}"),
        format!("cache: {{ bypass: {id} }}"),
        format!("cache: {{ skip_for: {id} }}"),
        format!("cache: {{ per: {id} }}"),
        format!("cache: {{ key: {{ by: {id} }} }}"),
        format!("limit: {{ rate: 9/s, per: {id} }}"),
        format!("limit: {{ rate: 9/s, shares: {{ by: {id}, of: {{ a: 50% }} }} }}"),
        format!("limit: {{ rate: 9/s, queue: {{ {turn}, priority: {id} }} }}"),
        format!("limit: {{ rate: 9/s, queue: {{ {turn}, fair: {id} }} }}"),
        format!("learn: {{ per: {id} }}"),
        format!("learn: {{ queue: {{ {turn}, fair: {id} }} }}"),
        format!("concurrency: {{ max: 3, queue: {{ {turn}, fair: {id} }} }}"),
    ] {
        let policies = format!("new: {{ rewrite: {{ prefix: /a, to: /b }} }}, p: {{ {policy} }}");
        let route = |names: &str| format!("{{ match: \"/a/{{id}}\", proxy: api, use: [{names}] }}");
        assert_eq!(
            told(&policies, &route("new, p")),
            "routes[0].use | `new` changes the path, and a policy inside of it reads `path.NAME`, which is of the path as it came | name that policy before the one that rewrites",
            "{policy}"
        );
        meant(&policies, &route("p, new"));
    }
}

#[test]
fn a_segment_that_no_route_of_a_policy_has_is_told() {
    let id = "\"${path.id == 'a'}\"";
    for policy in [
        format!("respond: {{ status: 503, when: {id} }}"),
        "redirect: \"/z/${path.id}\"".to_owned(),
        format!("faults: {{ abort: {{ share: 1% }}, when: {id} }}"),
        format!("headers: {{ response: {{ set: {{ X-A: {id} }} }} }}"),
        format!("cache: {{ bypass: {id} }}"),
        format!("cache: {{ key: {{ by: {id} }} }}"),
        format!("limit: {{ rate: 9/s, per: {id} }}"),
        format!("limit: {{ rate: 9/s, queue: {{ wait: 1s, fair: {id} }} }}"),
    ] {
        let policies = format!("p: {{ {policy} }}");
        let route = |path: &str| format!("{{ match: \"/{path}\", proxy: api, use: p }}");
        assert_eq!(
            told(&policies, &route("{name}")),
            "routes[0].match | `p` reads `path.id`, and no route that uses it calls a segment of its path so | write `{id}` for a segment here, or a name that is here into the policy",
            "{policy}"
        );
        meant(&policies, &format!("{}, {}", route("a/{name}"), route("b/{id}")));
    }
    let compose = |policy: &str| {
        let policies = format!("p: {{ {policy} }}");
        let step = "{ match: \"GET /{id}\", compose: { a: { api: GET /, use: p } } }";
        compile(&file(&policies, step), "fleetfoot.yaml").is_ok()
    };
    assert!(compose("limit: { rate: 9/s, per: \"${path.id}\" }"), "that of the client");
    assert!(!compose("headers: { response: { set: { X-A: \"${path.id}\" } } }"), "its own has no names");
}
