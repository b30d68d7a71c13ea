//! `auth`: who may ask. Tokens are signed here, with keys made for each story and by other means than the program's; their
//! public halves are served by an origin, as a provider does. `auth_provider` is about that, `api_keys` about the other way in.

use serde_json::{Value, json};
use testkit::{Answer, Fleetfoot, Origin, TokenSigner, base64url, ok};

use super::support::with_policy;
use crate::composing::support::config_with;
use crate::control_port::port;
use crate::setup::each;

/// Long after, and long before, these stories run.
const LATER: u64 = 4_000_000_000;
const EARLIER: u64 = 1_500_000_000;

/// Serves this set of keys at `/keys`.
pub(crate) fn provider(keys: &[Value]) -> Origin {
    let provider = Origin::start();
    serve(&provider, keys);
    provider
}

pub(crate) fn serve(provider: &Origin, keys: &[Value]) {
    provider.on("GET /keys").reply(ok("Content-Type: application/json", json!({ "keys": keys }).to_string()));
}

pub(crate) fn named(signer: &TokenSigner, kid: &str) -> Value {
    signer.jwk(json!({ "kid": kid }))
}

/// The words of a policy that checks tokens of this provider, signed with ES256.
pub(crate) fn jwt(provider: &Origin, more: &str) -> String {
    format!(
        "jwt: {{ jwks: \"{}/keys\", algorithms: [ES256], issuer: me, audience: api{more} }}",
        provider.url()
    )
}

/// A token with a key's name, that is good, but for what these claims say.
pub(crate) fn token(signer: &TokenSigner, kid: &str, claims: Value) -> String {
    let mut all = json!({ "iss": "me", "aud": "api", "sub": "u7", "exp": LATER });
    all.as_object_mut().expect("members").extend(claims.as_object().expect("members").clone());
    signer.token("ES256", &json!({ "alg": "ES256", "kid": kid }), &all)
}

pub(crate) fn bearing(token: &str) -> String {
    format!("Authorization: Bearer {token}")
}

/// Says the same to everybody, good for ten minutes.
pub(crate) fn shared_origin() -> Origin {
    let origin = Origin::start();
    origin.on("*").reply(ok("Cache-Control: public, max-age=600", "shared"));
    origin
}

/// One route to this origin, behind a policy with this `auth`, and then a cache.
pub(crate) fn guarded(origin: &Origin, auth: &str) -> Fleetfoot {
    let policy = format!("auth: {{ {auth} }}, cache: {{ ttl: origin }}");
    with_policy(&policy, &[&format!("api: \"{}\"", origin.url())], &["match: /**, proxy: api, use: p"])
}

#[track_caller]
pub(crate) fn assert_refused(answer: &Answer, error: &str) {
    let said = (answer.status, answer.field("Fleetfoot-Error"), answer.field("Cache-Control"));
    assert_eq!(said, (401, Some("unauthorized"), Some("no-store")), "{answer:?}");
    let challenge = answer.joined("WWW-Authenticate");
    assert!(challenge.contains(error), "{challenge} without {error}");
}

