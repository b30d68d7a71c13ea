//! Who may control the cache, and who may not.

use plan::Token;
use serde_json::json;

use crate::running::{InJson, start_with};

const WORD: &str = "sixteen-characters-at-least";
const CONTROLS: [(&str, &str); 7] = [
    ("POST", "/cache/purge"),
    ("POST", "/cache/warm"),
    ("GET", "/cache/entries"),
    ("GET", "/cache/entry?url=http://a/"),
    ("GET", "/explain?url=http://a/"),
    ("DELETE", "/cache/purge"),
    ("GET", "/cache/anything"),
];

#[tokio::test]
async fn nothing_is_controlled_without_the_token() {
    let running = start_with(Some(WORD), "127.0.0.1:9090").await;
    for (method, target) in CONTROLS {
        for shown in ["", "\nAuthorization: Bearer wrong", "\nAuthorization: Basic c2l4dGVlbg=="] {
            let refused = running.ask_with(method, target, &format!("Host: localhost{shown}"), "").await;
            assert_eq!(refused.status, 401, "{method} {target} {shown}");
            assert!(refused.field("www-authenticate").unwrap().starts_with("Bearer"), "{refused:?}");
            assert!(!refused.text().contains(WORD));
        }
    }
    let shown = format!("Host: admin.internal:9090\nAuthorization: Bearer {WORD}");
    assert_eq!(running.ask_with("GET", "/cache/entries", &shown, "").await.status, 200);
}

#[tokio::test]
async fn readers_need_no_token() {
    let running = start_with(Some(WORD), "0.0.0.0:9090").await;
    running.readiness.set_started();
    for target in ["/", "/livez", "/readyz", "/metrics"] {
        assert_eq!(running.ask_with("GET", target, "Host: example.test", "").await.status, 200, "{target}");
    }
}

#[tokio::test]
async fn without_a_token_only_this_machine_may() {
    let network = start_with(None, "0.0.0.0:9090").await;
    for (method, target) in CONTROLS {
        let refused = network.ask(method, target).await;
        assert_eq!(refused.status, 403, "{target}");
        assert!(refused.detail().contains("listen.admin_token"), "{refused:?}");
    }
    for bound in ["127.0.0.1:9090", "127.9.9.9:9090", "[::1]:9090", "[::ffff:127.0.0.1]:9090"] {
        assert_eq!(start_with(None, bound).await.ask("GET", "/cache/entries").await.status, 200, "{bound}");
    }
}

#[tokio::test]
async fn web_pages_are_refused_with_and_without_a_token() {
    for token in [None, Some(WORD)] {
        let running = start_with(token, "127.0.0.1:9090").await;
        let shown = format!("Host: localhost\nAuthorization: Bearer {WORD}");
        for said in ["Origin: http://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site"] {
            for (method, target) in CONTROLS {
                let refused = running.ask_with(method, target, &format!("{shown}\n{said}"), "").await;
                assert_eq!(refused.status, 403, "{said} {target}");
            }
        }
    }
}

#[tokio::test]
async fn a_name_that_somebody_points_here_is_refused() {
    let running = start_with(None, "127.0.0.1:9090").await;
    for host in
        ["evil.example", "evil.example:9090", "127.0.0.1.evil.example", "localhost\nHost: evil.example"]
    {
        let refused = running.ask_with("GET", "/cache/entries", &format!("Host: {host}"), "").await;
        assert!(matches!(refused.status, 400 | 403), "{host}");
    }
    for host in ["localhost", "localhost:9090", "127.0.0.1", "[::1]:9090"] {
        let served = running.ask_with("GET", "/cache/entries", &format!("Host: {host}"), "").await;
        assert_eq!(served.status, 200, "{host}");
    }
}

#[tokio::test]
async fn a_reload_changes_the_token() {
    let running = start_with(None, "127.0.0.1:9090").await;
    assert_eq!(running.post("/cache/purge", &json!({"everything": true})).await.status, 200);
    running.access.set_token(Some(Token::new(WORD.to_owned())));
    assert_eq!(running.post("/cache/purge", &json!({"everything": true})).await.status, 401);
}
