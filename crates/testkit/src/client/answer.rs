//! Answer: what a client got back, read strictly: one reading of every message, or an error that shows the bytes. Tests
//! panic with it.

use std::fmt;
use std::io;

use crate::Head;
use crate::head::{end_of_head, latin1, malformed, shown};

/// A final answer with whatever came before it.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// Status line and fields.
    pub head: Head,
    /// The content, without its framing.
    pub body: Vec<u8>,
    /// Fields behind the last chunk.
    pub trailers: Vec<(String, String)>,
    /// Informational answers that came first.
    pub interim: Vec<Head>,
}

/// An answer that ended before it was complete.
#[derive(Clone, Debug, Default)]
pub struct Broken {
    /// All bytes that came.
    pub bytes: Vec<u8>,
}

/// Why no answer can be read from the bytes so far.
#[derive(Debug)]
pub(crate) enum Unread {
    /// More bytes are needed.
    Incomplete,
    /// They never will be one.
    Malformed(io::Error),
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        Unread::Malformed(error)
    }
}

impl Answer {
    /// The first value of this field.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.head.field(name)
    }

    /// All values of this field, joined by `, `.
    pub fn joined(&self, name: &str) -> String {
        self.head.all(name).collect::<Vec<_>>().join(", ")
    }

    /// Whether the field is there.
    pub fn has(&self, name: &str) -> bool {
        self.field(name).is_some()
    }

    /// The content as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The `Age` field in seconds.
    pub fn age(&self) -> Option<u64> {
        self.field("Age").map(|age| age.parse().unwrap_or_else(|_| panic!("bad Age in {self:?}")))
    }

    /// `Cache-Status` as a whole, or nothing.
    pub fn cache_status(&self) -> String {
        self.joined("Cache-Status")
    }

    /// Whether `Cache-Status` calls this a hit (RFC 9211 §2.1).
    pub fn is_hit(&self) -> bool {
        self.cache_status().split(';').any(|part| part.trim() == "hit")
    }

    /// Seconds of freshness left, as `Cache-Status` tells them (RFC 9211 §2.4); negative when stale.
    pub fn ttl(&self) -> Option<i64> {
        let status = self.cache_status();
        let number = status.split(';').find_map(|part| part.trim().strip_prefix("ttl="))?;
        Some(number.parse().unwrap_or_else(|_| panic!("bad ttl in {self:?}")))
    }

    /// Reads an answer to a request of this method from the bytes so far, and how many of them it took; `ended`: no more
    /// will come. Content is copied only once it is whole, for this is called again whenever more has come.
    pub(crate) fn parse(method: &str, bytes: &[u8], ended: bool) -> Result<(Self, usize), Unread> {
        let mut at = 0;
        let mut interim = Vec::new();
        let (head, status) = loop {
            let length = end_of_head(&bytes[at..]).ok_or(Unread::Incomplete)?;
            let head = Head::try_parse(&bytes[at..at + length - 4])?;
            at += length;
            match status_code(&head)? {
                code @ (100 | 102..=199) => {
                    if head.is_chunked() || head.content_length()?.is_some() {
                        return Err(malformed(format!("{code} with content: {head:?}")).into());
                    }
                    interim.push(head);
                }
                code => break (head, code),
            }
        };
        let rest = &bytes[at..];
        let mut answer = Answer { status, head, interim, ..Answer::default() };
        let length = answer.head.content_length()?;
        if method == "HEAD" || matches!(status, 101 | 204 | 304) {
            return Ok((answer, at));
        }
        if answer.head.is_chunked() {
            if length.is_some() {
                return Err(malformed(format!("both framings in {:?}", answer.head)).into());
            }
            at += answer.take_chunks(rest)?;
        } else {
            let length = length.or(ended.then_some(rest.len()));
            answer.body = length.and_then(|length| rest.get(..length)).ok_or(Unread::Incomplete)?.to_vec();
            at += answer.body.len();
        }
        Ok((answer, at))
    }

    /// Takes chunked content into `body`; gives its length on the wire.
    fn take_chunks(&mut self, bytes: &[u8]) -> Result<usize, Unread> {
        let mut chunks = Vec::new();
        let mut rest = bytes;
        loop {
            let line_end = rest.windows(2).position(|window| window == b"\r\n").ok_or(Unread::Incomplete)?;
            let (line, behind) = (latin1(&rest[..line_end]), &rest[line_end + 2..]);
            let size = usize::from_str_radix(line.split(';').next().unwrap_or_default(), 16);
            let size = size.map_err(|_| malformed(format!("bad chunk size {line:?}")))?;
            rest = behind;
            if size == 0 {
                break;
            }
            let (chunk, behind) = rest.split_at_checked(size).ok_or(Unread::Incomplete)?;
            let (end, behind) = behind.split_at_checked(2).ok_or(Unread::Incomplete)?;
            if end != b"\r\n" {
                return Err(malformed(format!("a chunk without its CRLF: {}", shown(chunk))).into());
            }
            chunks.push(chunk);
            rest = behind;
        }
        if rest.starts_with(b"\r\n") {
            rest = &rest[2..];
        } else {
            let end = end_of_head(rest).ok_or(Unread::Incomplete)?;
            let trailers = [b"trailers\r\n", &rest[..end - 4]].concat();
            self.trailers = Head::try_parse(&trailers)?.fields;
            rest = &rest[end..];
        }
        self.body = chunks.concat();
        Ok(bytes.len() - rest.len())
    }
}

