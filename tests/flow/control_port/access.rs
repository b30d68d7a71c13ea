//! Who may control the cache (THREATS G): programs of this machine, or whoever shows the token; never a web page, and
//! never over the port of clients.

use serde_json::json;
use testkit::{Command, Fleetfoot, Origin, RawClient, ok};

use super::port::{ask, counting, post, read};
use crate::setup::{cached, config_with, each};

const TOKEN: &str = "a-token-of-many-letters";

const CONTROL: [(&str, &str, &str); 6] = [
    ("POST", "/cache/purge", "{\"everything\": true}"),
    ("POST", "/cache/warm", "{\"urls\": [\"http://example.test/\"]}"),
    ("GET", "/cache/entries", ""),
    ("GET", "/cache/entry?url=http://example.test/", ""),
    ("GET", "/explain?url=http://example.test/", ""),
    ("GET", "/explain?id=x", ""),
];

fn with_listen(origin: &Origin, words: &str) -> String {
    config_with(origin.address(), "ttl: origin", &format!("listen: {{ http: 127.0.0.1:0, {words} }}\n"))
}

/// Asks with these fields besides; the status.
fn try_all(fleetfoot: &Fleetfoot, fields: &str, expected: u16) {
    each(
        CONTROL.map(|(method, target, content)| (target, (method, content))),
        |target, (method, content)| {
            let fields = format!("Content-Type: application/json\n{fields}");
            let answer = ask(fleetfoot, method, target, &fields, content);
            let fault = read(&answer, expected);
            assert!(fault["detail"].as_str().is_some_and(|detail| detail.len() > 10), "{fault}");
        },
    );
}

#[test]
fn on_this_machine_no_token_is_needed() {
    let origin = counting("");
    let fleetfoot = cached(&origin);
    fleetfoot.get("/");
    read(&post(&fleetfoot, "/cache/purge", &json!({"everything": true})), 200);
    assert!(!fleetfoot.get("/").is_hit());
}

#[test]
fn with_a_token_whoever_shows_it_may_and_nobody_else() {
    let origin = counting("");
    let fleetfoot =
        Fleetfoot::start(&with_listen(&origin, &format!("admin: 127.0.0.1:0, admin_token: {TOKEN}")));
    fleetfoot.get("/");
    let wrong = [
        String::new(),
        "Authorization: Bearer".to_owned(),
        "Authorization: Bearer wrong-token-of-letters".to_owned(),
        format!("Authorization: Bearer {TOKEN}x"),
        format!("Authorization: Bearer {}", &TOKEN[1..]),
        format!("Authorization: Bearer {}", TOKEN.to_uppercase()),
        format!("Authorization: Basic {TOKEN}"),
        format!("Authorization: {TOKEN}"),
        format!("Cookie: token={TOKEN}"),
        format!("X-Admin-Token: {TOKEN}"),
        format!("Authorization: Bearer wrong\nAuthorization: Bearer {TOKEN}"),
    ];
    each(wrong.map(|fields| (fields.clone(), fields)), |_, fields| try_all(&fleetfoot, &fields, 401));
    assert!(fleetfoot.get("/").is_hit(), "nothing was purged");
    let refused = ask(&fleetfoot, "GET", "/cache/entries", "", "");
    assert!(refused.field("WWW-Authenticate").unwrap_or_default().starts_with("Bearer"), "{refused:?}");
    assert!(!refused.text().contains(TOKEN));

    let fields = format!("Content-Type: application/json\nAuthorization: Bearer {TOKEN}");
    let purged = ask(&fleetfoot, "POST", "/cache/purge", &fields, "{\"everything\": true}");
    assert_eq!(purged.status, 200, "{purged:?}");
    assert!(!fleetfoot.get("/").is_hit());
    for open in ["/livez", "/readyz", "/metrics", "/"] {
        assert_eq!(ask(&fleetfoot, "GET", open, "", "").status, 200, "{open}");
    }
}

#[test]
fn a_token_may_come_from_a_file_or_the_environment_and_change() {
    let (origin, folder) = (counting(""), tempfile::tempdir().unwrap());
    let file = folder.path().join("token");
    std::fs::write(&file, format!("{TOKEN}\n")).unwrap();
    let words = format!("admin: 127.0.0.1:0, admin_token: {{ file: \"{}\" }}", file.display());
    let mut fleetfoot = Fleetfoot::start(&with_listen(&origin, &words));
    let with = |fleetfoot: &Fleetfoot, token: &str| {
        ask(fleetfoot, "GET", "/cache/entries", &format!("Authorization: Bearer {token}"), "").status
    };
    assert_eq!((with(&fleetfoot, TOKEN), with(&fleetfoot, "another-token-of-letters")), (200, 401));
    std::fs::write(&file, "another-token-of-letters").unwrap();
    fleetfoot.hang_up();
    fleetfoot.wait_until("changed", |fleetfoot| with(fleetfoot, "another-token-of-letters") == 200);
    assert_eq!(with(&fleetfoot, TOKEN), 401);
    let words = "admin: 127.0.0.1:0, admin_token: \"${env.ADMIN_7731}\"";
    std::fs::write(folder.path().join("with-env.yaml"), with_listen(&origin, words)).unwrap();
    let check = || Command::new(&["check", "with-env.yaml"]).folder(folder.path());
    assert_eq!(check().variable("ADMIN_7731", TOKEN).run("").code, Some(0));
    let short = check().variable("ADMIN_7731", "short").run("");
    assert!(short.code != Some(0) && !format!("{short:?}").contains("\"short\""), "{short:?}");
    assert_ne!(check().run("").code, Some(0), "a variable that is not set");
}

