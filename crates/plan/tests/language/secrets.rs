//! Secrets: where they come from, and that no message shows them.

use std::fs;

use plan::{Plan, compile, load};

use super::bad::{ROUTES, SOURCES, bad, one};

const SECRET: &str = "c2VjcmV0LXNlY3JldC1zZWNyZXQ";

/// A file with a token or a key in it, beside a secret of each kind in files.
fn with(lines: &str) -> Result<Plan, plan::Faults> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("good", &format!("\n {SECRET}= \n")[..]),
        ("empty", " \n"),
        ("short", "c2hvcnQ"),
        ("long", &"x".repeat(5000)),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    fs::write(folder.path().join("binary"), [0xff, 0xfe]).unwrap();
    let path = folder.path().join("fleetfoot.yaml");
    fs::write(&path, format!("{SOURCES}routes: [{{ match: /**, proxy: api, use: p }}]\n{lines}\n")).unwrap();
    load(&path)
}

fn token(written: &str) -> Result<Plan, plan::Faults> {
    with(&format!("policies: {{ p: {{ cache: true }} }}\nlisten: {{ admin: 0, admin_token: {written} }}"))
}

fn keys(written: &str) -> Result<Plan, plan::Faults> {
    with(&format!("policies: {{ p: {{ signed: {{ keys: {{ {written} }} }} }} }}"))
}

#[test]
fn a_secret_is_written_or_in_a_file_or_in_the_environment() {
    let folder = env!("CARGO_MANIFEST_DIR");
    for (written, secret) in [
        (SECRET, SECRET.to_owned()),
        ("{ file: good }", format!("{SECRET}=")),
        ("\"${env.CARGO_MANIFEST_DIR}\"", folder.to_owned()),
    ] {
        let plan = token(written).unwrap();
        assert_eq!(plan.listen.admin_token.as_ref().unwrap().secret(), secret);
        assert!(!format!("{plan:?}").contains(&secret));
    }
    for written in [&format!("main: {SECRET}"), &format!("main: {SECRET}="), "main: { file: good }"] {
        let plan = keys(written).unwrap();
        let signed = plan.routes[0].signed.as_ref().unwrap();
        assert_eq!(signed.keys[0].secret, b"secret-secret-secret");
        assert_eq!(signed.keys[0].name, "main");
        assert_eq!(signed.cookie.as_deref(), Some("Cloud-CDN-Cookie"));
        assert!(plan.routes[0].cache().is_none());
    }
}

#[test]
fn a_changed_secret_is_another_plan() {
    assert_eq!(token("abcdefghijklmnop").unwrap().listen, token("abcdefghijklmnop").unwrap().listen);
    assert_ne!(token("abcdefghijklmnop").unwrap().listen, token("abcdefghijklmnoq").unwrap().listen);
}

#[test]
fn tokens() {
    for (written, expected) in [
        ("short", "the token has 5 characters, and at least 16 are needed"),
        ("\"with space with space\"", "the token has a character that cannot stand in a field"),
        ("{ file: nowhere }", "`nowhere` does not exist"),
        ("{ file: empty }", "`empty` is empty"),
        ("{ file: long }", "`long` is too long for a secret"),
        ("{ file: binary }", "`binary` is no text"),
        ("{ file: short }", "the token has 7 characters, and at least 16 are needed"),
        ("{ flie: good }", "unknown key `flie`"),
        ("{}", "`file` is missing"),
        ("[a]", "`admin_token` must be one value, not a list"),
        ("\"${env.NO_SUCH_VARIABLE_HERE}\"", "the environment has no variable `NO_SUCH_VARIABLE_HERE`"),
        ("\"${header('X')}\"", "a secret is no expression over requests"),
        ("\"x${env.HOME}\"", "a secret is no expression over requests"),
    ] {
        let faults = token(written).unwrap_err();
        assert_eq!(faults.iter().next().unwrap().cause, expected, "{written}");
    }
    let lonely = bad(&format!("{SOURCES}{ROUTES}listen: {{ admin_token: abcdefghijklmnop }}\n"));
    assert_eq!(
        one(&lonely),
        "3:11 listen.admin_token | `admin_token` has no effect: there is no admin port | add `admin: 127.0.0.1:9090`, or take the token out"
    );
}

#[test]
fn signing_keys() {
    for (written, expected) in [
        ("main: c2hvcnQ", "the key `main` has 5 bytes, and at least 16 are needed"),
        ("main: \"not base64url at all\"", "the key `main` is not base64url"),
        ("main: c2VjcmV0LXNlY3JldC1zZWNyZX+/", "the key `main` is not base64url"),
        ("\"my key\": c2VjcmV0LXNlY3JldC1zZWNyZXQ", "this is not the name of a key"),
        (
            "main: c2VjcmV0LXNlY3JldC1zZWNyZXQ, old: c2VjcmV0LXNlY3JldC1zZWNyZXQ=",
            "`old` and `main` are the same secret",
        ),
        ("", "`keys` names no key: nobody could be let in"),
    ] {
        assert_eq!(keys(written).unwrap_err().iter().next().unwrap().cause, expected, "{written}");
    }
    let cookie =
        with("policies: { p: { signed: { keys: { main: { file: good } }, cookie: none } } }").unwrap();
    assert_eq!(cookie.routes[0].signed.as_ref().unwrap().cookie, None);
}

#[test]
fn no_message_shows_a_secret() {
    let quiet = |lines: &str| {
        let text = format!("{SOURCES}{ROUTES}{lines}\n");
        let Err(faults) = compile(&text, "fleetfoot.yaml") else { panic!("{text}") };
        let (shown, json) = (faults.to_string(), serde_json::to_string(&faults).unwrap());
        assert!(!shown.contains("c2Vj") && !json.contains("c2Vj"), "{lines}\n{shown}\n{json}");
    };
    for lines in [
        "listen: { admin: 0, admin_token: \"S e\", x: 1 }",
        "listen: { admin: 0, admin_tokn: S }",
        "listen: { admin: 0, admin_token:S }",
        "listen: { admin: 0, admin_token: [S] }",
        "listen: { admin: 0, admin_token: S: x }",
        "listen: { admin: 0, admin_token: x{S} }",
        "listen: { admin: 0, admin_token: \"a, S\", x: 1 }",
        "listen:\n  admin: 0\n  admin_token: a,S: x",
        "listen:\n  admin_token: S\n  admin: nowhere",
        "listen:\n  admin: 0\n  admin_token: S\n   x: 1",
        "listen:\n  admin: 0\n  admin_token: \"S",
        "listen:\n  admin: 0\n  admin_token: |\n    S\n    S e",
        "listen:\n  admin: 0\n  \"admin_token\" : é S",
        "listen:\n  admin: 0\n  ? admin_token\n  : é S",
        "listne: { admin_token: S }",
        "policies: { p: { signed: { keys: { main: S+ } } } }",
        "policies: { p: { signed: { keys: { main:S } } } }",
        "policies: { p: { signed: { keys: { S } } } }",
        "policies: { p: { signed: { keys: S } } }",
        "policies: { p: { signed: { keys: [S] } } }",
        "policies: { p: { signed: { kyes: { main: S } } } }",
        "policies: { p: { sigend: { keys: { main: S } } } }",
        "policies: { p: { signed: { keys: { main: S, old: S } } } }",
        "policies:\n  p:\n    signed:\n      keys:\n        main: S e\n        old: 'S",
        "policies:\n  p:\n    signed:\n      keys:\n        main: { flie: S }",
    ] {
        quiet(&lines.replace('S', SECRET));
    }
}
