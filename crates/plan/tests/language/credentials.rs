//! Credentials and accounts as people write them: what they mean, what is wrong with them, and that no message shows a secret.

use std::time::Duration;

use http::header::AUTHORIZATION;
use plan::{Accounts, ClientAuth, Credential, Layer, Plan, compile};

use crate::bad::{bad, one};

const SOURCES: &str = "sources: { api: http://a, cached: { http: http://b, use: keep }, redis: redis://a }";
const ROUTES: &str = "{ match: /, proxy: api, use: p }";

/// A file with these policies and routes; the policies begin at 2:11.
fn file(policies: &str, routes: &str) -> String {
    format!("{SOURCES}\npolicies: {{ {policies}, keep: {{ cache: true }} }}\nroutes: [{routes}]\n")
}

fn meant(policies: &str, routes: &str) -> Plan {
    let text = file(policies, routes);
    compile(&text, "fleetfoot.yaml").unwrap_or_else(|faults| panic!("{text}\n{faults}"))
}

fn layer(policy: &str) -> Layer {
    meant(&format!("p: {{ {policy} }}"), ROUTES).routes[0].layers.iter().next().unwrap().clone()
}

fn credential(words: &str) -> Credential {
    let Layer::Credentials(credentials) = layer(&format!("credentials: {{ {words} }}")) else {
        panic!("{words}")
    };
    assert_eq!(credentials.name, "p");
    assert!(!format!("{credentials:?}").contains("s3cret"), "{credentials:?}");
    credentials.credential.clone()
}

fn accounts(words: &str) -> Accounts {
    let Layer::Accounts(accounts) = layer(&format!("accounts: {{ {words} }}")) else { panic!("{words}") };
    (*accounts).clone()
}

#[test]
fn fields_carry_what_the_source_wants_to_see() {
    for (words, fields) in [
        ("bearer: s3cret", vec![("authorization", "Bearer s3cret")]),
        ("basic: { user: app, password: s3cret }", vec![("authorization", "Basic YXBwOnMzY3JldA==")]),
        (
            "header: { X-Api-Key: s3cret, X-App: \"a s3cret\" }",
            vec![("x-api-key", "s3cret"), ("x-app", "a s3cret")],
        ),
    ] {
        let Credential::Fields(meant) = credential(words) else { panic!("{words}") };
        assert!(meant.iter().all(|(_, value)| value.is_sensitive()), "{words}");
        let meant: Vec<_> =
            meant.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
        assert_eq!(meant, fields);
    }
}

#[test]
fn parameters_are_encoded() {
    let Credential::Query(meant) = credential("query: { \"api key\": \"s3cret&x=1\" }") else { panic!() };
    assert_eq!((meant[0].name.as_str(), meant[0].value.secret()), ("api+key", "s3cret%26x%3D1"));
}

#[test]
fn tokens_come_from_an_endpoint() {
    let words = "token: \"https://id.example.com:8443/v1/token?x=1\", client_id: shop, client_secret: s3cret";
    let Credential::OAuth2(meant) = credential(&format!("oauth2: {{ {words} }}")) else { panic!() };
    assert_eq!(
        (meant.url().as_str(), meant.auth),
        ("https://id.example.com:8443/v1/token?x=1", ClientAuth::Basic)
    );
    assert_eq!((meant.client_id.as_str(), meant.client_secret.secret()), ("shop", "s3cret"));
    assert_eq!((&meant.scope, &meant.audience), (&None, &None));
    let more = "scope: \"a b\", audience: orders, auth: post, tls: { verify: false }";
    let Credential::OAuth2(meant) = credential(&format!("oauth2: {{ {words}, {more} }}")) else { panic!() };
    assert_eq!((meant.scope.as_deref(), meant.audience.as_deref()), (Some("a b"), Some("orders")));
    assert_eq!((meant.auth, meant.server.verify), (ClientAuth::Post, false));
    let Credential::OAuth2(meant) =
        credential(&format!("oauth2: {{ {} }}", words.replace("/v1/token?x=1", "")))
    else {
        panic!()
    };
    assert_eq!(meant.target, "/");
}

#[test]
fn a_secret_over_cleartext_is_a_hint() {
    let hints = |host: &str| {
        let words = format!("token: \"http://{host}/token\", client_id: shop, client_secret: s3cret");
        let plan = meant(&format!("p: {{ credentials: {{ oauth2: {{ {words} }} }} }}"), ROUTES);
        plan.hints.iter().map(|hint| hint.cause.clone()).collect::<Vec<_>>()
    };
    assert_eq!(hints("id.example.com"), ["the client secret is sent in cleartext"]);
    assert!(hints("127.0.0.1:9").is_empty() && hints("localhost:9").is_empty());
}

