//! Client: asks one server over one connection, one request after another, and reads each answer whole.
//!
//! For looking whether answers are right, for filling caches, and for connections that then stay idle. How fast a
//! server is, is measured by others.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(10);
const FIELDS: usize = 64;

/// A connection that stays open between requests.
pub(crate) struct Client {
    stream: TcpStream,
}

/// A whole answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// As it came: head and content.
    pub(crate) bytes: Vec<u8>,
    /// Where the content begins.
    head: usize,
}

/// What a head says about its answer.
struct Head {
    status: u16,
    size: usize,
    content_length: usize,
}

impl Answer {
    pub(crate) fn content(&self) -> &[u8] {
        &self.bytes[self.head..]
    }
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Result<Self, String> {
        let connect = || {
            let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.set_write_timeout(Some(PATIENCE))?;
            stream.set_nodelay(true)?;
            Ok(stream)
        };
        let stream =
            connect().map_err(|error: std::io::Error| format!("cannot connect to {address}: {error}"))?;
        Ok(Client { stream })
    }

    /// `GET` on this path. Answers must say their length.
    pub(crate) fn get(&mut self, path: &str) -> Result<Answer, String> {
        self.ask(path).map_err(|problem| format!("GET {path}: {problem}"))
    }

    fn ask(&mut self, path: &str) -> Result<Answer, String> {
        let request = format!("GET {path} HTTP/1.1\r\nHost: benchmark\r\n\r\n");
        self.stream.write_all(request.as_bytes()).map_err(|error| error.to_string())?;
        let mut bytes = Vec::with_capacity(2048);
        let head = loop {
            self.read_into(&mut bytes)?;
            if let Some(head) = Head::parse(&bytes)? {
                break head;
            }
        };
        while bytes.len() < head.size + head.content_length {
            self.read_into(&mut bytes)?;
        }
        if bytes.len() > head.size + head.content_length {
            return Err("more came than the answer".to_owned());
        }
        Ok(Answer { status: head.status, bytes, head: head.size })
    }

    fn read_into(&mut self, bytes: &mut Vec<u8>) -> Result<(), String> {
        let mut buffer = [0; 16 * 1024];
        match self.stream.read(&mut buffer) {
            Ok(0) => Err("the connection ended before the answer did".to_owned()),
            Ok(count) => {
                bytes.extend_from_slice(&buffer[..count]);
                Ok(())
            }
            Err(error) => Err(error.to_string()),
        }
    }
}

impl Head {
    /// `None`: not all of it is there yet.
    fn parse(bytes: &[u8]) -> Result<Option<Self>, String> {
        let mut fields = [httparse::EMPTY_HEADER; FIELDS];
        let mut response = httparse::Response::new(&mut fields);
        let size = match response.parse(bytes).map_err(|error| format!("not an answer: {error}"))? {
            httparse::Status::Complete(size) => size,
            httparse::Status::Partial => return Ok(None),
        };
        let length = response.headers.iter().find(|field| field.name.eq_ignore_ascii_case("content-length"));
        let content_length = length
            .and_then(|field| std::str::from_utf8(field.value).ok()?.parse().ok())
            .ok_or("the answer does not say its length")?;
        Ok(Some(Head { status: response.code.unwrap_or_default(), size, content_length }))
    }
}

/// `GET` on this path over a connection of its own.
pub(crate) fn get(address: SocketAddr, path: &str) -> Result<Answer, String> {
    Client::connect(address)?.get(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_says_where_the_content_begins_and_how_long_it_is() {
        let head =
            Head::parse(b"HTTP/1.1 200 OK\r\ncontent-LENGTH: 7\r\n\r\n{").expect("valid").expect("whole");
        assert_eq!((head.status, head.size, head.content_length), (200, 38, 7));
        assert!(Head::parse(b"HTTP/1.1 200 OK\r\ncontent-").expect("valid so far").is_none());
        assert!(Head::parse(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
    }
}
