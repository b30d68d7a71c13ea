//! Epoll loop: a listener and something that [`Answers`] come in; requests are answered until the process ends.
//!
//! Under both servers of this crate: the bare loop every proxy is compared with, and the origin behind them. As
//! little as can be done for a request: one wait for many connections, one read, a look for the end of the head, one
//! write. It understands `GET` without content on connections that stay open, and nothing else: what asks here is ours.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use bytes::Bytes;
use memchr::memmem;
use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use socket2::SockRef;

/// Connections that may wait to be accepted: a stampede comes at once.
const BACKLOG: i32 = 4096;
/// Events taken from the kernel at once.
const EVENTS: usize = 512;
/// Bytes read at once; heads are far shorter.
const READ: usize = 16 * 1024;
/// A head that is longer is not one of ours.
const LONGEST_HEAD: usize = 64 * 1024;
/// The listener among the events.
const LISTENER: u64 = u64::MAX;

/// What is answered to a request, from its head.
pub(crate) trait Answers {
    /// The answer, head and content, ready to be written.
    fn answer(&mut self, head: &[u8]) -> Answer<'_>;
}

/// Head and content of an answer.
pub(crate) enum Answer<'a> {
    /// To be written at once.
    Now(&'a Bytes),
    /// To be written after [`DELAY`].
    Later(Bytes),
}

/// How long [`Answer::Later`] takes. One for all, so that answers fall due in the order of their requests.
pub(crate) const DELAY: Duration = Duration::from_secs(1);

/// The path in the head of a request; empty where there is none.
pub(crate) fn path(head: &[u8]) -> &[u8] {
    head.split(|byte| *byte == b' ').nth(1).unwrap_or_default()
}

