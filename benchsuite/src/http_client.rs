//! HttpClient: a plain blocking client on one connection, for warming caches, checking that answers are right, and asking
//! the admin port.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::failure::{Failure, Result, fail};

/// An answer.
pub(crate) struct Answer {
    /// In lower case.
    head: String,
    pub(crate) content: Vec<u8>,
}

impl Answer {
    /// The value of a field, in lower case; the name is given so.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim()))
    }

    /// Its status; 0 where it has none.
    pub(crate) fn status(&self) -> u16 {
        self.head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
    }

    /// Whether the cache says that it had it fresh.
    pub(crate) fn is_hit(&self) -> bool {
        self.field("cache-status").is_some_and(|status| status.contains("; hit"))
    }

    /// Itself where it is a 200.
    pub(crate) fn of_success(self) -> Result<Self> {
        if self.status() == 200 {
            return Ok(self);
        }
        let said: String = String::from_utf8_lossy(&self.content).chars().take(300).collect();
        fail(format!("not a 200 but {} {said}", self.head.lines().next().unwrap_or_default()))
    }

    /// The JSON in it.
    pub(crate) fn json(&self) -> Result<serde_json::Value> {
        serde_json::from_slice(&self.content).map_err(|error| Failure(format!("no JSON: {error}")))
    }
}

/// One kept connection.
pub(crate) struct HttpClient {
    stream: TcpStream,
    buffer: Vec<u8>,
    host: SocketAddr,
}

impl HttpClient {
    /// Connects.
    pub(crate) fn connect(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect_timeout(&address, Duration::from_secs(5))?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        stream.set_nodelay(true)?;
        Ok(HttpClient { stream, buffer: Vec::new(), host: address })
    }

    /// Asks for this target, and gives the content of a 200.
    pub(crate) fn get(&mut self, target: &str) -> Result<Vec<u8>> {
        self.send(&[target])?;
        self.receive()
    }

    /// Asks for this target with these fields; gives the answer, whatever its status.
    pub(crate) fn ask(&mut self, target: &str, fields: &[(&str, &str)]) -> Result<Answer> {
        self.send_one("GET", target, fields, "")?;
        self.receive_answer()
    }

    /// Posts JSON; gives the answer, whatever its status.
    pub(crate) fn post(&mut self, target: &str, json: &serde_json::Value) -> Result<Answer> {
        self.write("POST", target, json)
    }

    /// Puts JSON; gives the answer, whatever its status.
    pub(crate) fn put(&mut self, target: &str, json: &serde_json::Value) -> Result<Answer> {
        self.write("PUT", target, json)
    }

    fn write(&mut self, method: &str, target: &str, json: &serde_json::Value) -> Result<Answer> {
        let content = json.to_string();
        let length = content.len().to_string();
        let fields = [("Content-Type", "application/json"), ("Content-Length", &length)];
        self.send_one(method, target, &fields, &content)?;
        self.receive_answer()
    }

    fn send_one(&mut self, method: &str, target: &str, fields: &[(&str, &str)], content: &str) -> Result<()> {
        let mut request = format!("{method} {target} HTTP/1.1\r\nHost: {}\r\n", self.host);
        for (name, value) in fields {
            for part in [name, ": ", value, "\r\n"] {
                request.push_str(part);
            }
        }
        request.push_str("\r\n");
        request.push_str(content);
        Ok(self.stream.write_all(request.as_bytes())?)
    }

    /// Asks for all of these at once.
    pub(crate) fn send(&mut self, targets: &[impl AsRef<str>]) -> Result<()> {
        let mut requests = String::new();
        for target in targets {
            for part in ["GET ", target.as_ref(), " HTTP/1.1\r\nHost: ", &self.host.to_string(), "\r\n\r\n"] {
                requests.push_str(part);
            }
        }
        Ok(self.stream.write_all(requests.as_bytes())?)
    }

    /// Reads the content of the next answer, which must be a 200.
    pub(crate) fn receive(&mut self) -> Result<Vec<u8>> {
        Ok(self.receive_answer()?.of_success()?.content)
    }

    /// Reads the next answer.
    fn receive_answer(&mut self) -> Result<Answer> {
        let end = loop {
            match self.buffer.windows(4).position(|window| window == b"\r\n\r\n") {
                Some(at) => break at + 4,
                None => self.fill()?,
            }
        };
        let head = String::from_utf8_lossy(&self.buffer[..end]).to_ascii_lowercase();
        let answer = Answer { head, content: Vec::new() };
        let length = answer.field("content-length").and_then(|length| length.parse::<usize>().ok());
        let Some(length) = length else {
            return Ok(Answer { content: self.receive_chunks(end)?, ..answer });
        };
        while self.buffer.len() < end + length {
            self.fill()?;
        }
        let content = self.buffer[end..end + length].to_vec();
        self.buffer.drain(..end + length);
        Ok(Answer { content, ..answer })
    }

    fn receive_chunks(&mut self, mut at: usize) -> Result<Vec<u8>> {
        let mut content = Vec::new();
        loop {
            let line_end = loop {
                match self.buffer[at..].windows(2).position(|window| window == b"\r\n") {
                    Some(length) => break at + length,
                    None => self.fill()?,
                }
            };
            let size = usize::from_str_radix(&String::from_utf8_lossy(&self.buffer[at..line_end]), 16)?;
            at = line_end + 2;
            while self.buffer.len() < at + size + 2 {
                self.fill()?;
            }
            content.extend_from_slice(&self.buffer[at..at + size]);
            at += size + 2;
            if size == 0 {
                self.buffer.drain(..at);
                return Ok(content);
            }
        }
    }

    fn fill(&mut self) -> Result<()> {
        let mut bytes = [0; 16 * 1024];
        let count = self.stream.read(&mut bytes)?;
        if count == 0 {
            return fail("the server closed the connection");
        }
        self.buffer.extend_from_slice(&bytes[..count]);
        Ok(())
    }
}