#[test]
fn accounts_have_names_and_weights() {
    let meant = accounts("rotate: [{ header: { X-Api-Key: a } }, { name: second, bearer: b }]");
    let named: Vec<_> = meant.accounts.iter().map(|account| (&*account.name, account.weight)).collect();
    assert_eq!((named, meant.rest), (vec![("1", 1), ("second", 1)], Duration::from_mins(1)));
    let meant = accounts("weights: [{ weight: 3, bearer: a }, { bearer: b }], rest: 5s");
    let weights: Vec<_> = meant.accounts.iter().map(|account| account.weight).collect();
    assert_eq!((weights, meant.rest), (vec![3, 1], Duration::from_secs(5)));
    let Credential::Fields(fields) = &meant.accounts[1].credential else { panic!() };
    assert_eq!(fields[0].0, AUTHORIZATION);
}

#[test]
fn what_makes_no_sense_is_told_without_the_secret() {
    for (policy, expected) in [
        (
            "credentials: {}",
            "policies.p.credentials | there are no credentials | write one of `bearer`, `basic`, `header`, `query`, `oauth2`",
        ),
        (
            "credentials: s3cret",
            "policies.p.credentials | `credentials` must be a mapping, `key: value` | write it like `credentials: { header: { X-Api-Key: { file: api.key } } }`",
        ),
        (
            "credentials: { bearer: s3cret, header: { X-Api-Key: s3cret } }",
            "policies.p.credentials.header | `bearer` and `header` both say what a call carries | take one of them out; `header` may have several fields",
        ),
        (
            "credentials: { bearer: \"s3 cret\" }",
            "policies.p.credentials.bearer | the secret has a character that cannot stand there | let the file or the variable hold the secret alone, in one line",
        ),
        (
            "credentials: { header: s3cret }",
            "policies.p.credentials.header | `header` must be a mapping of names to secrets | write it like `credentials: { header: { X-Api-Key: { file: api.key } } }`",
        ),
        (
            "credentials: { header: { Host: s3cret } }",
            "policies.p.credentials.header.Host | `Host` is no place for a secret | write the field that the source looks at, like `X-Api-Key`",
        ),
        (
            "credentials: { header: { X_Forwarded-For: s3cret } }",
            "policies.p.credentials.header.X_Forwarded-For | `X_Forwarded-For` says who asks, and never gets to the source | write the field that the source looks at, like `X-Api-Key`",
        ),
        (
            "credentials: { header: { TE: s3cret } }",
            "policies.p.credentials.header.TE | `TE` is about one connection and never gets here | take it out, or name a field that goes from end to end",
        ),
        (
            "credentials: { header: { \"X-Api-Key:s3cret\": } }",
            "policies.p.credentials.header | this has no secret | write it like `credentials: { header: { X-Api-Key: { file: api.key } } }`",
        ),
        (
            "credentials: { basic: { user: \"app:s3cret\", password: s3cret } }",
            "policies.p.credentials.basic.user | a user has no colon and no control character | write the user alone, and `password: …` beside it",
        ),
        (
            "credentials: { oauth2: { token: \"https://a/token\", client_id: a } }",
            "policies.p.credentials.oauth2 | `client_secret` is missing | add it: `oauth2: { token: \"https://id.example.com/token\", client_id: shop, client_secret: { file: client.secret }, scope: \"orders:read\" }`",
        ),
        (
            "credentials: { oauth2: { token: \"https://a/to ken\", client_id: a, client_secret: s3cret } }",
            "policies.p.credentials.oauth2.token | the path in `https://a/to ken` has a character that does not stand in one | write it percent-encoded, and nothing from `#` on",
        ),
        (
            "credentials: { bearer: a }, accounts: { rotate: [{ bearer: s3cret }] }",
            "policies.p.accounts | `credentials` and `accounts` both say what a call carries | take one of them out",
        ),
        (
            "accounts: { rotate: s3cret }",
            "policies.p.accounts.rotate | `rotate` must be a list of accounts, at most 100 | write it like `accounts: { weights: [{ weight: 3, bearer: { file: a.token } }, { bearer: { file: b.token } }] }`",
        ),
        (
            "accounts: { rotate: [{ bearer: s3cret, weight: 2 }] }",
            "policies.p.accounts.rotate[0].weight | `weight` is for `weights` | write `weights: [ … ]` in place of `rotate`, or take it out",
        ),
        (
            "accounts: { rotate: [{ bearer: s3cret }, { bearer: s3cret }] }",
            "policies.p.accounts.rotate[1] | `1` and `2` are the same account | take one out",
        ),
        (
            "accounts: { rotate: [{ name: a, bearer: s3cret }, { name: a, bearer: s3cret2 }] }",
            "policies.p.accounts.rotate[1] | two accounts are called `a` | give each its own name",
        ),
    ] {
        let faults = bad(&file(&format!("p: {{ {policy} }}"), ROUTES));
        let told = one(&faults);
        assert_eq!(told.split_once(' ').unwrap().1, expected, "{policy}");
        assert!(!faults.to_string().contains("s3cret"), "{faults}");
    }
}

