//! `auth`: who may ask, as people write it: what it means, what is wrong with it, and what `check` thinks was not meant.

use std::fs;
use std::time::Duration;

use plan::{Auth, Jwks, Plan, compile, load};
use serde_json::json;
use testkit::TokenSigner;

use crate::bad::{bad, one};

const SOURCES: &str = "sources: { api: http://a, wrapped: { http: http://b, use: [] } }";
const ROUTE: &str = "{ match: /**, proxy: api, use: p }";
const KEYS: &str = "keys: { of: { acme: abcdefghijklmnop } }";
const CHECKED: &str = "algorithms: [ES256], issuer: i, audience: a";

/// A file with these policies; what follows them begins in line 3.
fn file(policies: &str, rest: &str) -> String {
    format!("{}\npolicies: {{ {policies} }}\n{rest}\n", SOURCES.replace("use: []", "timeout: 1s"))
}

fn meant(auth: &str) -> Plan {
    let text = file(&format!("p: {{ auth: {{ {auth} }} }}"), &format!("routes: [{ROUTE}]"));
    compile(&text, "fleetfoot.yaml").unwrap_or_else(|faults| panic!("{text}\n{faults}"))
}

fn auth(words: &str) -> Auth {
    Auth::clone(&meant(words).routes[0].auth[0])
}

fn hints(policies: &str) -> String {
    let text = file(policies, &format!("routes: [{ROUTE}]"));
    compile(&text, "fleetfoot.yaml").unwrap_or_else(|faults| panic!("{faults}")).hints.to_string()
}

#[test]
fn a_url_is_enough_and_everything_else_has_a_default() {
    let auth = auth(&format!("jwt: {{ jwks: https://id.example.com:8443/keys?x=1, {CHECKED} }}"));
    assert_eq!((auth.name.as_str(), auth.is_optional, auth.keys.is_none()), ("p", false, true));
    let jwt = auth.jwt.as_ref().unwrap();
    assert_eq!((jwt.rules.leeway, jwt.rules.may_last), (Duration::from_secs(30), false));
    assert_eq!((&jwt.rules.issuers[..], &jwt.rules.audiences[..]), (&["i".into()][..], &["a".into()][..]));
    let remote = auth.remote().unwrap();
    assert_eq!(remote.origin.targets[0].authority(), "id.example.com:8443");
    assert_eq!((remote.target.as_str(), remote.refresh), ("/keys?x=1", None));
    assert!(remote.origin.verify && remote.origin.authorities.is_none());
    let times = [remote.cooldown, remote.if_error, remote.timeout].map(|time| time.as_secs());
    assert_eq!(times, [10, 86_400, 5]);
}

#[test]
fn every_word_is_heard() {
    let auth = auth(
        "optional: true, keys: { field: X-Key, of: { acme: abcdefghijklmnop, beta: ponmlkjihgfedcba } }, \
         jwt: { jwks: { url: http://127.0.0.1:9/k, refresh: 1m, cooldown: 1s, if_error: 0s, timeout: 2s }, \
         algorithms: [RS256, HS256], secret: a-secret-of-more-than-32-characters, issuer: [a, b], audience: [c], type: at+jwt, \
         leeway: 0s, expiry: optional }",
    );
    assert!(auth.is_optional);
    let keys = auth.keys.as_ref().unwrap();
    assert_eq!((keys.field.as_str(), keys.keys.len()), ("x-key", 2));
    assert_eq!((keys.keys[1].name.as_str(), keys.keys[1].secret.secret()), ("beta", "ponmlkjihgfedcba"));
    let jwt = auth.jwt.as_ref().unwrap();
    assert_eq!(jwt.secret.as_ref().unwrap().secret(), "a-secret-of-more-than-32-characters");
    assert_eq!((jwt.rules.kind.as_deref(), jwt.rules.may_last), (Some("at+jwt"), true));
    assert_eq!(jwt.rules.leeway, Duration::ZERO);
    let remote = auth.remote().unwrap();
    assert_eq!(remote.refresh, Some(Duration::from_mins(1)));
    assert_eq!((remote.cooldown.as_secs(), remote.if_error.as_secs(), remote.timeout.as_secs()), (1, 0, 2));
    let shown = format!("{auth:?}");
    assert!(!shown.contains("abcdefgh") && !shown.contains("a-secret"), "{shown}");
}

