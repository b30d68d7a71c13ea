//! HttpClient: a plain blocking client on one connection, for warming caches and checking that answers are right.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::failure::{Result, fail};

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
        let end = loop {
            match self.buffer.windows(4).position(|window| window == b"\r\n\r\n") {
                Some(at) => break at + 4,
                None => self.fill()?,
            }
        };
        let head = String::from_utf8_lossy(&self.buffer[..end]).to_ascii_lowercase();
        if !head.starts_with("http/1.1 200 ") {
            return fail(format!("not a 200 but {}", head.lines().next().unwrap_or_default()));
        }
        let length =
            head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
        let Some(length) = length else { return self.receive_chunks(end) };
        while self.buffer.len() < end + length {
            self.fill()?;
        }
        let content = self.buffer[end..end + length].to_vec();
        self.buffer.drain(..end + length);
        Ok(content)
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
