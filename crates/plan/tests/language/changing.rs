//! What changes messages, as people write it: what it means, and what is wrong with it.

use plan::{FieldText, Layer, Plan, compile};

use crate::bad::{bad, one};

/// A file with these policies and routes; the policies begin at 2:11.
fn file(policies: &str, routes: &str) -> String {
    let sources = "sources: { api: http://a, redis: redis://a }";
    format!("{sources}\npolicies: {{ {policies} }}\nroutes: [{routes}]\n")
}

fn meant(policies: &str, routes: &str) -> Plan {
    let text = file(policies, routes);
    compile(&text, "fleetfoot.yaml").unwrap_or_else(|faults| panic!("{text}\n{faults}"))
}

/// The one fault of a file, without its line.
fn told(text: &str) -> String {
    one(&bad(text)).split_once(' ').expect("a place, then the rest").1.to_owned()
}

const ROUTE: &str = "{ match: /, proxy: api, use: p }";

#[test]
fn headers_mean_what_is_written() {
    let plan = meant(
        "p: { headers: { request: { set: { X-A: a, X-B: \"${url}\" }, remove: [X-C, X-D-*] }, response: { add: { X-E: [1, \"${cache}\"] } } } }",
        ROUTE,
    );
    let Some(Layer::Headers(headers)) = plan.routes[0].layers.iter().next() else {
        panic!("it changes fields")
    };
    let (request, response) = (&headers.request, &headers.response);
    assert_eq!((request.set.len(), request.add.len(), request.remove.len()), (2, 0, 2));
    assert!(matches!(&request.set[0].value, FieldText::Constant(value) if value == "a"));
    assert_eq!(response.fields().filter(|field| field.name == "x-e").count(), 2);
    assert_eq!(response.made().count(), 1);
}

#[test]
fn fields_that_are_nobodys_to_change_are_refused_with_what_to_write() {
    let request = "policies.p.headers.request.set";
    let response = "policies.p.headers.response.set";
    for (headers, expected) in [
        (
            "request: { set: { Host: a } }",
            format!("{request}.Host | `host` names the server that is asked | write `host: …` on the source"),
        ),
        (
            "request: { set: { Content-Length: 1 } }",
            format!(
                "{request}.Content-Length | `content-length` frames or routes a message, or is about one connection | take it out: fleetfoot writes it as the message needs it"
            ),
        ),
        (
            "request: { set: { X_Real_IP: 1 } }",
            format!(
                "{request}.X_Real_IP | `x_real_ip` says who asks, and is taken off what strangers send | take it out: origins are told in `X-Forwarded-For`, `X-Real-IP` and `Forwarded`; or choose a name of your own, like `X-Visitor`"
            ),
        ),
        (
            "request: { set: { Transfer_Encoding: a } }",
            format!(
                "{request}.Transfer_Encoding | `transfer_encoding` frames or routes a message, or is about one connection | take it out: fleetfoot writes it as the message needs it"
            ),
        ),
        (
            "request: { set: { If-None-Match: a } }",
            format!(
                "{request}.If-None-Match | `if-none-match` asks for part of a response, or whether it changed, which is for clients to say | take it out"
            ),
        ),
        (
            "response: { set: { Cache-Status: a } }",
            format!(
                "{response}.Cache-Status | `cache-status` is written when all else is done | write `cache_status: off` in `cache`"
            ),
        ),
        (
            "response: { set: { \"X A\": a } }",
            format!("{response}.X A | `X A` is not a field name | write a name like `X-Tenant`"),
        ),
        (
            "response: { set: { X-A: \"a\\nb\" } }",
            "policies.p.headers.response.set.X-A | this is no value of a field: it holds line breaks or other control characters | write one line of text".to_owned(),
        ),
        (
            "request: { set: { X-A: \"${cache}\" } }",
            "policies.p.headers.request.set.X-A | `cache` is not known here | it is known in `headers.response` of a policy".to_owned(),
        ),
        (
            "response: { remove: \"*\" }",
            "policies.p.headers.response.remove | `*` would take out everything, or nothing | write what the names begin with, like `X-Internal-*`".to_owned(),
        ),
        (
            "request: { remove: \"*-Internal\" }",
            "policies.p.headers.request.remove | `*-Internal` has a `*` that stands for nothing | write a name, or in `remove` what names begin with, like `X-Internal-*`".to_owned(),
        ),
        (
            "request: { set: { \"X-*\": a } }",
            "policies.p.headers.request.set.X-* | `X-*` has a `*` that stands for nothing | write a name, or in `remove` what names begin with, like `X-Internal-*`".to_owned(),
        ),
        (
            "response: { set: { X-A: x, x-a: y } }",
            format!("{response}.x-a | `x-a` is set twice | take one out"),
        ),
        (
            "response: { remove: Connection }",
            "policies.p.headers.response.remove | `connection` frames or routes a message, or is about one connection | take it out: fleetfoot writes it as the message needs it".to_owned(),
        ),
    ] {
        assert_eq!(told(&file(&format!("p: {{ headers: {{ {headers} }} }}"), ROUTE)), expected, "{headers}");
    }
}