#[test]
fn secrets_stay_hidden_where_the_file_cannot_be_read_or_words_are_misspelt() {
    for text in [
        "policies:\n  p:\n    credentials:\n      bearer: s3cret\n   x: [\n",
        "policies:\n  p:\n    credentials: { berer: s3cret }\n",
        "policies:\n  p:\n    credentials: { bearer:s3cret }\n",
        "policies:\n  p:\n    credentals:\n      header: { X-Api-Key: s3cret }\n",
        "policies:\n  p:\n    accounts:\n      rotate:\n        - { nme: a, bearer: s3cret }\n",
    ] {
        let faults = bad(&format!("{SOURCES}\nroutes: [{{ match: /, proxy: api }}]\n{text}"));
        assert!(!faults.to_string().contains("s3cret"), "{faults}");
    }
}

#[test]
fn they_stand_inside_of_caches_and_around_requests_alone() {
    let both = "p: { credentials: { bearer: a } }, q: { accounts: { rotate: [{ bearer: b }] } }";
    for (route, expected) in [
        (
            "{ match: /, proxy: api, use: [p, q] }",
            "routes[0].use[1] | `p` and `q` both say how to authenticate | use one of them",
        ),
        (
            "{ match: /, proxy: api, use: [p, keep] }",
            "routes[0].use[1] | `p` authenticates outside of `keep`, which caches | name the policy that caches first: it keeps what is fetched with the credentials",
        ),
        (
            "{ match: /, proxy: cached, use: p }",
            "routes[0].use | `p` authenticates outside of `keep`, which caches around the source | put both on the source, or both here",
        ),
        (
            "{ match: GET /, read: { redis: GET k }, use: p }",
            "routes[0].use | `p` authenticates requests over HTTP, and this is a read | put it on an origin, or on what asks one",
        ),
        (
            "{ match: GET /, compose: { a: { api: GET /a } }, use: q }",
            "routes[0].use | `q` authenticates requests over HTTP, and this is a compose | put it on an origin, or on what asks one",
        ),
        (
            "{ match: GET /, compose: { a: { redis: GET k, use: p } } }",
            "routes[0].compose.a.use | `p` authenticates requests over HTTP, and this is a call for a value | put it on an origin, or on what asks one",
        ),
    ] {
        let faults = bad(&file(both, route));
        assert_eq!(one(&faults).split_once(' ').unwrap().1, expected, "{route}");
    }
    let sources = SOURCES.replace("redis: redis://a", "redis: { redis: redis://a, use: p }");
    let faults = bad(&file(both, ROUTES).replace(SOURCES, &sources));
    assert!(one(&faults).contains("`p` authenticates requests over HTTP, and this is no origin"), "{faults}");
    for route in [
        "{ match: /, proxy: api, use: [keep, p] }",
        "{ match: GET /, compose: { a: { api: GET /a, use: [keep, p] } }, use: keep }",
    ] {
        meant(both, route);
    }
}

#[test]
fn no_other_policy_takes_off_what_they_put_in() {
    let policies = "p: { credentials: { header: { X-Api-Key: a } } }, q: { accounts: { rotate: [{ query: { key: b } }] } }, \
                    h: { headers: { request: { remove: \"X_Api-*\" } } }, s: { headers: { request: { set: { X_API_KEY: c } } } }, \
                    r: { rewrite: { prefix: /a, to: \"/b?v=1\" } }";
    let before = "name it before the policy that authenticates";
    for (uses, expected) in [
        ("[p, h]", Some(format!("`h` changes `x-api-key`, which credentials outside of it have set | {before}"))),
        ("[p, s]", Some(format!("`s` changes `x-api-key`, which credentials outside of it have set | {before}"))),
        ("[s, p]", Some("`s` sets `x-api-key`, which credentials inside of it replace | take that field out of `headers`".to_owned())),
        (
            "[q, r]",
            Some(format!(
                "`r` asks for a query of its own, without what credentials outside of it have put there | {before}"
            )),
        ),
        ("[h, p]", None),
        ("[p, r]", None),
        ("[r, q, h, s]", None),
    ] {
        let file = file(policies, &format!("{{ match: /, proxy: api, use: {uses} }}"));
        match expected {
            Some(expected) => assert!(one(&bad(&file)).ends_with(&expected), "{uses}: {}", bad(&file)),
            None => drop(meant(policies, &format!("{{ match: /, proxy: api, use: {uses} }}"))),
        }
    }
}
