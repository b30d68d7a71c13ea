//! Every command that reads, in every form it has.

use testkit::{Fleetfoot, Metrics, RedisServer};

use super::support::{figure, reading, tell};
use crate::setup::each;

/// A command, how it is written, and its status and content.
type Row = (&'static str, &'static str, u16, &'static str);

pub(super) const ROWS: &[Row] = &[
    ("GET json", "as: json", 200, r#"{"a": [1, 2.50]}"#),
    ("GET text", "as: json", 200, r#""a \"b\"""#),
    ("GET text", "as: text", 200, "a \"b\""),
    ("GET text", "as: raw", 200, "a \"b\""),
    ("GET nothing", "as: json", 404, "missing"),
    ("MGET text nothing json", "as: json", 200, r#"["a \"b\"",null,{"a": [1, 2.50]}]"#),
    ("MGET nothing text", "as: text", 200, "\na \"b\""),
    ("HGET hash name", "as: json", 200, r#""ann""#),
    ("HGET hash nothing", "as: json", 404, "missing"),
    ("HGET nothing name", "as: text", 404, "missing"),
    ("HMGET hash name nothing age", "as: json", 200, r#"["ann",null,30]"#),
    ("HMGET nothing name age", "as: json", 404, "missing"),
    ("HGETALL hash", "as: json", 200, r#"{"name":"ann","age":30}"#),
    ("HGETALL hash", "as: text", 200, "name\nann\nage\n30"),
    ("HGETALL nothing", "as: json", 404, "missing"),
    ("LRANGE list 0 -1", "as: json", 200, r#"["a",1,"c"]"#),
    ("LRANGE list -2 -1", "as: text", 200, "1\nc"),
    ("LRANGE list 9 10", "as: json", 200, "[]"),
    ("LRANGE nothing 0 -1", "as: json", 404, "missing"),
    ("LINDEX list -1", "as: json", 200, r#""c""#),
    ("LINDEX list 9", "as: json", 404, "missing"),
    ("LLEN list", "as: json", 200, "3"),
    ("LLEN nothing", "as: json", 404, "missing"),
    ("ZRANGE sorted 0 -1", "as: json", 200, r#"["ann","bob","cat"]"#),
    (
        "ZRANGE sorted 0 -1 WITHSCORES",
        "as: json",
        200,
        r#"[{"member":"ann","score":1},{"member":"bob","score":2.5},{"member":"cat","score":3}]"#,
    ),
    ("ZRANGE sorted 0 0 REV WITHSCORES", "as: text", 200, "cat\n3"),
    ("ZRANGE sorted (1 3 BYSCORE", "as: json", 200, r#"["bob","cat"]"#),
    ("ZRANGE sorted +inf 2 BYSCORE REV LIMIT 0 1", "as: json", 200, r#"["cat"]"#),
    ("ZRANGE sorted 5 9", "as: json", 200, "[]"),
    ("ZREVRANGE sorted 0 1", "as: json", 200, r#"["cat","bob"]"#),
    ("ZREVRANGE sorted 0 0 WITHSCORES", "as: json", 200, r#"[{"member":"cat","score":3}]"#),
    ("ZRANGE nothing 0 -1", "as: json", 404, "missing"),
    ("ZSCORE sorted bob", "as: json", 200, "2.5"),
    ("ZSCORE sorted nobody", "as: json", 404, "missing"),
    ("ZCARD sorted", "as: text", 200, "3"),
    ("SMEMBERS set", "as: json", 200, r#"["x"]"#),
    ("SMEMBERS nothing", "as: json", 404, "missing"),
    ("SISMEMBER set x", "as: json", 200, "true"),
    ("SISMEMBER set y", "as: json", 401, "missing"),
    ("SCARD set", "as: json", 200, "1"),
    ("EXISTS text", "as: json", 200, "true"),
    ("EXISTS nothing", "as: text", 401, "missing"),
    ("EXISTS nothing", "missing: 403", 403, "missing"),
    ("GET nothing", "missing: 410", 410, "missing"),
    ("GET hash", "as: json", 502, "unusable-reply"),
    ("LRANGE hash 0 -1", "as: json", 502, "unusable-reply"),
    ("ZRANGE set 0 -1", "as: json", 502, "unusable-reply"),
];

pub(super) fn routes(rows: &[Row], source: &str) -> Vec<String> {
    let route = |(index, (command, form, ..)): (usize, &Row)| {
        format!("match: GET /{index}, read: {{ {source}: \"{command}\", {form} }}")
    };
    rows.iter().enumerate().map(route).collect()
}

/// All rows as they should be.
pub(super) fn hold(fleetfoot: &Fleetfoot, rows: &[Row]) {
    let rows = rows.iter().enumerate();
    each(rows.map(|(index, row)| (format!("{} ({})", row.0, row.1), (index, row))), |_, (index, row)| {
        let (_, form, status, content) = *row;
        for _ in 0..2 {
            let answer = fleetfoot.get(&format!("/{index}"));
            assert_eq!(answer.status, status, "{answer:?}");
            if status == 200 {
                assert_eq!(answer.text(), content);
                let content_type = match form {
                    "as: text" => "text/plain; charset=utf-8",
                    "as: raw" => "application/octet-stream",
                    _ => "application/json",
                };
                assert_eq!(answer.field("content-type"), Some(content_type));
                assert!(answer.has("etag") && answer.has("date"));
            } else {
                assert_eq!(answer.field("fleetfoot-error"), Some(content), "{answer:?}");
                assert_eq!(answer.field("cache-control"), Some("no-store"));
            }
            assert_eq!(answer.has("www-authenticate"), status == 401, "RFC 9110 §11.6.1");
        }
    });
}

pub(super) fn fill(redis: &RedisServer) {
    for command in [
        &["SET", "json", r#"{"a": [1, 2.50]}"#][..],
        &["SET", "text", "a \"b\""],
        &["HSET", "hash", "name", "ann", "age", "30"],
        &["RPUSH", "list", "a", "1", "c"],
        &["ZADD", "sorted", "1", "ann", "2.5", "bob", "3", "cat"],
        &["SADD", "set", "x"],
    ] {
        tell(redis, command);
    }
}

#[test]
fn each_command_answers_in_each_of_its_forms() {
    let routes = routes(ROWS, "redis");
    let routes: Vec<_> = routes.iter().map(String::as_str).collect();
    let (redis, fleetfoot) = reading("mode: central", &routes);
    fill(&redis);
    hold(&fleetfoot, ROWS);
}

/// Twice each: the second time it is held.
#[test]
fn what_is_held_says_the_same() {
    let routes = routes(ROWS, "redis");
    let routes: Vec<_> = routes.iter().map(String::as_str).collect();
    let (redis, mut fleetfoot) = reading("mode: tracked", &routes);
    super::support::until_it_tells(&mut fleetfoot);
    fill(&redis);
    // What Redis tells of having been filled may still come, and take back what has just been read.
    hold(&fleetfoot, ROWS);
    let asked = |metrics: &Metrics| figure(metrics, "fleetfoot_requests_total", &[]);
    fleetfoot.wait_for_metrics("all is counted", |metrics| asked(metrics) == 2 * ROWS.len() as u64);
    let hits = |metrics: &Metrics| figure(metrics, "fleetfoot_requests_total", &["cache=\"hit\""]);
    let before = hits(&fleetfoot.metrics());

    hold(&fleetfoot, ROWS);
    let usable = ROWS.iter().filter(|row| row.2 != 502).count() as u64;
    fleetfoot
        .wait_for_metrics("each answer that is one was held", |metrics| hits(metrics) == before + 2 * usable);
}
