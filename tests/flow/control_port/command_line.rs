//! The same by the program's own command line: `fleetfoot cache …` and `fleetfoot explain --admin`, for people and, with
//! `--json`, for programs; and what they say when it goes wrong.

use serde_json::Value;
use testkit::{Command, Finished, Fleetfoot, Origin, Port, ok};

use super::port::counting;
use crate::setup::{cached, cached_with, config, config_with};

fn run(fleetfoot: &Fleetfoot, words: &[&str]) -> Finished {
    let admin = fleetfoot.admin().to_string();
    Command::new(&[words, &["--admin", &admin]].concat()).run("")
}

fn good(fleetfoot: &Fleetfoot, words: &[&str]) -> String {
    let finished = run(fleetfoot, words);
    assert_eq!(finished.code, Some(0), "{words:?}: {finished:?}");
    finished.stdout
}

fn json(fleetfoot: &Fleetfoot, words: &[&str]) -> Value {
    let text = good(fleetfoot, &[words, &["--json"]].concat());
    let read = serde_json::from_str(&text);
    assert!(read.is_ok(), "no JSON: {text}");
    read.unwrap_or_default()
}

#[test]
fn purge_forgets_and_says_what() {
    let origin = counting("Cache-Tag: t");
    let fleetfoot = cached_with(&origin, "ttl: origin, tags: [Cache-Tag]");
    for (words, said) in [
        (&["--url", "http://example.test/"][..], "forgotten, in force: example.test/ with all queries"),
        (&["--url", "http://example.test/", "--exact"], "forgotten, in force: example.test/"),
        (&["--prefix", "/"], "forgotten, in force: any host, /…"),
        (&["--host", "example.test"], "forgotten, in force: host example.test"),
        (&["--tag", "t"], "forgotten, in force: tag t"),
        (&["--tag", "u", "--tag", "t"], "forgotten, in force: tag u, t"),
        (&["--everything"], "forgotten, in force: everything"),
        (&["--everything", "--soft"], "made stale, in force: everything"),
    ] {
        fleetfoot.get("/");
        assert!(fleetfoot.get("/").is_hit());
        let said_now = good(&fleetfoot, &[&["cache", "purge"], words].concat());
        assert_eq!(said_now.trim_end(), said);
        assert!(!fleetfoot.get("/").is_hit(), "{words:?}");
    }
    let dry = good(&fleetfoot, &["cache", "purge", "--everything", "--dry-run"]);
    assert!(dry.starts_with("would forget 1 answer, ") && dry.ends_with("nothing was changed\n"), "{dry}");
    assert!(fleetfoot.get("/").is_hit());
    let refreshed = good(&fleetfoot, &["cache", "purge", "--everything", "--refresh", "1", "--rate", "10"]);
    assert!(refreshed.contains("1 answer fetched again in the background"), "{refreshed}");
    let done = json(&fleetfoot, &["cache", "purge", "--tag", "t"]);
    assert_eq!((&done["in_force"], &done["purged"]["tags"][0]), (&Value::from(true), &Value::from("t")));
}

#[test]
fn ls_and_get_show_what_is_stored() {
    let origin = Origin::start();
    origin.on("*").reply(ok("Cache-Control: max-age=600\nCache-Tag: news\nETag: \"7\"", "hello"));
    let fleetfoot = cached_with(&origin, "ttl: origin, tags: [Cache-Tag]");
    let nothing = run(&fleetfoot, &["cache", "ls"]);
    assert!(nothing.code == Some(0) && nothing.stderr.contains("nothing is stored"), "{nothing:?}");
    fleetfoot.get("/a");
    fleetfoot.get("/b?c=d");
    let listed = good(&fleetfoot, &["cache", "ls"]);
    for part in ["http://example.test/a", "http://example.test/b?c=d", "news", "200", "fresh for"] {
        assert!(listed.contains(part), "{part} in {listed}");
    }
    let one = good(&fleetfoot, &["cache", "ls", "--url", "http://example.test/a"]);
    assert!(one.contains("/a") && !one.contains("/b"), "{one}");
    let shown = good(&fleetfoot, &["cache", "get", "http://example.test/a"]);
    for part in ["http://example.test/a", "fresh for", "tag  news", "etag", "max-age=600"] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    assert_eq!(json(&fleetfoot, &["cache", "ls"])["entries"].as_array().unwrap().len(), 2);
    assert_eq!(json(&fleetfoot, &["cache", "get", "http://example.test/a"])["entries"][0]["length"], 5);
    let none = run(&fleetfoot, &["cache", "get", "http://example.test/none"]);
    assert!(none.code == Some(1) && none.stderr.contains("nothing is stored under this URL"), "{none:?}");
}