#[test]
fn a_set_in_a_file_is_read_with_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fleetfoot.yaml");
    let jwt = "jwt: { jwks: { file: keys.json }, algorithms: [ES256], issuer: i, audience: a }";
    fs::write(&path, file(&format!("p: {{ auth: {{ {jwt} }} }}"), &format!("routes: [{ROUTE}]"))).unwrap();
    let keys = |signer: &TokenSigner| json!({ "keys": [signer.jwk(json!({ "kid": "a" }))] }).to_string();
    fs::write(folder.path().join("keys.json"), keys(&TokenSigner::new("ES256"))).unwrap();
    let plan = load(&path).unwrap();
    assert!(
        matches!(&plan.routes[0].auth[0].jwt.as_ref().unwrap().set, Some(Jwks::File(set)) if set.len() == 1)
    );
    assert!(load(&path).unwrap() == plan, "the same keys are the same plan");
    fs::write(folder.path().join("keys.json"), keys(&TokenSigner::new("ES256"))).unwrap();
    assert!(load(&path).unwrap() != plan, "other keys are another plan");
    for (text, why) in [
        ("", "it is no JSON object"),
        (&keys(&TokenSigner::new("EdDSA")), "it has no key for the algorithms"),
        (&" ".repeat(300_000), "it is longer than 256 KiB"),
    ] {
        fs::write(folder.path().join("keys.json"), text).unwrap();
        let faults = load(&path).unwrap_err();
        assert!(faults.iter().next().unwrap().cause.contains(why), "{faults}");
    }
}

#[test]
fn several_policies_of_a_use_may_each_have_one() {
    let text = file(
        &format!("one: {{ auth: {{ {KEYS} }} }}, two: {{ auth: {{ {KEYS} }}, cache: true }}"),
        "routes: [{ match: /**, proxy: api, use: [one, two] }, { match: /open, proxy: api }]",
    );
    let plan = compile(&text, "fleetfoot.yaml").unwrap();
    let names: Vec<_> = plan.routes[0].auth.iter().map(|auth| auth.name.as_str()).collect();
    assert_eq!(names, ["one", "two"]);
    assert!(plan.routes[0].cache().unwrap().is_gated && plan.routes[1].auth.is_empty());
    let optional = file(
        &format!("p: {{ auth: {{ {KEYS}, optional: true }}, cache: true }}"),
        &format!("routes: [{ROUTE}]"),
    );
    let plan = compile(&optional, "fleetfoot.yaml").unwrap();
    assert!(!plan.routes[0].cache().unwrap().is_gated, "whoever knows the URL may have it");
}

/// Limits may count by it; what is stored is made without it; and what we show the source in the same field stays.
#[test]
fn an_api_key_is_taken_out_before_anything_is_put_in() {
    let words = |route: &str| {
        let policies = format!(
            "p: {{ auth: {{ {KEYS} }}, limit: 1/s }}, c: {{ cache: true, retry: true }}, \
             ours: {{ credentials: {{ header: {{ X-Api-Key: ours }} }}, timeout: {{ per_try: 1s }} }}, \
             said: {{ headers: {{ response: {{ set: {{ X-A: b }} }} }} }}"
        );
        let text = file(&policies, &format!("routes: [{{ match: /x, {route} }}]"));
        let plan = compile(&text, "fleetfoot.yaml").unwrap_or_else(|faults| panic!("{faults}"));
        plan.routes[0].layers.iter().map(plan::Layer::word).collect::<Vec<_>>()
    };
    for (route, expected) in [
        ("proxy: api, use: p", &["limit", "headers"][..]),
        ("proxy: api, use: [p, c]", &["limit", "cache", "retry", "headers"]),
        (
            "proxy: api, use: [said, p, c, ours]",
            &["headers", "limit", "cache", "retry", "headers", "credentials", "timeout.per_try"],
        ),
        ("compose: { a: { api: GET /a } }, use: p", &["limit"]),
    ] {
        assert_eq!(words(route), expected, "{route}");
    }
}

