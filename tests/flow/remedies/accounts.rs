//! `accounts`: each call takes the next account of a provider, those that are throttled rest, and everybody can see which was used.

use testkit::{Fleetfoot, Origin, ok, status};

use super::support::{EVERYWHERE, everywhere, times, with_policy};
use crate::composing::support::config_with;
use crate::setup::each;

const TWO: &str = "{ name: a, header: { X-Api-Key: k3y-a } }, { name: b, header: { X-Api-Key: k3y-b } }";
const ROUTE: &str = "match: /**, proxy: api, use: p";

fn source(origin: &Origin) -> String {
    format!("api: \"{}\"", origin.url())
}

/// A fleetfoot whose calls go by two accounts.
fn two(origin: &Origin, more: &str) -> Fleetfoot {
    with_policy(&format!("accounts: {{ rotate: [{TWO}] }}{more}"), &[&source(origin)], &[ROUTE])
}

/// The accounts whose keys the origin has seen, in order.
fn seen(origin: &Origin) -> String {
    let requests = origin.requests();
    requests
        .iter()
        .filter_map(|request| request.field("x-api-key")?.strip_prefix("k3y-").map(str::to_owned))
        .collect()
}

/// The provider answers calls of account `a` like this, and all others well.
fn a_answers(origin: &Origin, line: &'static str, fields: &'static str) {
    origin.on("*").answer(move |request| {
        if request.field("x-api-key") == Some("k3y-a") { status(line, fields, "") } else { ok("", "1") }
    });
}

#[test]
fn accounts_take_turns_wherever_the_policy_stands() {
    each(EVERYWHERE.map(|(target, place)| (place, target)), |_, target| {
        let origin = Origin::start();
        origin.on("*").reply(ok("", "1"));
        let fleetfoot = everywhere(&origin, &format!("accounts: {{ rotate: [{TWO}] }}"));
        for _ in 0..4 {
            assert_eq!(fleetfoot.get_with(target, "X-Api-Key: theirs\nx-api_key: theirs").status, 200);
        }
        assert_eq!(seen(&origin), "abab");
        let is_theirs =
            |request: &testkit::Received| String::from_utf8_lossy(&request.raw).contains("theirs");
        assert!(!origin.requests().iter().any(is_theirs), "however it is spelt");
    });
}

#[test]
fn weights_hold_over_all_cores_and_are_counted_by_account() {
    let origin = Origin::start();
    origin.on("*").reply(ok("", "1"));
    let accounts =
        "{ weight: 3, header: { X-Api-Key: k3y-a } }, { name: small, header: { X-Api-Key: k3y-b } }";
    let top = format!("cores: 3\npolicies: {{ p: {{ accounts: {{ weights: [{accounts}] }} }} }}");
    let fleetfoot = Fleetfoot::start(&config_with(&top, &[&source(&origin)], &[ROUTE]));
    for _ in 0..40 {
        assert_eq!(fleetfoot.get("/").status, 200);
    }
    assert_eq!(seen(&origin).matches('a').count(), 30);
    let metrics = fleetfoot.metrics();
    let calls = |account| metrics.sum("fleetfoot_account_calls_total", &["policy=\"p\"", account]) as u64;
    assert_eq!((calls("account=\"1\""), calls("account=\"small\"")), (30, 10));
    assert!(!fleetfoot.get_admin("/metrics").text().contains("k3y-"));
}

#[test]
fn the_next_try_takes_the_next_account_whatever_the_throttled_one_asks_for() {
    each(EVERYWHERE.map(|(target, place)| (place, target)), |_, target| {
        let origin = Origin::start();
        a_answers(&origin, "429 Too Many Requests", "Retry-After: 3600");
        let retry = "retry: { on: [429], backoff: 1ms..1ms, budget: 100% }";
        let fleetfoot = everywhere(&origin, &format!("{retry}, accounts: {{ rotate: [{TWO}] }}"));
        for _ in 0..3 {
            assert_eq!(fleetfoot.get(target).status, 200);
        }
        assert_eq!(seen(&origin), "abbb", "a rests");
        let metrics = fleetfoot.metrics();
        assert_eq!(metrics.sum("fleetfoot_account_throttled_total", &["account=\"a\""]) as u64, 1);
        assert_eq!(metrics.count("fleetfoot_account_resting"), 1);
    });
}

#[test]
fn a_throttled_answer_asks_nobody_to_wait_while_another_account_is_free() {
    let origin = Origin::start();
    a_answers(&origin, "503 Service Unavailable", "Retry-After: 3600");
    let fleetfoot = two(&origin, "");
    let throttled = fleetfoot.get("/");
    assert_eq!((throttled.status, throttled.field("Retry-After")), (503, None));
    assert_eq!(fleetfoot.get("/").status, 200);
}

