//! What control of the cache answers.

use std::time::Duration;

use serde_json::json;

use crate::running::{InJson, start};

#[tokio::test]
async fn a_purge_is_in_force_when_it_is_answered() {
    let running = start().await;
    running.put("/x?a=1", "", "news");
    running.put("/y", "", "");
    let dry = running.post("/cache/purge", &json!({"tag": "news", "dry_run": true})).await;
    assert_eq!(dry.json()["would_purge"]["answers"], 1, "{dry:?}");
    assert_eq!(running.ask("GET", "/cache/entries").await.json()["entries"].as_array().unwrap().len(), 2);

    let purged = running.post("/cache/purge", &json!({"tag": "news"})).await.json();
    assert_eq!(
        purged,
        json!({"purged": {"tags": ["news"]}, "soft": false, "in_force": true, "refreshing": 0})
    );
    let left = running.ask("GET", "/cache/entries").await.json();
    assert_eq!(left["entries"].as_array().unwrap().len(), 1, "{left}");
    assert_eq!(left["entries"][0]["url"], "http://a.test/y");
    let metrics = running.ask("GET", "/metrics").await.text();
    assert!(metrics.contains("fleetfoot_purges_total{scope=\"tag\",mode=\"hard\"} 1\n"), "{metrics}");
}

#[tokio::test]
async fn a_scope_is_understood_as_keys_have_it() {
    let running = start().await;
    for (call, understood) in [
        (json!({"url": "HTTP://A.test:80/x?q"}), json!({"host": "a.test", "path": "/x"})),
        (
            json!({"url": "http://a.test/x?utm_source=x", "exact": true}),
            json!({"host": "a.test", "target": "/x"}),
        ),
        (json!({"prefix": "/news/"}), json!({"prefix": "/news/"})),
        (json!({"prefix": "http://a.test/news/"}), json!({"host": "a.test", "prefix": "/news/"})),
        (json!({"host": "A.test"}), json!({"host": "a.test"})),
        (json!({"tags": ["a", "b"]}), json!({"tags": ["a", "b"]})),
        (json!({"everything": true, "soft": true}), json!({"everything": true})),
    ] {
        let answer = running.post("/cache/purge", &call).await;
        assert_eq!((answer.status, &answer.json()["purged"]), (200, &understood), "{call}");
    }
}