#[test]
fn what_makes_no_sense_is_a_fault_that_says_what_to_write() {
    let jwt = |words: &str| format!("jwt: {{ issuer: i, audience: a, {words} }}");
    for (words, cause, remedy) in [
        (String::new(), "`auth` names no way to be let in", "write it like `auth: {"),
        ("optional: true".into(), "`auth` names no way to be let in", "write it like `auth: {"),
        ("jwks: https://a/b".into(), "unknown key `jwks`", "`jwks` belongs into `policies.<name>.auth.jwt`"),
        (jwt("jwks: https://a/b"), "`algorithms` is missing", "add it"),
        (
            jwt("algorithms: [], jwks: https://a/b"),
            "`algorithms` is an empty list",
            "write at least one item",
        ),
        (jwt("algorithms: [ES256]"), "`ES256` needs public keys", "write `jwks: https://"),
        (jwt("algorithms: [HS256]"), "`HS256` needs a `secret`", "write `secret: {"),
        (
            jwt("algorithms: [none, ES256], jwks: https://a/b"),
            "`none` is no signature: anybody could write such a token",
            "take it out",
        ),
        (jwt("algorithms: [es256], jwks: https://a/b"), "`es256` is not known here", "write `ES256`"),
        (jwt("algorithms: [ES512], jwks: https://a/b"), "`ES512` is not known here", "known here: `RS256`"),
        (jwt("algorithms: [ES256, ES256], jwks: https://a/b"), "twice", ""),
        (
            jwt("algorithms: [ES256], jwks: https://a/b, secret: a-secret-of-more-than-32-characters"),
            "`secret` is for `HS256`",
            "take `secret` out",
        ),
        (
            jwt("algorithms: [HS256], jwks: https://a/b, secret: a-secret-of-more-than-32-characters"),
            "`algorithms` names only `HS256`",
            "take `jwks` out",
        ),
        (
            jwt("algorithms: [HS256], secret: too-short-a-secret"),
            "the secret has 18 bytes, and at least 32 are needed",
            "make one with",
        ),
        (
            jwt("algorithms: [ES256], jwks: http://id.example.com/keys"),
            "over `http` anybody on the way could put keys of their own in",
            "write `https://id.example.com/keys`",
        ),
        (jwt("algorithms: [ES256], jwks: https://a/b#c"), "does not stand in one", "percent-encoded"),
        (jwt("algorithms: [ES256], jwks: keys.json"), "has no scheme", ""),
        (jwt("algorithms: [ES256], jwks: {}"), "`url` is missing", "add it"),
        (
            jwt("algorithms: [ES256], jwks: { url: https://a/b, refresh: 1ms }"),
            "so often or so seldom",
            "`10m`",
        ),
        (
            jwt("algorithms: [ES256], jwks: { url: https://a/b, cooldown: 0s }"),
            "no time at all",
            "above zero",
        ),
        (jwt("algorithms: [ES256], jwks: { file: nowhere.json }"), "`nowhere.json` does not exist", ""),
        (jwt("algorithms: [ES256], jwks: https://a/b, leeway: 1h"), "clocks are not so far apart", "`5m`"),
        (
            jwt("algorithms: [ES256], jwks: https://a/b, expiry: never"),
            "`never` is not known here",
            "`required`",
        ),
        ("keys: {}".into(), "`of` is missing", "add it"),
        ("keys: { of: {} }".into(), "`of` names no key: nobody could be let in", "write it like"),
        ("keys: { of: { a: short } }".into(), "the key `a` has 5 characters, and at least 16", "make one"),
        ("keys: { of: { a: \"with spaces in the key\" } }".into(), "cannot stand in a field", "make one"),
        (
            "keys: { of: { a: abcdefghijklmnop, b: abcdefghijklmnop } }".into(),
            "`b` and `a` are the same secret",
            "",
        ),
        (
            format!("{}, field: Authorization }}", &KEYS[..KEYS.len() - 2]),
            "carries something else",
            "of its own",
        ),
        (format!("{}, field: \"X Key\" }}", &KEYS[..KEYS.len() - 2]), "not a field name", "`X-Api-Key`"),
    ] {
        let faults = bad(&file(&format!("p: {{ auth: {{ {words} }} }}"), &format!("routes: [{ROUTE}]")));
        let fault = faults.iter().next().unwrap();
        assert!(fault.cause.contains(cause) && fault.remedy.contains(remedy), "{words}: {faults}");
    }
}

