//! Bad caching: what makes no sense in `cache`, `signed`, `invalidate`, `disk` and `location`.

use super::bad::{SOURCES, bad, one, says};

/// The one fault of a policy's `cache` with these keys: `path | cause | remedy`, the path without its beginning.
#[track_caller]
fn cache(keys: &str, expected: &str) {
    let faults = bad(&format!(
        "{SOURCES}policies: {{ p: {{ cache: {{ {keys} }} }} }}\nroutes: [{{ match: /**, proxy: api, use: p }}]\n"
    ));
    assert_eq!(faults.count(), 1, "{faults}");
    let fault = faults.iter().next().unwrap();
    let path = fault.path.strip_prefix("policies.p.cache.").unwrap_or(&fault.path);
    assert_eq!(format!("{path} | {} | {}", fault.cause, fault.remedy), expected, "{keys}");
}

#[test]
fn lifetimes() {
    for (keys, expected) in [
        (
            "mode: forse, ttl: 1s",
            "mode | `forse` is not known here | write `force`; known here: `origin`, `static`, `force`",
        ),
        (
            "mode: force",
            "mode | `force` has no lifetime to give | add a `ttl`, like `ttl: 10s`, or `negative`",
        ),
        (
            "mode: static, ttl: origin",
            "mode | `static` has no lifetime to give | add a `ttl`, like `ttl: 10s`, or `negative`",
        ),
        (
            "mode: static, negative: false",
            "mode | `static` has no lifetime to give | add a `ttl`, like `ttl: 10s`, or `negative`",
        ),
        (
            "mode: force, ttl: 5",
            "ttl | `5` has no unit | write `5s`, or another of `ms`, `s`, `m`, `h`, `d`, or `origin`",
        ),
        (
            "max_ttl: 1m, client_ttl: 2m",
            "client_ttl | `client_ttl` is above `max_ttl` | write at most `1m`, or raise `max_ttl`",
        ),
        ("max_ttl: 1m, ttl: 1h", "ttl | `ttl` is above `max_ttl` | write at most `1m`, or raise `max_ttl`"),
        (
            "max_ttl: 1m, negative: { 404: 2m }",
            "negative | `negative` is above `max_ttl` | write at most `1m`, or raise `max_ttl`",
        ),
        (
            "max_ttl: 0s",
            "max_ttl | `0s` would keep nothing fresh | write a duration above zero, or a route without a cache, or `off`",
        ),
        ("jitter: 0.5%", "jitter | `0.5%` is out of range | write a share from `1%` to `90%`, or `off`"),
        ("early: 95%", "early | `95%` is out of range | write a share from `1%` to `90%`, or `off`"),
        ("early: 10", "early | `10` is not a share | write it in percent, like `10%`, or `off`"),
        (
            "mode: force, ttl: 1m, per: \"${header('X-User')}\"",
            "per | `per` is for answers of one user, and `mode: force` for those of everybody | take one of them out: with `mode: origin`, `per` keeps answers that say they are fresh",
        ),
        (
            "mode: force, ttl: 1m, store_set_cookie: true",
            "store_set_cookie | `store_set_cookie` has no effect with `mode: force` | take one of them out",
        ),
        (
            "per: X-User",
            "per | `X-User` is the same for every request | write an expression, like `\"${header('X-User')}\"`",
        ),
    ] {
        cache(keys, expected);
    }
}

#[test]
fn statuses() {
    for (keys, expected) in [
        (
            "negative: yes",
            "negative | `negative` must be `true`, `false`, or lifetimes by status | write it like `negative: { 404: 10s, 301: 1h }`",
        ),
        (
            "negative: {}",
            "negative | `negative` names no status | write one like `{ 404: 10s }`, or take it out",
        ),
        (
            "negative: { 404: 10 }",
            "negative.404 | `10` has no unit | write `10s`, or another of `ms`, `s`, `m`, `h`, `d`",
        ),
        (
            "negative: { 206: 1s }",
            "negative.206 | `206` is never stored by itself | write `200`: parts are made from the whole answer",
        ),
        (
            "negative: { 304: 1s }",
            "negative.304 | `304` is never stored | take it out: it renews the answer that is stored",
        ),
        ("negative: { 103: 1s }", "negative.103 | `103` is no final answer | take it out"),
        (
            "negative: { 201: 1s }",
            "negative.201 | `201` answers a request that writes | take it out; 200, 203, 204 and those from 300 to 599 may be named",
        ),
        (
            "negative: { 0404: 1s }",
            "negative.0404 | `0404` is not a status | write three digits from 200 to 599, like `404`",
        ),
        (
            "negative: { 4xx: 1s }",
            "negative.4xx | `4xx` is not a status | write three digits from 200 to 599, like `404`",
        ),
        (
            "negative: { 600: 1s }",
            "negative.600 | `600` is not a status | write three digits from 200 to 599, like `404`",
        ),
        (
            "negative: { 503: 1h }",
            "negative.503 | `1h` is too long: a client can bring 503 about | write at most `1m`, or one strange request could close a page for everybody",
        ),
    ] {
        cache(keys, expected);
    }
}

