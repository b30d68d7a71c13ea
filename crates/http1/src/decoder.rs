//! Decoder: bytes behind a head → content. Used by `listener` for what clients send and by `source` for what origins
//! send; the caller reads bytes into the buffer, the decoder takes out what belongs to this message and nothing more.

use bytes::{Buf, Bytes, BytesMut};
use http::HeaderMap;
use message::{Error, Kind, Result, Side};

use crate::framing::Framing;
use crate::{chunk, trailers};

/// Bytes of all chunk extensions of one message at most: nobody needs them, and a body of one-byte chunks with long
/// extensions would make us read a thousand times what it holds.
const MAX_EXTENSIONS: usize = 16 * 1024;

/// Incremental reader of one message's content.
#[derive(Debug)]
pub struct Decoder {
    state: State,
    side: Side,
    extensions: usize,
}

#[derive(Debug)]
enum State {
    Length(u64),
    UntilClose,
    ChunkLine,
    ChunkData(u64),
    ChunkEnd,
    Trailers,
    Complete,
    /// After an error; it is said again.
    Broken,
}

/// What [`Decoder::decode`] found.
#[derive(Debug, PartialEq, Eq)]
pub enum Decoded {
    /// Content, not empty; shares the buffer's memory.
    Data(Bytes),
    /// The trailers; `Complete` follows.
    Trailers(HeaderMap),
    /// The buffer holds no more of it yet.
    NeedMore,
    /// The message has ended; what the buffer holds belongs to the next.
    Complete,
}

impl Decoder {
    /// `side`: who sends. A fault is `MalformedRequest` for the client, `MalformedResponse` for anybody else.
    pub fn new(framing: Framing, side: Side) -> Self {
        let state = match framing {
            Framing::Empty | Framing::Length(0) => State::Complete,
            Framing::Length(length) => State::Length(length),
            Framing::Chunked => State::ChunkLine,
            Framing::UntilClose => State::UntilClose,
        };
        Decoder { state, side, extensions: 0 }
    }

    /// Takes the next piece out of `buffer`. After an error the connection is unusable.
    pub fn decode(&mut self, buffer: &mut BytesMut) -> Result<Decoded> {
        let decoded = self.step(buffer);
        if decoded.is_err() {
            self.state = State::Broken;
        }
        decoded
    }

    fn step(&mut self, buffer: &mut BytesMut) -> Result<Decoded> {
        loop {
            match &mut self.state {
                State::Complete => return Ok(Decoded::Complete),
                State::Broken => return Err(self.fault("the content is malformed")),
                State::UntilClose if buffer.is_empty() => return Ok(Decoded::NeedMore),
                State::UntilClose => return Ok(Decoded::Data(buffer.split().freeze())),
                State::Length(left) => {
                    let Some(data) = take(buffer, left) else { return Ok(Decoded::NeedMore) };
                    if *left == 0 {
                        self.state = State::Complete;
                    }
                    return Ok(Decoded::Data(data));
                }
                State::ChunkData(left) => {
                    let Some(data) = take(buffer, left) else { return Ok(Decoded::NeedMore) };
                    if *left == 0 {
                        self.state = State::ChunkEnd;
                    }
                    return Ok(Decoded::Data(data));
                }
                State::ChunkEnd => match &buffer[..] {
                    [b'\r', b'\n', ..] => {
                        buffer.advance(2);
                        self.state = State::ChunkLine;
                    }
                    [] | [b'\r'] => return Ok(Decoded::NeedMore),
                    _ => return Err(self.fault("a chunk's data is longer than its size")),
                },
                State::ChunkLine => {
                    let Some((length, size)) = chunk::parse_line(buffer, self.kind())? else {
                        return Ok(Decoded::NeedMore);
                    };
                    self.count_extensions(length)?;
                    buffer.advance(length);
                    self.state = if size == 0 { State::Trailers } else { State::ChunkData(size) };
                }
                State::Trailers => {
                    let Some((length, fields)) = trailers::parse(buffer, self.side, self.kind())? else {
                        return Ok(Decoded::NeedMore);
                    };
                    buffer.advance(length);
                    self.state = State::Complete;
                    if !fields.is_empty() {
                        return Ok(Decoded::Trailers(fields));
                    }
                }
            }
        }
    }

    /// The peer closed its side. Fine when the content ends there; otherwise it broke off: `ClientGone` or `BrokeOff`.
    /// What `decode` has not taken out yet is to be taken first.
    pub fn end_of_input(&mut self) -> Result<()> {
        match self.state {
            State::Complete => Ok(()),
            State::UntilClose => {
                self.state = State::Complete;
                Ok(())
            }
            _ if self.side == Side::Client => {
                Err(Error::new(Kind::ClientGone, "the client closed the connection amid its content"))
            }
            _ => Err(Error::new(Kind::BrokeOff, "the origin closed the connection amid its content")),
        }
    }

    /// Whether the message has ended.
    pub fn is_complete(&self) -> bool {
        matches!(self.state, State::Complete)
    }

    /// Bytes of content still to come, where the head said so.
    pub fn remaining(&self) -> Option<u64> {
        match self.state {
            State::Length(left) => Some(left),
            State::Complete => Some(0),
            _ => None,
        }
    }

    fn count_extensions(&mut self, line_length: usize) -> Result<()> {
        const PLAIN_LINE: usize = 18; // 16 digits and CRLF
        self.extensions += line_length.saturating_sub(PLAIN_LINE);
        if self.extensions > MAX_EXTENSIONS {
            return Err(self.fault("too many chunk extensions"));
        }
        Ok(())
    }

    fn kind(&self) -> Kind {
        if self.side == Side::Client { Kind::MalformedRequest } else { Kind::MalformedResponse }
    }

    fn fault(&self, detail: &'static str) -> Error {
        Error::new(self.kind(), detail)
    }
}

/// As much as there is of what is left; `None` when there is nothing.
fn take(buffer: &mut BytesMut, left: &mut u64) -> Option<Bytes> {
    if buffer.is_empty() {
        return None;
    }
    let length = usize::try_from(*left).map_or(buffer.len(), |left| left.min(buffer.len()));
    *left -= length as u64;
    Some(buffer.split_to(length).freeze())
}

#[cfg(test)]
#[path = "decoder_tests.rs"]
mod tests;
