//! Refusals: what is malformed is answered once, after the answers before it, and nothing behind it is read.

use super::*;

fn refusal(status: &str) -> String {
    format!("HTTP/1.1 {status}\r\ndate: D\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
}

/// Each sent behind a good request and before another, which must not be answered.
#[tokio::test(flavor = "local", start_paused = true)]
async fn malformed_requests() {
    for bad in [
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\nhello",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer_Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "GET / HTTP/1.1\nHost: a\n\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: a\n b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n",
        "GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /\r\n",
        "\0",
    ] {
        let mut peer = Peer::connect_for_hits();
        peer.send(format!("{GET_FRESH}{bad}{GET_FRESH}")).await;
        peer.expect(format!("{FRESH}{}", refusal("400 Bad Request"))).await;
        assert_eq!(*peer.script.refused.borrow(), [Kind::MalformedRequest], "{bad:?}");
        peer.expect_end().await;
    }
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn a_bad_request_behind_a_slow_one() {
    let mut peer = Peer::connect(|_| async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        with_content("slow")
    });
    peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost : a\r\n\r\n").await;
    peer.expect_last(format!("{}{}", sent("slow"), refusal("400 Bad Request"))).await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn methods_and_versions_that_are_not_served() {
    for (line, status) in [("CONNECT a:443", "405 Method Not Allowed"), ("TRACE /", "405 Method Not Allowed")]
    {
        let mut peer = Peer::connect_for_hits();
        peer.send(format!("{line} HTTP/1.1\r\nHost: a\r\n\r\n{GET_FRESH}")).await;
        peer.expect_last(refusal(status)).await;
    }
    let mut peer = Peer::connect_for_hits();
    peer.send("GET / HTTP/3.0\r\nHost: a\r\n\r\n").await;
    peer.expect_last(refusal("505 HTTP Version Not Supported")).await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn the_answer_survives_a_client_that_goes_on_sending() {
    let mut peer = Peer::connect_for_hits();
    peer.send("GET / HTTP/1.1\r\nHost: a\r\nX : y\r\n\r\n").await;
    for _ in 0..4 {
        peer.send("x".repeat(50_000)).await; // would fail, were the connection closed
    }
    peer.expect_last(refusal("400 Bad Request")).await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn lingering_is_bounded() {
    let mut peer = Peer::connect_for_hits();
    peer.send("\0").await;
    peer.expect(refusal("400 Bad Request")).await;
    let start = tokio::time::Instant::now();
    timeout(A_LONG_WHILE, &mut peer.serving).await.expect("an end").unwrap();
    assert_eq!(start.elapsed().as_secs(), 2, "of a client that neither sends nor closes");

    let mut peer = Peer::connect_for_hits();
    peer.send("\0").await;
    let flood = vec![b'x'; 2_000_000];
    let start = tokio::time::Instant::now();
    assert!(peer.io.write_all(&flood).await.is_err());
    assert_eq!(start.elapsed().as_secs(), 0, "of one that sends without end");
}
