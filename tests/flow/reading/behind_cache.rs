//! A cache policy over a read, and what is told about reads.

use serde_json::Value;

use super::support::{GET, config, figure, reading, reload, tell};
use testkit::{Fleetfoot, RedisServer};

use crate::control_port::port::get;

#[test]
fn a_policy_may_cache_a_read() {
    let redis = RedisServer::start();
    tell(&redis, &["SET", "a", "one"]);
    tell(&redis, &["SET", "b", "two", "EX", "1000"]);
    let route = format!("{GET}, use: public");
    let text = config(&redis, "mode: central", &[&route]);
    let mut fleetfoot = Fleetfoot::start(&format!(
        "{text}policies: {{ public: {{ cache: {{ mode: force, ttl: 10m }} }} }}\n"
    ));
    for (target, text) in [("/get/a", "one"), ("/get/b", "two")] {
        assert_eq!(fleetfoot.get(target).text(), text);
        fleetfoot.wait_until("stored", |fleetfoot| fleetfoot.get(target).is_hit());
        let answer = fleetfoot.get(target);
        assert_eq!(answer.text(), text);
        let tag = answer.joined("etag");
        assert_eq!(fleetfoot.get_with(target, &format!("If-None-Match: {tag}")).status, 304);
    }
    let calls = redis.info("cmdstat_get");
    assert!(calls.contains("calls=2,"), "{calls}");
    let text = config(&redis, "mode: central", &[&route]);
    reload(&mut fleetfoot, &format!("{text}policies: {{ public: {{ cache: true }} }}\n"));
    tell(&redis, &["SET", "c", "three", "EX", "1000"]);
    fleetfoot.wait_until("by the lifetime of its key", |fleetfoot| {
        let answer = fleetfoot.get("/get/c");
        answer.is_hit() && answer.ttl().is_some_and(|ttl| (900..=1000).contains(&ttl))
    });
}

#[test]
fn a_read_can_be_explained() {
    let (redis, mut fleetfoot) =
        reading("mode: tracked", &[GET, r#"match: GET /one, read: { redis: "GET a:${query.id}" }"#]);
    tell(&redis, &["SET", "a", "one"]);
    super::support::until_it_tells(&mut fleetfoot);
    let explained = |fleetfoot: &Fleetfoot, target: &str| -> Value {
        get(fleetfoot, &format!("/explain?url=http://example.test{target}"))
    };
    let told = explained(&fleetfoot, "/get/a");
    assert_eq!(told["read"]["command"], "GET ${path.key}");
    assert_eq!(told["read"]["arguments"][0], "a");
    assert_eq!(told["read"]["held"], false);
    super::support::hold(&mut fleetfoot, "/get/a");
    let told = explained(&fleetfoot, "/get/a");
    assert_eq!(told["read"]["held"], true);
    assert_eq!(told["verdict"], "answered with what is held; answers are held, and Redis tells what changes");
    assert_eq!(explained(&fleetfoot, "/one")["verdict"], "refused with 400: the parameter `id` is missing");
}

#[test]
fn reads_are_logged_and_counted_like_others() {
    let redis = RedisServer::start();
    tell(&redis, &["SET", "a", "one"]);
    let text = config(&redis, "mode: tracked", &[GET]);
    let mut fleetfoot = Fleetfoot::start(&format!("{text}access_log: json\n"));
    super::support::until_it_tells(&mut fleetfoot);
    super::support::hold(&mut fleetfoot, "/get/a");
    let line = fleetfoot.stdout().wait_for("\"hit\"").unwrap();
    let line: Value = serde_json::from_str(&line).unwrap();
    assert_eq!((&line["status"], &line["route"]), (&200.into(), &"GET /get/{key}".into()), "{line}");
    tell(&redis, &["RPUSH", "list", "x"]);
    assert_eq!(fleetfoot.get("/get/list").status, 502);
    let line = fleetfoot.stdout().wait_for("unusable-reply").unwrap();
    assert!(line.contains("GET failed: ") && line.contains("WRONGTYPE"), "{line}");
    let metrics = fleetfoot.metrics();
    assert_eq!(figure(&metrics, "fleetfoot_redis_up", &["source=\"redis\""]), 1);
    assert!(figure(&metrics, "fleetfoot_redis_commands_total", &[]) >= 1);
}

/// As an origin would: caches know from `Vary` that the URL does not say everything.
#[test]
fn who_asks_with_another_field_gets_an_answer_of_their_own() {
    let own = r#"match: GET /me, read: { redis: "GET user:${header('X-User')}", as: text }"#;
    for mode in ["mode: central", "mode: tracked"] {
        for policy in ["", ", use: public"] {
            let redis = RedisServer::start();
            for user in ["ann", "bob"] {
                tell(&redis, &["SET", &format!("user:{user}"), user, "EX", "1000"]);
            }
            let text = config(&redis, mode, &[&format!("{own}{policy}")]);
            let fleetfoot = Fleetfoot::start(&format!(
                "{text}policies: {{ public: {{ cache: {{ mode: force, ttl: 10m }} }} }}\n"
            ));
            for _ in 0..5 {
                for user in ["ann", "bob"] {
                    let answer = fleetfoot.get_with("/me", &format!("X-User: {user}"));
                    assert_eq!(answer.text(), user, "{mode}{policy}: {answer:?}");
                    assert_eq!(answer.field("vary"), Some("x-user"));
                    let condition = format!("X-User: {user}\r\nIf-None-Match: {}", answer.joined("etag"));
                    let same = fleetfoot.get_with("/me", &condition);
                    assert_eq!((same.status, same.field("vary")), (304, Some("x-user")), "{same:?}");
                }
            }
        }
    }
}