#[test]
fn a_value_that_depends_on_the_client_is_refused_behind_a_cache_that_keeps_it_for_others() {
    let why = "an expression in `headers` of `p` depends on who asks, and behind a cache nobody knows: one response is for many | put `headers` into a policy of its own, and name it before the one that caches; or let the cache's `key` or `bypass` name what it reads";
    for headers in [
        "request: { set: { X-A: \"${header('X-B')}\" } }",
        "request: { set: { X-A: \"${cookie.b}\" } }",
        "request: { set: { X-A: \"${client.address}\" } }",
        "request: { set: { X-A: \"${header('Cookie')}\" } }",
        "response: { set: { X-A: \"${claim('sub')}\" } }",
        "response: { set: { X-A: \"${cache}\" } }",
    ] {
        let policies = format!("p: {{ cache: true, headers: {{ {headers} }} }}");
        assert_eq!(told(&file(&policies, ROUTE)), format!("routes[0].use | {why}"), "{headers}");
        let apart = format!("p: {{ headers: {{ {headers} }} }}, live: {{ cache: true }}");
        meant(&apart, "{ match: /, proxy: api, use: [p, live] }");
        assert!(told(&file(&apart, "{ match: /, proxy: api, use: [live, p] }")).contains(why));
    }
    for (key, headers) in [
        ("headers: [X-B]", "request: { set: { X-A: \"${header('X-B')} ${url} ${env.PATH}\" } }"),
        ("cookies: [b]", "response: { set: { X-A: \"${cookie.b} ${response.header('ETag')}\" } }"),
    ] {
        meant(&format!("p: {{ cache: {{ key: {{ {key} }} }}, headers: {{ {headers} }} }}"), ROUTE);
    }
}

#[test]
fn only_requests_have_headers() {
    let policy = "p: { headers: { response: { remove: Server } } }";
    let why = "`headers` is for requests over HTTP, and this call gives a value | use that policy on a route, or on a source over HTTP";
    let step = "{ match: GET /, compose: { a: { redis: GET k, use: p } } }";
    assert_eq!(told(&file(policy, step)), format!("routes[0].compose.a.use | {why}"));
    let text = format!(
        "sources: {{ redis: {{ redis: redis://a, use: p }} }}\npolicies: {{ {policy} }}\nroutes: [{{ match: /, read: {{ redis: GET k }} }}]\n"
    );
    assert_eq!(told(&text), format!("sources.redis.use | {why}"));
    meant(policy, "{ match: /, read: { redis: GET k }, use: p }");
}

#[test]
fn a_rewrite_means_what_is_written() {
    for (words, path, expected) in [
        ("prefix: /api/v1, to: /v1", "/api/v1/x", Some("/v1/x")),
        ("prefix: /api/v1/, to: /", "/api/v1/x", Some("/x")),
        ("prefix: /, to: /v1", "/x", Some("/v1/x")),
        ("path: \"/users/{id}/**\", to: \"/u/{id}/all/**\"", "/users/7/a/b", Some("/u/7/all/a/b")),
        ("path: \"/a/{x}/{y}\", to: \"/{y}/{x}\"", "/a/1/2", Some("/2/1")),
        ("path: \"/a/{x}\", to: /b", "/a/1", Some("/b")),
        ("prefix: /a, to: /b", "/ab", None),
    ] {
        let plan = meant(&format!("p: {{ rewrite: {{ {words} }} }}"), ROUTE);
        let rewrite = plan.routes[0].layers.rewrite().expect("it rewrites");
        assert_eq!(rewrite.there.path(path).as_deref(), expected, "{words}");
    }
    let plan = meant("p: { rewrite: { prefix: /a, to: \"/b?v=1\" } }", ROUTE);
    assert_eq!(plan.routes[0].layers.rewrite().unwrap().query.as_deref(), Some("v=1"));
}

