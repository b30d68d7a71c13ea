//! Answer: what a raw client got back, read strictly: one reading of every message, or a panic that shows the bytes.

use crate::Head;
use crate::head::{end_of_head, latin1};

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

/// Where an answer stands in the bytes so far.
pub(crate) enum Progress {
    /// More bytes are needed.
    Incomplete,
    /// It took this many bytes.
    Whole(Box<Answer>, usize),
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

    /// Reads an answer to a request of this method from the bytes so far; `ended`: no more will come.
    pub(crate) fn parse(method: &str, bytes: &[u8], ended: bool) -> Progress {
        let mut at = 0;
        let mut interim = Vec::new();
        let (head, status) = loop {
            let Some(length) = end_of_head(&bytes[at..]) else { return Progress::Incomplete };
            let head = Head::parse(&bytes[at..at + length - 4]);
            at += length;
            match status_code(&head) {
                code @ (100 | 102..=199) => {
                    assert!(
                        !head.is_chunked() && head.content_length().is_none(),
                        "{code} with content: {head:?}"
                    );
                    interim.push(head);
                }
                code => break (head, code),
            }
        };
        let rest = &bytes[at..];
        let mut answer = Answer { status, head, interim, ..Answer::default() };
        let length = if method == "HEAD" || matches!(status, 101 | 204 | 304) {
            Some(0)
        } else if answer.head.is_chunked() {
            assert!(answer.head.content_length().is_none(), "both framings in {:?}", answer.head);
            answer.take_chunks(rest)
        } else if let Some(length) = answer.head.content_length() {
            answer.body = rest[..length.min(rest.len())].to_vec();
            (rest.len() >= length).then_some(length)
        } else {
            answer.body = rest.to_vec();
            ended.then_some(rest.len())
        };
        match length {
            Some(length) => Progress::Whole(Box::new(answer), at + length),
            None => Progress::Incomplete,
        }
    }

    /// Takes chunked content into `body`; gives its length on the wire when it is whole.
    fn take_chunks(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        loop {
            let line_end = bytes[at..].windows(2).position(|window| window == b"\r\n")?;
            let line = latin1(&bytes[at..at + line_end]);
            let digits = line.split(';').next().unwrap_or_default();
            let size =
                usize::from_str_radix(digits, 16).unwrap_or_else(|_| panic!("bad chunk size {line:?}"));
            at += line_end + 2;
            if size == 0 {
                break;
            }
            let chunk = bytes.get(at..at + size)?;
            self.body.extend_from_slice(chunk);
            at += size;
            let end = bytes.get(at..at + 2)?;
            assert_eq!(
                end,
                b"\r\n",
                "a chunk without its CRLF, after {:?}",
                self.body.escape_ascii().to_string()
            );
            at += 2;
        }
        if bytes.get(at..at + 2)? == b"\r\n" {
            return Some(at + 2);
        }
        let end = end_of_head(&bytes[at..])?;
        let trailers = [b"trailers\r\n", &bytes[at..at + end - 4]].concat();
        self.trailers = Head::parse(&trailers).fields;
        Some(at + end)
    }
}

impl Broken {
    /// The bytes as text.
    pub fn text(&self) -> String {
        latin1(&self.bytes)
    }
}

fn status_code(head: &Head) -> u16 {
    let mut words = head.start.splitn(3, ' ');
    let version = words.next().unwrap_or_default();
    assert!(version == "HTTP/1.1", "not an HTTP/1.1 status line: {:?}", head.start);
    let code = words.next().unwrap_or_default();
    assert!(code.len() == 3 && words.next().is_some(), "bad status line: {:?}", head.start);
    code.parse().unwrap_or_else(|_| panic!("bad status line: {:?}", head.start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(bytes: &[u8]) -> Answer {
        match Answer::parse("GET", bytes, false) {
            Progress::Whole(answer, length) => {
                assert_eq!(length, bytes.len());
                *answer
            }
            Progress::Incomplete => panic!("incomplete"),
        }
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
                matches!(Answer::parse("GET", &bytes[..length], true), Progress::Incomplete),
                "at {length}"
            );
        }
    }

    #[test]
    #[should_panic(expected = "two Content-Length")]
    fn refuses_two_lengths() {
        whole(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na");
    }
}
