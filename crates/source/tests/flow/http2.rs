//! HTTP/2 to origins, with prior knowledge.

use std::rc::Rc;
use std::task::Waker;
use std::time::Duration;

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, RecvStream};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use http_body_util::BodyExt;
use message::{Body, Kind, Retry};
use plan::Protocol;
use source::HttpSource;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::support::*;

/// Answers every request with its method and URI.
pub(crate) async fn echo(io: impl AsyncRead + AsyncWrite + Unpin + 'static) {
    let mut connection = h2::server::handshake(io).await.unwrap();
    while let Some(Ok((request, mut respond))) = connection.accept().await {
        let text = format!("{} {}", request.method(), request.uri());
        let mut stream = respond.send_response(Response::new(()), false).unwrap();
        stream.send_data(text.into(), true).unwrap();
    }
}

type Exchange = (http::Request<RecvStream>, SendResponse<Bytes>);

/// An HTTP/2 origin that handles each request in a task; gets the connection's number too.
async fn http2_origin<F>(handle: impl Fn(usize, Exchange) -> F + Clone + 'static) -> HttpSource
where
    F: Future<Output = ()> + 'static,
{
    let port = origin(move |number, peer| {
        let handle = handle.clone();
        async move {
            let mut connection = h2::server::handshake(peer.stream).await.unwrap();
            while let Some(Ok(exchange)) = connection.accept().await {
                tokio::task::spawn_local(handle(number, exchange));
            }
        }
    })
    .await;
    let mut plan = plan(&[port]);
    plan.protocol = Protocol::Http2;
    source(plan)
}

fn respond(respond: &mut SendResponse<Bytes>, text: &'static str) {
    let mut stream = respond.send_response(Response::new(()), false).unwrap();
    stream.send_data(text.into(), true).unwrap();
}

#[tokio::test(flavor = "local")]
async fn a_request_and_its_answer_with_trailers() {
    let source = http2_origin(|_, (request, mut respond)| async move {
        assert_eq!(request.uri(), "http://api.example/svc/Method?a=b");
        let fields = request.headers();
        assert_eq!(fields["te"], "trailers");
        assert_eq!(fields["x-forwarded-for"], "192.0.2.7");
        assert_eq!(fields["via"], "1.1 fleetfoot");
        assert_eq!(fields["content-length"], "4");
        assert!(fields.get("connection").is_none() && fields.get("host").is_none());
        let content = request.into_body();
        let text = collect(content).await;
        assert_eq!(text, "data");
        let head = Response::builder().header("content-length", 2).header("x", "1").body(()).unwrap();
        let mut stream = respond.send_response(head, false).unwrap();
        stream.send_data("ok".into(), false).unwrap();
        let mut trailers = HeaderMap::new();
        trailers.insert("grpc-status", HeaderValue::from_static("0"));
        stream.send_trailers(trailers).unwrap();
    })
    .await;
    let mut request = post(whole("data"));
    request.parts_mut().target = "/svc/Method?a=b".into();
    let request = with(request, &[("te", "trailers"), ("connection", "te, x-hop"), ("x-hop", "1")]);
    let response = source.send(request).await.unwrap();
    assert_eq!(response.body.exact_length(), Some(2));
    assert_eq!(response.fields.keys().map(http::HeaderName::as_str).collect::<Vec<_>>(), ["x"]);
    let (text, trailers) = content(response).await.unwrap();
    assert_eq!((text.as_str(), trailers.unwrap()["grpc-status"].to_str().unwrap()), ("ok", "0"));
    assert_eq!(source.idle_connections(), 1);
}

async fn collect(mut content: RecvStream) -> String {
    let mut text = Vec::new();
    while let Some(Ok(data)) = content.data().await {
        content.flow_control().release_capacity(data.len()).unwrap();
        text.extend_from_slice(&data);
    }
    String::from_utf8(text).unwrap()
}

#[tokio::test(flavor = "local")]
async fn streams_share_one_connection() {
    let source = http2_origin(|number, (_, mut respond)| async move {
        assert_eq!(number, 0);
        tokio::task::yield_now().await;
        self::respond(&mut respond, "ok");
    })
    .await;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..90 {
        let source = source.clone();
        tasks.spawn_local(async move { answer(&source, get("/")).await });
    }
    while let Some(answer) = tasks.join_next().await {
        assert_eq!(answer.unwrap(), (200, "ok".to_owned()));
    }
}

#[tokio::test(flavor = "local")]
async fn both_ways_at_once_as_grpc_does() {
    let source = http2_origin(|_, (request, mut respond)| async move {
        let mut content = request.into_body();
        let mut stream = respond.send_response(Response::new(()), false).unwrap();
        while let Some(Ok(data)) = content.data().await {
            content.flow_control().release_capacity(data.len()).unwrap();
            stream.send_data(data, false).unwrap();
        }
        stream.send_data(Bytes::new(), true).unwrap();
    })
    .await;
    let (sender, body) = Sent::body();
    let mut response = source.send(post(body)).await.unwrap();
    for word in ["one", "two", "three"] {
        sender.send(word.into()).unwrap();
        assert_eq!(response.body.frame().await.unwrap().unwrap().into_data().unwrap(), word);
    }
    drop(sender);
    assert!(response.body.frame().await.is_none());
}

#[tokio::test(flavor = "local")]
async fn content_larger_than_any_window() {
    let source = http2_origin(|_, (request, mut respond)| async move {
        let text = collect(request.into_body()).await;
        let mut stream = respond.send_response(Response::new(()), false).unwrap();
        stream.send_data(text.into(), true).unwrap();
    })
    .await;
    let body = Body::from(Bytes::from(vec![b'x'; 3_000_000]));
    let (_, text) = answer(&source, post(body)).await;
    assert!(text.len() == 3_000_000 && text.bytes().all(|byte| byte == b'x'));
}

#[tokio::test(flavor = "local")]
async fn hints_are_passed_on() {
    let source = http2_origin(|_, (_, mut respond)| async move {
        for status in [100, 103] {
            let head = Response::builder().status(status).header("x", "1").body(()).unwrap();
            respond.send_informational(head).unwrap();
            tokio::task::yield_now().await;
        }
        self::respond(&mut respond, "ok");
    })
    .await;
    let request = get("/");
    let interim = request.interim.clone();
    assert_eq!(answer(&source, request).await.1, "ok");
    let hint = interim.take(Waker::noop()).unwrap();
    assert_eq!((hint.status.as_u16(), &hint.fields["x"]), (103, &HeaderValue::from_static("1")));
    assert!(interim.take(Waker::noop()).is_none());
}

#[tokio::test(flavor = "local")]
async fn the_content_waits_for_100() {
    let source = http2_origin(|_, (request, mut respond)| async move {
        assert_eq!(request.headers()["expect"], "100-continue");
        let head = Response::builder().status(100).body(()).unwrap();
        respond.send_informational(head).unwrap();
        assert_eq!(collect(request.into_body()).await, "data");
        self::respond(&mut respond, "ok");
    })
    .await;
    let request = with(post(whole("data")), &[("expect", "100-continue")]);
    assert_eq!(answer(&source, request).await.1, "ok");
}

#[tokio::test(flavor = "local")]
async fn a_refused_stream_is_sent_again_whatever_the_method() {
    let notes = Notes::default();
    let noted = Rc::clone(&notes);
    let source = http2_origin(move |_, (request, mut respond)| {
        noted.borrow_mut().push(request.method().to_string());
        let first = noted.borrow().len() == 1;
        async move {
            if first { respond.send_reset(Reason::REFUSED_STREAM) } else { self::respond(&mut respond, "ok") }
        }
    })
    .await;
    assert_eq!(answer(&source, post(Body::Empty)).await.1, "ok");
    assert_eq!(*notes.borrow(), ["POST", "POST"]);
}

#[tokio::test(flavor = "local")]
async fn a_reset_stream_is_not_sent_again() {
    let notes = Notes::default();
    let noted = Rc::clone(&notes);
    let source = http2_origin(move |_, (_, mut respond)| {
        noted.borrow_mut().push(String::new());
        async move { respond.send_reset(Reason::INTERNAL_ERROR) }
    })
    .await;
    let error = source.send(get("/")).await.unwrap_err();
    assert_eq!((error.kind(), error.may_retry()), (Kind::BrokeOff, Retry::Never));
    assert_eq!(notes.borrow().len(), 1);
}

#[tokio::test(flavor = "local")]
async fn a_reset_amid_the_content_is_a_break() {
    let source = http2_origin(|_, (_, mut respond)| async move {
        let mut stream = respond.send_response(Response::new(()), false).unwrap();
        stream.send_data("begin".into(), false).unwrap();
        tokio::time::sleep(Duration::from_millis(10)).await;
        stream.send_reset(Reason::INTERNAL_ERROR);
    })
    .await;
    let mut response = source.send(get("/")).await.unwrap();
    assert_eq!(response.body.frame().await.unwrap().unwrap().into_data().unwrap(), "begin");
    let error = response.body.frame().await.unwrap().unwrap_err();
    assert_eq!(error.kind(), Kind::BrokeOff);
    assert!(response.body.frame().await.is_none());
}

#[tokio::test(flavor = "local")]
async fn content_shorter_than_said_is_malformed() {
    let source = http2_origin(|_, (_, mut respond)| async move {
        let head = Response::builder().header("content-length", 10).body(()).unwrap();
        let mut stream = respond.send_response(head, false).unwrap();
        stream.send_data("short".into(), true).unwrap();
    })
    .await;
    let error = match source.send(get("/")).await {
        Ok(response) => content(response).await.unwrap_err(),
        Err(error) => error,
    };
    assert_eq!(error.kind(), Kind::MalformedResponse);
}

#[tokio::test(flavor = "local")]
async fn a_connection_that_goes_away_is_replaced() {
    let port = origin(|number, peer| async move {
        let mut connection = h2::server::handshake(peer.stream).await.unwrap();
        while let Some(Ok((_, mut respond))) = connection.accept().await {
            let mut stream = respond.send_response(Response::new(()), false).unwrap();
            stream.send_data(number.to_string().into(), true).unwrap();
            if number == 0 {
                connection.graceful_shutdown();
            }
        }
    })
    .await;
    let mut plan = plan(&[port]);
    plan.protocol = Protocol::Http2;
    let source = source(plan);
    for expected in ["0", "1", "1"] {
        assert_eq!(answer(&source, get("/")).await.1, expected);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "local")]
async fn heads_without_content() {
    let source = http2_origin(|_, (request, mut respond)| async move {
        let status = if request.method() == Method::HEAD { 200 } else { 204 };
        let head = Response::builder().status(status).header("content-length", 0);
        let head = if request.method() == Method::HEAD { head.header("x", "1") } else { head };
        respond.send_response(head.body(()).unwrap(), true).unwrap();
    })
    .await;
    let head = source.send(request(Method::HEAD, "/")).await.unwrap();
    assert!(matches!(head.body, Body::Empty));
    assert_eq!(head.fields["content-length"], "0");
    let response = source.send(get("/")).await.unwrap();
    assert_eq!(response.status, StatusCode::NO_CONTENT);
    assert!(response.fields.get("content-length").is_none());
}

#[tokio::test(flavor = "local")]
async fn an_origin_that_never_answers_times_out() {
    let source = http2_origin(|_, (_, respond)| async move {
        tokio::time::pause();
        tokio::time::sleep(Duration::from_secs(100)).await;
        drop(respond);
    })
    .await;
    let error = source.send(get("/")).await.unwrap_err();
    assert_eq!(error.kind(), Kind::SourceTimeout);
    assert!(error.detail().ends_with("no answer within 10s"), "{error}");
}

#[tokio::test(flavor = "local")]
async fn an_http1_origin_is_not_taken_for_http2() {
    let port = always("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n").await;
    let mut plan = plan(&[port]);
    plan.protocol = Protocol::Http2;
    let error = source(plan).send(get("/")).await.unwrap_err();
    assert!(matches!(error.kind(), Kind::MalformedResponse | Kind::BrokeOff), "{error}");
}

/// Serves one request in a connection and notes after how many seconds of idling the source closed it.
async fn closed_after(talk: impl AsyncFn(Peer) + Clone + 'static) -> u64 {
    let notes = Notes::default();
    let noted = Rc::clone(&notes);
    let port = origin(move |_, peer| {
        let (notes, talk) = (Rc::clone(&noted), talk.clone());
        async move {
            let start = tokio::time::Instant::now();
            talk(peer).await;
            notes.borrow_mut().push(start.elapsed().as_secs().to_string());
        }
    })
    .await;
    let mut plan = plan(&[port]);
    plan.protocol = Protocol::Http2;
    let source = source(plan);
    assert_eq!(answer(&source, get("/")).await.0, 200);
    assert_eq!(source.idle_connections(), 1);
    tokio::time::pause();
    while notes.borrow().is_empty() {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert_eq!(source.idle_connections(), 0);
    notes.take()[0].parse().unwrap()
}

#[tokio::test(flavor = "local")]
async fn an_idle_connection_is_closed_at_last() {
    let seconds = closed_after(async |peer: Peer| echo(peer.stream).await).await;
    assert!((55..=61).contains(&seconds), "{seconds}");
}

#[tokio::test(flavor = "local")]
async fn an_idle_connection_that_does_not_answer_a_ping_is_closed_soon() {
    const SETTINGS: &[u8] = b"\0\0\0\x04\0\0\0\0\0";
    const HEADERS_200_END: &[u8] = b"\0\0\x01\x01\x05\0\0\0\x01\x88";
    let seconds = closed_after(async |mut peer: Peer| {
        peer.until(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await;
        peer.send(SETTINGS).await;
        peer.until(b"\0\0\0\x01").await; // the stream's number
        peer.send(HEADERS_200_END).await;
        peer.closed().await;
    })
    .await;
    assert!((35..=46).contains(&seconds), "{seconds}");
}