#[test]
fn a_rewrite_that_makes_no_sense_is_told() {
    let place = "policies.p.rewrite";
    for (words, expected) in [
        (
            "to: /a",
            " | `rewrite` does not say which paths are meant | write it like `rewrite: { path: \"/users/{id}/**\", to: \"/u/{id}/**\" }`",
        ),
        (
            "prefix: /a",
            " | `to` is missing | add it: `rewrite: { path: \"/users/{id}/**\", to: \"/u/{id}/**\" }`",
        ),
        (
            "prefix: /a, path: /b, to: /c",
            ".path | `prefix` and `path` stand in one `rewrite` | take one of them out",
        ),
        (
            "prefix: GET /a, to: /c",
            ".prefix | `GET /a` is not a path | begin it with a slash, without method and host",
        ),
        (
            "prefix: \"/a/{id}\", to: /c",
            ".prefix | `/a/{id}` has placeholders, and a prefix is written out | write `path` instead of `prefix`, with `**` at the end",
        ),
        (
            "path: \"/a/{id}\", to: \"/c/{ip}\"",
            ".to | `/c/{ip}` holds a placeholder that `path` does not | write only placeholders of `path`",
        ),
        (
            "path: /a, to: /c/**",
            ".to | `/c/**` holds a placeholder that `path` does not | write only placeholders of `path`",
        ),
        (
            "path: /a/*, to: /c",
            ".path | `*` does not say which segment is meant | give it a name in both, like `{id}`",
        ),
        (
            "path: \"/a/{id}\", to: \"/c?id={id}\"",
            ".to | `id={id}` is not a query that is written out | write parameters like `v=1`, percent-encoded and without placeholders; or leave it out: the query stays as it is",
        ),
        (
            "prefix: /a, to: //evil",
            ".to | `//evil` begins with a host that nobody sees | begin it with a single slash",
        ),
        ("prefix: /a, to: /../b", ".to | `..` is a dot segment | "),
    ] {
        let told = told(&file(&format!("p: {{ rewrite: {{ {words} }} }}"), ROUTE));
        assert!(
            told.starts_with(&format!("{place}{expected}"))
                || (expected.ends_with("| ") && told.contains("..")),
            "{words}: {told}"
        );
    }
    let rewrite = "p: { rewrite: { prefix: /a, to: /b } }, q: { limit: { rate: 1/s, per: \"${path.id}\" } }";
    assert_eq!(
        told(&file(rewrite, "{ match: \"/{id}\", proxy: api, use: [p, q] }")),
        "routes[0].use | `p` changes the path, and a policy inside of it reads `path.NAME`, which is of the path as it came | name that policy before the one that rewrites"
    );
    meant(rewrite, "{ match: \"/{id}\", proxy: api, use: [q, p] }");
    assert_eq!(
        told(&file(rewrite, "{ match: /, read: { redis: GET k }, use: p }")),
        "routes[0].use | `p` rewrites the path for a source, and this route asks none with it | use that policy on a route with `proxy`, on a step, or on a source over HTTP"
    );
    assert!(
        told(&file(rewrite, "{ match: GET /, compose: { a: { redis: GET k, use: p } } }"))
            .contains("`rewrite` is for requests over HTTP")
    );
}

#[test]
fn what_stands_before_all_else_and_what_stands_innermost() {
    let all = "faults: { cut: { share: 1% } }, timeout: { per_try: 1s }, wasm: { module: tools, request: f }, rewrite: { prefix: /a, to: /b }, headers: { response: { remove: Server } }, cache: true, respond: { status: 503 }, redirect: /x, cors: { origins: \"*\" }";
    let folder = Tools::new();
    let plan = compile(&folder.file(&format!("p: {{ {all} }}"), ROUTE), "fleetfoot.yaml").unwrap();
    let words: Vec<_> = plan.routes[0].layers.iter().map(Layer::word).collect();
    assert_eq!(
        words,
        ["cors", "redirect", "respond", "cache", "headers", "rewrite", "wasm", "timeout.per_try", "faults"]
    );
}

#[test]
fn a_route_needs_no_source_where_it_answers_itself() {
    let routes = "{ match: /old/{id}/**, redirect: \"/new/${path.id}\" }, { match: GET /robots.txt, respond: { status: 200, body: x }, use: p }";
    let routes = routes.replace("/old/{id}/**", "\"/old/{id}/**\"");
    let plan = meant("p: { headers: { response: { remove: Server } } }", &routes);
    let words = |route: &plan::Route| route.layers.iter().map(Layer::word).collect::<Vec<_>>();
    assert!(plan.routes.iter().all(|route| route.end == plan::RouteEnd::Respond));
    assert_eq!(words(&plan.routes[0]), ["redirect"]);
    assert_eq!(words(&plan.routes[1]), ["headers", "respond"], "what is used stands around it");
}

