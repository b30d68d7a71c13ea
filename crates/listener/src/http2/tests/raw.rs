//! A client that speaks HTTP/2 byte by byte.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::preface::PREFACE;

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const PING: u8 = 6;
pub(super) const GOAWAY: u8 = 7;
pub(super) const CONTINUATION: u8 = 9;

pub(super) const END_STREAM: u8 = 1;
pub(super) const END_HEADERS: u8 = 4;

pub(super) const PROTOCOL_ERROR: u32 = 1;
pub(super) const ENHANCE_YOUR_CALM: u32 = 11;

/// What a server sent.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) kind: u8,
    pub(super) stream: u32,
    pub(super) payload: Vec<u8>,
}

impl Frame {
    /// The error code of RST_STREAM or GOAWAY.
    pub(super) fn code(&self) -> u32 {
        let at = if self.kind == GOAWAY { 4 } else { 0 };
        u32::from_be_bytes(self.payload[at..at + 4].try_into().unwrap())
    }
}

pub(super) struct Raw {
    pub(super) io: TcpStream,
}

impl Raw {
    /// Connects, sends preface and settings.
    pub(super) async fn connect(address: SocketAddr) -> Self {
        let mut raw = Raw { io: TcpStream::connect(address).await.unwrap() };
        raw.send(PREFACE).await;
        raw.send(&frame(SETTINGS, 0, 0, &[])).await;
        raw
    }

    /// Sends bytes; whether the server still takes them is seen from what it sends.
    pub(super) async fn send(&mut self, bytes: &[u8]) {
        let _ = self.io.write_all(bytes).await;
    }

    /// The next frame; `None` at the end of the connection.
    pub(super) async fn frame(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        self.io.read_exact(&mut head).await.ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let mut payload = vec![0; length];
        self.io.read_exact(&mut payload).await.ok()?;
        let stream = u32::from_be_bytes(head[5..].try_into().unwrap());
        Some(Frame { kind: head[3], stream, payload })
    }

    /// The next frame that is neither SETTINGS nor WINDOW_UPDATE.
    pub(super) async fn telling_frame(&mut self) -> Option<Frame> {
        loop {
            let frame = self.frame().await?;
            if !matches!(frame.kind, SETTINGS | 8) {
                return Some(frame);
            }
        }
    }

    /// Waits for a GOAWAY and returns its code.
    pub(super) async fn goaway(&mut self) -> Option<u32> {
        loop {
            let frame = self.frame().await?;
            if frame.kind == GOAWAY {
                return Some(frame.code());
            }
        }
    }
}

pub(super) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// A field section, each field as a literal that is not indexed (RFC 7541 §6.2.2).
pub(super) fn fields(lines: &[(&[u8], &[u8])]) -> Vec<u8> {
    let mut section = Vec::new();
    for (name, value) in lines {
        section.push(0);
        for text in [name, value] {
            length(&mut section, text.len());
            section.extend(*text);
        }
    }
    section
}

/// An integer with a prefix of seven bits (RFC 7541 §5.1).
fn length(section: &mut Vec<u8>, length: usize) {
    if length < 127 {
        section.push(length as u8);
        return;
    }
    section.push(127);
    let mut rest = length - 127;
    while rest >= 128 {
        section.push((rest % 128 + 128) as u8);
        rest /= 128;
    }
    section.push(rest as u8);
}

/// The head of `GET /` with further fields.
pub(super) fn request(further: &[(&[u8], &[u8])]) -> Vec<u8> {
    let mut lines: Vec<(&[u8], &[u8])> =
        vec![(b":method", b"GET"), (b":scheme", b"http"), (b":authority", b"a.example"), (b":path", b"/")];
    lines.extend(further);
    fields(&lines)
}
