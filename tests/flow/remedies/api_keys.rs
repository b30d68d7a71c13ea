//! API keys, the other way in: a secret in a header, which goes no further than fleetfoot; metrics know its owner's name.

use serde_json::json;
use testkit::{Fleetfoot, Origin, TokenSigner, ok};

use super::auth_in::{assert_refused, bearing, guarded, jwt, named, provider, shared_origin, token};
use super::support::with_policy;

const ACME: &str = "acme-key-abcdefghijkl";
const BETA: &str = "beta-key-abcdefghijkl";
const KEYS: &str = "keys: { of: { acme: acme-key-abcdefghijkl, beta: beta-key-abcdefghijkl } }";

fn with_key(key: &str) -> String {
    format!("X-Api-Key: {key}")
}

#[test]
fn who_has_a_key_comes_in_and_the_origin_never_sees_it() {
    let origin = shared_origin();
    let fleetfoot = guarded(&origin, KEYS);
    for (key, hit) in [(ACME, false), (ACME, true), (BETA, true), (BETA, true)] {
        let answer = fleetfoot.get_with("/x", &with_key(key));
        assert_eq!((answer.status, answer.is_hit()), (200, hit), "one response for all who may have it");
    }
    assert_eq!(fleetfoot.send("POST", "/x", &with_key(ACME)).status, 200);
    let seen = String::from_utf8(origin.bytes()).expect("text").to_ascii_lowercase();
    assert!(!seen.contains("x-api-key") && !seen.contains("acme-key"), "{seen}");
    for wrong in [
        String::new(),
        with_key(""),
        with_key("acme"),
        with_key(&ACME[1..]),
        with_key(&format!("{ACME}x")),
        with_key(&ACME.to_uppercase()),
        format!("{}\n{}", with_key(ACME), with_key(ACME)),
        format!("Authorization: Bearer {ACME}"),
        format!("X_Api_Key: {ACME}"),
    ] {
        assert_refused(&fleetfoot.get_with("/x", &wrong), "ApiKey realm=\"p\", field=\"x-api-key\"");
    }
    let metrics = fleetfoot.metrics();
    let of = |key: &str| metrics.sum("fleetfoot_auth_keys_total", &["policy=\"p\"", key]) as u64;
    assert_eq!((of("key=\"acme\""), of("key=\"beta\"")), (3, 2));
    assert_nothing_tells(&fleetfoot);
}

/// Neither metrics nor logs show a key.
fn assert_nothing_tells(fleetfoot: &Fleetfoot) {
    let metrics = fleetfoot.get_admin("/metrics").text();
    let logs = [fleetfoot.stdout().all(), fleetfoot.stderr().all()].concat().join("\n");
    assert!(!metrics.contains("-key-abcdef") && !logs.contains("-key-abcdef"), "{logs}");
}

#[test]
fn either_way_will_do_but_what_is_there_must_be_good() {
    let signer = TokenSigner::new("ES256");
    let (origin, provider) = (shared_origin(), provider(&[named(&signer, "a")]));
    let fleetfoot = guarded(&origin, &format!("{KEYS}, {}", jwt(&provider, "")));
    let good = bearing(&token(&signer, "a", json!({})));
    let expired = bearing(&token(&signer, "a", json!({ "exp": 1 })));
    assert_eq!(fleetfoot.get_with("/x", &good).status, 200);
    assert_eq!(fleetfoot.get_with("/x", &with_key(ACME)).status, 200);
    assert_eq!(fleetfoot.get_with("/x", &format!("{good}\n{}", with_key(ACME))).status, 200);
    assert_refused(&fleetfoot.get("/x"), "ApiKey");
    assert_refused(
        &fleetfoot.get_with("/x", &format!("{expired}\n{}", with_key(ACME))),
        "the token has expired",
    );
    assert_refused(
        &fleetfoot.get_with("/x", &format!("{good}\n{}", with_key("wrong"))),
        "Bearer realm=\"p\"",
    );
}

/// Both stand in the same field: the client's ends here, ours begins here.
#[test]
fn the_source_gets_our_key_instead_of_the_clients() {
    let origin = Origin::start();
    origin.on("*").answer(|request| ok("", request.field("X-Api-Key").unwrap_or("none")));
    let policy = format!("auth: {{ {KEYS} }}, credentials: {{ header: {{ X-Api-Key: our-own-key }} }}");
    let source = format!("api: \"{}\"", origin.url());
    let fleetfoot = with_policy(&policy, &[&source], &["match: /**, proxy: api, use: p"]);
    assert_eq!(fleetfoot.get_with("/", &with_key(ACME)).text(), "our-own-key");
    assert_eq!(fleetfoot.get_with("/", &with_key("our-own-key")).status, 401);
}

#[test]
fn a_limit_may_count_by_the_key() {
    let origin = shared_origin();
    let policy = format!("auth: {{ {KEYS} }}, limit: {{ rate: 1/h, per: \"${{header('X-Api-Key')}}\" }}");
    let source = format!("api: \"{}\"", origin.url());
    let fleetfoot = with_policy(&policy, &[&source], &["match: /**, proxy: api, use: p"]);
    let statuses =
        [ACME, ACME, BETA, "wrong", "wrong"].map(|key| fleetfoot.get_with("/", &with_key(key)).status);
    assert_eq!(statuses, [200, 429, 200, 401, 401], "who is not let in counts against nobody");
}