#[test]
fn a_route_answers_itself_or_asks_somebody() {
    let whens = "take `when` out, or put this into a policy on a route with a source";
    for (route, expected) in [
        ("proxy: api, redirect: /x", "proxy | `proxy` and `redirect` stand in one route | take one of them out".to_owned()),
        ("proxy: api, respond: { status: 200 }", "proxy | `proxy` and `respond` stand in one route | take one of them out".to_owned()),
        ("read: { redis: GET k }, respond: { status: 200 }", "read | `read` and `respond` stand in one route | take one of them out".to_owned()),
        ("redirect: /x, respond: { status: 200 }", "respond | `respond` and `redirect` stand in one route | take one of them out".to_owned()),
        ("redirect: /x, compose: { a: { api: GET /a } }", "redirect | `redirect` and `compose` stand in one route | take one of them out".to_owned()),
        ("redirect: /x, timeout: 1s", "timeout | `timeout` is for a route with `compose` | take it out".to_owned()),
        (
            "redirect: { to: /x, when: \"${host == 'a'}\" }",
            format!("redirect | `redirect` has a `when`, and nobody answers the requests that it leaves | {whens}"),
        ),
        (
            "redirect: \"/x/${path.other}\"",
            "redirect | the route calls no segment of its path `other` | write one of `id`".to_owned(),
        ),
        (
            "redirect: /x, use: p",
            "use | `p` caches, and this route has its response at hand | use a policy without `cache`".to_owned(),
        ),
        (
            "redirect: /x, use: key",
            "use | `key` authenticates requests over HTTP, and this is a response of the route itself | put it on an origin, or on what asks one".to_owned(),
        ),
        (
            "redirect: /x, use: path",
            "use | `path` rewrites the path for a source, and this route asks none with it | use that policy on a route with `proxy`, on a step, or on a source over HTTP".to_owned(),
        ),
    ] {
        let policies = "p: { cache: true }, key: { credentials: { header: { X-Key: a-key } } }, path: { rewrite: { prefix: /a, to: /b } }";
        let text = file(policies, &format!("{{ match: \"GET /a/{{id}}\", {route} }}"));
        assert_eq!(told(&text), format!("routes[0].{expected}"), "{route}");
    }
}

#[test]
fn a_redirect_whose_host_a_client_could_choose_is_refused() {
    let remedy = "begin with a host, like `https://www.example.com${url}`, or with a single slash";
    for (to, cause) in [
        ("${url}", "what it begins with would be for clients to choose, or is no URL"),
        ("${header('X-To')}/x", "what it begins with would be for clients to choose, or is no URL"),
        ("https://${host}${url}", "the host in `https://` is not written out"),
        ("//evil.example", "`//evil.example` begins with a host that nobody sees"),
        ("javascript:x", "what it begins with would be for clients to choose, or is no URL"),
        ("https://a@b/x", "the host in `https://a@b/x` is not written out"),
    ] {
        let policy = format!("p: {{ redirect: {{ to: \"{to}\" }} }}");
        assert_eq!(
            told(&file(&policy, ROUTE)),
            format!("policies.p.redirect.to | {cause} | {remedy}"),
            "{to}"
        );
    }
    for to in [
        "/new${url}",
        "https://b.example",
        "https://b.example:8443${url}",
        "https://b.example/${path.id}?a=${query.a}",
    ] {
        meant(&format!("p: {{ redirect: \"{to}\" }}"), "{ match: \"/{id}\", proxy: api, use: p }");
    }
}