#[test]
fn while_all_rest_calls_are_refused_and_told_when_the_first_is_back() {
    let origin = Origin::start();
    origin.on("*").replies([
        status("429 Too Many Requests", "Retry-After: 3600", ""),
        status("429 Too Many Requests", "Retry-After: 20", ""),
        ok("", "1"),
    ]);
    let fleetfoot = two(&origin, "");
    assert_eq!(fleetfoot.get("/").status, 429);
    let last = fleetfoot.get("/");
    assert_eq!(
        (last.status, last.field("Retry-After"), last.has("Fleetfoot-Error")),
        (429, Some("20"), false)
    );
    let refused = fleetfoot.get("/");
    assert_eq!((refused.status, refused.field("Fleetfoot-Error")), (429, Some("rate-limited")));
    let wait: u64 = refused.field("Retry-After").unwrap().parse().unwrap();
    assert!((1..=20).contains(&wait), "of the first, and not an hour: {wait}");
    assert_eq!((origin.requests().len(), times(&fleetfoot, "accounts", "refused")), (2, 1));
}

#[test]
fn nobody_rests_longer_than_is_allowed_and_who_is_back_is_asked() {
    let origin = Origin::start();
    origin.on("*").replies([status("429 Too Many Requests", "Retry-After: 3600", ""), ok("", "1")]);
    let accounts = "accounts: { rotate: [{ header: { X-Api-Key: k3y-a } }], rest: 1s }";
    let mut fleetfoot = with_policy(accounts, &[&source(&origin)], &[ROUTE]);
    assert_eq!((fleetfoot.get("/").status, fleetfoot.get("/").status), (429, 429));
    assert_eq!(origin.requests().len(), 1, "it rests");
    fleetfoot.wait_until("back", |fleetfoot| fleetfoot.get("/").status == 200);
}

#[test]
fn one_that_is_not_let_in_is_set_aside_and_the_last_resort() {
    let origin = Origin::start();
    a_answers(&origin, "403 Forbidden", "");
    let fleetfoot = two(&origin, "");
    let statuses: Vec<_> = (0..5).map(|_| fleetfoot.get("/").status).collect();
    assert_eq!((statuses, seen(&origin).as_str()), (vec![403, 200, 200, 200, 200], "abbbb"));
    assert_eq!(fleetfoot.metrics().count("fleetfoot_account_refused_total"), 1);
    // Whoever asks for what nobody may see takes the provider from nobody.
    origin.on("/secret").reply(status("403 Forbidden", "", ""));
    assert_eq!([fleetfoot.get("/secret").status, fleetfoot.get("/secret").status], [403, 403]);
    origin.on("*").reply(ok("", "1"));
    assert_eq!(fleetfoot.get("/").status, 200);
}

#[test]
fn an_account_whose_token_cannot_be_had_rests() {
    let (origin, server) = (Origin::start(), Origin::start());
    origin.on("*").reply(ok("", "1"));
    server.on("POST /a").reply(status("400 Bad Request", "", "{\"error\":\"invalid_scope\"}"));
    server.on("POST /b").reply(ok("", "{\"access_token\":\"t\",\"expires_in\":3600}"));
    let account = |name: &str| {
        let token = format!("token: \"{}/{name}\", client_id: {name}, client_secret: s3cret", server.url());
        format!("{{ name: {name}, oauth2: {{ {token} }} }}")
    };
    let accounts = format!("accounts: {{ rotate: [{}, {}] }}", account("a"), account("b"));
    let fleetfoot = with_policy(&accounts, &[&source(&origin)], &[ROUTE]);
    for _ in 0..4 {
        assert_eq!(fleetfoot.get("/").status, 200);
    }
    assert!(origin.requests().iter().all(|request| request.field("authorization") == Some("Bearer t")));
    let failures = |account| fleetfoot.metrics().sum("fleetfoot_token_failures_total", &[account]) as u64;
    assert!(failures("account=\"a\"") > 0 && failures("account=\"b\"") == 0);
}

#[test]
fn the_access_log_names_the_account() {
    let origin = Origin::start();
    origin.on("*").reply(ok("", "1"));
    let top = format!("cores: 1\naccess_log: json\npolicies: {{ p: {{ accounts: {{ rotate: [{TWO}] }} }} }}");
    let fleetfoot = Fleetfoot::start(&config_with(&top, &[&source(&origin)], &[ROUTE]));
    assert_eq!(fleetfoot.get("/").status, 200);
    let line = fleetfoot.stdout().wait_for("\"route\"").unwrap();
    assert!(line.contains("\"account\":\"a\"") && !line.contains("k3y-"), "{line}");
}
