//! Responses: framing, informational heads, bodies that break, clients that leave.

use http::HeaderMap;
use message::InterimHead;

use super::*;

const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

#[tokio::test(flavor = "local", start_paused = true)]
async fn streamed_in_chunks_with_trailers() {
    let (frames, body) = channel();
    let body = RefCell::new(Some(body));
    let mut peer = Peer::connect(move |_| {
        let body = body.take().unwrap();
        async { Response { body, ..response(200) } }
    });
    peer.send(format!("{GET}{GET_FRESH}")).await;
    peer.expect("HTTP/1.1 200 OK\r\ndate: D\r\ntransfer-encoding: chunked\r\n\r\n").await;
    peer.expect_nothing().await;
    for _ in 0..2 {
        frames.send(Ok(data("hello"))).unwrap();
        peer.expect("5\r\nhello\r\n").await;
    }
    frames.send(Ok(data(""))).unwrap(); // would end the content, were it written
    peer.expect_nothing().await;
    let long = "y".repeat(40_000);
    frames.send(Ok(Frame::data(Bytes::from(long.clone())))).unwrap();
    peer.expect(format!("9c40\r\n{long}\r\n")).await;
    let trailers = HeaderMap::from_iter([("grpc-status".parse().unwrap(), HeaderValue::from_static("0"))]);
    frames.send(Ok(Frame::trailers(trailers))).unwrap();
    peer.expect(format!("0\r\ngrpc-status: 0\r\n\r\n{FRESH}")).await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn framing_fits_status_method_and_version() {
    let mut peer = Peer::connect(|request| async move {
        let mut response = response(request.target[1..4].parse().unwrap());
        response.fields.insert("content-length", HeaderValue::from_static("7"));
        response.fields.insert("transfer-encoding", HeaderValue::from_static("gzip"));
        response.fields.insert("connection", HeaderValue::from_static("x"));
        response.fields.insert("upgrade", HeaderValue::from_static("y"));
        if request.target.ends_with("whole") {
            response.body = Body::from(Bytes::from("content"));
        }
        response
    });
    for (method, target, head) in [
        ("GET", "/200", "200 OK\r\ndate: D\r\ncontent-length: 0\r\n\r\n"),
        ("GET", "/200-whole", "200 OK\r\ndate: D\r\ncontent-length: 7\r\n\r\ncontent"),
        ("HEAD", "/200", "200 OK\r\ndate: D\r\ncontent-length: 7\r\n\r\n"),
        ("HEAD", "/200-whole", "200 OK\r\ndate: D\r\ncontent-length: 7\r\n\r\n"),
        ("GET", "/304", "304 Not Modified\r\ndate: D\r\ncontent-length: 7\r\n\r\n"),
        ("GET", "/304-whole", "304 Not Modified\r\ndate: D\r\ncontent-length: 7\r\n\r\n"),
        ("GET", "/204-whole", "204 No Content\r\ndate: D\r\n\r\n"),
        ("HEAD", "/204", "204 No Content\r\ndate: D\r\n\r\n"),
        ("GET", "/205", "205 Reset Content\r\ndate: D\r\ncontent-length: 0\r\n\r\n"),
        ("GET", "/799", "799 \r\ndate: D\r\ncontent-length: 0\r\n\r\n"),
    ] {
        peer.send(format!("{method} {target} HTTP/1.1\r\nHost: a\r\n\r\n")).await;
        // The map may order the fields otherwise than they were put in, but not across names.
        peer.expect(format!("HTTP/1.1 {head}")).await;
    }
    peer.send("GET /200-whole HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").await;
    peer.expect("HTTP/1.1 200 OK\r\ndate: D\r\ncontent-length: 7\r\nconnection: keep-alive\r\n\r\ncontent")
        .await;
    peer.send("GET /200-whole HTTP/1.0\r\n\r\n").await;
    peer.expect_last("HTTP/1.1 200 OK\r\ndate: D\r\ncontent-length: 7\r\nconnection: close\r\n\r\ncontent")
        .await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn a_date_is_added_where_there_is_none() {
    let mut peer = Peer::connect(|_| async { Response::new(StatusCode::OK) });
    peer.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
    let mut read = String::new();
    peer.io.read_to_string(&mut read).await.unwrap();
    let date = read.lines().find_map(|line| line.strip_prefix("date: ")).unwrap();
    assert!(httpdate::parse_http_date(date).is_ok(), "{date}");
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn http_1_0_gets_streams_until_close_and_no_interim_heads() {
    let mut peer = Peer::connect(|request| async move {
        request.interim.push(InterimHead { status: StatusCode::EARLY_HINTS, fields: HeaderMap::new() });
        let (frames, body) = channel();
        frames.send(Ok(data("hello"))).unwrap();
        Response { body, ..response(200) }
    });
    peer.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").await;
    peer.expect_last("HTTP/1.1 200 OK\r\ndate: D\r\nconnection: close\r\n\r\nhello").await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn interim_heads_come_as_they_are_pushed() {
    let mut peer = Peer::connect(|request| async move {
        let hint = |status: u16| InterimHead {
            status: StatusCode::from_u16(status).unwrap(),
            fields: HeaderMap::from_iter([
                ("link".parse().unwrap(), HeaderValue::from_static("</a>")),
                ("content-length".parse().unwrap(), HeaderValue::from_static("5")),
            ]),
        };
        request.interim.push(hint(103));
        request.interim.push(hint(101)); // switches nothing, so it is none
        tokio::time::sleep(Duration::from_secs(1)).await;
        request.interim.push(hint(102));
        with_content("final")
    });
    peer.send(format!("{GET_FRESH}{GET}")).await;
    peer.expect(format!("{FRESH}HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n")).await;
    peer.expect_nothing().await;
    peer.expect(format!("HTTP/1.1 102 Processing\r\nlink: </a>\r\n\r\n{}", sent("final"))).await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn a_body_that_fails_never_ends_well() {
    for (first, head, rest) in [
        (Some("hello"), "transfer-encoding: chunked\r\n\r\n", "5\r\nhello\r\n"),
        (None, "transfer-encoding: chunked\r\n\r\n", ""),
    ] {
        let mut peer = Peer::connect(move |_| async move {
            let (frames, body) = channel();
            if let Some(first) = first {
                frames.send(Ok(data(first))).unwrap();
            }
            frames.send(Err(Error::new(Kind::BrokeOff, "gone"))).unwrap();
            Response { body, ..response(200) }
        });
        peer.send(format!("{GET}{GET_FRESH}")).await;
        peer.expect_last(format!("HTTP/1.1 200 OK\r\ndate: D\r\n{head}{rest}")).await;
    }
}

/// Says that it is longer, or shorter, than it is.
struct Lying(Option<&'static str>);

impl http_body::Body for Lying {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        Poll::Ready(self.0.take().map(|text| Ok(data(text))))
    }

    fn size_hint(&self) -> http_body::SizeHint {
        http_body::SizeHint::with_exact(5)
    }
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn a_body_of_another_length_than_its_head_said_breaks_off() {
    for (content, seen) in [("hell", "hell"), ("hello!", "")] {
        let mut peer = Peer::connect(move |_| async move {
            Response { body: Body::stream(Lying(Some(content))), ..response(200) }
        });
        peer.send(GET).await;
        peer.expect_last(format!("HTTP/1.1 200 OK\r\ndate: D\r\ncontent-length: 5\r\n\r\n{seen}")).await;
    }
}

/// Tells when it is dropped.
struct Dropped(mpsc::UnboundedSender<()>);

impl Drop for Dropped {
    fn drop(&mut self) {
        let _ = self.0.send(()); // nobody may be looking
    }
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn a_client_that_leaves_ends_the_work_on_its_answer() {
    let (sender, mut dropped) = mpsc::unbounded_channel();
    let mut peer = Peer::connect(move |request| {
        let witness = Dropped(sender.clone());
        async move {
            let _witness = witness;
            let _request = request;
            std::future::pending().await
        }
    });
    peer.send(format!("{GET}{GET_FRESH}")).await; // what was sent ahead changes nothing
    peer.expect_nothing().await;
    assert!(dropped.try_recv().is_err());
    drop(peer.io);
    timeout(A_WHILE, dropped.recv()).await.expect("the handler's future is dropped");
    timeout(A_WHILE, peer.serving).await.expect("and the connection with it").unwrap();
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn a_client_that_leaves_amid_an_answer_or_its_content() {
    let (sender, mut dropped) = mpsc::unbounded_channel();
    let (frames, body) = channel();
    let body = RefCell::new(Some(body));
    let mut peer = Peer::connect(move |_| {
        let body = body.take().unwrap();
        async { Response { body, ..response(200) } }
    });
    peer.send(GET).await;
    frames.send(Ok(data("hello"))).unwrap();
    peer.expect("HTTP/1.1 200 OK\r\ndate: D\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n").await;
    drop(peer.io);
    timeout(A_WHILE, frames.closed()).await.expect("the body is dropped");

    let mut peer = Peer::connect(move |request| {
        let reading = tokio::task::spawn_local(read(request.body));
        let sender = sender.clone();
        tokio::task::spawn_local(async move {
            assert_eq!(reading.await.unwrap().unwrap_err().kind(), Kind::ClientGone);
            sender.send(()).unwrap();
        });
        std::future::pending()
    });
    peer.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhell").await;
    peer.expect_nothing().await;
    drop(peer.io);
    timeout(A_WHILE, dropped.recv()).await.expect("the reader is told");
}

/// HTTP/1.0 takes a close for the end of content: only a reset tells that it is not.
#[tokio::test(flavor = "local")]
async fn a_body_that_fails_resets_a_client_that_waits_for_the_close() {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let mut client = tokio::net::TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (io, address) = listener.accept().await.unwrap();
    let (frames, body) = channel();
    let script = Script::new({
        let body = RefCell::new(Some(body));
        move |_| {
            let body = body.take().unwrap();
            async { Response { body, ..response(200) } }
        }
    });
    let client_side = Client { address, local: address, trusted: false };
    let context = context(script, Limits::default(), Drain::default(), client_side);
    tokio::task::spawn_local(super::super::serve(io, BytesMut::new(), context));
    client.write_all(b"GET / HTTP/1.0\r\n\r\n").await.unwrap();
    frames.send(Ok(data("hello"))).unwrap();
    let head = b"HTTP/1.1 200 OK\r\ndate: D\r\nconnection: close\r\n\r\nhello";
    let mut seen = vec![0; head.len()];
    client.read_exact(&mut seen).await.unwrap();
    assert_eq!(seen, head);
    frames.send(Err(Error::new(Kind::BrokeOff, "gone"))).unwrap();
    let end = timeout(Duration::from_secs(10), client.read(&mut seen)).await.expect("an end");
    assert_eq!(end.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
}
