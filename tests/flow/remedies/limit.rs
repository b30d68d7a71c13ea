//! `limit`: what comes too often is refused and told when to come back, wherever the policy stands; and everybody is told
//! what is left, those who get a hit too.

use testkit::{Fleetfoot, Origin, ok, status};

use super::support::{EVERYWHERE, everywhere, times, with_policy};
use crate::composing::support::config_with;
use crate::setup::each;

#[test]
fn what_comes_too_often_is_refused_wherever_the_policy_stands() {
    let origin = Origin::start();
    for (target, _) in EVERYWHERE {
        origin.on(target).reply(ok("", "1"));
    }
    each(EVERYWHERE.map(|(target, place)| (place, target)), |_, target| {
        let fleetfoot = everywhere(&origin, "limit: 2/h");
        let before = origin.count(target);
        for _ in 0..2 {
            assert_eq!(fleetfoot.get(target).status, 200);
        }
        let refused = fleetfoot.get(target);
        assert_eq!(
            (refused.status, refused.field("Fleetfoot-Error")),
            (429, Some("rate-limited")),
            "{refused:?}"
        );
        let wait: u64 = refused.field("Retry-After").expect("it says when").parse().expect("in seconds");
        assert!((1790..=1800).contains(&wait), "half an hour for one of two an hour: {wait}");
        assert_eq!(origin.count(target) - before, 2, "the source hears nothing of it");
        assert_eq!(times(&fleetfoot, "limit", "refused"), 1);
    });
}

#[test]
fn a_policy_is_one_quota_wherever_it_is_used() {
    let origin = Origin::start();
    for (target, _) in EVERYWHERE {
        origin.on(target).reply(ok("", "1"));
    }
    let fleetfoot = everywhere(&origin, "limit: 3/h");
    for (target, place) in EVERYWHERE {
        assert_eq!(fleetfoot.get(target).status, 200, "{place}");
    }
    for (target, place) in EVERYWHERE {
        assert_eq!(fleetfoot.get(target).status, 429, "{place}");
    }
}

#[test]
fn everybody_is_told_what_is_left() {
    let origin = Origin::start();
    origin.on("GET /").reply(ok("", "x"));
    let limits = [
        (
            "rate: 3/h, algorithm: fixed",
            "\"p\";q=3;w=3600",
            ["\"p\";r=2;t=3600", "\"p\";r=1;t=", "\"p\";r=0;t="],
        ),
        (
            "rate: 3/m, algorithm: sliding",
            "\"p\";q=3;w=60",
            ["\"p\";r=2;t=60", "\"p\";r=1;t=", "\"p\";r=0;t="],
        ),
        ("rate: 60/m, burst: 3", "\"p\";q=3;w=3", ["\"p\";r=2;t=1", "\"p\";r=1;t=2", "\"p\";r=0;t=3"]),
    ];
    each(limits.map(|(words, policy, left)| (words, (policy, left))), |words, (policy, left)| {
        let fleetfoot = with_policy(
            &format!("limit: {{ {words} }}"),
            &[&format!("api: \"{}\"", origin.url())],
            &["match: /**, proxy: api, use: p"],
        );
        for left in left {
            let answer = fleetfoot.get("/");
            assert_eq!((answer.status, answer.joined("RateLimit-Policy").as_str()), (200, policy));
            let told = answer.joined("RateLimit");
            assert!(told.starts_with(left), "{told} instead of {left}");
        }
        let refused = fleetfoot.get("/");
        assert_eq!((refused.status, refused.joined("RateLimit-Policy").as_str()), (429, policy));
    });
}

/// Clients in front of the cache, and the source behind it.
fn clients_and_source(origin: &Origin) -> Fleetfoot {
    let top = "cores: 2\npolicies:\n  clients: { limit: { rate: 3/h, per: \"${header('X-Client')}\" } }\n  \
               public: { cache: { ttl: origin }, limit: { rate: 1/h } }";
    let source = format!("api: \"{}\"", origin.url());
    Fleetfoot::start(&config_with(top, &[&source], &["match: /**, proxy: api, use: [clients, public]"]))
}

#[test]
fn before_the_cache_hits_count_and_behind_it_they_do_not() {
    let origin = Origin::start();
    origin.on("GET /").reply(ok("Cache-Control: max-age=600", "kept"));
    let fleetfoot = clients_and_source(&origin);
    for left in [2, 1, 0] {
        let answer = fleetfoot.get_with("/", "X-Client: a");
        assert_eq!(answer.status, 200);
        let told = answer.joined("RateLimit");
        assert!(told.starts_with(&format!("\"clients\";r={left};t=")), "{told}: a hit counts once");
    }
    assert_eq!(fleetfoot.get_with("/", "X-Client: a").status, 429);
    let other = fleetfoot.get_with("/", "X-Client: b");
    assert!(other.is_hit() && other.status == 200, "each client has a quota of its own");
    assert_eq!(fleetfoot.get_with("/2", "X-Client: b").status, 429, "the source has had its one request");
}