#[test]
fn only_clients_are_let_in() {
    let policy = format!("p: {{ auth: {{ {KEYS} }} }}");
    let step = file(&policy, "routes: [{ match: GET /x, compose: { a: { api: GET /a, use: p } } }]");
    assert_eq!(
        one(&bad(&step)),
        "3:61 routes[0].compose.a.use | a step lets nobody in: clients ask for routes | use that policy on the route"
    );
    let source = format!(
        "sources: {{ api: {{ http: http://a, use: p }} }}\npolicies: {{ {policy} }}\nroutes: [{{ match: /**, proxy: api }}]\n"
    );
    assert_eq!(
        one(&bad(&source)),
        "1:40 sources.api.use | a source lets nobody in: clients ask for routes | use that policy on the route"
    );
}

#[test]
fn what_is_probably_not_meant_is_a_hint() {
    let hint = |words: &str| {
        hints(&format!("p: {{ auth: {{ jwt: {{ jwks: https://a/b, algorithms: [ES256]{words} }} }} }}"))
    };
    assert!(hint("").contains("without `issuer` and `audience`, every token"), "{}", hint(""));
    assert!(hint(", issuer: i").contains("without `audience`, every token"));
    assert!(hint(", audience: a").contains("without `issuer`, every token"));
    assert_eq!(hint(", issuer: i, audience: a"), "");
    let limited = "limit: { rate: 1/s, per: \"${claim('sub')}\" }";
    assert!(hints(&format!("p: {{ {limited} }}")).contains("`p` counts by a claim that nobody verifies"));
    assert!(hints(&format!("p: {{ {limited}, auth: {{ {KEYS} }} }}")).contains("nobody verifies"));
    let jwt = format!("auth: {{ jwt: {{ jwks: https://a/b, {CHECKED} }} }}");
    assert_eq!(hints(&format!("p: {{ {limited}, {jwt} }}")), "");
}

#[test]
fn no_message_shows_a_secret() {
    const SECRET: &str = "c2VjcmV0LXNlY3JldC1zZWNyZXQ";
    for words in [
        "keys: { of: { acme: § e } }",
        "keys: { of: { acme:§ } }",
        "keys: { of: { § } }",
        "keys: { of: § }",
        "keys: { of: [§] }",
        "keys: { fo: { acme: § } }",
        "kyes: { of: { acme: § } }",
        "keys: { of: { acme: §, beta: § } }",
        "keys: { field: Authorization, of: { acme: § } }",
        "jwt: { algorithms: [HS256], secret: § }",
        "jwt: { algorithms: [HS256], secret:§ }",
        "jwt: { algorithms: [HS256], secret: [§] }",
        "jwt: { algorithms: [HS256], secrt: § }",
        "jwt: { algorithms: [ES256], jwks: https://a/b, secret: §§ }",
    ] {
        let words = words.replace('§', SECRET);
        let faults = bad(&file(&format!("p: {{ auth: {{ {words} }} }}"), &format!("routes: [{ROUTE}]")));
        let (shown, json) = (faults.to_string(), serde_json::to_string(&faults).unwrap());
        assert!(!shown.contains("c2Vj") && !json.contains("c2Vj"), "{words}\n{shown}");
    }
}