#[tokio::test]
async fn what_cannot_be_understood_changes_nothing_and_says_so() {
    let running = start().await;
    running.put("/x", "", "t");
    for (call, said) in [
        (json!({}), "exactly one of"),
        (json!({"url": "http://a/", "tag": "x"}), "exactly one of"),
        (json!({"tag": "x", "tags": ["y"]}), "either"),
        (json!({"everything": false}), "exactly one of"),
        (json!({"url": "/x"}), "http://example.com/path"),
        (json!({"tag": "t", "exact": true}), "`exact`"),
        (json!({"prefix": "news"}), "/news/"),
        (json!({"prefix": "/x?y"}), "without a query"),
        (json!({"host": "a/b"}), "not a host"),
        (json!({"tag": "a b"}), "not a tag"),
        (json!({"tag": ""}), "not a tag"),
        (json!({"tags": []}), "1 to"),
        (json!({"tag": "t", "rate": 0}), "`rate`"),
        (json!({"tag": "t", "refresh": 10_001}), "`refresh`"),
        (json!({"tag": "t", "hard": true}), "hard"),
        (json!({"tag": "t", "soft": "yes"}), "soft"),
        (json!([]), "content"),
    ] {
        let refused = running.post("/cache/purge", &call).await;
        assert_eq!(refused.status, 400, "{call}");
        assert!(
            refused.detail().contains(said) || said == "soft" || said == "content",
            "{call}: {refused:?}"
        );
    }
    assert_eq!(running.ask("GET", "/cache/entries").await.json()["entries"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn content_must_be_json_of_a_bounded_length() {
    let running = start().await;
    for media_type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
        let fields = format!("Host: localhost\nContent-Type: {media_type}");
        let refused = running.ask_with("POST", "/cache/purge", &fields, r#"{"everything":true}"#).await;
        assert_eq!(refused.status, 415, "{media_type}");
        assert!(refused.detail().contains("application/json"));
    }
    assert_eq!(running.ask_with("POST", "/cache/purge", "Host: localhost", "{}").await.status, 415);
    let fields = "Host: localhost\nContent-Type: application/json; charset=utf-8";
    let padded = format!("{{\"everything\":true{}}}", " ".repeat(1000 * 1000));
    assert_eq!(running.ask_with("POST", "/cache/purge", fields, &padded).await.status, 200);
    let announced = "Host: localhost\nContent-Type: application/json\nContent-Length: 2000000";
    let refused = running.ask_with("POST", "/cache/purge", announced, "").await;
    assert_eq!(refused.status, 413, "{refused:?}");
}

#[tokio::test]
async fn other_methods_and_paths_are_refused() {
    let running = start().await;
    for (method, target, allowed) in [
        ("GET", "/cache/purge", "POST"),
        ("PUT", "/cache/warm", "POST"),
        ("POST", "/cache/entries", "GET,HEAD"),
        ("DELETE", "/explain", "GET,HEAD"),
    ] {
        let refused = running.ask(method, target).await;
        assert_eq!(refused.status, 405, "{method} {target}");
        assert_eq!(refused.field("allow"), Some(allowed));
    }
    assert_eq!(running.ask("GET", "/cache").await.status, 404);
}

#[tokio::test]
async fn the_most_used_are_fetched_again() {
    let running = start().await;
    running.put("/x", "", "t");
    running.put("/y", "4:user1:7", "t");
    let purged = running.post("/cache/purge", &json!({"tag": "t", "refresh": 5, "rate": 1000})).await.json();
    assert_eq!(purged["refreshing"], 1, "what belongs to a user cannot be asked for again: {purged}");
    for _ in 0..1000 {
        tokio::task::yield_now().await;
        if !running.asked.fetched.lock().unwrap().is_empty() {
            break;
        }
    }
    assert_eq!(*running.asked.fetched.lock().unwrap(), ["http://a.test/x"]);
}

#[tokio::test]
async fn warming_tells_what_came_of_each() {
    let running = start().await;
    let urls = ["http://a.test/1", "https://a.test/2?x"];
    let warmed = running.post("/cache/warm", &json!({"urls": urls, "rate": 1000})).await.json();
    for (index, url) in urls.iter().enumerate() {
        let expected = json!({"url": url, "status": 200, "cache": "miss", "stored": true, "bytes": 3});
        assert_eq!(warmed["warmed"][index], expected);
    }
    for call in
        [json!({"urls": []}), json!({"urls": ["x"]}), json!({}), json!({"urls": vec!["http://a/"; 10_001]})]
    {
        assert_eq!(running.post("/cache/warm", &call).await.status, 400);
    }
    let slow = running.post("/cache/warm", &json!({"urls": vec!["http://a/"; 700], "rate": 1})).await;
    assert!(slow.status == 400 && slow.detail().contains("rate"), "{slow:?}");
}

/// Longer than a connection may usually take; time runs by itself while all wait.
#[tokio::test(start_paused = true)]
async fn warming_may_take_its_time() {
    let running = start().await;
    let content = json!({"urls": vec!["http://a/"; 60], "rate": 1}).to_string();
    let mut client = running.connect().await.deadline(Duration::from_mins(5));
    let head = "POST /cache/warm HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    let call = format!("{head}Content-Length: {}\r\n\r\n{content}", content.len());
    assert_eq!(client.ask(call).await.status, 200);
}

#[tokio::test]
async fn entries_are_listed_and_shown() {
    let running = start().await;
    running.put("/x?a=1", "", "t");
    running.put("/x?a=2", "", "");
    let listed = running.ask("GET", "/cache/entries?url=http://a.test/x&limit=1").await.json();
    assert_eq!((listed["entries"].as_array().unwrap().len(), &listed["more"]), (1, &json!(true)));
    assert!(listed["entries"][0].get("fields").is_none());
    let shown = running.ask("GET", "/cache/entry?url=http%3A%2F%2Fa.test%2Fx%3Fa%3D1").await.json();
    assert_eq!(shown["entries"][0]["tags"], json!(["t"]));
    assert!(shown["entries"][0]["fields"].to_string().contains("max-age=600"));
    assert_eq!(running.ask("GET", "/cache/entry?url=http://a.test/none").await.status, 404);
    for target in [
        "/cache/entries?limit=0",
        "/cache/entries?limit=x",
        "/cache/entries?url=x",
        "/cache/entries?host=a&tag=b",
        "/cache/entries?colour=red",
        "/cache/entries?host=a&host=b",
        "/cache/entry",
    ] {
        assert_eq!(running.ask("GET", target).await.status, 400, "{target}");
    }
}

#[tokio::test]
async fn a_request_is_explained_or_remembered() {
    let running = start().await;
    let target = "/explain?url=http://A.test/x&method=HEAD&header=Cookie:a%3Db&header=X-A:1&ask=true";
    let told = running.ask("GET", target).await.json();
    assert_eq!(told, json!({"request": "HEAD http://a.test/x", "fields": ["cookie", "x-a"], "ask": true}));
    assert_eq!(running.ask("GET", "/explain?id=known").await.json(), json!({"id": "known"}));
    let forgotten = running.ask("GET", "/explain?id=other").await;
    assert_eq!(forgotten.status, 404);
    assert!(forgotten.detail().contains("the last few"));
    for target in
        ["/explain", "/explain?url=x", "/explain?url=http://a/&method=%20", "/explain?url=http://a/&header=x"]
    {
        assert_eq!(running.ask("GET", target).await.status, 400, "{target}");
    }
}
