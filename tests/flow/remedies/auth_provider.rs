//! The provider of keys that tokens are checked with: fetched in the background, ahead of time; again for a key that is not
//! known, once for all and not too often; and what holds while it is down.

use std::thread::scope;

use serde_json::json;
use testkit::{Certificate, Fleetfoot, Gate, Origin, Port, Script, TokenSigner, ok, status};

use super::auth_in::{assert_refused, bearing, guarded, jwt, named, provider, serve, shared_origin, token};
use super::support::with_policy;
use crate::composing::support::config_with;

/// The words of a policy with a provider at this URL.
fn jwt_at(url: &str, more: &str) -> String {
    format!(
        "jwt: {{ jwks: {{ url: \"{url}/keys\"{more} }}, algorithms: [ES256], issuer: me, audience: api }}"
    )
}

/// Some keys: what a provider says, and whether somebody waits for its word.
fn keys(signers: &[(&TokenSigner, &str)]) -> Script {
    let keys: Vec<_> = signers.iter().map(|(signer, kid)| named(signer, kid)).collect();
    ok("", json!({ "keys": keys }).to_string())
}

#[test]
fn a_new_key_is_fetched_once_for_all_who_need_it() {
    let [old, new] = [(); 2].map(|()| TokenSigner::new("ES256"));
    let (origin, provider) = (shared_origin(), provider(&[named(&old, "old")]));
    let fleetfoot = guarded(&origin, &jwt_at(&provider.url(), ", cooldown: 1ms"));
    assert_eq!(fleetfoot.get_with("/x", &bearing(&token(&old, "old", json!({})))).status, 200);
    let gate = Gate::new();
    let late = Script::new().wait(&gate).then(keys(&[(&old, "old"), (&new, "new")]));
    provider.on("GET /keys").reply(late);
    let tokens: Vec<_> = (0..8).map(|at| bearing(&token(&new, "new", json!({ "sub": at })))).collect();
    scope(|scope| {
        let fleetfoot = &fleetfoot;
        let asked: Vec<_> = tokens
            .iter()
            .map(|fields| scope.spawn(move || fleetfoot.get_with("/x", fields).status))
            .collect();
        provider.wait_for(2, "GET /keys");
        assert_eq!(
            fleetfoot.get_with("/x", &bearing(&token(&old, "old", json!({})))).status,
            200,
            "nobody else waits"
        );
        gate.open();
        assert!(asked.into_iter().all(|asked| asked.join().expect("no panic") == 200));
    });
    // One that came too late for the fetch may have begun another.
    assert!(provider.count("GET /keys") <= 3, "{}", provider.count("GET /keys"));
}

#[test]
fn strangers_cannot_make_it_fetch_more_often_than_the_cooldown_allows() {
    let [signer, stranger] = [(); 2].map(|()| TokenSigner::new("ES256"));
    let (origin, provider) = (shared_origin(), provider(&[named(&signer, "a")]));
    let fleetfoot = guarded(&origin, &jwt_at(&provider.url(), ", cooldown: 1h"));
    assert_eq!(fleetfoot.get_with("/x", &bearing(&token(&signer, "a", json!({})))).status, 200);
    for kid in ["b", "c", "d"] {
        assert_refused(&fleetfoot.get_with("/x", &bearing(&token(&stranger, kid, json!({})))), "unknown key");
    }
    assert_eq!(provider.count("GET /keys"), 1);
}

#[test]
fn keys_are_fetched_again_before_they_are_out_of_date_and_one_taken_back_opens_nothing() {
    let [old, new] = [(); 2].map(|()| TokenSigner::new("ES256"));
    let (origin, provider) = (shared_origin(), provider(&[named(&old, "old")]));
    let mut fleetfoot = guarded(&origin, &jwt_at(&provider.url(), ", refresh: 1s, cooldown: 100ms"));
    let [before, after] =
        [token(&old, "old", json!({})), token(&new, "new", json!({}))].map(|token| bearing(&token));
    assert_eq!(fleetfoot.get_with("/x", &before).status, 200);
    assert!(fleetfoot.get_with("/x", &before).is_hit());
    serve(&provider, &[named(&new, "new")]);
    let fetched = provider.count("GET /keys");
    provider.wait_for(fetched + 1, "GET /keys");
    fleetfoot.wait_until("the old key is gone", |fleetfoot| fleetfoot.get_with("/x", &before).status == 401);
    assert_refused(&fleetfoot.get_with("/x", &before), "unknown key");
    assert!(fleetfoot.get_with("/x", &after).is_hit());
}

