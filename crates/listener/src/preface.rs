//! Preface: which protocol a cleartext connection speaks, told by its first bytes: HTTP/2 with prior knowledge begins
//! with a fixed preface (RFC 9113 §3.4), everything else is HTTP/1.
//!
//! The first byte decides unless it is a `P`, the second unless it is an `R`: HTTP/1 never waits for more.

use std::io;
use std::time::Duration;

use bytes::BytesMut;
use tokio::net::TcpStream;
use tokio::time::sleep;

use crate::drain::Drain;

/// What every HTTP/2 client sends first.
pub(crate) const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Room for the first read: a usual request's head.
const FIRST_READ: usize = 4096;

/// How long a connection that has sent nothing may stay when draining begins: one that was accepted just now mostly
/// has its request on the way, and closing it would be a failure for the client to see.
const LAST_CHANCE: Duration = Duration::from_millis(250);

/// What a connection speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http1,
    Http2,
}

/// Reads until the protocol is known. `None`: the client went away, or was too slow, or nothing came and we drain.
///
/// No memory is taken for the bytes before the first one is there.
pub(crate) async fn protocol(
    io: &TcpStream,
    initial: &mut BytesMut,
    timeout: Duration,
    drain: &Drain,
) -> Option<Protocol> {
    let late = sleep(timeout);
    let unwanted = async {
        drain.wait().await;
        sleep(LAST_CHANCE).await;
    };
    tokio::select! {
        biased;
        protocol = read(io, initial) => protocol,
        () = late => None,
        () = unwanted => None,
    }
}

async fn read(io: &TcpStream, initial: &mut BytesMut) -> Option<Protocol> {
    loop {
        if let Some(protocol) = decide(initial) {
            return Some(protocol);
        }
        io.readable().await.ok()?;
        initial.reserve(FIRST_READ);
        match io.try_read_buf(initial) {
            Ok(0) => return None,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                // a new socket counts as readable until it is read once
                if initial.is_empty() {
                    *initial = BytesMut::new();
                }
            }
            Err(_) => return None,
        }
    }
}

fn decide(bytes: &[u8]) -> Option<Protocol> {
    let common = bytes.len().min(PREFACE.len());
    if bytes[..common] != PREFACE[..common] {
        return Some(Protocol::Http1);
    }
    (common == PREFACE.len()).then_some(Protocol::Http2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_decide() {
        for http1 in [&b"G"[..], b"PO", b"PU", b"PRO", b"PRI / HTTP/1.1\r\n", b"\r\n", b"\x16\x03"] {
            assert_eq!(decide(http1), Some(Protocol::Http1));
        }
        for length in 0..PREFACE.len() {
            assert_eq!(decide(&PREFACE[..length]), None);
        }
        assert_eq!(decide(PREFACE), Some(Protocol::Http2));
        assert_eq!(decide(&[&PREFACE[..], b"more"].concat()), Some(Protocol::Http2));
    }
}
