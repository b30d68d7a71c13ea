//! Content of requests: streamed to the handler, bounded, and never in the way of the next request.

use super::*;

/// Answers with what it read, once it has read all of it.
async fn echo(request: Request) -> Response {
    match read(request.body).await {
        Ok((content, trailers)) => {
            let content = format!("{content}{}", trailers.join(","));
            Response { body: Body::from(Bytes::from(content)), ..response(200) }
        }
        Err(error) if error.kind() == Kind::ContentTooLarge => response(413),
        Err(error) if error.kind() == Kind::ClientTimeout => response(408),
        Err(error) => panic!("{error}"),
    }
}

fn post(lines: &str) -> String {
    format!("POST / HTTP/1.1\r\nHost: a\r\n{lines}\r\n\r\n")
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn with_a_length_and_in_chunks() {
    let mut peer = Peer::connect(echo);
    peer.send(format!(
        "{}hello{}5\r\nhello\r\n1;x=y\r\n!\r\n0\r\nX-Sum: 1\r\n\r\n{GET_FRESH}",
        post("Content-Length: 5"),
        post("Transfer-Encoding: chunked")
    ))
    .await;
    peer.expect(format!("{}{}{FRESH}", sent("hello"), sent("hello!x-sum"))).await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn byte_by_byte() {
    let mut peer = Peer::connect(echo);
    let bytes =
        format!("{}5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n{GET_FRESH}", post("Transfer-Encoding: chunked"));
    for byte in bytes.as_bytes() {
        peer.send([*byte]).await;
        tokio::task::yield_now().await;
    }
    peer.expect(format!("{}{FRESH}", sent("hellox-sum"))).await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn large_content_passes_whole() {
    let mut peer = Peer::connect(|request| async move {
        assert_eq!(request.body.exact_length(), Some(1_000_000));
        let (content, _) = read(request.body).await.unwrap();
        assert!(content.len() == 1_000_000 && content.bytes().all(|byte| byte == b'x'));
        with_content("all")
    });
    peer.send(post("Content-Length: 1000000")).await;
    peer.send("x".repeat(1_000_000)).await;
    peer.expect(sent("all")).await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn a_client_that_waits_is_told_to_go_on_once_somebody_reads() {
    let mut peer = Peer::connect(|request| async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        echo(request).await
    });
    peer.send(post("Content-Length: 5\r\nExpect: 100-continue")).await;
    peer.expect_nothing().await;
    peer.expect("HTTP/1.1 100 Continue\r\n\r\n").await;
    peer.send("hello").await;
    peer.expect(sent("hello")).await;
    // One that does not wait is not told.
    peer.send(format!("{}hello", post("Content-Length: 5\r\nExpect: 100-continue"))).await;
    peer.expect(sent("hello")).await;
    // Nor one whose request has no content.
    peer.send(post("Content-Length: 0\r\nExpect: 100-continue")).await;
    peer.expect(sent("")).await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn a_client_that_waits_is_told_once_if_the_origin_tells_it() {
    let mut peer = Peer::connect(|request| async move {
        let fields = http::HeaderMap::new();
        request.interim.push(message::InterimHead { status: StatusCode::CONTINUE, fields });
        tokio::time::sleep(Duration::from_secs(1)).await;
        echo(request).await
    });
    peer.send(post("Content-Length: 5\r\nExpect: 100-continue")).await;
    peer.expect("HTTP/1.1 100 Continue\r\n\r\n").await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    peer.expect_nothing().await;
    peer.send("hello").await;
    peer.expect(sent("hello")).await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn a_client_that_waits_may_be_answered_at_once() {
    let mut peer = Peer::connect(|_| async { response(401) });
    peer.send(post("Content-Length: 5\r\nExpect: 100-continue")).await;
    // Whether it sends its content now, nobody knows: so this is the last answer.
    peer.expect("HTTP/1.1 401 Unauthorized\r\ndate: D\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        .await;
    peer.send(format!("hello{GET_FRESH}")).await;
    peer.expect_end().await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn short_content_that_nobody_reads_is_skipped() {
    let mut peer = Peer::connect(|_| async { with_content("early") });
    let content = GET_FRESH;
    peer.send(format!("{}{content}{GET_FRESH}", post(&format!("Content-Length: {}", content.len())))).await;
    peer.expect(format!("{}{FRESH}", sent("early"))).await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn long_content_that_nobody_reads_ends_the_connection() {
    for (lines, content) in [("Content-Length: 1000000", ""), ("Transfer-Encoding: chunked", "f4240\r\n")] {
        let mut peer = Peer::connect(|_| async { response(404) });
        peer.send(format!("{}{content}", post(lines))).await;
        peer.expect("HTTP/1.1 404 Not Found\r\ndate: D\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            .await;
        peer.send("x".repeat(100_000)).await; // it is read, so that the answer is not lost in a reset
        peer.expect_end().await;
    }
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn content_that_stops_coming() {
    let limits = Limits { body_timeout: Duration::from_secs(5), ..Limits::default() };
    let mut peer = Peer::connect_with(limits, echo);
    peer.send(format!("{}he", post("Content-Length: 5"))).await;
    tokio::time::sleep(Duration::from_secs(4)).await;
    peer.send("l").await;
    tokio::time::sleep(Duration::from_secs(4)).await;
    peer.expect_nothing().await;
    peer.expect_last(
        "HTTP/1.1 408 Request Timeout\r\ndate: D\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
    )
    .await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn malformed_chunks_end_the_request() {
    for content in ["x\r\n", "5\r\nhelloX\r\n", "0\r\nHost: b\r\n\r\n", "5\nhello", "0x5\r\nhello"] {
        let mut peer = Peer::connect(|request| async move {
            let error = read(request.body).await.unwrap_err();
            assert_eq!(error.kind(), Kind::MalformedRequest);
            response(400)
        });
        peer.send(format!("{}{content}{GET_FRESH}", post("Transfer-Encoding: chunked"))).await;
        peer.expect_last(
            "HTTP/1.1 400 Bad Request\r\ndate: D\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        )
        .await;
    }
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn content_is_read_no_faster_than_wanted() {
    let mut peer = Peer::connect(|request| async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let (content, _) = read(request.body).await.unwrap();
        assert_eq!(content.len(), 1_000_000);
        response(204)
    });
    peer.send(post("Content-Length: 1000000")).await;
    let content = vec![b'x'; 1_000_000];
    let mut taken = 0;
    while let Ok(written) = timeout(A_WHILE, peer.io.write(&content[taken..])).await {
        taken += written.unwrap();
    }
    assert!(taken <= 3 * 64 * 1024, "{taken} bytes were taken before anybody wanted one");
    peer.send(&content[taken..]).await;
    peer.expect("HTTP/1.1 204 No Content\r\ndate: D\r\n\r\n").await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn content_may_be_read_by_another_task_and_outlive_the_answer() {
    let reading = Rc::new(RefCell::new(None));
    let mut peer = Peer::connect({
        let reading = Rc::clone(&reading);
        move |request| {
            *reading.borrow_mut() = Some(tokio::task::spawn_local(read(request.body)));
            async { with_content("early") }
        }
    });
    // All of it comes before the next request: that is found.
    peer.send(format!("{}hello{GET_FRESH}", post("Content-Length: 5"))).await;
    peer.expect(format!("{}{FRESH}", sent("early"))).await;
    drop(reading.take());

    // The reader learns that nothing more comes.
    peer.send(format!("{}5\r\nhello\r\n", post("Transfer-Encoding: chunked"))).await;
    peer.expect("HTTP/1.1 200 OK\r\ndate: D\r\ncontent-length: 5\r\nconnection: close\r\n\r\nearly").await;
    let reading = reading.take().unwrap();
    assert_eq!(reading.await.unwrap().unwrap_err().kind(), Kind::ClientGone);
    peer.expect_end().await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn another_task_reads_while_the_answer_is_awaited() {
    let mut peer = Peer::connect(|request| async move {
        let (content, _) = tokio::task::spawn_local(read(request.body)).await.unwrap().unwrap();
        Response { body: Body::from(Bytes::from(content)), ..response(200) }
    });
    peer.send(post("Content-Length: 5\r\nExpect: 100-continue")).await;
    peer.expect("HTTP/1.1 100 Continue\r\n\r\n").await;
    for byte in b"hello" {
        tokio::time::sleep(Duration::from_secs(1)).await;
        peer.send([*byte]).await;
    }
    peer.expect(sent("hello")).await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn both_directions_at_once() {
    let mut peer = Peer::connect(|mut request: Request| async move {
        let (frames, body) = channel();
        tokio::task::spawn_local(async move {
            while let Some(frame) = next_frame(&mut request.body).await {
                frames.send(frame).unwrap();
            }
        });
        Response { body, ..response(200) }
    });
    peer.send(post("Transfer-Encoding: chunked")).await;
    peer.expect("HTTP/1.1 200 OK\r\ndate: D\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n")
        .await;
    for _ in 0..3 {
        peer.send("5\r\nhello\r\n").await;
        peer.expect("5\r\nhello\r\n").await;
    }
    peer.send("0\r\nX-Sum: 1\r\n\r\n").await;
    peer.expect_last("0\r\nx-sum: 1\r\n\r\n").await;
}