/// Answers everyone who connects. Ends only where the kernel refuses an epoll or its events.
pub(crate) fn serve(listener: TcpListener, answers: &mut impl Answers) -> io::Result<Infallible> {
    SockRef::from(&listener).listen(BACKLOG)?;
    listener.set_nonblocking(true)?;
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    epoll::add(&epoll, &listener, epoll::EventData::new_u64(LISTENER), epoll::EventFlags::IN)?;
    let mut connections =
        Connections { epoll, open: Vec::new(), free: Vec::new(), delayed: VecDeque::new(), accepted: 0 };
    let mut events = Vec::with_capacity(EVENTS);
    let mut buffer = vec![0; READ];
    loop {
        events.clear();
        let wait = connections.until_due();
        match epoll::wait(&connections.epoll, spare_capacity(&mut events), wait.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        for event in &events {
            match event.data.u64() {
                LISTENER => connections.accept(&listener),
                place => connections.turn(place as usize, event.flags, &mut buffer, answers),
            }
        }
        connections.write_due(answers);
    }
}

struct Connections {
    epoll: OwnedFd,
    open: Vec<Option<Connection>>,
    /// Places in `open` without a connection.
    free: Vec<usize>,
    /// Answers that are not due yet, the earliest first.
    delayed: VecDeque<Delayed>,
    /// How many connections there have been.
    accepted: u64,
}

struct Delayed {
    due: Instant,
    place: usize,
    /// Of the connection; another may have its place by then.
    number: u64,
    answer: Bytes,
}

struct Connection {
    stream: TcpStream,
    /// Which one this is of all that were accepted.
    number: u64,
    /// Received, but not a whole head yet, or not its turn.
    received: Vec<u8>,
    /// What the socket did not take at once.
    unwritten: Bytes,
    /// An answer is on its way through `delayed`.
    waiting: bool,
    /// The epoll watches for room to write instead of something to read.
    watches_writing: bool,
}

impl Connections {
    fn accept(&mut self, listener: &TcpListener) {
        // Until nobody waits; whatever else fails concerns that client only, and the next event tries again.
        while let Ok((stream, _)) = listener.accept() {
            let place = self.free.pop().unwrap_or_else(|| {
                self.open.push(None);
                self.open.len() - 1
            });
            let data = epoll::EventData::new_u64(place as u64);
            let ready = stream.set_nonblocking(true).is_ok()
                && stream.set_nodelay(true).is_ok()
                && epoll::add(&self.epoll, &stream, data, epoll::EventFlags::IN).is_ok();
            if ready {
                self.accepted += 1;
                self.open[place] = Some(Connection {
                    stream,
                    number: self.accepted,
                    received: Vec::new(),
                    unwritten: Bytes::new(),
                    waiting: false,
                    watches_writing: false,
                });
            } else {
                self.free.push(place);
            }
        }
    }

    /// Something happened on the connection at `place`.
    fn turn(
        &mut self,
        place: usize,
        flags: epoll::EventFlags,
        buffer: &mut [u8],
        answers: &mut impl Answers,
    ) {
        let Some(connection) = self.open.get_mut(place).and_then(Option::as_mut) else { return };
        let result = if flags.contains(epoll::EventFlags::OUT) {
            connection.write_rest()
        } else {
            connection.read(buffer)
        };
        let result = result.and_then(|input| self.answer(place, input.unwrap_or_default(), answers));
        self.close_on_error(place, result);
    }

    /// Answers the whole heads in what was received earlier and in `input`.
    fn answer(&mut self, place: usize, input: &[u8], answers: &mut impl Answers) -> io::Result<()> {
        let Some(connection) = self.open.get_mut(place).and_then(Option::as_mut) else { return Ok(()) };
        let joined;
        let mut rest = input;
        if !connection.received.is_empty() {
            connection.received.extend_from_slice(input);
            joined = std::mem::take(&mut connection.received);
            rest = &joined;
        }
        while connection.unwritten.is_empty() && !connection.waiting {
            let Some(end) = memmem::find(rest, b"\r\n\r\n") else { break };
            let (head, next) = rest.split_at(end + 4);
            rest = next;
            match answers.answer(head) {
                Answer::Now(answer) => connection.write(answer)?,
                Answer::Later(answer) => {
                    connection.waiting = true;
                    let (due, number) = (Instant::now() + DELAY, connection.number);
                    self.delayed.push_back(Delayed { due, place, number, answer });
                }
            }
        }
        if rest.len() > LONGEST_HEAD {
            return Err(ErrorKind::InvalidData.into());
        }
        connection.received = rest.to_vec();
        connection.choose_event(&self.epoll, place)
    }

    /// How long to wait for events at most; `None`: until one comes.
    fn until_due(&self) -> Option<Timespec> {
        let next = self.delayed.front()?;
        Timespec::try_from(next.due.saturating_duration_since(Instant::now())).ok()
    }

    fn write_due(&mut self, answers: &mut impl Answers) {
        while let Some(Delayed { place, number, answer, .. }) =
            self.delayed.pop_front_if(|next| next.due <= Instant::now())
        {
            let connection = self.open.get_mut(place).and_then(Option::as_mut);
            let Some(connection) = connection.filter(|connection| connection.number == number) else {
                continue;
            };
            connection.waiting = false;
            let result = connection.write(&answer).and_then(|()| self.answer(place, &[], answers));
            self.close_on_error(place, result);
        }
    }

    fn close_on_error(&mut self, place: usize, result: io::Result<()>) {
        if result.is_err() {
            // Closing takes it out of the epoll as well.
            self.open[place] = None;
            self.free.push(place);
        }
    }
}

impl Connection {
    /// What came; `None`: nothing yet. The end of the connection is an error.
    fn read<'a>(&mut self, buffer: &'a mut [u8]) -> io::Result<Option<&'a [u8]>> {
        match self.stream.read(buffer) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => Ok(Some(&buffer[..count])),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn write(&mut self, answer: &Bytes) -> io::Result<()> {
        let written = match self.stream.write(answer) {
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
            Err(error) => return Err(error),
        };
        if written < answer.len() {
            self.unwritten = answer.slice(written..);
        }
        Ok(())
    }

    /// Watches for what is wanted next: room for the rest of an answer, or more requests.
    fn choose_event(&mut self, epoll: &OwnedFd, place: usize) -> io::Result<()> {
        let writing = !self.unwritten.is_empty();
        if writing != self.watches_writing {
            let flags = if writing { epoll::EventFlags::OUT } else { epoll::EventFlags::IN };
            epoll::modify(epoll, &self.stream, epoll::EventData::new_u64(place as u64), flags)?;
            self.watches_writing = writing;
        }
        Ok(())
    }

    fn write_rest<'a>(&mut self) -> io::Result<Option<&'a [u8]>> {
        let rest = std::mem::take(&mut self.unwritten);
        self.write(&rest).map(|()| None)
    }
}