#[test]
fn what_strangers_sent_does_not_drive_the_terminal() {
    let origin = Origin::start();
    origin.on("*").reply(ok("Cache-Control: max-age=600\nCache-Tag: a\u{9b}31m\nX-Made: \u{9b}31m", "x"));
    let fleetfoot = cached_with(&origin, "ttl: origin, tags: [Cache-Tag]");
    fleetfoot.connect().ask(b"GET /\x9b31m HTTP/1.1\r\nHost: example.test\r\n\r\n");
    fleetfoot.get("/x");
    for words in [&["cache", "ls"][..], &["cache", "get", "http://example.test/x"]] {
        let said = good(&fleetfoot, words);
        assert!(!said.contains(|char: char| char.is_control() && char != '\n'), "{said:?}");
    }
}

#[test]
fn warm_reads_a_file_or_standard_input() {
    let origin = Origin::start();
    origin.on("*").reply(ok("Cache-Control: max-age=600", "hello"));
    origin.on("/broken").reply("garbage\r\n\r\n");
    let (fleetfoot, folder) = (cached(&origin), tempfile::tempdir().unwrap());
    let file = folder.path().join("urls");
    std::fs::write(&file, "# a comment\nhttp://example.test/a\n\nhttp://example.test/b\n").unwrap();
    let name = file.to_string_lossy().into_owned();
    let said = good(&fleetfoot, &["cache", "warm", &name, "--rate", "1000"]);
    assert!(said.contains("200") && said.contains("miss"), "{said}");
    assert!(fleetfoot.get("/a").is_hit() && fleetfoot.get("/b").is_hit());
    let admin = fleetfoot.admin().to_string();
    let words = ["cache", "warm", "-", "--json", "--admin", &admin];
    let piped = Command::new(&words).run("http://example.test/c\nhttp://example.test/broken\n");
    assert_eq!(piped.code, Some(1), "one of them failed: {piped:?}");
    let told: Value = serde_json::from_str(&piped.stdout).unwrap();
    assert_eq!(
        (&told["warmed"][0]["status"], &told["warmed"][1]["status"]),
        (&Value::from(200), &Value::from(502))
    );
    std::fs::write(&file, "http://example.test/a\n/only-a-path\n").unwrap();
    let wrong = run(&fleetfoot, &["cache", "warm", &name]);
    assert!(wrong.code == Some(2) && wrong.stderr.contains("line 2"), "{wrong:?}");
    let missing = run(&fleetfoot, &["cache", "warm", "/nonexistent/urls"]);
    assert!(missing.code == Some(2) && missing.stderr.contains("/nonexistent/urls"), "{missing:?}");
}

#[test]
fn explain_asks_the_running_program() {
    let origin = Origin::start();
    origin.on("/a").reply(ok("Cache-Control: max-age=600", "hello"));
    origin.on("/b").reply(ok("Cache-Control: private", "hello"));
    let fleetfoot = cached(&origin);
    fleetfoot.get("/a");
    fleetfoot.get_with("/b", "X-Request-Id: Order-7");
    let hit = good(&fleetfoot, &["explain", "GET", "http://example.test/a"]);
    for part in ["route  /**", "policy  cached", "stored  200, 5 bytes", "lifetime 600", "verdict  a hit"] {
        assert!(hit.contains(part), "{part} in {hit}");
    }
    let why = good(&fleetfoot, &["explain", "--id", "Order-7"]);
    assert!(why.contains("the answer says private (RFC 9111 §5.2.2.7)"), "{why}");
    assert_eq!(json(&fleetfoot, &["explain", "--id", "Order-7"])["stored"], false);
    let asked = good(&fleetfoot, &["explain", "get", "http://example.test/b", "--ask", "-H", "Cookie: a=b"]);
    assert!(asked.contains("not stored (private)"), "{asked}");
    let unknown = run(&fleetfoot, &["explain", "--id", "nobody"]);
    assert!(unknown.code == Some(1) && unknown.stderr.contains("remembered"), "{unknown:?}");
    let wrong = run(&fleetfoot, &["explain", "GET", "/path"]);
    assert!(wrong.code == Some(2) && wrong.stderr.contains("http://localhost:3000/path"), "{wrong:?}");
}

