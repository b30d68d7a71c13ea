//! Content streams both ways, piece by piece, and trailers follow it.

use std::time::Duration;

use testkit::{Footprint, Gate, Origin, Script, ok};

use crate::setup::{cached, proxied};

#[test]
fn an_answer_streams_while_it_is_made() {
    let origin = Origin::start();
    let gate = Gate::new();
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    origin
        .on("GET /")
        .reply(Script::from(head).send("3\r\none\r\n").wait(&gate).send("3\r\ntwo\r\n0\r\n\r\n"));
    let fleetfoot = proxied(&origin);
    let mut client = fleetfoot.connect();
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    client.read_until(b"one");
    gate.open();
    client.read_until(b"two");
}

#[test]
fn a_cacheable_answer_streams_while_it_is_stored() {
    let origin = Origin::start();
    let gate = Gate::new();
    let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 6\r\n\r\n";
    origin.on("GET /").reply(Script::from(head).send("one").wait(&gate).send("two"));
    let fleetfoot = cached(&origin);
    let mut client = fleetfoot.connect();
    client.send("GET / HTTP/1.1\r\nHost: example.test\r\n\r\n");
    client.read_until(b"one");
    gate.open();
    client.read_until(b"two");
    assert!(fleetfoot.get("/").is_hit());
}

#[test]
fn a_request_streams_while_it_is_sent() {
    let origin = Origin::start();
    origin.on("POST /").talk(|connection| {
        assert_eq!(connection.read_chunk(), b"one");
        connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nONE\r\n");
        assert_eq!(connection.read_chunk(), b"two");
        connection.send("3\r\nTWO\r\n0\r\n\r\n");
    });
    let fleetfoot = proxied(&origin);
    let mut client = fleetfoot.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
    client.read_until(b"ONE");
    client.send("3\r\ntwo\r\n0\r\n\r\n");
    client.read_until(b"TWO");
}

#[test]
fn a_large_body_arrives_unchanged_both_ways() {
    let content: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 251) as u8).collect();
    let origin = Origin::start();
    origin.on("POST /").answer(|request| ok("", &request.body));
    let fleetfoot = proxied(&origin);
    let mut client = fleetfoot.connect();
    client
        .send(format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", content.len()))
        .send(&content);
    let answer = client.read_answer();
    assert!(answer.body == content, "{} bytes came back", answer.body.len());
    assert_eq!(origin.last("POST /").field("Content-Length"), Some(content.len().to_string().as_str()));
}

#[test]
fn trailers_follow_the_content_both_ways() {
    let origin = Origin::start();
    origin.on("POST /").reply(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Down\r\n\r\n2\r\nok\r\n0\r\nX-Down: 2\r\n\r\n",
    );
    let fleetfoot = proxied(&origin);
    let mut client = fleetfoot.connect();
    let answer = client.ask(
        "POST / HTTP/1.1\r\nHost: a\r\nTE: trailers\r\nConnection: TE\r\nTrailer: X-Up\r\nTransfer-Encoding: chunked\r\n\r\n\
         2\r\nhi\r\n0\r\nX-Up: 1\r\n\r\n",
    );
    assert_eq!(answer.trailers, [("X-Down".to_owned(), "2".to_owned())].map(|(n, v)| (n.to_lowercase(), v)));
    let sent = origin.last("POST /").trailers;
    assert_eq!(sent.len(), 1);
    assert!(sent[0].0.eq_ignore_ascii_case("X-Up") && sent[0].1 == "1", "{sent:?}");
}

#[test]
fn a_slow_reader_slows_the_origin_down_and_gets_all() {
    // More than sockets buffer: the origin has to wait for the client, and fleetfoot must not hold it all.
    const SIZE: usize = 64 * 1024 * 1024;
    let origin = Origin::start();
    origin.on("GET /").talk(|connection| {
        connection.send(format!("HTTP/1.1 200 OK\r\nContent-Length: {SIZE}\r\n\r\n"));
        let block = vec![b'x'; 64 * 1024];
        (0..SIZE / block.len()).for_each(|_| connection.send(&block));
    });
    let fleetfoot = proxied(&origin);
    let before = Footprint::of(fleetfoot.pid());
    let mut client = fleetfoot.connect();
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    client.read_head();
    client.read_exactly(1024);
    let more = Footprint::of(fleetfoot.pid()).peak.saturating_sub(before.resident);
    assert!(more < SIZE / 4, "{more} bytes more than {before:?} while a slow client reads");
    assert_eq!(client.read_exactly(SIZE - 1024).len(), SIZE - 1024);
}

#[test]
fn a_client_that_leaves_ends_an_uncached_fetch() {
    let origin = Origin::start();
    let gone = Gate::new();
    let noticed = gone.clone();
    origin.on("GET /").talk(move |connection| {
        connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n");
        if connection.read_some().is_empty() {
            noticed.open();
        }
    });
    let fleetfoot = proxied(&origin);
    let mut client = fleetfoot.connect();
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    client.read_until(b"x");
    client.reset();
    gone.wait();
}

#[test]
fn what_a_slow_origin_takes_for_its_content_is_no_overhead_of_ours() {
    let origin = Origin::start();
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n";
    origin.on("GET /").reply(Script::from(head).send("one").pause(Duration::from_millis(500)).send("two"));
    origin.on("HEAD /").reply(Script::from("garbage\r\n\r\n"));
    let mut fleetfoot = proxied(&origin);
    assert_eq!(fleetfoot.get("/").text(), "onetwo");
    assert_eq!(fleetfoot.send("HEAD", "/", "").status, 502);
    let metrics = fleetfoot
        .wait_for_metrics("both counted", |metrics| metrics.sum("fleetfoot_requests_total", &[]) > 1.5);
    let overhead = metrics.sum("fleetfoot_overhead_seconds_sum", &[]);
    assert!(overhead < 0.4, "{overhead}");
    let sent = metrics.sum("fleetfoot_sent_bytes_total", &[]);
    assert!((sent - 6.0).abs() < 0.1, "{sent}: the content of an error is not sent in answer to HEAD");
}
