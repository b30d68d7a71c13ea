//! What origins get to see: request lines, fields, hosts.

use std::rc::Rc;

use http::{Method, StatusCode, Version};
use message::{Client, Kind, Request};
use plan::HostField;
use testkit::Port;

use crate::support::*;

/// The head that an origin gets.
async fn head_at_origin(request: Request, change: impl FnOnce(&mut plan::HttpSource)) -> String {
    let notes = Notes::default();
    let noted = Rc::clone(&notes);
    let port = origin(move |_, mut peer| {
        let notes = Rc::clone(&noted);
        async move {
            let head = peer.head().await;
            notes.borrow_mut().push(head);
            peer.send("HTTP/1.1 204 No Content\r\n\r\n").await;
        }
    })
    .await;
    let mut plan = plan(&[port]);
    change(&mut plan);
    let response = source(plan).send(request).await.unwrap();
    assert_eq!(response.status, StatusCode::NO_CONTENT);
    notes.take()[0].replace(&port.to_string(), "PORT")
}

#[tokio::test(flavor = "local")]
async fn a_whole_head() {
    let request = with(
        get("/a%2Fb?c=d;e&f"),
        &[
            ("accept", "*/*"),
            ("connection", "keep-alive, x-secret"),
            ("x-secret", "for the proxy"),
            ("keep-alive", "timeout=5"),
            ("proxy-authorization", "Basic eDp5"),
            ("te", "gzip, trailers;q=0.5"),
            ("expect", "100-continue"),
            ("transfer-encoding", "chunked"),
            ("x-forwarded-for", "1.1.1.1"),
        ],
    );
    assert_eq!(
        head_at_origin(request, |_| {}).await,
        "GET /a%2Fb?c=d;e&f HTTP/1.1\r\n\
         host: api.example\r\n\
         accept: */*\r\n\
         via: 1.1 fleetfoot\r\n\
         x-forwarded-for: 192.0.2.7\r\n\
         forwarded: for=192.0.2.7;host=\"api.example\";proto=http\r\n\
         x-forwarded-proto: http\r\n\
         x-forwarded-host: api.example\r\n\
         x-real-ip: 192.0.2.7\r\n\
         connection: te\r\n\
         te: trailers\r\n\
         \r\n"
    );
}

#[tokio::test(flavor = "local")]
async fn host_by_the_rule() {
    let host = async |rule: HostField, authority: &str| {
        let mut request = get("/");
        request.parts_mut().authority = authority.into();
        let head = head_at_origin(request, |plan| plan.host = rule).await;
        head.lines().nth(1).unwrap().to_owned()
    };
    assert_eq!(host(HostField::Auto, "api.example").await, "host: api.example");
    assert_eq!(host(HostField::Client, "api.example").await, "host: api.example");
    assert_eq!(host(HostField::Target, "api.example").await, "host: 127.0.0.1:PORT");
    assert_eq!(host(HostField::Fixed("inner".to_owned()), "api.example").await, "host: inner");
    assert_eq!(host(HostField::Auto, "").await, "host: 127.0.0.1:PORT");
}

#[tokio::test(flavor = "local")]
async fn a_trusted_client_is_appended_to() {
    let mut request = with(get("/"), &[("x-forwarded-for", "198.51.100.1"), ("x-forwarded-proto", "https")]);
    request.parts_mut().client = Client { trusted: true, ..request.client };
    let head = head_at_origin(request, |_| {}).await;
    assert!(head.contains("\r\nx-forwarded-for: 198.51.100.1, 192.0.2.7\r\n"), "{head}");
    assert!(head.contains("\r\nx-forwarded-proto: https\r\n"), "{head}");
}

#[tokio::test(flavor = "local")]
async fn a_loop_ends() {
    let source = source_at(always("HTTP/1.1 204 No Content\r\n\r\n").await);
    let via = ["1.1 fleetfoot"; 6].join(",");
    let request = with(get("/"), &[("via", via.leak())]);
    assert_eq!(source.send(request).await.unwrap_err().kind(), Kind::Loop);
}

#[tokio::test(flavor = "local")]
async fn nothing_can_be_injected() {
    let source = source_at(always("HTTP/1.1 204 No Content\r\n\r\n").await);
    for target in ["/a b", "/\r\nx: y", "/\0", "", "/\t"] {
        assert_eq!(source.send(get(target)).await.unwrap_err().kind(), Kind::MalformedRequest, "{target:?}");
    }
    let mut request = get("/");
    request.parts_mut().authority = "a\r\nb".into();
    assert_eq!(source.send(request).await.unwrap_err().kind(), Kind::MalformedRequest);
}

#[tokio::test(flavor = "local")]
async fn max_forwards_counts_down() {
    let options = |left| with(request(Method::OPTIONS, "*"), &[("max-forwards", left)]);
    let head = head_at_origin(options("3"), |_| {}).await;
    assert!(head.starts_with("OPTIONS * HTTP/1.1\r\n") && head.contains("\r\nmax-forwards: 2\r\n"), "{head}");
    let nobody = Port::reserve();
    let source = source_at(nobody.number());
    assert_eq!(source.send(options("0")).await.unwrap().status, StatusCode::NO_CONTENT);
    let trace = with(request(Method::TRACE, "/"), &[("max-forwards", "0")]);
    assert_eq!(source.send(trace).await.unwrap_err().kind(), Kind::MethodNotAllowed);
}

#[tokio::test(flavor = "local")]
async fn hop_by_hop_fields_of_answers_stay_behind() {
    let port = always(
        "HTTP/1.1 200 OK\r\nConnection: x-hop, keep-alive\r\nX-Hop: 1\r\nKeep-Alive: timeout=9\r\n\
         Upgrade: h2c\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\nX-End: 1\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n\r\n",
    )
    .await;
    let source = source_at(port);
    let mut request = get("/");
    request.parts_mut().version = Version::HTTP_10;
    let response = source.send(request).await.unwrap();
    let mut names: Vec<_> = response.fields.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["set-cookie", "set-cookie", "x-end"]);
    assert_eq!(source.idle_connections(), 1);
}
