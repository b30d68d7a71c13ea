//! The bare epoll loop: the least that answering a request can cost. One thread, one read, one write of bytes that were
//! ready before, nothing looked at but where the request ends and which path it names. It is also the origin behind
//! everybody, where its answers say whether they may be kept.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::SystemTime;

use clap::ValueEnum;
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::fd::OwnedFd;

use crate::failure::Result;
use crate::row::content;

/// What the loop is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Role {
    /// The limit to compare with: one answer for all keys.
    Bare,
    /// The origin: each key has its own content, and `/count` tells how many requests there were.
    Origin,
}

const LISTENER: u64 = u64::MAX;

struct Loop {
    role: Role,
    epoll: OwnedFd,
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    small: Vec<u8>,
    large: Vec<u8>,
    uncached: Vec<u8>,
    requests: u64,
}

struct Connection {
    stream: TcpStream,
    /// The beginning of a request whose end is still to come.
    input: Vec<u8>,
    /// What the socket would not take yet.
    output: Vec<u8>,
}

/// Serves until the process is ended.
pub(crate) fn serve(role: Role, address: SocketAddr) -> Result<()> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    // The standard library's backlog of 128 would drop some of a thousand clients that come at once.
    rustix::net::listen(&listener, 16_384)?;
    let epoll = epoll::create(CreateFlags::CLOEXEC)?;
    epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
    let mut server = Loop {
        role,
        epoll,
        connections: Vec::new(),
        free: Vec::new(),
        small: answer("/1k", true),
        large: answer("/64k", true),
        uncached: answer("/proxied", false),
        requests: 0,
    };
    let mut events: Vec<Event> = Vec::with_capacity(256);
    loop {
        epoll::wait(&server.epoll, spare_capacity(&mut events), None)?;
        for event in events.drain(..) {
            match event.data.u64() {
                LISTENER => server.accept(&listener),
                number => server.advance(number as usize, event.flags),
            }
        }
    }
}

/// A whole answer to this target.
fn answer(target: &str, may_be_kept: bool) -> Vec<u8> {
    #[allow(clippy::disallowed_methods, reason = "a program of its own, which needs one date at its start")]
    let date = httpdate::fmt_http_date(SystemTime::now());
    let control = if may_be_kept { "public, max-age=86400" } else { "no-store" };
    let content = content(target);
    let head = format!(
        "HTTP/1.1 200 OK\r\nDate: {date}\r\nContent-Type: application/json\r\nCache-Control: {control}\r\n\
         Content-Length: {}\r\n\r\n",
        content.len()
    );
    [head.into_bytes(), content].concat()
}

impl Loop {
    fn accept(&mut self, listener: &TcpListener) {
        while let Ok((stream, _)) = listener.accept() {
            let number = self.free.pop().unwrap_or_else(|| {
                self.connections.push(None);
                self.connections.len() - 1
            });
            let ready = stream.set_nonblocking(true).and_then(|()| stream.set_nodelay(true)).and_then(|()| {
                Ok(epoll::add(&self.epoll, &stream, EventData::new_u64(number as u64), EventFlags::IN)?)
            });
            match ready {
                Ok(()) => {
                    self.connections[number] =
                        Some(Connection { stream, input: Vec::new(), output: Vec::new() });
                }
                Err(_) => self.free.push(number),
            }
        }
    }

    fn advance(&mut self, number: usize, flags: EventFlags) {
        let Some(mut connection) = self.connections[number].take() else { return };
        let alive = if flags.contains(EventFlags::OUT) {
            connection.flush(&self.epoll, number)
        } else {
            self.read(&mut connection, number)
        };
        match alive {
            Ok(true) => self.connections[number] = Some(connection),
            Ok(false) | Err(_) => self.free.push(number),
        }
    }

    /// False when the client has gone.
    fn read(&mut self, connection: &mut Connection, number: usize) -> io::Result<bool> {
        let mut bytes = [0; 16 * 1024];
        let count = match connection.stream.read(&mut bytes) {
            Ok(0) => return Ok(false),
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(true),
            Err(error) => return Err(error),
        };
        if connection.input.is_empty() {
            let rest = self.answer_all(&bytes[..count], connection, number)?;
            connection.input.extend_from_slice(&bytes[rest..count]);
        } else {
            let mut input = std::mem::take(&mut connection.input);
            input.extend_from_slice(&bytes[..count]);
            let rest = self.answer_all(&input, connection, number)?;
            connection.input.extend_from_slice(&input[rest..]);
        }
        Ok(true)
    }

    /// Answers every whole request; gives where the first incomplete one begins.
    fn answer_all(&mut self, input: &[u8], connection: &mut Connection, number: usize) -> io::Result<usize> {
        let mut at = 0;
        while let Some(length) = input[at..].windows(4).position(|window| window == b"\r\n\r\n") {
            let request = &input[at..at + length];
            at += length + 4;
            self.requests += 1;
            let made;
            let answer = match path(request) {
                b"/1k" => &self.small,
                b"/64k" => &self.large,
                b"/proxied" => &self.uncached,
                b"/count" => {
                    self.requests -= 1;
                    let count = self.requests.to_string();
                    made = format!(
                        "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: {}\r\n\r\n{count}",
                        count.len()
                    )
                    .into_bytes();
                    &made
                }
                key if self.role == Role::Origin => {
                    made = answer(&String::from_utf8_lossy(key), true);
                    &made
                }
                _ => &self.small,
            };
            connection.send(answer, &self.epoll, number)?;
        }
        Ok(at)
    }
}

impl Connection {
    fn send(&mut self, bytes: &[u8], epoll: &OwnedFd, number: usize) -> io::Result<()> {
        let mut sent = 0;
        if self.output.is_empty() {
            sent = match self.stream.write(bytes) {
                Ok(sent) => sent,
                Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
                Err(error) => return Err(error),
            };
            if sent < bytes.len() {
                self.wait_for(EventFlags::OUT, epoll, number)?;
            }
        }
        self.output.extend_from_slice(&bytes[sent..]);
        Ok(())
    }

    fn flush(&mut self, epoll: &OwnedFd, number: usize) -> io::Result<bool> {
        match self.stream.write(&self.output) {
            Ok(sent) => drop(self.output.drain(..sent)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        if self.output.is_empty() {
            self.wait_for(EventFlags::IN, epoll, number)?;
        }
        Ok(true)
    }

    fn wait_for(&self, flags: EventFlags, epoll: &OwnedFd, number: usize) -> io::Result<()> {
        Ok(epoll::modify(epoll, &self.stream, EventData::new_u64(number as u64), flags)?)
    }
}

/// The second word of the request line.
fn path(request: &[u8]) -> &[u8] {
    request.split(|&byte| byte == b' ').nth(1).unwrap_or_default()
}
