//! Encoder: content → the bytes around it on the wire. The content itself is never copied here: the caller writes
//! prefix, content and suffix one behind another.

use std::io::Write;

use http::HeaderMap;
use message::{Error, Kind, Result};

use crate::framing::Framing;
use crate::write::write_fields;

/// How content is written; keeps count, so that a body never is longer or shorter than its head said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encoder {
    /// Bytes still to be written.
    Length(u64),
    /// In chunks.
    Chunked,
    /// As they come; the end of the connection ends them.
    UntilClose,
    /// None may be written.
    Empty,
}

impl From<Framing> for Encoder {
    fn from(framing: Framing) -> Self {
        match framing {
            Framing::Empty => Encoder::Empty,
            Framing::Length(length) => Encoder::Length(length),
            Framing::Chunked => Encoder::Chunked,
            Framing::UntilClose => Encoder::UntilClose,
        }
    }
}

impl Encoder {
    /// Appends what goes before `length` bytes of content. An error is `Internal`: the content is longer than its
    /// head said and must not be sent.
    pub fn chunk_prefix(&mut self, length: usize, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Encoder::Length(left) => {
                *left = left
                    .checked_sub(length as u64)
                    .ok_or_else(|| Error::new(Kind::Internal, "content is longer than its Content-Length"))?;
            }
            Encoder::Chunked if length > 0 => {
                write!(out, "{length:x}\r\n").expect("a Vec takes every byte");
            }
            Encoder::Empty if length > 0 => {
                return Err(Error::new(Kind::Internal, "content where there may be none"));
            }
            Encoder::Chunked | Encoder::UntilClose | Encoder::Empty => {}
        }
        Ok(())
    }

    /// What goes behind content that is not empty; to be written before the next prefix.
    pub const fn chunk_suffix(&self) -> &'static [u8] {
        match self {
            Encoder::Chunked => b"\r\n",
            _ => b"",
        }
    }

    /// Appends what ends the message; trailers only where there is a place for them. An error is `Internal`: the
    /// content is shorter than its head said, so the connection must be closed.
    pub fn finish(&mut self, trailers: Option<&HeaderMap>, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Encoder::Length(left) if *left > 0 => {
                return Err(Error::new(Kind::Internal, "content is shorter than its Content-Length"));
            }
            Encoder::Chunked => {
                out.extend_from_slice(b"0\r\n");
                if let Some(trailers) = trailers {
                    write_fields(out, trailers);
                }
                out.extend_from_slice(b"\r\n");
            }
            Encoder::Length(_) | Encoder::UntilClose | Encoder::Empty => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_may_be_neither_longer_nor_shorter_than_said() {
        let mut out = Vec::new();
        let mut encoder = Encoder::Length(5);
        encoder.chunk_prefix(3, &mut out).unwrap();
        assert_eq!(encoder.finish(None, &mut out).unwrap_err().kind(), Kind::Internal);
        assert_eq!(encoder.chunk_prefix(3, &mut out).unwrap_err().kind(), Kind::Internal);
        encoder.chunk_prefix(2, &mut out).unwrap();
        encoder.finish(None, &mut out).unwrap();
        assert!(out.is_empty());
        assert!(Encoder::Empty.chunk_prefix(1, &mut out).is_err());
    }

    #[test]
    fn chunks_and_trailers() {
        let mut out = Vec::new();
        let mut encoder = Encoder::Chunked;
        encoder.chunk_prefix(26, &mut out).unwrap();
        out.extend_from_slice(b"abcdefghijklmnopqrstuvwxyz");
        out.extend_from_slice(encoder.chunk_suffix());
        encoder.chunk_prefix(0, &mut out).unwrap();
        let mut trailers = HeaderMap::new();
        trailers.insert("grpc-status", http::HeaderValue::from_static("0"));
        encoder.finish(Some(&trailers), &mut out).unwrap();
        assert_eq!(out, b"1a\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\ngrpc-status: 0\r\n\r\n");
    }
}
