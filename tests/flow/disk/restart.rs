//! What a restart keeps: answers byte for byte, their heads and ages, and what was purged stays purged.

use serde_json::json;
use testkit::{Answer, Origin, ok};

use super::folder::{config, kept, restarted, stop, until_on_disk};
use crate::control_port::port::purge;

/// Content that has every byte in it.
fn content(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at.wrapping_mul(31) ^ (at >> 8)) as u8).collect()
}

const LENGTHS: [usize; 8] = [0, 1, 100, 4096, 65_536, 1_048_576, 1_048_577, 3_000_000];

fn of_many_lengths() -> Origin {
    let origin = Origin::start();
    for length in LENGTHS {
        let fields = "Cache-Control: max-age=600\nETag: \"e\"\nX-Obs: \u{e4}\u{f6}\nX-Empty:\nX-Twice: 1\nX-Twice: 2\n\
                      Content-Type: application/octet-stream";
        origin.on(&format!("/{length}")).reply(ok(fields, content(length)));
    }
    origin
}

/// Status line and fields but for those that tell of the moment.
fn lasting(answer: &Answer) -> Vec<(String, String)> {
    let mut fields = answer.head.fields.clone();
    fields
        .retain(|(name, _)| !["age", "cache-status", "x-request-id"].contains(&name.to_lowercase().as_str()));
    fields.sort();
    fields.push((answer.head.start.clone(), String::new()));
    fields
}

#[test]
fn answers_are_there_at_once_byte_for_byte() {
    let (origin, folder) = (of_many_lengths(), tempfile::tempdir().unwrap());
    let fleetfoot = kept(&origin, folder.path());
    let before = LENGTHS.map(|length| {
        fleetfoot.get(&format!("/{length}"));
        fleetfoot.get(&format!("/{length}"))
    });
    let fleetfoot = restarted(fleetfoot, &origin, folder.path());
    origin.stop();
    for _ in 0..2 {
        for (length, before) in LENGTHS.into_iter().zip(&before) {
            let after = fleetfoot.get(&format!("/{length}"));
            assert!(after.is_hit(), "{length}: {:?}", after.head);
            assert!(after.body == content(length), "{length} bytes are others");
            assert_eq!(lasting(&after), lasting(before));
            assert!(after.age() >= before.age(), "{after:?}");
        }
    }
    let asked = |method: &str, fields: &str| fleetfoot.send(method, "/3000000", fields);
    assert_eq!(asked("HEAD", "").field("Content-Length"), Some("3000000"));
    assert_eq!(asked("GET", "If-None-Match: \"e\"").status, 304);
    let part = asked("GET", "Range: bytes=1000000-1000099");
    assert_eq!((part.status, part.body), (206, content(3_000_000)[1_000_000..1_000_100].to_vec()));
}

#[test]
fn what_does_not_fit_into_memory_is_still_there() {
    let (origin, folder) = (Origin::start(), tempfile::tempdir().unwrap());
    origin.on("*").answer(|request| ok("Cache-Control: max-age=600", request.target.repeat(10_000)));
    let text = config(&origin, folder.path(), "1MiB", "ttl: origin");
    let mut fleetfoot = testkit::Fleetfoot::start(&text);
    for number in 10..60 {
        fleetfoot.get(&format!("/{number}"));
    }
    until_on_disk(&mut fleetfoot, 50);
    for number in 10..60 {
        let answer = fleetfoot.get(&format!("/{number}"));
        assert!(answer.is_hit(), "{number}: {:?}", answer.head);
        assert!(answer.text() == format!("/{number}").repeat(10_000));
    }
    assert_eq!(origin.requests().len(), 50);
}

#[test]
fn nobody_gets_another_variant_after_a_restart() {
    let (origin, folder) = (Origin::start(), tempfile::tempdir().unwrap());
    origin.on("*").answer(|request| {
        ok(
            "Cache-Control: max-age=600\nVary: Accept-Language",
            request.field("Accept-Language").unwrap_or("-"),
        )
    });
    let mut fleetfoot = kept(&origin, folder.path());
    let languages = ["en", "de", "fr"];
    for _ in 0..2 {
        for language in languages {
            let fields = format!("Accept-Language: {language}");
            assert_eq!(fleetfoot.get_with("/", &fields).text(), language);
        }
        assert_eq!(fleetfoot.get("/").text(), "-");
        fleetfoot = restarted(fleetfoot, &origin, folder.path());
    }
}

