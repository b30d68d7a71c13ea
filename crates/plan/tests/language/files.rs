//! Files that cannot even be read as text, and random ones.

use plan::{Faults, compile, load};
use proptest::prelude::*;

fn written(bytes: &[u8]) -> Faults {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fleetfoot.yaml");
    std::fs::write(&path, bytes).unwrap();
    load(&path).unwrap_err()
}

#[test]
fn a_missing_file_is_a_fault() {
    let folder = tempfile::tempdir().unwrap();
    let faults = load(&folder.path().join("none.yaml")).unwrap_err();
    let fault = faults.iter().next().unwrap();
    assert_eq!((fault.line, fault.cause.as_str()), (0, "the file does not exist"));
    assert!(faults.to_string().starts_with("error: the file does not exist\n --> "), "{faults}");
    let faults = load(folder.path()).unwrap_err();
    assert_eq!(faults.iter().next().unwrap().cause, "this is a folder");
}

#[test]
fn other_encodings_are_a_fault() {
    let faults = written(b"drain: 5s\n# caf\xe9\n");
    let fault = faults.iter().next().unwrap();
    assert_eq!((fault.line, fault.column), (2, 6));
    assert_eq!(fault.cause, "the file is not UTF-8: byte 0xe9 stands here");
    let utf16: Vec<u8> = "drain: 5s".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(written(&utf16).count(), 1);
    assert_eq!(written(&[0xff, 0xfe]).iter().next().unwrap().line, 1);
}

#[test]
fn a_long_file_is_a_fault() {
    let faults = written(&vec![b'#'; 2 * 1024 * 1024]);
    assert_eq!(faults.iter().next().unwrap().cause, "the file is longer than 1 MiB");
}

const VALID: &str = include_str!("../../../../examples/fleetfoot.yaml");
const EXAMPLE: &str = "\
listen: { http: [127.0.0.1:8080, ':80'], admin: 9090, trust: [10.0.0.0/8] }
limits: { head_size: 32KiB }
sources:
  api: { http: [http://a:1, https://b], health: GET /healthz, timeout: { head: 5s } }
  redis: { redis: [redis://a, \"rediss://b:1\"], topology: sentinel, master: m, mode: tracked, track: [a, b], tier: { lock: 1s } }
policies:
  live: { cache: { tier: redis, ttl: 5s, heuristic: 10%, targeted: [CDN-Cache-Control] } }
  all:
    signed: { keys: { main: MDEyMzQ1Njc4OTAxMjM0NQ }, cookie: none }
    cache: { mode: static, ttl: 1m, negative: { 404: 10s }, bypass: [X-A, { cookie: b }, \"${query.c == '1'}\"], per: \"${claim('sub')}\",
      key: { query: { except: [utm_*] }, cookies: [], by: \"${header('X-Plan')}\", languages: [en] }, body_keys: { methods: POST }, compress: { types: text/* } }
routes:
  - { match: \"GET *.example.com/users/{id}/**\", proxy: api, use: [live] }
  - { match: \"GET /t/{id}\", read: { redis: \"MGET a:${path.id} b:${query.all('x')}\", as: text, missing: 204 } }
  - { match: \"PUT /{id}\", proxy: api, use: all, invalidate: [{ url: \"/x/${path.id}\" }, { tag: a, soft: true }] }
";

/// Every word of compose.
const COMPOSE: &str = "\
sources: { api: http://a, redis: redis://a, db: { sql: mysql://app@a/shop, pool: 3 }, math: { wasm: Cargo.toml, threads: 1 } }
policies: { p: { cache: true } }
routes:
  - match: \"GET /{id}\"
    run: pool(1, 2)
    save: { dedupe: false }
    timeout: 9s
    server_timing: false
    compose:
      a: { each: [1, x], db: \"SELECT t, id FROM t_{each} WHERE k = ? AND id IN (?)\", args: [\"${path.id}\", [1, \"${query.all('x')}\"]], batch: true }
      b: { each: { m: 1, n: 2 }, api: \"GET /{each}/${path.id}?q=${query.q}\", headers: { X-A: \"${header('A')}\" }, as: text, use: p }
      c: { for: \"${a[1].ids}\", width: 2, most: 9, when: \"${has(query.c)}\", redis: \"GET k:${item.id}\", on_error: [stale, null] }
      d: { compose: { e: { math: f, args: { x: \"${b.m}\", y: [1.5, null] } } }, respond: \"${e.z}\", on_error: omit, timeout: 1s }
    respond: { a: \"${a}\", c: \"${c.pick('x').rename({'x': 'y'})}\", t: \"${path.id}: ${d.e}\", f: \"${failed}\", m: \"${c.map(i, i.x)}\" }
";

/// Whatever comes: an answer, faults within the text, and something to show.
fn survives(text: &str) {
    if let Err(faults) = compile(text, "fleetfoot.yaml") {
        assert!(faults.count() > 0);
        let lines = text.split(['\n', '\r']).count();
        for fault in &faults {
            assert!(fault.line <= lines + 1, "{fault:?}");
            assert!(!fault.cause.is_empty() && !fault.remedy.is_empty());
        }
        let shown = faults.to_string();
        assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{shown:?}");
        serde_json::to_string(&faults).unwrap();
    }
}

fn mutated(text: &str, changes: &[(prop::sample::Index, u8, char)]) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for (index, kind, character) in changes {
        let at = index.index(characters.len().max(1)).min(characters.len().saturating_sub(1));
        match kind % 4 {
            _ if characters.is_empty() => characters.push(*character),
            0 => characters[at] = *character,
            1 => characters.insert(at, *character),
            2 => drop(characters.remove(at)),
            _ => characters.truncate(at + 1),
        }
    }
    characters.into_iter().collect()
}

const MARKS: &str = "[{}\\[\\]:,\\-#&*!|>'\"%@`?~<$ \\t\\n\\r0-9a-zé\u{0}\u{85}\u{2028}\u{feff}]{0,120}";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_text_survives(text in "\\PC{0,200}") {
        survives(&text);
    }

    #[test]
    fn any_marks_survive(text in MARKS) {
        survives(&text);
    }

    #[test]
    fn mutated_files_survive(
        example in prop::sample::select(vec![VALID, EXAMPLE, COMPOSE]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), prop::sample::select("{}[]:,-#&*!|>'\"% \t\n\r0a\u{0}\u{fffd}".chars().collect::<Vec<_>>())), 1..12),
    ) {
        survives(&mutated(example, &changes));
    }
}

#[test]
fn the_unmutated_files_are_good() {
    for text in [VALID, EXAMPLE, COMPOSE] {
        compile(text, "fleetfoot.yaml").unwrap_or_else(|faults| panic!("{faults}"));
    }
}
