//! Steps that read a Redis which is silent, gone or wrong, or what cannot be given; and modules that compute for too
//! long, want too much, or give nonsense.

use testkit::{Port, RedisServer};

use super::support::{assert_complete, composing, refs};
use super::trouble::{HIDDEN, Impostor, SHORT, assert_fails, routes};

#[test]
fn whatever_a_redis_does_is_told_in_time_and_not_where_it_is() {
    let redis = RedisServer::start();
    for command in [
        &["RPUSH", "hidden:list", "a"][..],
        &["SET", "hidden:large", &"x".repeat(10 << 20)],
        &["SET", "hidden:bytes", "\u{1}"],
        &["SET", "hidden:fine", "1"],
    ] {
        drop(redis.command(command).or_panic());
    }
    let paused = RedisServer::start();
    let (mute, loud) = (Impostor::silent(), Impostor::saying(b"HTTP/1.1 400 hidden\r\n\r\n"));
    let of = |name: &str, address| format!("{name}: {{ redis: \"redis://{address}\", {SHORT} }}");
    let nobody = Port::reserve();
    let sources = [
        of("redis", redis.address()),
        of("gone", nobody.address()),
        of("mute", mute.address()),
        of("loud", loud.address()),
        of("paused", paused.address()),
    ];
    let mut all = Vec::new();
    for name in ["list", "large"] {
        all.extend(routes(name, &format!("redis: GET {HIDDEN}:{name}")));
    }
    all.extend(routes("type", &format!("redis: LRANGE {HIDDEN}:fine 0 -1")));
    for name in ["gone", "mute", "loud", "paused"] {
        all.extend(routes(name, &format!("{name}: GET {HIDDEN}:fine")));
    }
    all.push(format!(
        "match: GET /fine, compose: {{ it: {{ redis: GET {HIDDEN}:fine }}, no: {{ redis: GET none }} }}"
    ));
    let fleetfoot = composing(&refs(&sources), &refs(&all));
    for name in ["list", "large", "type"] {
        assert_fails(&fleetfoot, name, 502, "unusable-reply");
    }
    paused.pause();
    for name in ["gone", "mute", "loud", "paused"] {
        assert_fails(&fleetfoot, name, 503, "read-unavailable");
    }
    assert_complete(&fleetfoot.get("/fine"), r#"{"it":1,"no":null}"#);
    paused.resume();
}

/// Functions that a guest might have, of which only the last is as it should be.
const MODULE: &str = r#"(module
  (memory (export "memory") 1)
  (data (i32.const 0) "{\"a\":1")
  (data (i32.const 16) "true")
  (func (export "alloc") (param i32) (result i32) (i32.const 1024))
  (func (export "endless") (param i32 i32) (result i64) (loop $l (br $l)) (i64.const 0))
  (func (export "traps") (param i32 i32) (result i64) unreachable)
  (func (export "hungry") (param i32 i32) (result i64)
    (if (i32.eq (memory.grow (i32.const 60000)) (i32.const -1)) (then unreachable)) (i64.const 0))
  (func (export "garbage") (param i32 i32) (result i64) (i64.const 6))
  (func (export "outside") (param i32 i32) (result i64) (i64.const -1))
  (func (export "large") (param i32 i32) (result i64)
    (drop (memory.grow (i32.const 200))) (i64.const 10485760))
  (func (export "fine") (param i32 i32) (result i64) (i64.or (i64.shl (i64.const 16) (i64.const 32)) (i64.const 4)))
)"#;

#[test]
fn whatever_a_module_does_is_told_in_time_and_not_where_it_is() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("hidden.wat");
    std::fs::write(&file, MODULE).expect("the file is written");
    let source = format!("math: {{ wasm: {}, timeout: 300ms }}", file.display());
    let full = format!("full: {{ wasm: {}, timeout: 2s, threads: 1, queue: 1 }}", file.display());
    let rows = [
        ("endless", 504, "source-timeout"),
        ("traps", 502, "unusable-reply"),
        ("hungry", 502, "unusable-reply"),
        ("garbage", 502, "unusable-reply"),
        ("outside", 502, "unusable-reply"),
        ("large", 502, "unusable-reply"),
    ];
    let mut all = Vec::new();
    for (name, ..) in rows {
        all.extend(routes(name, &format!("math: {name}, args: {HIDDEN}")));
    }
    all.push("match: GET /fine, compose: { it: { math: fine } }".to_owned());
    all.push("match: \"GET /full/{n}\", compose: { it: { full: endless, args: \"${path.n}\" } }".to_owned());
    let fleetfoot = composing(&[&source, &full], &refs(&all));
    for (name, status, word) in rows {
        assert_fails(&fleetfoot, name, status, word);
        assert_complete(&fleetfoot.get("/fine"), r#"{"it":true}"#);
    }
    // One computes and one waits: whoever comes then is refused, and does not wait for them.
    let mut clients: Vec<_> = (0..8).map(|_| fleetfoot.connect()).collect();
    for (n, client) in clients.iter_mut().enumerate() {
        client.send(format!("GET /full/{n} HTTP/1.1\r\nHost: example.test\r\n\r\n"));
    }
    let mut statuses: Vec<_> = clients.iter_mut().map(|client| client.read_answer().status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [503, 503, 503, 503, 503, 503, 504, 504]);
}