#[test]
fn hosts_and_queries_stay_apart() {
    let (origin, folder) = (Origin::start(), tempfile::tempdir().unwrap());
    origin.on("*").answer(|request| {
        ok("Cache-Control: max-age=600", format!("{} {}", request.field("Host").unwrap(), request.target))
    });
    let fleetfoot = kept(&origin, folder.path());
    let asked =
        [("a.test", "/bc"), ("a.testb", "/c"), ("a.test", "/b?c"), ("a.test", "/b"), ("a.test:1", "/b")];
    let ask = |fleetfoot: &testkit::Fleetfoot, (host, target): (&str, &str)| {
        fleetfoot.connect().ask(format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n"))
    };
    for asked in asked {
        ask(&fleetfoot, asked);
    }
    let fleetfoot = restarted(fleetfoot, &origin, folder.path());
    for (host, target) in asked {
        let answer = ask(&fleetfoot, (host, target));
        assert!(answer.is_hit());
        assert_eq!(answer.text(), format!("{host} {target}"));
    }
}

#[test]
fn what_must_not_be_stored_is_not_on_disk() {
    let (origin, folder) = (Origin::start(), tempfile::tempdir().unwrap());
    origin.on("/private").reply(ok("Cache-Control: private, max-age=600", "SECRET-7731"));
    origin.on("/no-store").reply(ok("Cache-Control: no-store", "SECRET-7731"));
    origin.on("/cookie").reply(ok("Cache-Control: max-age=600\nSet-Cookie: id=SECRET-7731", "x"));
    origin.on("/user").reply(ok("Cache-Control: max-age=600", "SECRET-7731"));
    origin.on("/kept").reply(ok("Cache-Control: max-age=600", "harmless"));
    let mut fleetfoot = kept(&origin, folder.path());
    for path in ["/private", "/no-store", "/cookie", "/kept"] {
        fleetfoot.get(path);
    }
    fleetfoot.get_with("/user", "Authorization: Bearer SECRET-7731");
    until_on_disk(&mut fleetfoot, 1);
    stop(fleetfoot);
    let files: Vec<u8> = folder
        .path()
        .read_dir()
        .unwrap()
        .flat_map(|file| std::fs::read(file.unwrap().path()).unwrap())
        .collect();
    let holds = |text: &str| files.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(holds("harmless") && !holds("SECRET-7731"));
}

/// Stored, purged, killed, started again: what `/` is then, and whether it is a hit.
fn after_a_kill(call: &serde_json::Value) -> (String, bool) {
    let (origin, folder) = (Origin::start(), tempfile::tempdir().expect("a temporary directory"));
    let fields = "Cache-Control: max-age=600\nCache-Tag: t";
    origin.on("/").replies([ok(fields, "old"), ok(fields, "new")]);
    origin.on("/other").reply(ok("Cache-Control: max-age=600", "other"));
    let mut fleetfoot = kept(&origin, folder.path());
    fleetfoot.get("/");
    fleetfoot.get("/other");
    until_on_disk(&mut fleetfoot, 2);
    purge(&fleetfoot, call);
    drop(fleetfoot); // kill -9
    let fleetfoot = kept(&origin, folder.path());
    assert_eq!(
        fleetfoot.get("/other").is_hit(),
        call.get("everything").is_none() && call.get("host").is_none()
    );
    let answer = fleetfoot.get("/");
    (answer.text(), answer.is_hit())
}

#[test]
fn a_purge_survives_kill_9() {
    crate::setup::each(
        [
            json!({"url": "http://example.test/"}),
            json!({"url": "http://example.test/", "exact": true}),
            json!({"prefix": "http://example.test/", "soft": true}),
            json!({"host": "example.test"}),
            json!({"tag": "t"}),
            json!({"tag": "t", "soft": true}),
            json!({"everything": true}),
        ]
        .map(|call| (call.to_string(), call)),
        |name, call| {
            if name.contains("prefix") {
                // It takes `/other` as well.
                return;
            }
            assert_eq!(after_a_kill(&call), ("new".to_owned(), false));
        },
    );
}

#[test]
fn a_write_that_made_an_answer_invalid_survives_kill_9() {
    let (origin, folder) = (Origin::start(), tempfile::tempdir().unwrap());
    origin
        .on("GET /")
        .replies([ok("Cache-Control: max-age=600", "old"), ok("Cache-Control: max-age=600", "new")]);
    origin.on("POST /").reply(ok("", ""));
    let mut fleetfoot = kept(&origin, folder.path());
    fleetfoot.get("/");
    until_on_disk(&mut fleetfoot, 1);
    fleetfoot.send("POST", "/", "Content-Length: 0");
    drop(fleetfoot); // kill -9
    assert_eq!(kept(&origin, folder.path()).get("/").text(), "new");
}

#[test]
fn what_was_stored_after_a_purge_survives_too() {
    let (origin, folder) = (Origin::start(), tempfile::tempdir().unwrap());
    let fields = "Cache-Control: max-age=600";
    origin.on("/").replies([ok(fields, "old"), ok(fields, "new"), ok(fields, "newer")]);
    let mut fleetfoot = kept(&origin, folder.path());
    fleetfoot.get("/");
    until_on_disk(&mut fleetfoot, 1);
    purge(&fleetfoot, &json!({"everything": true}));
    assert_eq!(fleetfoot.get("/").text(), "new");
    for _ in 0..3 {
        fleetfoot = restarted(fleetfoot, &origin, folder.path());
        assert_eq!(fleetfoot.get("/").text(), "new");
    }
    purge(&fleetfoot, &json!({"everything": true}));
    drop(fleetfoot); // kill -9
    assert_eq!(kept(&origin, folder.path()).get("/").text(), "newer");
}