#[test]
fn conditions() {
    for (keys, expected) in [
        ("bypass: []", "bypass | `bypass` is an empty list | write at least one item"),
        (
            "bypass: [Range]",
            "bypass[0] | `Range` is answered from the stored answer | take it out: parts and `304`s are made from the whole answer",
        ),
        (
            "bypass: { header: If-None-Match }",
            "bypass.header | `If-None-Match` is answered from the stored answer | take it out: parts and `304`s are made from the whole answer",
        ),
        (
            "bypass: Connection",
            "bypass | `Connection` is about one connection and never gets here | take it out, or name a field that goes from end to end",
        ),
        (
            "skip_for: Host",
            "skip_for | `Host` is in every request | write a route for that host, without this policy: `match: preview.example.com/**`",
        ),
        (
            "bypass: \"X-Debug: 1\"",
            "bypass | `X-Debug: 1` is not a field name | write the name alone: `X-Debug`",
        ),
        ("bypass: [X-A, x-a]", "bypass[1] | the same stands in the list twice | take one out"),
        ("bypass: [X-A, { header: X-A }]", "bypass[1] | the same stands in the list twice | take one out"),
        (
            "skip_for: { cookie: a=b }",
            "skip_for.cookie | `a=b` is not a cookie's name | write the name alone: `a`",
        ),
        (
            "skip_for: { cookie: \"a b\" }",
            "skip_for.cookie | `a b` is not a cookie's name | write a name like `session`, without spaces, `=`, `;` and commas",
        ),
        ("skip_for: { coookie: a }", "skip_for.coookie | unknown key `coookie` | write `cookie`"),
        ("skip_for: {}", "skip_for | the condition is empty | write `{ header: … }` or `{ cookie: … }`"),
        (
            "skip_for: { cookie: a, header: B }",
            "skip_for.cookie | `header` and `cookie` stand in one condition | write two, one of which is enough: `[{ header: … }, { cookie: … }]`",
        ),
        (
            "bypass: \"x ${query.a}\"",
            "bypass | `x ${query.a}` is not one expression | write one `${…}` and nothing before or behind it",
        ),
    ] {
        cache(keys, expected);
    }
}

