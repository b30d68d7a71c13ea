//! Fresh hits: what most connections see nothing else of.

use super::*;

#[tokio::test(flavor = "local", start_paused = true)]
async fn one_after_another() {
    let mut peer = Peer::connect_for_hits();
    for _ in 0..3 {
        peer.send(GET_FRESH).await;
        peer.expect(FRESH).await;
    }
    peer.expect_nothing().await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn pipelined() {
    let mut peer = Peer::connect_for_hits();
    peer.send(GET_FRESH.repeat(300)).await;
    peer.expect(FRESH.repeat(300)).await;
    // One and a half, then the other half.
    let (begin, end) = GET_FRESH.split_at(9);
    peer.send(format!("{GET_FRESH}{begin}")).await;
    peer.expect(FRESH).await;
    peer.expect_nothing().await;
    peer.send(format!("{end}{GET_FRESH}{begin}")).await;
    peer.expect(FRESH.repeat(2)).await;
    peer.send(end).await;
    peer.expect(FRESH).await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn byte_by_byte() {
    let mut peer = Peer::connect_for_hits();
    for _ in 0..2 {
        for byte in GET_FRESH.as_bytes() {
            peer.send([*byte]).await;
            tokio::task::yield_now().await;
        }
        peer.expect(FRESH).await;
    }
    assert_eq!(peer.script.looked_up.borrow().len(), 2);
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn large_content_is_written_whole_and_in_its_place() {
    let mut peer = Peer::connect_for_hits();
    let large = format!("HTTP/1.1 200 OK\r\ncontent-length: {LARGE}\r\n\r\n{}", "x".repeat(LARGE));
    peer.send(format!("{GET_FRESH}GET /large HTTP/1.1\r\nHost: a\r\n\r\n{GET_FRESH}")).await;
    peer.expect(format!("{FRESH}{large}{FRESH}")).await;
    peer.send("GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
    peer.expect_last(large.replacen("\r\n\r\n", "\r\nconnection: close\r\n\r\n", 1)).await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn head_has_the_same_head_and_no_content() {
    let mut peer = Peer::connect_for_hits();
    peer.send(format!("HEAD /fresh HTTP/1.1\r\nHost: a\r\n\r\n{GET_FRESH}")).await;
    peer.expect(format!("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n{FRESH}")).await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn the_client_decides_whether_the_connection_is_kept() {
    let closing = FRESH.replacen("\r\n\r\n", "\r\nconnection: close\r\n\r\n", 1);
    let keeping = FRESH.replacen("\r\n\r\n", "\r\nconnection: keep-alive\r\n\r\n", 1);

    let mut peer = Peer::connect_for_hits();
    peer.send(format!("GET /fresh HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n{GET_FRESH}")).await;
    peer.expect_last(&closing).await;

    let mut peer = Peer::connect_for_hits();
    peer.send("GET /fresh HTTP/1.0\r\nConnection: keep-alive\r\n\r\n".repeat(2)).await;
    peer.expect(keeping.repeat(2)).await;
    peer.send("GET /fresh HTTP/1.0\r\n\r\n").await;
    peer.expect_last(&closing).await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn authority_and_target_have_one_form() {
    let mut peer = Peer::connect_for_hits();
    let absolute = "GET http://A.b:80/fresh HTTP/1.1\r\nHost: a.b\r\n\r\n";
    peer.send(format!("\r\n\r\n{absolute}\r\nGET /fresh HTTP/1.1\r\nHost: A.B.:80\r\n\r\n")).await;
    peer.expect(FRESH.repeat(2)).await;
    assert_eq!(*peer.script.looked_up.borrow(), ["GET a.b /fresh", "GET a.b /fresh"]);

    let mut peer = Peer::connect(|request| async move {
        assert_eq!(&*request.authority, "a.b:81");
        assert!(!request.fields.contains_key("host"));
        Response { body: Body::from(Bytes::from(request.target.to_string())), ..response(200) }
    });
    for (method, target, seen) in [
        ("GET", "http://a.b:81", "/"),
        ("GET", "http://a.b:81?q", "/?q"),
        ("GET", "http://a.b:81//p?q#".trim_end_matches('#'), "//p?q"),
        ("OPTIONS", "http://a.b:81", "*"),
        ("OPTIONS", "*", "*"),
        ("PUT", "/%2e/../a", "/%2e/../a"),
    ] {
        peer.send(format!("{method} {target} HTTP/1.1\r\nHost: a.b:81\r\n\r\n")).await;
        peer.expect(sent(seen)).await;
    }
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn what_may_not_be_answered_from_the_cache_is_not_looked_up() {
    let mut peer = Peer::connect(|request| async move {
        let (content, _) = read(request.body).await.unwrap();
        Response { body: Body::from(Bytes::from(content)), ..response(200) }
    });
    for (head, content) in [
        ("POST /fresh HTTP/1.1\r\nHost: a\r\n\r\n", ""),
        ("GET /fresh HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n", "hi"),
        ("GET /fresh HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n", ""),
    ] {
        peer.send(format!("{head}{content}")).await;
        peer.expect(sent(content)).await;
    }
    assert!(peer.script.looked_up.borrow().is_empty());
    peer.send("GET /fresh HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n").await;
    peer.expect(FRESH).await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn hits_and_others_keep_their_order() {
    let mut peer = Peer::connect(|_| async {
        tokio::time::sleep(Duration::from_millis(5)).await;
        with_content("slow")
    });
    let slow = "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n";
    peer.send(format!("{GET_FRESH}{slow}{GET_FRESH}{GET_FRESH}{slow}{slow}{GET_FRESH}")).await;
    let answer = sent("slow");
    peer.expect(format!("{FRESH}{answer}{FRESH}{FRESH}{answer}{answer}{FRESH}")).await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn a_waiting_connection_is_small() {
    fn size_of<T>(_: &T) -> usize {
        std::mem::size_of::<T>()
    }
    let peer = Peer::connect_for_hits();
    let context = context(Rc::clone(&peer.script), Limits::default(), peer.drain.clone(), somewhere());
    let (io, _other) = tokio::io::duplex(1);
    let future = super::super::serve(io, BytesMut::new(), context.clone());
    assert!(size_of(&future) <= 512, "{} bytes", size_of(&future));

    let (io, mut other) = tokio::io::duplex(1024);
    let mut connection = super::super::Connection::new(io, BytesMut::new(), context);
    other.write_all(GET_FRESH.as_bytes()).await.unwrap();
    let waits = std::future::poll_fn(|cx| Poll::Ready(connection.poll_hits(cx).is_pending())).await;
    assert!(waits);
    let transport = connection.transport.borrow();
    assert_eq!(transport.input.capacity(), 0);
    assert_eq!(transport.output.capacity(), 0);
}