#[test]
fn who_gives_nothing_to_count_by_counts_with_all_who_give_nothing() {
    let origin = Origin::start();
    origin.on("GET /").reply(ok("", "x"));
    let fleetfoot = with_policy(
        "limit: { rate: 1/h, per: \"${header('X-Client')}\" }",
        &[&format!("api: \"{}\"", origin.url())],
        &["match: /**, proxy: api, use: p"],
    );
    let statuses = ["", "", "X-Client:", "X-Client: a", "X-Client: a"];
    let statuses = statuses.map(|fields| fleetfoot.get_with("/", fields).status);
    assert_eq!(statuses, [200, 429, 200, 200, 429]);
}

#[test]
fn each_client_may_have_a_quota_of_its_own() {
    let origin = Origin::start();
    origin.on("GET /").reply(ok("Cache-Control: max-age=600", "x"));
    let fleetfoot = Fleetfoot::start(&format!(
        "listen: {{ http: 127.0.0.1:0, admin: 127.0.0.1:0, proxy_protocol: true }}\ncores: 1\n\
         sources: {{ api: \"{}\" }}\n\
         policies: {{ clients: {{ limit: {{ rate: 1/h, per: \"${{client.address}}\" }} }}, live: {{ cache: {{ ttl: origin }} }} }}\n\
         routes: [{{ match: /**, proxy: api, use: [clients, live] }}]\n",
        origin.url()
    ));
    let ask = |address: &str| {
        let request = "GET / HTTP/1.1\r\nHost: example.test\r\n\r\n";
        fleetfoot.connect().ask(format!("PROXY TCP4 {address} 10.0.0.9 1 2\r\n{request}")).status
    };
    let statuses = ["10.0.0.1", "10.0.0.2", "10.0.0.1", "10.0.0.2", "10.0.0.3"].map(ask);
    assert_eq!(statuses, [200, 200, 429, 429, 200]);
}

#[test]
fn each_provider_may_have_a_quota_of_its_own() {
    let origin = Origin::start();
    origin.on("GET /a").reply(ok("", "x"));
    origin.on("GET /b").reply(ok("", "x"));
    let url = origin.url();
    let fleetfoot = with_policy(
        "limit: { rate: 1/h, per: provider }",
        &[&format!("a: {{ http: \"{url}\", use: p }}"), &format!("b: {{ http: \"{url}\", use: p }}")],
        &["match: /a, proxy: a", "match: /b, proxy: b"],
    );
    let statuses = ["/a", "/b", "/a", "/b"].map(|target| fleetfoot.get(target).status);
    assert_eq!(statuses, [200, 200, 429, 429]);
}

#[test]
fn on_a_step_it_counts_by_the_clients_request() {
    let origin = Origin::start();
    origin.on("GET /own").reply(ok("", "1"));
    let fleetfoot = with_policy(
        "limit: { rate: 1/h, per: \"${path.tenant}\" }",
        &[&format!("api: \"{}\"", origin.url())],
        &["match: \"GET /{tenant}/page\", compose: { it: { api: GET /own, use: p } }"],
    );
    let statuses = ["/a/page", "/a/page", "/b/page"].map(|target| fleetfoot.get(target).status);
    assert_eq!(statuses, [200, 429, 200]);
}

#[test]
fn retries_count_and_what_is_left_of_a_quota_outlives_a_reload() {
    let origin = Origin::start();
    origin.on("GET /limited").replies([status("503 Service Unavailable", "", ""), ok("", "x")]);
    origin.on("GET /new").reply(ok("", "x"));
    let config = |open: &str| {
        let top = "cores: 1\npolicies: { p: { retry: { backoff: 1ms..1ms }, limit: 3/h } }";
        let routes = ["match: /limited, proxy: api, use: p", &format!("match: {open}, proxy: api")];
        config_with(top, &[&format!("api: \"{}\"", origin.url())], &routes)
    };
    let mut fleetfoot = Fleetfoot::start(&config("/old"));
    assert_eq!(fleetfoot.get("/limited").status, 200, "two of three are gone");
    fleetfoot.rewrite(&config("/new"));
    fleetfoot.hang_up();
    fleetfoot.wait_until("reloaded", |fleetfoot| fleetfoot.get("/new").status == 200);
    assert_eq!(fleetfoot.get("/limited").status, 200);
    assert_eq!(fleetfoot.get("/limited").status, 429);
}