#[test]
fn what_makes_no_sense_is_told_before_it_does_harm() {
    for (policy, expected) in [
        (
            "redirect: { to: /x, status: 200 }",
            "redirect.status | `200` is no status that sends clients elsewhere | write `301`, `302`, `303`, `307` or `308`",
        ),
        (
            "respond: { status: 99 }",
            "respond.status | `99` is no status of a response | write one of 200 to 599, like `503`",
        ),
        (
            "respond: { status: 103 }",
            "respond.status | `103` is no status of a response | write one of 200 to 599, like `503`",
        ),
        (
            "respond: { status: 304 }",
            "respond.status | `304` answers a condition or a range of the request | write another status: that one is given by whoever has the whole response",
        ),
        (
            "faults: { abort: { share: 1%, status: 206 } }",
            "faults.abort.status | `206` answers a condition or a range of the request | write another status: that one is given by whoever has the whole response",
        ),
        (
            "respond: { status: 205, body: x }",
            "respond.body | a 205 has no content | take it out, or write another status",
        ),
        (
            "respond: { status: 204, body: x }",
            "respond.body | a 204 has no content | take it out, or write another status",
        ),
        (
            "cors: { origins: \"*\", credentials: true }",
            "cors.credentials | with `origins: \"*\"` every page could read what a user's cookies open | name the origins, or take `credentials` out",
        ),
        (
            "cors: { origins: [\"*\", https://app.example.com] }",
            "cors.origins | beside `*` no origin need be named: it stands for all of them | take `*` out, or the others",
        ),
        (
            "redirect: { to: \"/a b\" }",
            "redirect.to | `/a b` has a character that does not stand in a URL | write it percent-encoded, as a space is `%20`",
        ),
        (
            "redirect: \"https://a.example/ü/${url}\"",
            "redirect | `https://a.example/ü/${url}` has a character that does not stand in a URL | write it percent-encoded, as a space is `%20`",
        ),
        (
            "cors: { origins: app.example.com }",
            "cors.origins | `app.example.com` is no origin | write scheme and host, like `https://app.example.com`, or `*`",
        ),
        (
            "cors: { origins: https://app.example.com/ }",
            "cors.origins | `https://app.example.com/` is no origin | write scheme and host alone, without a path: `https://app.example.com`",
        ),
        (
            "cors: { origins: https://app.example.com:443 }",
            "cors.origins | `https://app.example.com:443` is no origin | leave the usual port out, as browsers do",
        ),
        (
            "cors: { origins: \"https://*.com\" }",
            "cors.origins | `https://*.com` is no origin | write `*.` in front of a domain, like `https://*.example.com`",
        ),
        (
            "faults: { when: \"${url == '/'}\" }",
            "faults | `faults` does not say what goes wrong | write it like `faults: { delay: { share: 5%, for: 200ms..1s }, abort: { share: 1%, status: 503 }, cut: { share: 0.1% }, when: \"${header('X-Fault') == 'yes'}\" }`",
        ),
        (
            "faults: { delay: { share: 5%, for: 2s..1s } }",
            "faults.delay.for | the shortest delay is longer than the longest | write it like `200ms..1s`",
        ),
    ] {
        assert_eq!(
            told(&file(&format!("p: {{ {policy} }}"), ROUTE)),
            format!("policies.p.{expected}"),
            "{policy}"
        );
    }
    let twice = "p: { cors: { origins: \"*\" } }, q: { cors: { origins: https://app.example.com } }";
    assert_eq!(
        told(&file(twice, "{ match: /, proxy: api, use: [p, q] }")),
        "routes[0].use[1] | `p` and `q` both say which pages may read | use one of them"
    );
    let moved = "p: { redirect: /b }";
    assert_eq!(
        told(&file(moved, "{ match: GET /, compose: { a: { api: GET /a, use: p } } }")),
        "routes[0].compose.a.use | `p` sends clients elsewhere, and a step follows nobody | use that policy on the route; `respond` gives the step a value"
    );
    let cors = "p: { cors: { origins: \"*\" } }, live: { cache: true }";
    assert_eq!(
        told(&file(cors, "{ match: /, proxy: api, use: [live, p] }")),
        "routes[0].use | `p` says who may read, and stands behind a cache, which keeps that for others | name it before the policy that caches"
    );
    assert_eq!(
        told(&file(cors, "{ match: GET /, compose: { a: { api: GET /a, use: p } } }")),
        "routes[0].compose.a.use | `p` is for browsers, which ask for routes | use that policy on the route"
    );
}

/// A folder with a module; files have it as the source `tools`.
struct Tools(tempfile::TempDir);

impl Tools {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("tools.wat"), "").unwrap();
        Tools(folder)
    }

    fn file(&self, policies: &str, routes: &str) -> String {
        let module = self.0.path().join("tools.wat");
        let tools = format!("tools: {{ wasm: {} }}", module.display());
        file(policies, routes).replacen("redis: redis://a", &format!("redis: redis://a, {tools}"), 1)
    }

    fn told(&self, policies: &str, routes: &str) -> String {
        told(&self.file(policies, routes))
    }
}