#[test]
fn over_the_network_there_is_no_control_without_a_token() {
    let origin = counting("");
    // Every address of the machine, asked for by a loopback one.
    let fleetfoot = Fleetfoot::start(&with_listen(&origin, "admin: 0.0.0.0:0"));
    fleetfoot.get("/");
    let port = fleetfoot.admin().port();
    for (method, target, content) in CONTROL {
        let length = content.len();
        let answer = RawClient::connect(([127, 0, 0, 1], port).into()).ask(format!(
            "{method} {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n{content}"
        ));
        assert_eq!(answer.status, 403, "{target}: {answer:?}");
        assert!(answer.text().contains("listen.admin_token"), "{answer:?}");
    }
    assert!(fleetfoot.get("/").is_hit());
}

#[test]
fn a_web_page_controls_nothing() {
    let origin = counting("");
    for words in ["admin: 127.0.0.1:0".to_owned(), format!("admin: 127.0.0.1:0, admin_token: {TOKEN}")] {
        let fleetfoot = Fleetfoot::start(&with_listen(&origin, &words));
        fleetfoot.get("/");
        let shown = format!("Authorization: Bearer {TOKEN}");
        for fields in [
            "Origin: http://evil.test",
            "Origin: null",
            "Origin: http://localhost",
            "Sec-Fetch-Site: cross-site",
            "Sec-Fetch-Site: same-site",
        ] {
            try_all(&fleetfoot, &format!("{fields}\n{shown}"), 403);
        }
        // A page cannot send JSON without asking first.
        for kind in [
            "",
            "Content-Type: text/plain",
            "Content-Type: application/x-www-form-urlencoded",
            "Content-Type: application/jsonp",
        ] {
            let fields = format!("{kind}\n{shown}");
            let answer = ask(&fleetfoot, "POST", "/cache/purge", &fields, "{\"everything\": true}");
            assert_eq!(answer.status, 415, "{kind}: {answer:?}");
        }
        let asked = ask(
            &fleetfoot,
            "OPTIONS",
            "/cache/purge",
            "Origin: http://evil.test\nAccess-Control-Request-Method: POST",
            "",
        );
        assert!(asked.status >= 400 && !asked.has("Access-Control-Allow-Origin"), "{asked:?}");
        assert!(fleetfoot.get("/").is_hit());
    }
}

#[test]
fn a_name_that_leads_here_is_not_this_machine() {
    let origin = counting("");
    let fleetfoot = cached(&origin);
    fleetfoot.get("/");
    let admin = fleetfoot.admin();
    let with_host = |host: &str| {
        let request = format!(
            "POST /cache/purge HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n\
             {{\"everything\": true}}"
        );
        RawClient::connect(admin).ask(request).status
    };
    for host in ["evil.test", "localhost.evil.test", "127.0.0.1.evil.test", ""] {
        assert_eq!(with_host(host), 403, "{host}");
    }
    assert!(fleetfoot.get("/").is_hit());
    for host in ["localhost", "127.0.0.1", "[::1]", &admin.to_string()] {
        assert_eq!(with_host(host), 200, "{host}");
    }
}

#[test]
fn the_port_of_clients_controls_nothing() {
    let origin = Origin::start();
    origin.on("*").reply(ok("Cache-Control: max-age=600", "x"));
    let fleetfoot = cached(&origin);
    fleetfoot.get("/");
    for fields in ["", "Host: example.test", "X-Purge: 1", "Fastly-Soft-Purge: 1"] {
        let answer = fleetfoot.send("PURGE", "/", &fields.replace("Host: example.test", "X-A: 1"));
        assert_eq!(answer.status, 405, "{answer:?}");
        assert!(fleetfoot.get("/").is_hit());
    }
    let before = origin.requests().len();
    assert_eq!(fleetfoot.send("PURGE", "/*", "").status, 405);
    assert_eq!(origin.requests().len(), before, "nor does it reach the origin");
    // The paths of the admin port are ordinary paths there.
    assert_eq!(fleetfoot.get("/cache/entries").text(), "x");
    assert_eq!(fleetfoot.get("/explain?id=x").text(), "x");
}

#[test]
fn each_path_takes_its_methods_only() {
    let fleetfoot = cached(&counting(""));
    for (method, target) in [
        ("GET", "/cache/purge"),
        ("PUT", "/cache/purge"),
        ("GET", "/cache/warm"),
        ("POST", "/cache/entries"),
        ("DELETE", "/cache/entry"),
        ("POST", "/explain"),
    ] {
        let answer = ask(&fleetfoot, method, target, "Content-Type: application/json", "{}");
        assert_eq!(answer.status, 405, "{method} {target}: {answer:?}");
        assert!(answer.has("Allow"), "{answer:?}");
    }
    assert_eq!(ask(&fleetfoot, "GET", "/cache/other", "", "").status, 404);
    let large = format!("{{\"tags\": [\"{}\"]}}", "x".repeat(2 * 1024 * 1024));
    assert_eq!(ask(&fleetfoot, "POST", "/cache/purge", "Content-Type: application/json", &large).status, 413);
}
