//! RedisClient: one connection of a test to a Redis, in RESP2, with a deadline.

use std::io::{self, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use super::Reply;
use crate::DEADLINE;

/// One connection in cleartext. It stays open until it is dropped.
pub struct RedisClient(BufReader<Stream>);

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl RedisClient {
    /// Connects over TCP, as nobody in particular.
    pub fn connect(address: SocketAddr) -> Self {
        TcpStream::connect_timeout(&address, DEADLINE)
            .and_then(|stream| stream.set_nodelay(true).map(|()| stream))
            .and_then(|stream| Self::over(Stream::Tcp(stream), DEADLINE))
            .unwrap_or_else(|error| panic!("cannot connect to {address}: {error}"))
    }

    /// Connects over a socket of this machine; waits no longer than this for each reply.
    pub(crate) fn connect_unix(path: &Path, wait: Duration) -> io::Result<Self> {
        Self::over(Stream::Unix(UnixStream::connect(path)?), wait)
    }

    fn over(stream: Stream, wait: Duration) -> io::Result<Self> {
        match &stream {
            Stream::Tcp(stream) => stream.set_read_timeout(Some(wait))?,
            Stream::Unix(stream) => stream.set_read_timeout(Some(wait))?,
        }
        Ok(RedisClient(BufReader::new(stream)))
    }

    /// Sends a command and reads its reply, errors of the server included. Panics when none comes.
    pub fn command(&mut self, words: &[&str]) -> Reply {
        self.try_command(words).unwrap_or_else(|error| panic!("{words:?}: {error}"))
    }

    /// The same, but gives what became of the connection.
    pub fn try_command(&mut self, words: &[&str]) -> io::Result<Reply> {
        let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        self.send(&words)?;
        Reply::read(&mut self.0)
    }

    /// Sends a command of any bytes without waiting for its reply.
    pub fn send(&mut self, words: &[&[u8]]) -> io::Result<()> {
        let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
        for word in words {
            bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
            bytes.extend_from_slice(word);
            bytes.extend_from_slice(b"\r\n");
        }
        self.0.get_mut().write_all(&bytes)
    }

    /// The next reply or message.
    pub fn read(&mut self) -> Reply {
        Reply::read(&mut self.0).unwrap_or_else(|error| panic!("no reply: {error}"))
    }
}

impl Read for Stream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.read(bytes),
            Stream::Unix(stream) => stream.read(bytes),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.write(bytes),
            Stream::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