#[test]
fn functions_around_calls_mean_what_is_written() {
    let tools = Tools::new();
    let hooks = |words: &str| {
        let text = tools.file(&format!("p: {{ wasm: {{ module: tools, {words} }} }}"), ROUTE);
        let plan = compile(&text, "fleetfoot.yaml").unwrap_or_else(|faults| panic!("{text}\n{faults}"));
        let Some(Layer::Wasm(hooks)) = plan.routes[0].layers.iter().next() else {
            panic!("it calls functions")
        };
        assert_eq!(plan.source(hooks.module).name(), "tools");
        (**hooks).clone()
    };
    let both = hooks("request: a, response: b, body: 64KiB, on_error: pass");
    assert_eq!(both.functions().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!((both.response.unwrap().body, both.passes), (Some(64 << 10), true));
    let one = hooks("response: b");
    assert_eq!((one.request, one.response.unwrap().body, one.passes), (None, None, false));
}

#[test]
fn functions_that_make_no_sense_are_told() {
    let tools = Tools::new();
    for (words, expected) in [
        (
            "module: tools",
            " | `wasm` does not say which function is called | write it like `wasm: { module: math, request: on_request, response: on_response }`",
        ),
        (
            "request: a",
            " | `module` is missing | add it: `wasm: { module: math, request: on_request, response: on_response }`",
        ),
        ("module: tool, request: a", ".module | there is no module `tool` | write `tools`"),
        ("module: api, request: a", ".module | there is no module `api` | write one of `tools`"),
        (
            "module: tools, request: a, body: 1KiB",
            ".body | `body` is for `response`: a function never sees the content of a request | take it out, or name a function for `response`",
        ),
        (
            "module: tools, response: a, body: 9MiB",
            ".body | `9MiB` is out of range | write a size from `1B` to `8MiB`",
        ),
        (
            "module: tools, response: a, on_error: skip",
            ".on_error | `skip` is not known here | write one of `fail`, `pass`",
        ),
        (
            "module: tools, response: \"${url}\"",
            ".response | an expression cannot stand here | write the value itself",
        ),
    ] {
        let policy = format!("p: {{ wasm: {{ {words} }} }}");
        assert_eq!(tools.told(&policy, ROUTE), format!("policies.p.wasm{expected}"), "{words}");
    }
    let policy = "p: { wasm: { module: tools, request: a } }";
    let why = "`wasm` is for requests over HTTP, and this call gives a value | use that policy on a route, or on a source over HTTP";
    for call in ["redis: GET k", "tools: f"] {
        let step = format!("{{ match: GET /, compose: {{ a: {{ {call}, use: p }} }} }}");
        assert_eq!(tools.told(policy, &step), format!("routes[0].compose.a.use | {why}"));
    }
    let inside = format!("{policy}, q: {{ limit: {{ rate: 1/s, per: \"${{path.id}}\" }} }}");
    assert_eq!(
        tools.told(&inside, "{ match: \"/{id}\", proxy: api, use: [p, q] }"),
        "routes[0].use | `p` may change the path, and a policy inside of it reads `path.NAME`, which is of the path as it came | name that policy before the one that rewrites"
    );
}

#[test]
fn behind_caches_only_what_all_of_their_keys_hold_may_be_gone_by() {
    let keyed = |policies: &str, names: &str| {
        let plan = meant(policies, &format!("{{ match: /, proxy: api, use: [{names}] }}"));
        let layers = &plan.routes[0].layers;
        let keyed = layers.keyed(layers.iter().count() - 1)?;
        let names = keyed.fields.iter().map(|name| name.as_str().to_owned()).collect::<Vec<_>>();
        Some((names, keyed.host, keyed.scheme))
    };
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let last = "last: { timeout: 1s }";
    assert_eq!(keyed(last, "last"), None);
    let outer = |key: &str| format!("{last}, p: {{ cache: {{ key: {{ {key} }} }} }}");
    assert_eq!(keyed(&outer("host: true"), "p, last"), Some((vec![], true, true)));
    assert_eq!(keyed(&outer("host: false, scheme: false"), "p, last"), Some((vec![], false, false)));
    assert_eq!(keyed(&outer("headers: [X-A, X-B]"), "p, last").unwrap().0, names(&["x-a", "x-b"]));
    assert_eq!(
        keyed(&outer("headers: [X-A], cookies: [c]"), "p, last").unwrap().0,
        names(&["x-a", "cookie"])
    );
}