#[test]
fn keys() {
    for (keys, expected) in [
        (
            "sort: true, query: false",
            "key.sort | `sort` has nothing to sort: no parameter counts | take `sort` out, or `query: false`",
        ),
        (
            "query: { only: [a], except: [b] }",
            "key.query.except | `only` and `except` both stand here | keep one: what `only` leaves out is out already",
        ),
        (
            "query: {}",
            "key.query | `query` names no parameter | write `{ except: [utm_*] }`, `true` or `false`",
        ),
        ("query: { excpt: [a] }", "key.query.excpt | unknown key `excpt` | write `except`"),
        (
            "query: { except: [a=b] }",
            "key.query.except[0] | `a=b` is not a parameter's name | write the name alone, as it stands in a query (`%20` for a space), like `utm_*`",
        ),
        (
            "query: { except: ['*'] }",
            "key.query.except[0] | `*` takes every parameter | write `query: false`",
        ),
        ("query: { only: ['**'] }", "key.query.only[0] | `**` takes every parameter | write `query: true`"),
        (
            "query: { only: [a*b*c*d*e*f] }",
            "key.query.only[0] | `a*b*c*d*e*f` has too many `*` | write at most 4",
        ),
        ("query: { only: [a, a] }", "key.query.only[1] | the same stands in the list twice | take one out"),
        ("query: { only: [] }", "key.query.only | `only` is an empty list | write at least one item"),
        (
            "headers: [Cookie]",
            "key.headers[0] | `Cookie` cannot be part of the key in this way | name the cookies that count: `cookies: [currency]`",
        ),
        (
            "headers: [authorization]",
            "key.headers[0] | `authorization` cannot be part of the key in this way | write `per: \"${claim('sub')}\"` for answers of one user, or `skip_for: [{ header: Authorization }]`",
        ),
        (
            "headers: Host",
            "key.headers | `Host` cannot be part of the key in this way | take it out: `host: true` does it, and is the default",
        ),
        (
            "headers: Range",
            "key.headers | `Range` is answered from the stored answer | take it out: parts and `304`s are made from the whole answer",
        ),
        (
            "headers: TE",
            "key.headers | `TE` is about one connection and never gets here | take it out, or name a field that goes from end to end",
        ),
        ("headers: [a, A]", "key.headers[1] | the same stands in the list twice | take one out"),
        ("cookies: [a, a]", "key.cookies[1] | the same stands in the list twice | take one out"),
        (
            "cookies: \"a;b\"",
            "key.cookies | `a;b` is not a cookie's name | write a name like `session`, without spaces, `=`, `;` and commas",
        ),
        (
            "by: gold",
            "key.by | `gold` is the same for every request | write an expression, like `\"${header('X-User')}\"`",
        ),
        (
            "encodings: folded",
            "key.encodings | `folded` is not known here | write `fold`; known here: `as_sent`, `fold`",
        ),
        ("languages: []", "key.languages | `languages` is an empty list | write at least one item"),
        ("languages: [en, EN]", "key.languages[1] | the same stands in the list twice | take one out"),
        (
            "languages: [en_US]",
            "key.languages[0] | `en_US` is not a language | write one like `en` or `pt-BR`, or `as_sent` instead of the list",
        ),
        (
            "no_vary_search: off",
            "key.no_vary_search | `off` is not known here | write one of `honour`, `ignore`",
        ),
    ] {
        cache(&format!("key: {{ {keys} }}"), expected);
    }
}

#[test]
fn the_rest_of_caching() {
    for (keys, expected) in [
        (
            "body_keys: true",
            "body_keys | `body_keys` must be a mapping, `key: value` | write it like `body_keys: { methods: [QUERY, POST], max: 16KiB }`",
        ),
        (
            "body_keys: { methods: [GET] }",
            "body_keys.methods[0] | `GET` has no content | take it out: it is answered from the cache anyway",
        ),
        (
            "body_keys: { methods: PUT }",
            "body_keys.methods | `PUT` is never answered from the cache | write `QUERY`, or `POST` where it only reads",
        ),
        (
            "body_keys: { max: 2MiB }",
            "body_keys.max | `2MiB` is out of range | write a size from `1B` to `1MiB`",
        ),
        (
            "tags: Cache-Groups",
            "tags | `Cache-Groups` is looked at anyway | take it out: its groups are tags, and it stays in answers",
        ),
        (
            "tags: [ETag]",
            "tags[0] | `ETag` would be missing in answers | write a field of its own, like `Cache-Tag`: it is taken out before clients see it",
        ),
        (
            "compress: { encodings: [deflate] }",
            "compress.encodings[0] | `deflate` is not known here | write one of `zstd`, `br`, `gzip`",
        ),
        (
            "compress: { types: ['*/*'] }",
            "compress.types[0] | `*/*` takes everything | name the types that get smaller, like `text/*`",
        ),
        (
            "compress: { types: [text/html; charset=utf-8] }",
            "compress.types[0] | `text/html; charset=utf-8` has a parameter | write `text/html`: it takes all of them",
        ),
        (
            "compress: { types: [html] }",
            "compress.types[0] | `html` is not a content type | write one like `application/json` or `text/*`",
        ),
        (
            "cache_status: words",
            "cache_status | `words` is not known here | write `word`; known here: `field`, `word`, `off`",
        ),
        ("tier: redis", "tier | there is no Redis `redis` | there is no Redis at all: add one"),
    ] {
        cache(keys, expected);
    }
}

