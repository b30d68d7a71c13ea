//! The bare epoll loop: the least that answering a request can cost. One thread, one read, one write of bytes that were
//! ready before, nothing looked at but where the request ends and which path it names. It is also the origin behind
//! everybody, where its answers say whether they may be kept.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::rc::Rc;
use std::time::SystemTime;

use clap::ValueEnum;
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::fd::OwnedFd;

use crate::failure::Result;
use crate::page::{self, PARTS};
use crate::row::{content, tags};

/// What the loop is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Role {
    /// The limit to compare with: one answer for all keys.
    Bare,
    /// The origin: each key has its own content, and `/count` tells how many requests there were.
    Origin,
    /// The same with three tags in every answer that may be kept.
    TaggedOrigin,
    /// The same with the parts of a page, ready before.
    PartsOrigin,
}

const LISTENER: u64 = u64::MAX;

struct Loop {
    role: Role,
    epoll: OwnedFd,
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    small: Rc<[u8]>,
    large: Rc<[u8]>,
    uncached: Rc<[u8]>,
    /// By their targets.
    parts: Vec<(String, Rc<[u8]>)>,
    /// What is being read: one buffer for all, since clearing one for each read would cost as much as the parsing.
    buffer: Vec<u8>,
    requests: u64,
}

struct Connection {
    stream: TcpStream,
    /// The beginning of a request whose end is still to come.
    input: Vec<u8>,
    /// What the socket would not take yet: answers, the first of them from some byte on.
    output: VecDeque<Rc<[u8]>>,
    sent: usize,
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
        small: role.answer("/1k", true),
        large: role.answer("/64k", true),
        uncached: role.answer("/proxied", false),
        parts: role.parts(),
        buffer: vec![0; 64 * 1024],
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

impl Role {
    /// The answers to the parts of a page, none of which may be kept.
    fn parts(self) -> Vec<(String, Rc<[u8]>)> {
        let parts = PARTS.into_iter().filter(|_| self == Role::PartsOrigin);
        parts.map(|part| (page::target_of(part), self.whole("", false, page::content(part)))).collect()
    }

    /// A whole answer to this target.
    fn answer(self, target: &str, may_be_kept: bool) -> Rc<[u8]> {
        self.whole(target, may_be_kept, content(target))
    }

    fn whole(self, target: &str, may_be_kept: bool, content: Vec<u8>) -> Rc<[u8]> {
        #[allow(
            clippy::disallowed_methods,
            reason = "a program of its own, which needs one date at its start"
        )]
        let date = httpdate::fmt_http_date(SystemTime::now());
        let control = if may_be_kept { "public, max-age=86400" } else { "no-store" };
        let tagged = self == Role::TaggedOrigin && may_be_kept;
        let tags = if tagged { format!("Cache-Tag: {}\r\n", tags(target)) } else { String::new() };
        let head = format!(
            "HTTP/1.1 200 OK\r\nDate: {date}\r\nContent-Type: application/json\r\nCache-Control: {control}\r\n\
             {tags}Content-Length: {}\r\n\r\n",
            content.len()
        );
        [head.into_bytes(), content].concat().into()
    }
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
                        Some(Connection { stream, input: Vec::new(), output: VecDeque::new(), sent: 0 });
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
        let count = match connection.stream.read(&mut self.buffer) {
            Ok(0) => return Ok(false),
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(true),
            Err(error) => return Err(error),
        };
        let mut buffer = std::mem::take(&mut self.buffer);
        let result = if connection.input.is_empty() {
            let rest = self.answer_all(&buffer[..count], connection, number);
            rest.map(|rest| connection.input.extend_from_slice(&buffer[rest..count]))
        } else {
            let mut input = std::mem::take(&mut connection.input);
            input.extend_from_slice(&buffer[..count]);
            let rest = self.answer_all(&input, connection, number);
            rest.map(|rest| connection.input.extend_from_slice(&input[rest..]))
        };
        std::mem::swap(&mut self.buffer, &mut buffer);
        result.map(|()| true)
    }

    /// Answers every whole request; gives where the first incomplete one begins.
    fn answer_all(&mut self, input: &[u8], connection: &mut Connection, number: usize) -> io::Result<usize> {
        let mut at = 0;
        while let Some(length) = input[at..].windows(4).position(|window| window == b"\r\n\r\n") {
            let request = &input[at..at + length];
            at += length + 4;
            self.requests += 1;
            let made;
            let path = path(request);
            let part = self.parts.iter().find(|(target, _)| target.as_bytes() == path);
            let answer = match path {
                _ if let Some((_, part)) = part => part,
                b"/1k" => &self.small,
                b"/64k" => &self.large,
                b"/proxied" => &self.uncached,
                b"/count" => {
                    self.requests -= 1;
                    made = count(self.requests);
                    &made
                }
                key if self.role != Role::Bare => {
                    made = self.role.answer(&String::from_utf8_lossy(key), true);
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
    fn send(&mut self, answer: &Rc<[u8]>, epoll: &OwnedFd, number: usize) -> io::Result<()> {
        if self.output.is_empty() {
            let sent = match self.stream.write(answer) {
                Ok(sent) if sent == answer.len() => return Ok(()),
                Ok(sent) => sent,
                Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
                Err(error) => return Err(error),
            };
            self.sent = sent;
            self.wait_for(EventFlags::OUT, epoll, number)?;
        }
        self.output.push_back(Rc::clone(answer));
        Ok(())
    }

    fn flush(&mut self, epoll: &OwnedFd, number: usize) -> io::Result<bool> {
        while let Some(answer) = self.output.front() {
            match self.stream.write(&answer[self.sent..]) {
                Ok(sent) => self.sent += sent,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(true),
                Err(error) => return Err(error),
            }
            if self.sent == answer.len() {
                self.output.pop_front();
                self.sent = 0;
            }
        }
        self.wait_for(EventFlags::IN, epoll, number)?;
        Ok(true)
    }

    fn wait_for(&self, flags: EventFlags, epoll: &OwnedFd, number: usize) -> io::Result<()> {
        Ok(epoll::modify(epoll, &self.stream, EventData::new_u64(number as u64), flags)?)
    }
}

fn count(requests: u64) -> Rc<[u8]> {
    let count = requests.to_string();
    let head =
        format!("HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: {}\r\n\r\n", count.len());
    (head + &count).into_bytes().into()
}

/// The second word of the request line.
fn path(request: &[u8]) -> &[u8] {
    request.split(|&byte| byte == b' ').nth(1).unwrap_or_default()
}
