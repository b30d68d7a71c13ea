//! Floods: the client is told to calm down, and the connection ends.

use std::future::pending;

use plan::Limits;

use super::raw::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, ENHANCE_YOUR_CALM, HEADERS, PING, RST_STREAM, Raw, SETTINGS,
    fields, frame, request,
};
use crate::counters::Event;
use crate::testing::{Scripted, Server};

/// Answers nothing, ever.
fn silent_server() -> Server {
    Server::cleartext(Scripted::new(|_| pending()), Limits::default())
}

/// Sends the same bytes again and again while reading, until GOAWAY; gives its code.
async fn flood(server: &Server, begin: &[u8], mut next: impl FnMut(u32) -> Vec<u8> + 'static) -> Option<u32> {
    let mut raw = Raw::connect(server.address).await;
    raw.send(begin).await;
    let (reading, mut writing) = raw.io.into_split();
    let sender = tokio::task::spawn_local(async move {
        for round in 0..1000 {
            let bytes: Vec<u8> = (0..100).flat_map(|step| next(round * 100 + step)).collect();
            if tokio::io::AsyncWriteExt::write_all(&mut writing, &bytes).await.is_err() {
                break;
            }
        }
        writing
    });
    let mut all = Vec::new();
    let mut reading = tokio::io::BufReader::new(reading);
    // the connection may be reset behind the GOAWAY, as we go on sending
    let _ = tokio::io::AsyncReadExt::read_to_end(&mut reading, &mut all).await;
    sender.abort();
    let mut rest = &all[..];
    while rest.len() >= 9 {
        let length = u32::from_be_bytes([0, rest[0], rest[1], rest[2]]) as usize;
        if rest[3] == super::raw::GOAWAY {
            return Some(u32::from_be_bytes(rest[13..17].try_into().unwrap()));
        }
        rest = &rest[9 + length..];
    }
    None
}

#[tokio::test(flavor = "local")]
async fn pings() {
    let server = silent_server();
    let code = flood(&server, &[], |_| frame(PING, 0, 0, &[0; 8])).await;
    assert_eq!(code, Some(ENHANCE_YOUR_CALM));
    assert_eq!(server.counters.get(Event::Flooded), 1);
}

#[tokio::test(flavor = "local")]
async fn settings() {
    let server = silent_server();
    let code = flood(&server, &[], |_| frame(SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0])).await;
    assert_eq!(code, Some(ENHANCE_YOUR_CALM));
    assert_eq!(server.counters.get(Event::Flooded), 1);
}

#[tokio::test(flavor = "local")]
async fn continuations() {
    let server = silent_server();
    let begin = frame(HEADERS, END_STREAM, 1, &request(&[]));
    let code = flood(&server, &begin, |_| frame(CONTINUATION, 0, 1, &fields(&[(b"x", b"y")]))).await;
    assert_eq!(code, Some(ENHANCE_YOUR_CALM));
}

#[tokio::test(flavor = "local")]
async fn a_header_table_bomb() {
    let server = silent_server();
    // one large field into the dynamic table, then references of one byte each that stand for all of it
    let mut section = request(&[]);
    section.extend([0x40, 1, b'x', 127, 0xc1, 0x1e]);
    section.extend([b'y'; 4000]);
    section.extend([0xbe; 12_000]);
    let code = flood(&server, &frame(HEADERS, END_STREAM | END_HEADERS, 1, &section), |_| Vec::new()).await;
    assert_eq!(code, Some(ENHANCE_YOUR_CALM));
}

#[tokio::test(flavor = "local")]
async fn empty_data() {
    let server = silent_server();
    let begin = frame(HEADERS, END_HEADERS, 1, &request(&[]));
    let code = flood(&server, &begin, |_| frame(DATA, 0, 1, &[])).await;
    assert_eq!(code, Some(ENHANCE_YOUR_CALM));
}

#[tokio::test(flavor = "local")]
async fn rapid_resets() {
    let server = silent_server();
    let code = flood(&server, &[], |number| {
        let stream = 2 * number + 1;
        let head = frame(HEADERS, END_STREAM | END_HEADERS, stream, &request(&[]));
        [head, frame(RST_STREAM, 0, stream, &8_u32.to_be_bytes())].concat()
    })
    .await;
    assert_eq!(code, Some(ENHANCE_YOUR_CALM));
}

#[tokio::test(flavor = "local")]
async fn resets_by_provocation() {
    let server = silent_server();
    // requests that break the protocol make the server reset their streams ("MadeYouReset")
    let code = flood(&server, &[], |number| {
        let head = request(&[(b"connection", b"close")]);
        frame(HEADERS, END_STREAM | END_HEADERS, 2 * number + 1, &head)
    })
    .await;
    assert_eq!(code, Some(ENHANCE_YOUR_CALM));
}

#[tokio::test(flavor = "local")]
async fn streams_over_the_limit_are_refused() {
    let server = silent_server();
    let mut raw = Raw::connect(server.address).await;
    for number in 0..=super::super::MAX_STREAMS {
        let head = frame(HEADERS, END_STREAM | END_HEADERS, 2 * number + 1, &request(&[]));
        raw.send(&head).await;
    }
    let refusal = raw.telling_frame().await.unwrap();
    assert_eq!((refusal.kind, refusal.stream), (RST_STREAM, 2 * super::super::MAX_STREAMS + 1));
    assert_eq!(refusal.code(), 7, "REFUSED_STREAM: the client may try again");
}