#[test]
fn a_provider_that_takes_all_keys_back_lets_nobody_in() {
    let signer = TokenSigner::new("ES256");
    for left in [vec![], vec![named(&TokenSigner::new("EdDSA"), "b")]] {
        let (origin, provider) = (shared_origin(), provider(&[named(&signer, "a")]));
        let mut fleetfoot = guarded(&origin, &jwt_at(&provider.url(), ", refresh: 1s, cooldown: 100ms"));
        let good = bearing(&token(&signer, "a", json!({})));
        assert_eq!(fleetfoot.get_with("/x", &good).status, 200);
        assert!(fleetfoot.get_with("/x", &good).is_hit());
        serve(&provider, &left);
        fleetfoot.wait_until("they are gone", |fleetfoot| fleetfoot.get_with("/x", &good).status == 401);
        assert_refused(&fleetfoot.get_with("/x", &good), "unknown key");
        let ready = fleetfoot.get_admin("/readyz");
        assert!(ready.status == 200 && ready.text().contains("keys of policy p"), "{ready:?}");
        serve(&provider, &[named(&signer, "a")]);
        fleetfoot.wait_until("they are back", |fleetfoot| fleetfoot.get_with("/x", &good).is_hit());
    }
}

#[test]
fn while_the_provider_is_down_its_last_keys_go_on_working() {
    let signer = TokenSigner::new("ES256");
    let (origin, provider) = (shared_origin(), provider(&[named(&signer, "a")]));
    let words = ", refresh: 1s, cooldown: 100ms, if_error: 1h";
    let mut fleetfoot = guarded(&origin, &jwt_at(&provider.url(), words));
    assert_eq!(fleetfoot.get_with("/x", &bearing(&token(&signer, "a", json!({})))).status, 200);
    let too_many = json!({ "keys": vec![named(&signer, "a"); 101] }).to_string();
    for (number, broken) in [
        status("500 Oops", "", "down"),
        ok("", "<html>"),
        ok("", too_many),
        ok("", " ".repeat(300_000)),
        Script::new().reset(),
    ]
    .into_iter()
    .enumerate()
    {
        provider.on("GET /keys").reply(broken);
        let (asked, failed) = (provider.count("GET /keys"), fleetfoot.metrics());
        let failed = failed.sum("fleetfoot_jwks_fetches_total", &["\"failed\""]);
        // One may have been under way.
        provider.wait_for(asked + 1, "GET /keys");
        let more = |metrics: &testkit::Metrics| {
            metrics.sum("fleetfoot_jwks_fetches_total", &["\"failed\""]) > failed
        };
        fleetfoot.wait_for_metrics("a fetch that failed", more);
        let another = bearing(&token(&signer, "a", json!({ "sub": number })));
        assert_eq!(fleetfoot.get_with("/x", &another).status, 200, "{number}: a token that was never seen");
    }
    assert!(fleetfoot.metrics().sum("fleetfoot_jwks_keys", &["policy=\"p\""]) > 0.5);
    assert!(fleetfoot.stderr().all().join("\n").contains("those fetched last stay"));
}

#[test]
fn and_no_longer_than_is_said() {
    let signer = TokenSigner::new("ES256");
    let (origin, provider) = (shared_origin(), provider(&[named(&signer, "a")]));
    let words = ", refresh: 1s, cooldown: 100ms, if_error: 0s";
    let mut fleetfoot = guarded(&origin, &jwt_at(&provider.url(), words));
    let good = bearing(&token(&signer, "a", json!({})));
    assert_eq!(fleetfoot.get_with("/x", &good).status, 200);
    assert!(fleetfoot.get_with("/x", &good).is_hit());
    provider.on("GET /keys").reply(status("503 Service Unavailable", "", ""));
    fleetfoot.wait_until("no keys", |fleetfoot| fleetfoot.get_with("/x", &good).status == 503);
    let refused = fleetfoot.get_with("/x", &good);
    assert_eq!(refused.field("Fleetfoot-Error"), Some("keys-unavailable"), "a hit would need them, too");
    serve(&provider, &[named(&signer, "a")]);
    fleetfoot.wait_until("keys again", |fleetfoot| fleetfoot.get_with("/x", &good).is_hit());
}