impl Broken {
    /// The bytes as text.
    pub fn text(&self) -> String {
        latin1(&self.bytes)
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server ended the connection, after {}", shown(&self.bytes))
    }
}

impl From<Broken> for io::Error {
    fn from(broken: Broken) -> Self {
        io::Error::new(io::ErrorKind::UnexpectedEof, broken.to_string())
    }
}

/// The method of a request as it is sent: how its answer is framed depends on it.
pub(crate) fn method_of(request: &[u8]) -> String {
    latin1(request.split(|&byte| byte == b' ').next().unwrap_or_default())
}

fn status_code(head: &Head) -> io::Result<u16> {
    let mut words = head.start.splitn(3, ' ');
    let code = match (words.next(), words.next(), words.next()) {
        (Some("HTTP/1.1"), Some(code), Some(_reason)) if code.len() == 3 => code.parse().ok(),
        _ => None,
    };
    code.ok_or_else(|| malformed(format!("not an HTTP/1.1 status line: {:?}", head.start)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(bytes: &[u8]) -> Answer {
        let (answer, length) = Answer::parse("GET", bytes, false).unwrap();
        assert_eq!(length, bytes.len());
        answer
    }

    #[test]
    fn reads_chunks_and_trailers() {
        let answer =
            whole(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nA: b\r\n\r\n");
        assert_eq!(answer.text(), "abc");
        assert_eq!(answer.trailers, [("A".to_owned(), "b".to_owned())]);
    }

    #[test]
    fn keeps_interim_answers_apart() {
        let answer = whole(
            b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na",
        );
        assert_eq!(answer.interim[0].field("link"), Some("x"));
        assert_eq!((answer.status, answer.text()), (200, "a".to_owned()));
    }

    #[test]
    fn waits_for_what_is_missing() {
        let bytes = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
        for length in 0..bytes.len() {
            assert!(
                matches!(Answer::parse("GET", &bytes[..length], true), Err(Unread::Incomplete)),
                "at {length}"
            );
        }
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_refused_with_a_reason() {
        for (bytes, reason) in [
            ("HTTP/1.0 200 OK\r\n\r\n", "not an HTTP/1.1 status line"),
            ("HTTP/1.1 20 OK\r\n\r\n", "not an HTTP/1.1 status line"),
            ("HTTP/1.1 200 OK\r\nA : b\r\n\r\n", "bad field name"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na", "two Content-Length"),
            ("HTTP/1.1 200 OK\r\nContent-Length: +\r\n\r\n", "bad Content-Length"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "both framings"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "bad chunk size"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", "without its CRLF"),
            ("HTTP/1.1 103 Early Hints\r\nContent-Length: 1\r\n\r\na", "with content"),
        ] {
            match Answer::parse("GET", bytes.as_bytes(), false) {
                Err(Unread::Malformed(error)) => assert!(error.to_string().contains(reason), "{error}"),
                other => panic!("{bytes:?} is {other:?}"),
            }
        }
    }
}
