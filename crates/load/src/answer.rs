//! Answer: where the head of an answer ends and how its content is framed (RFC 9112 §6.3).
//!
//! The bytes received so far come in; a head, the need for more, or a refusal goes out. Called by `inbox`.

use std::mem::MaybeUninit;

use httparse::{Header, ParserConfig, Status};

/// More fields than this are refused.
const MOST_FIELDS: usize = 100;

/// The answer breaks the rules of HTTP, or is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// What must be known of a head to find the end of its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) status: u16,
    /// Bytes of the head itself.
    pub(crate) length: usize,
    pub(crate) framing: Framing,
    /// Whether another request may follow on the connection.
    pub(crate) keep_alive: bool,
}

/// How the content ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// After so many bytes, perhaps none.
    Length(u64),
    /// With the last chunk.
    Chunked,
    /// With the connection.
    UntilClose,
}

/// Reads a head; `None` when it is not all there. `to_head`: the request was a HEAD, whose answers have no content.
pub(crate) fn parse(bytes: &[u8], to_head: bool) -> Result<Option<Head>, Malformed> {
    let mut fields = [const { MaybeUninit::<Header<'_>>::uninit() }; MOST_FIELDS];
    let mut response = httparse::Response::new(&mut []);
    let parsed =
        ParserConfig::default().parse_response_with_uninit_headers(&mut response, bytes, &mut fields);
    let length = match parsed {
        Ok(Status::Complete(length)) => length,
        Ok(Status::Partial) => return Ok(None),
        Err(_) => return Err(Malformed),
    };
    let status = response.code.filter(|code| *code >= 100).ok_or(Malformed)?;
    let framed = Framed::read(response.headers)?;
    let keep_alive = if response.version == Some(1) { !framed.close } else { framed.keep_alive };
    let framing = if to_head || status < 200 || status == 204 || status == 304 {
        Framing::Length(0)
    } else if framed.chunked {
        Framing::Chunked
    } else {
        framed.length.map_or(Framing::UntilClose, Framing::Length)
    };
    Ok(Some(Head { status, length, framing, keep_alive }))
}

/// What the fields say about where the content ends.
#[derive(Default)]
struct Framed {
    length: Option<u64>,
    chunked: bool,
    close: bool,
    keep_alive: bool,
}

impl Framed {
    /// Refuses what two readers could understand differently: both framings, two lengths, codings beside `chunked`.
    fn read(fields: &[Header<'_>]) -> Result<Self, Malformed> {
        let mut framed = Framed::default();
        for field in fields {
            // Told apart by length first: the usual head has a dozen fields, of which these are at most two.
            match field.name.len() {
                10 if field.name.eq_ignore_ascii_case("connection") => framed.read_connection(field.value),
                14 if field.name.eq_ignore_ascii_case("content-length") => {
                    let length = read_length(field.value)?;
                    if framed.length.replace(length).is_some() {
                        return Err(Malformed);
                    }
                }
                17 if field.name.eq_ignore_ascii_case("transfer-encoding") => {
                    if framed.chunked || !field.value.eq_ignore_ascii_case(b"chunked") {
                        return Err(Malformed);
                    }
                    framed.chunked = true;
                }
                _ => {}
            }
        }
        if framed.chunked && framed.length.is_some() { Err(Malformed) } else { Ok(framed) }
    }

    fn read_connection(&mut self, value: &[u8]) {
        for option in value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }
}

fn read_length(value: &[u8]) -> Result<u64, Malformed> {
    if value.is_empty() {
        return Err(Malformed);
    }
    value.iter().try_fold(0_u64, |length, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0')).ok_or(Malformed)?;
        length.checked_mul(10).and_then(|tens| tens.checked_add(digit)).ok_or(Malformed)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &str) -> Head {
        parse(text.as_bytes(), false).expect(text).expect("complete")
    }

    #[test]
    fn each_framing_is_told() {
        let of = |fields: &str| head(&format!("HTTP/1.1 200 OK\r\n{fields}\r\n")).framing;
        assert_eq!(of("Content-Length: 15\r\n"), Framing::Length(15));
        assert_eq!(of("content-length: 0\r\n"), Framing::Length(0));
        assert_eq!(of("Transfer-Encoding: Chunked\r\n"), Framing::Chunked);
        assert_eq!(of(""), Framing::UntilClose);
    }

    #[test]
    fn answers_without_content_have_none_whatever_they_say() {
        for status in ["204 No Content", "304 Not Modified", "103 Early Hints"] {
            let text = format!("HTTP/1.1 {status}\r\nContent-Length: 15\r\n\r\n");
            assert_eq!(head(&text).framing, Framing::Length(0), "{status}");
        }
        let to_head = parse(b"HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n", true).unwrap().unwrap();
        assert_eq!(to_head.framing, Framing::Length(0));
    }

    #[test]
    fn a_head_that_is_not_all_there_is_waited_for() {
        let text = b"HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n";
        for end in 0..text.len() {
            assert_eq!(parse(&text[..end], false), Ok(None), "{end}");
        }
        assert_eq!(parse(text, false).unwrap().unwrap().length, text.len());
    }

    #[test]
    fn what_two_readers_could_understand_differently_is_refused() {
        for fields in [
            "Content-Length: 1\r\nContent-Length: 1",
            "Content-Length: 1\r\nTransfer-Encoding: chunked",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
            "Transfer-Encoding: gzip, chunked",
            "Content-Length: +1",
            "Content-Length: 1, 1",
            "Content-Length: ",
            "Content-Length: 18446744073709551616",
        ] {
            let text = format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n");
            assert_eq!(parse(text.as_bytes(), false), Err(Malformed), "{fields}");
        }
        assert_eq!(parse(b"SSH-2.0-OpenSSH_9.2\r\n", false), Err(Malformed));
        assert_eq!(parse(b"HTTP/1.1 099 Odd\r\n\r\n", false), Err(Malformed));
    }

    #[test]
    fn connections_are_kept_as_the_version_and_the_field_say() {
        let kept =
            |version: &str, fields: &str| head(&format!("HTTP/{version} 200 OK\r\n{fields}\r\n")).keep_alive;
        assert!(kept("1.1", ""));
        assert!(!kept("1.1", "Connection: x, Close\r\n"));
        assert!(!kept("1.0", ""));
        assert!(kept("1.0", "Connection: Keep-Alive\r\n"));
    }
}