#[test]
fn routes() {
    let route = |route: &str, expected: &str| {
        let signed = "{ signed: { keys: { main: MDEyMzQ1Njc4OTAxMjM0NQ } } }";
        let faults =
            bad(&format!("{SOURCES}policies: {{ one: {signed}, two: {signed} }}\nroutes:\n  - {route}\n"));
        assert_eq!(faults.count(), 1, "{faults}");
        assert_eq!(one(&faults).split_once("routes[0]").unwrap().1, expected, "{route}");
    };
    route(
        "{ match: /x, proxy: api, use: [one, two] }",
        ".use[1] | `one` and `two` both say how to sign | use one of them",
    );
    for (rules, expected) in [
        ("[]", ".invalidate | `invalidate` is an empty list | write at least one item"),
        (
            "/x",
            ".invalidate | `invalidate` must be a mapping, `key: value` | write it like `invalidate: [{ prefix: /feeds/ }]`",
        ),
        ("{}", ".invalidate | the rule names nothing to forget | add one of `url`, `prefix` and `tag`"),
        ("{ urll: /x }", ".invalidate.urll | unknown key `urll` | write `url`"),
        (
            "{ url: /x, tag: y }",
            ".invalidate | one rule names several things to forget | write a rule for each: `[{ url: … }, { tag: … }]`",
        ),
        ("{ url: x }", ".invalidate.url | `x` does not begin with a slash | write `/x`"),
        (
            "{ prefix: \"x/${path.id}\" }",
            ".invalidate.prefix | `x/${path.id}` does not begin with a slash | write `/x/${path.id}`",
        ),
        (
            "{ url: http://a/x }",
            ".invalidate.url | `http://a/x` names a host | write the path alone, `/x`: the host is that of the request",
        ),
        (
            "{ prefix: /feeds/* }",
            ".invalidate.prefix | `/feeds/*` has a `*`, which is only a character here | write a prefix: `prefix: /feeds/`",
        ),
        (
            "{ url: \"/a b\" }",
            ".invalidate.url | `/a b` has ` `, which stands in no request | write it percent-encoded: a space is `%20`",
        ),
        (
            "{ tag: \"a, b\" }",
            ".invalidate.tag | `a, b` is not a tag | write a rule for each tag: commas and spaces separate tags",
        ),
        ("[{ tag: a }, { tag: a }]", ".invalidate[1] | the same stands in the list twice | take one out"),
        ("{ tag: a, soft: yes }", ".invalidate.soft | `yes` is neither `true` nor `false` | write `true`"),
    ] {
        route(&format!("{{ match: \"PUT /{{id}}\", proxy: api, invalidate: {rules} }}"), expected);
    }
    let unknown = bad(&format!(
        "{SOURCES}routes:\n  - {{ match: \"PUT /{{id}}\", proxy: api, invalidate: {{ tag: \"${{path.ix}}\" }} }}\n"
    ));
    assert_eq!(unknown.count(), 1, "{unknown}");
    assert_eq!(unknown.iter().next().unwrap().path, "routes[0].invalidate.tag");
    for method in ["GET", "HEAD", "QUERY"] {
        route(
            &format!("{{ match: {method} /x, proxy: api, invalidate: {{ tag: a }} }}"),
            &format!(
                ".invalidate | {method} changes nothing, so nothing is out of date after it | write it on the route that writes, like `match: PUT /users/{{id}}`"
            ),
        );
    }
}

#[test]
fn location_and_disk() {
    says(
        "location: KUL-1\n",
        "3:11 location | `KUL-1` is not a location | write 1 to 16 letters and digits, like `KUL`",
    );
    let long = "A".repeat(17);
    assert!(
        one(&bad(&format!("{SOURCES}routes: [{{ match: /, proxy: api }}]\nlocation: {long}\n")))
            .contains("is not a location")
    );
    {
        says(
            "disk: { folder: ./cache, size: 1MiB }\n",
            "3:32 disk.size | `1MiB` is out of range | write a size from `16MiB` to `16TiB`",
        );
        says(
            "disk: { size: 1GiB }\n",
            "3:7 disk | `folder` is missing | add it: `disk: { folder: ./cache, size: 10GiB }`",
        );
        says(
            "disk: { folder: Cargo.toml, size: 1GiB }\n",
            "3:17 disk.folder | `Cargo.toml` is not a folder | write the path of a folder of its own",
        );
    }
}
