//! Limits and draining: how long, how much, and when to stop.

use super::*;

fn short() -> Limits {
    Limits {
        head_size: 2048,
        header_count: 10,
        body_size: 10,
        header_timeout: Duration::from_secs(10),
        idle_timeout: Duration::from_secs(30),
        body_timeout: Duration::from_secs(20),
        ..Limits::default()
    }
}

fn hits_within(limits: Limits) -> Peer {
    Peer::connect_with(limits, |_| async { panic!("nothing comes through") })
}

fn refusal(status: &str) -> String {
    format!("HTTP/1.1 {status}\r\ndate: D\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn a_head_that_takes_too_long() {
    let mut peer = hits_within(short());
    peer.send("GET / HTTP/1.1\r\n").await;
    let start = tokio::time::Instant::now();
    for _ in 0..9 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        peer.send("x: y\r\n").await;
    }
    peer.expect_last(refusal("408 Request Timeout")).await;
    assert_eq!(start.elapsed().as_secs(), 10);
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn a_later_head_that_takes_too_long() {
    let mut peer = hits_within(short());
    peer.send(GET_FRESH).await;
    peer.expect(FRESH).await;
    tokio::time::sleep(Duration::from_secs(25)).await;
    peer.send("GET").await;
    let start = tokio::time::Instant::now();
    peer.expect_last(refusal("408 Request Timeout")).await;
    assert_eq!(start.elapsed().as_secs(), 10);
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn a_client_that_says_nothing_is_left_in_silence() {
    let start = tokio::time::Instant::now();
    let peer = hits_within(short());
    peer.expect_end().await;
    assert_eq!(start.elapsed().as_secs(), 10, "before the first request");

    let mut peer = hits_within(short());
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_secs(9)).await;
        peer.send(GET_FRESH).await;
        peer.expect(FRESH).await;
    }
    let start = tokio::time::Instant::now();
    peer.expect_end().await;
    assert_eq!(start.elapsed().as_secs(), 30, "between two requests");
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn a_client_that_takes_nothing() {
    // Hits first, then an answer that streams: more than the pipe between us holds.
    let mut peer = hits_within(short());
    peer.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n".repeat(3)).await;
    let start = tokio::time::Instant::now();
    timeout(A_LONG_WHILE, &mut peer.serving).await.expect("an end").unwrap();
    assert_eq!(start.elapsed().as_secs(), 20);

    let mut peer = Peer::connect_with(short(), |_| async {
        Response { body: Body::from(Bytes::from(vec![b'x'; LARGE])), ..response(200) }
    });
    peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let start = tokio::time::Instant::now();
    tokio::time::sleep(Duration::from_secs(15)).await;
    let mut some = vec![0; 20_000];
    peer.io.read_exact(&mut some).await.unwrap();
    timeout(A_LONG_WHILE, &mut peer.serving).await.expect("an end").unwrap();
    assert_eq!(start.elapsed().as_secs(), 35, "it took something after 15");
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn an_answer_may_take_longer_than_any_of_our_timeouts() {
    let mut peer = Peer::connect_with(short(), |_| async {
        tokio::time::sleep(Duration::from_secs(500)).await;
        with_content("late")
    });
    peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
    peer.expect(sent("late")).await;
    peer.send(GET_FRESH).await;
    peer.expect(FRESH).await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn too_much_of_anything() {
    for (request, status) in [
        (format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "a".repeat(3000)), "414 URI Too Long"),
        ("a".repeat(3000), "414 URI Too Long"),
        (format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "a".repeat(3000)), "431 Request Header Fields Too Large"),
        (format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "x: y\r\n".repeat(10)), "431 Request Header Fields Too Large"),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n".to_owned(), "413 Payload Too Large"),
        (
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551615\r\nExpect: 100-continue\r\n\r\n".to_owned(),
            "413 Payload Too Large",
        ),
    ] {
        let mut peer = hits_within(short());
        peer.send(format!("{GET_FRESH}{request}")).await;
        peer.expect_last(format!("{FRESH}{}", refusal(status))).await;
    }
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn chunks_that_add_up_to_too_much() {
    let mut peer = Peer::connect_with(short(), |request| async move {
        assert_eq!(read(request.body).await.unwrap_err().kind(), Kind::ContentTooLarge);
        response(413)
    });
    peer.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n").await;
    peer.send(GET_FRESH).await;
    peer.expect_last(refusal("413 Payload Too Large")).await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn draining_closes_idle_connections_at_once() {
    let mut peer = hits_within(short());
    peer.send(GET_FRESH).await;
    peer.expect(FRESH).await;
    peer.expect_nothing().await;
    let start = tokio::time::Instant::now();
    peer.drain.start();
    peer.expect_end().await;
    assert_eq!(start.elapsed().as_secs(), 0);
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn draining_lets_busy_connections_finish() {
    let mut peer = Peer::connect_with(short(), |_| async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        with_content("done")
    });
    peer.send(format!("GET / HTTP/1.1\r\nHost: a\r\n\r\n{GET_FRESH}")).await;
    peer.expect_nothing().await;
    peer.drain.start();
    peer.expect_last("HTTP/1.1 200 OK\r\ndate: D\r\ncontent-length: 4\r\nconnection: close\r\n\r\ndone")
        .await;

    // A head under way is one too.
    let mut peer = hits_within(short());
    let (begin, end) = GET_FRESH.split_at(20);
    peer.send(begin).await;
    peer.expect_nothing().await;
    peer.drain.start();
    peer.expect_nothing().await;
    peer.send(end).await;
    peer.expect_last(FRESH.replacen("\r\n\r\n", "\r\nconnection: close\r\n\r\n", 1)).await;
}