#[test]
fn a_good_token_comes_in_and_no_other() {
    let (signer, stranger) = (TokenSigner::new("ES256"), TokenSigner::new("ES256"));
    let (origin, provider) = (shared_origin(), provider(&[named(&signer, "a")]));
    let fleetfoot = guarded(&origin, &jwt(&provider, ""));
    let good = token(&signer, "a", json!({}));
    assert_eq!(fleetfoot.get_with("/x", &bearing(&good)).status, 200);
    let asked = origin.requests().len();
    let (text, signature) = good.rsplit_once('.').expect("three parts");
    let claims = text.split_once('.').expect("two parts").1;
    let with = |claims: Value| bearing(&token(&signer, "a", claims));
    let signed_as = |header: Value| {
        let claims = json!({ "iss": "me", "aud": "api", "exp": LATER });
        bearing(&signer.token("ES256", &header, &claims))
    };
    let unsigned = format!("{}.{claims}.", base64url(r#"{"alg":"none","kid":"a"}"#));
    let jwk = named(&signer, "a").to_string();
    let confused = |secret: Vec<u8>| {
        let header = json!({ "alg": "HS256", "kid": "a" });
        let claims = json!({ "iss": "me", "aud": "api", "exp": LATER });
        bearing(&TokenSigner::Secret(secret).token("HS256", &header, &claims))
    };
    let rows = [
        ("nothing", String::new(), "Bearer realm=\"p\""),
        ("another scheme", "Authorization: Basic dTpw".to_owned(), "Bearer realm=\"p\""),
        ("no token", "Authorization: Bearer".to_owned(), "malformed"),
        ("no JWT", bearing("opaque"), "malformed"),
        ("two fields", format!("{0}\n{0}", bearing(&good)), "more than once"),
        ("another's signature", bearing(&token(&stranger, "a", json!({}))), "signature is wrong"),
        ("another's key", bearing(&token(&stranger, "b", json!({}))), "unknown key"),
        ("other claims", bearing(&format!("{}x.{signature}", &text[..text.len() - 1])), "signature is wrong"),
        ("no signature", bearing(&format!("{text}.")), "signature is wrong"),
        ("alg none", bearing(&unsigned), "algorithm is not accepted"),
        ("the public key as a secret", confused(signer.public_key()), "algorithm is not accepted"),
        ("the JWK as a secret", confused(jwk.into_bytes()), "algorithm is not accepted"),
        ("another alg", signed_as(json!({ "alg": "ES384", "kid": "a" })), "algorithm is not accepted"),
        ("an extension", signed_as(json!({ "alg": "ES256", "kid": "a", "crit": ["x"] })), "extension"),
        ("expired", with(json!({ "exp": EARLIER })), "has expired"),
        ("lasting", with(json!({ "exp": null })), "does not expire"),
        ("early", with(json!({ "nbf": LATER - 1 })), "not valid yet"),
        ("another issuer", with(json!({ "iss": "you" })), "another issuer"),
        ("another audience", with(json!({ "aud": ["app", "shop"] })), "another audience"),
        ("an expiry in words", with(json!({ "exp": "tomorrow" })), "malformed"),
    ];
    each(rows.map(|(name, fields, why)| (name, (fields, why))), |_, (fields, why)| {
        let fields = &fields;
        assert_refused(&fleetfoot.get_with("/x", fields), why);
        assert_refused(&fleetfoot.send("HEAD", "/x", fields), why);
        assert_refused(&fleetfoot.send("POST", "/x", fields), why);
    });
    assert_eq!(origin.requests().len(), asked, "nothing of it reached the origin, though it is stored");
    let problem = fleetfoot.get_with("/x", "Accept: application/json");
    assert_eq!(problem.field("Content-Type"), Some("application/problem+json"));
    assert!(problem.text().contains(r#""error":"unauthorized","side":"client""#), "{}", problem.text());
    let metrics = fleetfoot.metrics();
    let count = |outcome: &str| metrics.sum("fleetfoot_auth_total", &["policy=\"p\"", outcome]) as u64;
    assert_eq!((count("\"ok\""), count("\"missing\""), count("\"expired\"")), (1, 7, 3));
    assert_eq!(count("\"invalid\""), 17 * 3);
}

#[test]
fn what_is_stored_opens_to_good_tokens_only_and_a_hit_checks_no_signature() {
    let signer = TokenSigner::new("ES256");
    let (origin, provider) = (shared_origin(), provider(&[named(&signer, "a")]));
    let fleetfoot = guarded(&origin, &jwt(&provider, ""));
    let checked = || fleetfoot.metrics().count("fleetfoot_auth_signatures_total");
    let [one, other] = ["u7", "u8"].map(|sub| bearing(&token(&signer, "a", json!({ "sub": sub }))));
    fleetfoot.get_with("/x", &one);
    for _ in 0..5 {
        assert!(fleetfoot.get_with("/x", &one).is_hit());
    }
    assert_eq!(checked(), 1, "one signature for six requests");
    for _ in 0..5 {
        assert!(fleetfoot.get_with("/x", &other).is_hit(), "shared, since the response says so");
    }
    assert_eq!(checked(), 2);
    assert_refused(&fleetfoot.get("/x"), "Bearer");
    assert_refused(&fleetfoot.get_with("/x", "Cache-Control: only-if-cached"), "Bearer");
    assert_refused(&fleetfoot.get_with("/x", &format!("{one}x")), "malformed");
    assert_eq!((origin.requests().len(), provider.count("GET /keys")), (1, 1));
    assert_eq!(fleetfoot.metrics().sum("fleetfoot_auth_total", &["\"ok\""]) as u64, 11);
}

#[test]
fn a_connection_that_was_let_in_once_is_asked_again() {
    let signer = TokenSigner::new("ES256");
    let (origin, provider) = (shared_origin(), provider(&[named(&signer, "a")]));
    let fleetfoot = guarded(&origin, &jwt(&provider, ""));
    let good = bearing(&token(&signer, "a", json!({})));
    let ask = |fields: &str| format!("GET /x HTTP/1.1\r\nHost: example.test\r\n{fields}\r\n");
    let mut client = fleetfoot.connect();
    assert_eq!(client.ask(ask(&format!("{good}\r\n"))).status, 200);
    assert!(client.ask(ask(&format!("{good}\r\n"))).is_hit());
    assert_refused(&client.ask(ask("")), "Bearer");
    assert!(client.ask(ask(&format!("{good}\r\n"))).is_hit());
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the program under test reads the clock of the machine")]
fn a_token_that_was_good_is_not_when_it_has_expired() {
    let signer = TokenSigner::new("ES256");
    let (origin, provider) = (shared_origin(), provider(&[named(&signer, "a")]));
    let mut fleetfoot = guarded(&origin, &jwt(&provider, ", leeway: 0s"));
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
    let good = bearing(&token(&signer, "a", json!({ "exp": now.as_secs() + 2 })));
    assert_eq!(fleetfoot.get_with("/x", &good).status, 200);
    assert!(fleetfoot.get_with("/x", &good).is_hit());
    fleetfoot.wait_until("too late", |fleetfoot| fleetfoot.get_with("/x", &good).status == 401);
    assert_refused(&fleetfoot.get_with("/x", &good), "has expired");
}

/// RFC 9111 §3.5: to be let in is not to be the same.
#[test]
fn responses_to_tokens_are_shared_only_if_they_say_so() {
    let signer = TokenSigner::new("ES256");
    let (origin, provider) = (Origin::start(), provider(&[named(&signer, "a")]));
    origin
        .on("*")
        .answer(|request| ok("Cache-Control: max-age=600", request.field("Authorization").unwrap_or("")));
    let fleetfoot = guarded(&origin, &jwt(&provider, ""));
    let [one, other] = ["u7", "u8"].map(|sub| token(&signer, "a", json!({ "sub": sub })));
    for token in [&one, &other, &one] {
        let answer = fleetfoot.get_with("/mine", &bearing(token));
        assert_eq!(
            answer.text(),
            format!("Bearer {token}"),
            "the origin gets the token, and each their own response"
        );
        assert!(!answer.is_hit());
    }
}

#[test]
fn optional_lets_nobody_in_and_refuses_who_is_wrong() {
    let signer = TokenSigner::new("ES256");
    let (origin, provider) = (shared_origin(), provider(&[named(&signer, "a")]));
    let fleetfoot = guarded(&origin, &format!("optional: true, {}", jwt(&provider, "")));
    assert_eq!(fleetfoot.get("/x").status, 200);
    assert!(fleetfoot.get("/x").is_hit());
    assert_eq!(fleetfoot.get_with("/x", "Authorization: Basic dTpw").status, 200, "not a bearer token");
    let good = bearing(&token(&signer, "a", json!({})));
    assert!(fleetfoot.get_with("/x", &good).status == 200 && fleetfoot.get_with("/x", &good).is_hit());
    for wrong in ["Authorization: Bearer", "Authorization: bearer\tx", "Authorization: Bearer x"] {
        assert_refused(&fleetfoot.get_with("/x", wrong), "invalid_token");
    }
    assert_refused(
        &fleetfoot.get_with("/x", &bearing(&token(&signer, "a", json!({ "exp": EARLIER })))),
        "expired",
    );
    let metrics = fleetfoot.metrics();
    assert_eq!(metrics.sum("fleetfoot_auth_total", &["\"anonymous\""]) as u64, 3);
}

#[test]
fn claims_of_a_token_that_was_let_in_count() {
    let signer = TokenSigner::new("ES256");
    let (origin, provider) = (shared_origin(), provider(&[named(&signer, "a")]));
    let policy = format!(
        "auth: {{ optional: true, {} }}, limit: {{ rate: 2/h, per: \"${{claim('sub')}}\" }}",
        jwt(&provider, "")
    );
    let source = format!("api: \"{}\"", origin.url());
    let fleetfoot = with_policy(&policy, &[&source], &["match: /**, proxy: api, use: p"]);
    let of = |sub: &str, at: u64| bearing(&token(&signer, "a", json!({ "sub": sub, "iat": at })));
    let statuses: Vec<_> = [("u7", 1), ("u7", 2), ("u7", 3), ("u8", 1)]
        .map(|(sub, at)| fleetfoot.get_with("/", &of(sub, at)).status)
        .into();
    assert_eq!(statuses, [200, 200, 429, 200], "one quota for all tokens of a user");
    let stranger = TokenSigner::new("ES256");
    let forged = bearing(&token(&stranger, "a", json!({ "sub": "u9" })));
    assert_refused(&fleetfoot.get_with("/", &forged), "signature is wrong");
    let nobodys: Vec<_> = (0..3).map(|_| fleetfoot.get("/").status).collect();
    assert_eq!(nobodys, [200, 200, 429], "and one for those without");
}

#[test]
fn a_page_of_another_origin_may_ask_first_and_reads_why_it_is_refused() {
    let signer = TokenSigner::new("ES256");
    let (origin, provider) = (shared_origin(), provider(&[named(&signer, "a")]));
    let policy = format!(
        "auth: {{ {} }}, cors: {{ origins: [https://app.example.com], headers: [Authorization] }}",
        jwt(&provider, "")
    );
    let source = format!("api: \"{}\"", origin.url());
    let fleetfoot = with_policy(&policy, &[&source], &["match: /**, proxy: api, use: p"]);
    let page = "Origin: https://app.example.com";
    let preflight =
        format!("{page}\nAccess-Control-Request-Method: GET\nAccess-Control-Request-Headers: authorization");
    let allowed = fleetfoot.send("OPTIONS", "/x", &preflight);
    assert_eq!(
        (allowed.status, allowed.field("Access-Control-Allow-Origin")),
        (204, Some("https://app.example.com"))
    );
    let refused = fleetfoot.get_with("/x", page);
    assert_refused(&refused, "Bearer realm=\"p\"");
    assert_eq!(refused.field("Access-Control-Allow-Origin"), Some("https://app.example.com"));
    let good = bearing(&token(&signer, "a", json!({})));
    assert_eq!(fleetfoot.get_with("/x", &format!("{page}\n{good}")).status, 200);
    assert_eq!(fleetfoot.send("OPTIONS", "/x", "").status, 401, "no preflight");
}

#[test]
fn steps_may_rely_on_claims() {
    let [signer, stranger] = [(); 2].map(|()| TokenSigner::new("ES256"));
    let (origin, provider) = (Origin::start(), provider(&[named(&signer, "a")]));
    origin.on("*").answer(|request| ok("", json!({ "asked": request.target }).to_string()));
    let fleetfoot = with_policy(
        &format!("auth: {{ {} }}", jwt(&provider, "")),
        &[&format!("api: \"{}\"", origin.url())],
        &[
            "match: GET /me, use: p, compose: { user: { api: \"GET /users/${claim('sub')}\" } }, respond: \"${user}\"",
        ],
    );
    let mine = fleetfoot.get_with("/me", &bearing(&token(&signer, "a", json!({}))));
    assert_eq!((mine.status, mine.text().as_str()), (200, r#"{"asked":"/users/u7"}"#), "{mine:?}");
    let forged = bearing(&token(&stranger, "a", json!({ "sub": "u8" })));
    assert_refused(&fleetfoot.get_with("/me", &forged), "signature is wrong");
    assert_eq!(origin.requests().len(), 1);
}

#[test]
fn of_two_policies_both_must_be_satisfied() {
    let [users, partners] = [(); 2].map(|()| TokenSigner::new("ES256"));
    let (origin, provider) = (shared_origin(), provider(&[named(&users, "a"), named(&partners, "b")]));
    let other = provider_of(&partners);
    let top = format!(
        "cores: 1\npolicies:\n  one: {{ auth: {{ {} }} }}\n  two: {{ auth: {{ keys: {{ of: {{ acme: abcdefghijklmnop }} }} }} }}\n  \
         three: {{ auth: {{ {} }}, cache: {{ ttl: origin }} }}",
        jwt(&provider, ""),
        jwt(&other, "")
    );
    let source = format!("api: \"{}\"", origin.url());
    let fleetfoot = Fleetfoot::start(&config_with(
        &top,
        &[&source],
        &["match: /two, proxy: api, use: [one, two, three]", "match: /one, proxy: api, use: [one]"],
    ));
    let key = "X-Api-Key: abcdefghijklmnop";
    let [user, partner] =
        [token(&users, "a", json!({})), token(&partners, "b", json!({}))].map(|t| bearing(&t));
    assert_eq!(fleetfoot.get_with("/one", &user).status, 200);
    assert_refused(&fleetfoot.get_with("/two", key), "Bearer realm=\"one\"");
    assert_refused(&fleetfoot.get_with("/two", &partner), "ApiKey realm=\"two\"");
    assert_refused(&fleetfoot.get_with("/two", &format!("{user}\n{key}")), "Bearer realm=\"three\"");
    for _ in 0..2 {
        assert_eq!(fleetfoot.get_with("/two", &format!("{partner}\n{key}")).status, 200);
    }
    assert!(fleetfoot.get_with("/two", &format!("{partner}\n{key}")).is_hit());
}

fn provider_of(signer: &TokenSigner) -> Origin {
    provider(&[named(signer, "b")])
}

#[test]
fn no_spelling_of_a_path_and_no_other_method_gets_round_it() {
    let signer = TokenSigner::new("ES256");
    let (origin, provider) = (shared_origin(), provider(&[named(&signer, "a")]));
    let source = format!("api: \"{}\"", origin.url());
    let fleetfoot = with_policy(
        &format!("auth: {{ {} }}", jwt(&provider, "")),
        &[&source],
        &["match: /members/**, proxy: api, use: p", "match: /**, proxy: api"],
    );
    assert_eq!(fleetfoot.get("/open").status, 200);
    for target in
        ["/members/a", "//members/a", "/MEMBERS/a", "/%6dembers/a", "/members;x/a", "/x/../members/a"]
    {
        for method in ["GET", "HEAD", "POST", "OPTIONS"] {
            let status = fleetfoot.send(method, target, "").status;
            assert!([400, 401].contains(&status), "{method} {target}: {status}");
        }
    }
    assert_eq!(origin.requests().len(), 1);
}

#[test]
fn a_shared_secret_and_a_set_in_a_file_are_read_again_on_a_reload() {
    let folder = tempfile::tempdir().expect("a folder");
    let write =
        |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file in it");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (signer, next, secret) =
        (TokenSigner::new("ES256"), TokenSigner::new("ES256"), TokenSigner::new("HS256"));
    write("keys.json", &json!({ "keys": [named(&signer, "a")] }).to_string());
    write("secret", std::str::from_utf8(&secret.public_key()).expect("text"));
    let origin = shared_origin();
    let auth = format!(
        "jwt: {{ algorithms: [ES256, HS256], jwks: {{ file: \"{}\" }}, secret: {{ file: \"{}\" }}, issuer: me, audience: api }}",
        path("keys.json"),
        path("secret")
    );
    let mut fleetfoot = guarded(&origin, &auth);
    let claims = json!({ "iss": "me", "aud": "api" });
    let hs256 = bearing(&secret.good("HS256", claims));
    let [es256, renewed] = [&signer, &next].map(|signer| bearing(&token(signer, "a", json!({}))));
    assert_eq!(fleetfoot.get_with("/x", &hs256).status, 200);
    assert!(fleetfoot.get_with("/x", &es256).is_hit());
    assert_refused(&fleetfoot.get_with("/x", &renewed), "signature is wrong");
    write("keys.json", &json!({ "keys": [named(&next, "a")] }).to_string());
    write("secret", "another-secret-of-more-than-32-bytes");
    fleetfoot.hang_up();
    fleetfoot.wait_until("the new keys", |fleetfoot| fleetfoot.get_with("/x", &renewed).status == 200);
    assert_refused(&fleetfoot.get_with("/x", &es256), "signature is wrong");
    assert_refused(&fleetfoot.get_with("/x", &hs256), "unknown key");
}

#[test]
fn purging_warming_and_the_admin_port_need_no_token() {
    let signer = TokenSigner::new("ES256");
    let (origin, provider) = (shared_origin(), provider(&[named(&signer, "a")]));
    let fleetfoot = guarded(&origin, &jwt(&provider, ""));
    let good = bearing(&token(&signer, "a", json!({})));
    fleetfoot.get_with("/x", &good);
    port::purge(&fleetfoot, &json!({ "url": "http://example.test/x" }));
    assert!(!fleetfoot.get_with("/x", &good).is_hit());
    let warmed = port::post(&fleetfoot, "/cache/warm", &json!({ "urls": ["http://example.test/warm"] }));
    assert_eq!(warmed.status, 200, "{warmed:?}");
    assert!(fleetfoot.get_with("/warm", &good).is_hit());
    assert_eq!(fleetfoot.send("PURGE", "/x", &good).status, 405);
}

#[test]
fn explain_tells_what_the_gate_would_do() {
    let signer = TokenSigner::new("ES256");
    let (origin, provider) = (shared_origin(), provider(&[named(&signer, "a")]));
    let auth = format!("keys: {{ of: {{ acme: abcdefghijklmnop }} }}, {}", jwt(&provider, ""));
    let fleetfoot = guarded(&origin, &auth);
    let explain = |header: &str| {
        port::get(&fleetfoot, &format!("/explain?url=http://example.test/x{header}")).to_string()
    };
    let nothing = explain("");
    assert!(
        nothing.contains("refused with 401: this takes a bearer token, or an API key in x-api-key"),
        "{nothing}"
    );
    let good = token(&signer, "a", json!({}));
    let told = explain(&format!("&header=Authorization:Bearer%20{good}"));
    assert!(told.contains("`p`: the token is good") && !told.contains(&good), "{told}");
    let expired = token(&signer, "a", json!({ "exp": EARLIER }));
    assert!(
        explain(&format!("&header=Authorization:Bearer%20{expired}"))
            .contains("refused with 401: the token has expired")
    );
    let told = explain("&header=X-Api-Key:abcdefghijklmnop");
    assert!(told.contains("`p`: the API key of `acme`") && !told.contains("abcdefgh"), "{told}");
    let counted = fleetfoot.metrics().count("fleetfoot_auth_total");
    assert_eq!(counted, 0, "asking what would happen is no request");
}
