//! Http2Frames: an HTTP/2 client made of single frames, for sending what no library would send.

use std::net::SocketAddr;

use crate::RawClient;

/// A connection on which the preface has been sent.
pub struct Http2Frames {
    client: RawClient,
}

/// What became of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was answered; this is the status.
    Answered(u16),
    /// `RST_STREAM` with this code.
    Reset(u32),
    /// `GOAWAY` with this code.
    GoAway(u32),
    /// The connection ended without a word.
    Closed,
}

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const ACK: u8 = 1;

/// `END_STREAM`.
pub const END_STREAM: u8 = 1;
/// `END_HEADERS`.
pub const END_HEADERS: u8 = 4;

impl Http2Frames {
    /// Connects in cleartext with prior knowledge.
    pub fn connect(address: SocketAddr) -> Self {
        let mut frames = Http2Frames { client: RawClient::connect(address) };
        frames.client.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        frames.frame(SETTINGS, 0, 0, &[]);
        frames
    }

    /// Sends any frame.
    pub fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> &mut Self {
        let length = u32::try_from(payload.len()).expect("a payload of a test is short").to_be_bytes();
        let mut frame = vec![length[1], length[2], length[3], kind, flags];
        frame.extend(stream.to_be_bytes());
        frame.extend(payload);
        self.client.send(frame);
        self
    }

    /// Sends a header section with exactly these names and values, whatever is in them.
    pub fn headers(&mut self, stream: u32, fields: &[(&[u8], &[u8])], ends: bool) -> &mut Self {
        let flags = END_HEADERS | if ends { END_STREAM } else { 0 };
        self.frame(HEADERS, flags, stream, &block(fields))
    }

    /// Sends content.
    pub fn data(&mut self, stream: u32, content: &[u8], ends: bool) -> &mut Self {
        self.frame(DATA, if ends { END_STREAM } else { 0 }, stream, content)
    }

    /// Resets a stream with CANCEL.
    pub fn cancel(&mut self, stream: u32) -> &mut Self {
        self.frame(RST_STREAM, 0, stream, &8_u32.to_be_bytes())
    }

    /// Waits for what becomes of a stream.
    pub fn outcome(&mut self, stream: u32) -> Outcome {
        loop {
            let Some((kind, flags, on, payload)) = self.read_frame() else { return Outcome::Closed };
            match kind {
                SETTINGS if flags & ACK == 0 => {
                    self.frame(SETTINGS, ACK, 0, &[]);
                }
                HEADERS if on == stream => return Outcome::Answered(status(&payload)),
                RST_STREAM if on == stream => return Outcome::Reset(number(&payload)),
                GOAWAY => return Outcome::GoAway(number(&payload[4..])),
                _ => {}
            }
        }
    }

    fn read_frame(&mut self) -> Option<(u8, u8, u32, Vec<u8>)> {
        let head = self.client.try_exactly(9)?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let payload = self.client.try_exactly(length)?;
        Some((head[3], head[4], number(&head[5..]) & 0x7fff_ffff, payload))
    }
}

/// A header block without compression: every field a literal that is not indexed, no Huffman coding (RFC 7541 §6.2.2).
pub fn block(fields: &[(&[u8], &[u8])]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        block.push(0);
        for text in [name, value] {
            string_length(&mut block, text.len());
            block.extend_from_slice(text);
        }
    }
    block
}

/// An integer with a 7-bit prefix (RFC 7541 §5.1).
fn string_length(block: &mut Vec<u8>, length: usize) {
    if length < 127 {
        block.push(length as u8);
        return;
    }
    block.push(127);
    let mut rest = length - 127;
    while rest >= 128 {
        block.push((rest % 128) as u8 | 128);
        rest /= 128;
    }
    block.push(rest as u8);
}

/// The status, which is the first field of an answer's block: indexed whole, or a literal with an indexed name.
fn status(block: &[u8]) -> u16 {
    match block {
        // A size update of the table may come first (RFC 7541 §6.3).
        [first, rest @ ..] if first & 0xe0 == 0x20 => status(rest),
        [first @ 0x88..=0x8e, ..] => [200, 204, 206, 304, 400, 404, 500][usize::from(first - 0x88)],
        [_, 3, a, b, c, ..] => digits(&[*a, *b, *c]),
        [_, huffman, rest @ ..] if huffman & 0x80 != 0 => {
            huffman_digits(&rest[..usize::from(huffman & 0x7f)])
        }
        _ => panic!("no status in {block:?}"),
    }
}

fn digits(text: &[u8]) -> u16 {
    text.iter().fold(0, |number, digit| number * 10 + u16::from(digit - b'0'))
}

/// Digits in the Huffman code of RFC 7541, appendix B: 0 to 2 take five bits, 3 to 9 six.
fn huffman_digits(bytes: &[u8]) -> u16 {
    let bits: Vec<u8> =
        bytes.iter().flat_map(|byte| (0..8).rev().map(move |shift| byte >> shift & 1)).collect();
    let value = |bits: &[u8]| bits.iter().fold(0_u8, |value, bit| value << 1 | bit);
    let (mut at, mut text) = (0, Vec::new());
    while text.len() < 3 {
        let five = value(&bits[at..at + 5]);
        let digit = if five <= 2 { five } else { value(&bits[at..at + 6]) - 0x19 + 3 };
        at += if five <= 2 { 5 } else { 6 };
        text.push(b'0' + digit);
    }
    digits(&text)
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_statuses_of_every_coding() {
        assert_eq!(status(&[0x88]), 200);
        assert_eq!(status(&[0x20, 0x8d]), 404);
        assert_eq!(status(&[0x48, 3, b'4', b'1', b'3']), 413);
        // 302 from RFC 7541, C.6.1.
        assert_eq!(status(&[0x48, 0x82, 0x64, 0x02]), 302);
        // 307 from RFC 7541, C.6.2.
        assert_eq!(status(&[0x48, 0x83, 0x64, 0x0e, 0xff]), 307);
    }
}