#[test]
fn without_keys_tokens_wait_and_are_refused_with_503_and_the_rest_is_served() {
    let signer = TokenSigner::new("ES256");
    let (origin, port) = (shared_origin(), Port::reserve());
    let source = format!("api: \"{}\"", origin.url());
    let auth = jwt_at(&format!("http://{}", port.address()), ", cooldown: 1s");
    let mut fleetfoot = with_policy(
        &format!("auth: {{ optional: true, {auth} }}"),
        &[&source],
        &["match: /members, proxy: api, use: p", "match: /open, proxy: api"],
    );
    let good = bearing(&token(&signer, "a", json!({})));
    let refused = fleetfoot.get_with("/members", &good);
    assert_eq!(
        (refused.status, refused.field("Fleetfoot-Error")),
        (503, Some("keys-unavailable")),
        "{refused:?}"
    );
    assert!(refused.has("Retry-After") && !refused.has("WWW-Authenticate"), "{refused:?}");
    assert_eq!(fleetfoot.get("/open").status, 200);
    assert_eq!(fleetfoot.get("/members").status, 200, "nothing to check");
    let ready = fleetfoot.get_admin("/readyz");
    assert!(ready.status == 200 && ready.text().contains("keys of policy p"), "{ready:?}");
    let address = port.address().to_string();
    drop(port);
    let provider = Origin::start_on(&address);
    serve(&provider, &[named(&signer, "a")]);
    fleetfoot.wait_until("the keys", |fleetfoot| fleetfoot.get_with("/members", &good).status == 200);
}

#[test]
fn a_provider_that_never_answers_holds_nobody_for_long() {
    let signer = TokenSigner::new("ES256");
    let (origin, provider, never) = (shared_origin(), Origin::start(), Gate::new());
    provider.on("GET /keys").reply(Script::new().wait(&never));
    let fleetfoot = guarded(&origin, &jwt_at(&provider.url(), ", timeout: 50ms"));
    let good = bearing(&token(&signer, "a", json!({})));
    assert_eq!(fleetfoot.get_with("/x", &good).status, 503);
    never.open();
}

#[test]
fn what_the_policy_says_of_tokens_may_change_without_a_fetch() {
    let signer = TokenSigner::new("ES256");
    let (origin, provider) = (shared_origin(), provider(&[named(&signer, "a")]));
    let config = |audience: &str| {
        let auth = jwt(&provider, "").replace("audience: api", &format!("audience: {audience}"));
        config_with(
            &format!("cores: 1\npolicies: {{ p: {{ auth: {{ {auth} }}, cache: {{ ttl: origin }} }} }}"),
            &[&format!("api: \"{}\"", origin.url())],
            &["match: /**, proxy: api, use: p"],
        )
    };
    let mut fleetfoot = Fleetfoot::start(&config("api"));
    let good = bearing(&token(&signer, "a", json!({})));
    assert_eq!(fleetfoot.get_with("/x", &good).status, 200);
    provider.on("GET /keys").reply(status("500 Oops", "", ""));
    fleetfoot.rewrite(&config("shop"));
    fleetfoot.wait_until("the new audience", |fleetfoot| fleetfoot.get_with("/x", &good).status == 401);
    assert_refused(&fleetfoot.get_with("/x", &good), "another audience");
    let shop = bearing(&token(&signer, "a", json!({ "aud": "shop" })));
    assert!(fleetfoot.get_with("/x", &shop).is_hit(), "by the keys that were there");
    assert_eq!(provider.count("GET /keys"), 1);
}

/// Another fleetfoot stands before the provider and speaks TLS for it.
#[test]
fn the_provider_s_certificate_is_verified() {
    let signer = TokenSigner::new("ES256");
    let (origin, provider, certificate) =
        (shared_origin(), provider(&[named(&signer, "a")]), Certificate::new());
    let tls = format!(
        "tls: {{ certificate: {}, key: {} }}",
        certificate.file().display(),
        certificate.key_file().display()
    );
    let front = Fleetfoot::start(&format!(
        "listen: {{ https: 127.0.0.1:0, admin: 127.0.0.1:0, {tls} }}\ncores: 1\nsources: {{ id: \"{}\" }}\nroutes: [{{ match: /**, proxy: id }}]\n",
        provider.url()
    ));
    let url = format!("https://localhost:{}", front.https().port());
    let good = bearing(&token(&signer, "a", json!({})));
    let trusting = format!(", authorities: {}", certificate.authority_file().display());
    assert_eq!(guarded(&origin, &jwt_at(&url, &trusting)).get_with("/x", &good).status, 200);
    assert_eq!(guarded(&origin, &jwt_at(&url, "")).get_with("/y", &good).status, 503);
}
