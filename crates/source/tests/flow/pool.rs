//! Connections: kept, used again, thrown away, sent over once more.

use std::rc::Rc;
use std::time::Duration;

use http::Method;
use message::{Kind, Request, Retry};

use crate::support::*;

/// An origin that notes the connection's number with each request line and answers as told for that connection.
async fn numbered(notes: &Notes, answers: &'static [&'static [&'static str]]) -> u16 {
    let notes = Rc::clone(notes);
    origin(move |number, mut peer| {
        let notes = Rc::clone(&notes);
        async move {
            for answer in answers[number.min(answers.len() - 1)] {
                let head = peer.head().await;
                if head.is_empty() {
                    return;
                }
                notes.borrow_mut().push(format!("{number} {}", head.lines().next().unwrap()));
                peer.send(answer).await;
            }
        }
    })
    .await
}

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[tokio::test(flavor = "local")]
async fn one_connection_serves_many_requests() {
    let notes = Notes::default();
    let source = source_at(numbered(&notes, &[&[OK, OK, OK]]).await);
    for path in ["/1", "/2", "/3"] {
        assert_eq!(answer(&source, get(path)).await, (200, "ok".to_owned()));
        assert_eq!(source.idle_connections(), 1);
    }
    assert_eq!(*notes.borrow(), ["0 GET /1 HTTP/1.1", "0 GET /2 HTTP/1.1", "0 GET /3 HTTP/1.1"]);
}

#[tokio::test(flavor = "local")]
async fn what_is_left_over_makes_a_connection_unusable() {
    for answer_with_rest in [
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\nX",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
        "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
    ] {
        let source = source_at(always(answer_with_rest).await);
        assert_eq!(answer(&source, get("/")).await, (200, "ok".to_owned()));
        assert_eq!(source.idle_connections(), 0, "{answer_with_rest}");
    }
    let source = source_at(always("HTTP/1.1 204 No Content\r\n\r\nbody").await);
    assert_eq!(answer(&source, get("/")).await, (204, String::new()));
    assert_eq!(source.idle_connections(), 0);
}

#[tokio::test(flavor = "local")]
async fn bytes_that_come_while_idle_make_a_connection_unusable() {
    let notes = Notes::default();
    let noted = Rc::clone(&notes);
    let port = origin(move |number, mut peer| {
        let notes = Rc::clone(&noted);
        async move {
            while !peer.head().await.is_empty() {
                peer.send(OK).await;
                tokio::task::yield_now().await;
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison").await;
                notes.borrow_mut().push(number.to_string());
            }
        }
    })
    .await;
    let source = source_at(port);
    for count in 1..=3 {
        assert_eq!(answer(&source, post(whole("x"))).await, (200, "ok".to_owned()));
        while notes.borrow().len() < count {
            tokio::task::yield_now().await;
        }
    }
    assert_eq!(*notes.borrow(), ["0", "1", "2"]);
}

#[tokio::test(flavor = "local")]
async fn an_idle_connection_that_was_closed_is_noticed_before_it_is_used() {
    let notes = Notes::default();
    let port = numbered(&notes, &[&[OK]]).await;
    let source = source_at(port);
    for path in ["/1", "/2"] {
        assert_eq!(answer(&source, request(Method::POST, path)).await, (200, "ok".to_owned()));
        // The origin closes behind each answer; let that arrive.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(*notes.borrow(), ["0 POST /1 HTTP/1.1", "1 POST /2 HTTP/1.1"]);
}

#[tokio::test(flavor = "local")]
async fn a_stale_connection_costs_a_get_nothing() {
    let notes = Notes::default();
    // The first connection takes the second request and closes without a word.
    let source = source_at(numbered(&notes, &[&[OK, ""], &[OK]]).await);
    for path in ["/1", "/2"] {
        assert_eq!(answer(&source, get(path)).await, (200, "ok".to_owned()));
    }
    assert_eq!(*notes.borrow(), ["0 GET /1 HTTP/1.1", "0 GET /2 HTTP/1.1", "1 GET /2 HTTP/1.1"]);
}

#[tokio::test(flavor = "local")]
async fn a_post_is_never_sent_twice() {
    for body in ["", "data"] {
        let notes = Notes::default();
        let source = source_at(numbered(&notes, &[&[OK, ""], &[OK]]).await);
        answer(&source, get("/1")).await;
        let error = source.send(post(whole(body))).await.unwrap_err();
        assert_eq!((error.kind(), error.may_retry()), (Kind::BrokeOff, Retry::IfIdempotent));
        assert_eq!(*notes.borrow(), ["0 GET /1 HTTP/1.1", "0 POST / HTTP/1.1"]);
    }
}

#[tokio::test(flavor = "local")]
async fn nothing_is_sent_twice_that_had_content_or_the_beginning_of_an_answer() {
    let notes = Notes::default();
    let source = source_at(numbered(&notes, &[&[OK, ""], &[OK, "HTTP/1.1 2"], &[OK]]).await);
    answer(&source, get("/1")).await;
    let put = Request { body: whole("data"), ..request(Method::PUT, "/2") };
    assert_eq!(source.send(put).await.unwrap_err().kind(), Kind::BrokeOff);
    answer(&source, get("/3")).await;
    assert_eq!(source.send(get("/4")).await.unwrap_err().kind(), Kind::BrokeOff);
    let lines = ["0 GET /1 HTTP/1.1", "0 PUT /2 HTTP/1.1", "1 GET /3 HTTP/1.1", "1 GET /4 HTTP/1.1"];
    assert_eq!(*notes.borrow(), lines);
}

#[tokio::test(flavor = "local")]
async fn a_fresh_connection_that_breaks_is_not_tried_again() {
    let notes = Notes::default();
    let source = source_at(numbered(&notes, &[&[""], &[OK]]).await);
    let error = source.send(get("/")).await.unwrap_err();
    assert_eq!((error.kind(), error.may_retry()), (Kind::BrokeOff, Retry::IfIdempotent));
    assert_eq!(notes.borrow().len(), 1);
}

#[tokio::test(flavor = "local")]
async fn the_one_used_last_is_used_next_and_too_many_are_closed() {
    let notes = Notes::default();
    let port = numbered(&notes, &[&[OK; 9]]).await;
    let mut plan = plan(&[port]);
    plan.idle_connections = 2;
    let source = source(plan);
    let (one, two, three) =
        tokio::join!(answer(&source, get("/")), answer(&source, get("/")), answer(&source, get("/")));
    assert!([one, two, three].iter().all(|answer| answer.0 == 200));
    assert_eq!(source.idle_connections(), 2);
    answer(&source, get("/a")).await;
    answer(&source, get("/b")).await;
    let notes = notes.borrow();
    assert_eq!(notes[3].replace("/a", ""), notes[4].replace("/b", ""), "last in, first out");
}

#[tokio::test(flavor = "local")]
async fn what_is_idle_too_long_is_not_used_and_swept_away() {
    let notes = Notes::default();
    let source = source_at(numbered(&notes, &[&[OK; 9]]).await);
    answer(&source, get("/1")).await;
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(54)).await;
    answer(&source, get("/2")).await;
    assert_eq!(notes.borrow().len(), 2);
    assert!(notes.borrow()[1].starts_with("0 "));
    tokio::time::sleep(Duration::from_secs(90)).await;
    assert_eq!(source.idle_connections(), 0, "the sweep has closed it");
    answer(&source, get("/3")).await;
    assert!(notes.borrow()[2].starts_with("1 "));
}

#[tokio::test(flavor = "local")]
async fn what_is_too_old_is_not_used_however_busy_it_was() {
    let notes = Notes::default();
    let mut plan = plan(&[numbered(&notes, &[&[OK; 9]]).await]);
    plan.connection_age = Duration::from_secs(100);
    let source = source(plan);
    answer(&source, get("/")).await;
    tokio::time::pause();
    for _ in 0..3 {
        tokio::time::advance(Duration::from_secs(40)).await;
        answer(&source, get("/")).await;
    }
    let connections: Vec<_> = notes.borrow().iter().map(|note| note.starts_with("0 ")).collect();
    assert_eq!(connections, [true, true, true, false]);
}

#[tokio::test(flavor = "local")]
async fn dropping_an_answer_amid_its_content_closes_the_connection() {
    let notes = Notes::default();
    let noted = Rc::clone(&notes);
    let port = origin(move |_, mut peer| {
        let notes = Rc::clone(&noted);
        async move {
            peer.head().await;
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegin").await;
            peer.closed().await;
            notes.borrow_mut().push("closed".to_owned());
        }
    })
    .await;
    let source = source_at(port);
    drop(source.send(get("/")).await.unwrap());
    while notes.borrow().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(source.idle_connections(), 0);
}