#[test]
fn the_token_comes_from_the_environment_or_a_file_and_is_asked_for() {
    let (origin, folder) = (counting(""), tempfile::tempdir().unwrap());
    let listen = "listen: { http: 127.0.0.1:0, admin: 127.0.0.1:0, admin_token: a-token-of-many-letters }\n";
    let fleetfoot = Fleetfoot::start(&config_with(origin.address(), "ttl: origin", listen));
    let admin = fleetfoot.admin().to_string();
    let command = |more: &[&str]| Command::new(&[&["cache", "ls", "--admin", &admin], more].concat());
    let refused = command(&[]).run("");
    assert!(refused.code == Some(1) && refused.stderr.contains("FLEETFOOT_ADMIN_TOKEN"), "{refused:?}");
    let variable = |word: &str| command(&[]).variable("FLEETFOOT_ADMIN_TOKEN", word).run("");
    assert_eq!(variable("a-token-of-many-letters").code, Some(0));
    let wrong = variable("another-token-of-letters");
    assert!(wrong.code == Some(1) && wrong.stderr.contains("listen.admin_token"), "{wrong:?}");
    assert!(!wrong.stderr.contains("another-token-of-letters"), "{wrong:?}");
    let file = folder.path().join("token");
    std::fs::write(&file, "a-token-of-many-letters\n").unwrap();
    assert_eq!(command(&["--token-file", &file.to_string_lossy()]).run("").code, Some(0));
    let missing = command(&["--token-file", "/nonexistent/token"]).run("");
    assert!(missing.code == Some(2) && missing.stderr.contains("/nonexistent/token"), "{missing:?}");
}

#[test]
fn what_cannot_be_done_is_said_with_a_remedy() {
    let origin = counting("");
    let fleetfoot = Fleetfoot::start(&config(origin.address(), "ttl: origin"));
    let clear = run(&fleetfoot, &["cache", "purge"]);
    assert!(clear.code == Some(2) && clear.stderr.contains("exactly one of --url"), "{clear:?}");
    let both = run(&fleetfoot, &["cache", "purge", "--everything", "--host", "a"]);
    assert_eq!(both.code, Some(2), "{both:?}");
    let wrong = run(&fleetfoot, &["cache", "purge", "--url", "/path"]);
    assert!(wrong.code == Some(1) && wrong.stderr.contains("http://example.com/path"), "{wrong:?}");

    let at = |address: String| Command::new(&["cache", "ls", "--admin", &address]).run("");
    let nobody = Port::reserve();
    let asked = at(nobody.address().to_string());
    assert!(asked.code == Some(1) && asked.stderr.contains("nobody answers at"), "{asked:?}");
    assert!(asked.stderr.contains("start fleetfoot") && asked.stderr.contains("--admin"), "{asked:?}");
    let explained = Command::new(&["explain", "--id", "x", "--admin", &nobody.address().to_string()]).run("");
    assert!(explained.code == Some(1) && explained.stderr.contains("start fleetfoot"), "{explained:?}");
    // The port of clients, which passes it on to somebody's API.
    let clients = at(fleetfoot.address().to_string());
    assert!(clients.code == Some(1) && clients.stderr.contains("--admin"), "{clients:?}");
    let api = Origin::start();
    api.on("*").reply(ok("Content-Type: application/json", "{\"ok\": true}"));
    let address = api.address().to_string();
    let purged = Command::new(&["cache", "purge", "--everything", "--admin", &address]).run("");
    assert!(
        purged.code == Some(1) && purged.stderr.contains("no admin port"),
        "nothing was purged: {purged:?}"
    );
    let stranger = Origin::start();
    stranger.on("*").reply("220 mail.test ESMTP\r\n");
    let mail = at(stranger.address().to_string());
    assert!(mail.code == Some(1) && mail.stderr.contains("no admin port of fleetfoot"), "{mail:?}");
}
