//! Client: one place in the closed loop. Sends a request, reads the whole answer, sends the next.
//!
//! Run by a `worker` on its runtime; counts into the worker's tally. A request costs one write, one read and no
//! allocation.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use http::Method;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{sleep_until, timeout_at};

use crate::alarm::Alarm;
use crate::answer::Head;
use crate::inbox::Inbox;
use crate::tally::Failure;
use crate::target::Target;
use crate::worker::{Ticket, Worker};

/// The pause after a first failure, doubled with each further one: a server that refuses must not be hammered.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
/// The longest of these pauses.
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

/// See the module.
pub(crate) struct Client<'a> {
    worker: &'a Worker,
    target: &'a Target,
    number: usize,
    /// Which of the target's requests is next.
    next: usize,
    connection: Option<TcpStream>,
    /// Whether there has been a connection before.
    connected: bool,
    inbox: Inbox,
    alarm: Alarm,
}

impl<'a> Client<'a> {
    /// The client of this number. Neighbours ask different hosts, and those of one host begin spread over its list;
    /// users, who pause, begin at its beginning.
    pub(crate) fn new(worker: &'a Worker, targets: &'a [Target], number: usize) -> Self {
        let target = &targets[number % targets.len()];
        let spread =
            number / targets.len() * target.requests.len() / worker.connections.div_ceil(targets.len());
        Client {
            worker,
            target,
            number,
            next: if worker.think.is_some() { 0 } else { spread },
            connection: None,
            connected: false,
            inbox: Inbox::new(),
            alarm: Alarm::new(),
        }
    }

    /// Asks until the worker admits no more.
    pub(crate) async fn run(mut self) {
        let mut pause = FIRST_PAUSE;
        let mut now = Instant::now();
        let mut walks = 0;
        while let Some(ticket) = self.worker.admit(now) {
            let started = now;
            let request = self.target.requests.get(self.next);
            self.next = (self.next + 1) % self.target.requests.len();
            let outcome = self.ask(request, ticket).await;
            now = Instant::now();
            let received = self.inbox.received();
            match outcome {
                Ok(head) => {
                    pause = FIRST_PAUSE;
                    if ticket.measured {
                        self.worker.tally.borrow_mut().answer(head.status, started, now, received);
                        self.worker.budget.count_answer();
                    }
                }
                Err(failure) => {
                    if ticket.measured {
                        self.worker.tally.borrow_mut().failure(failure, started, received);
                    }
                    sleep_until((now + pause).min(self.worker.schedule.end).into()).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                    now = Instant::now();
                }
            }
            if let Some(think) = self.worker.think.filter(|_| self.next == 0) {
                let thought = now + think.pause(self.number, walks);
                sleep_until(thought.min(self.worker.schedule.end).into()).await;
                walks += 1;
                now = Instant::now();
            }
        }
    }

    /// One request and its answer, on the connection there is or on a new one.
    async fn ask(&mut self, request: &[u8], ticket: Ticket) -> Result<Head, Failure> {
        loop {
            self.inbox.begin(self.worker.method == Method::HEAD);
            let reused = self.connection.is_some();
            if !reused {
                self.connect(ticket).await?;
            }
            match self.exchange(request, ticket).await {
                Ok(head) => {
                    if !head.keep_alive {
                        self.connection = None;
                    }
                    return Ok(head);
                }
                // The server may close an idle connection just as we write to it; asking again is right then
                // (RFC 9112 §9.3.1), and happens once, since the next connection is a new one.
                Err(Failure::BrokeOff)
                    if reused && self.inbox.received() == 0 && self.worker.method.is_idempotent() =>
                {
                    self.connection = None;
                }
                Err(failure) => {
                    self.connection = None;
                    return Err(failure);
                }
            }
        }
    }

    async fn connect(&mut self, ticket: Ticket) -> Result<(), Failure> {
        if self.connected && ticket.measured {
            self.worker.tally.borrow_mut().reconnects += 1;
        }
        let connecting = timeout_at(ticket.deadline.into(), TcpStream::connect(self.target.address));
        let connection = connecting.await.map_err(|_| late(ticket))?.map_err(|_| Failure::Connect)?;
        connection.set_nodelay(true).map_err(|_| Failure::Connect)?;
        self.connection = Some(connection);
        self.connected = true;
        Ok(())
    }

    async fn exchange(&mut self, request: &[u8], ticket: Ticket) -> Result<Head, Failure> {
        let Client { connection, inbox, alarm, .. } = self;
        let connection = connection.as_mut().ok_or(Failure::Connect)?;
        let mut unsent = request;
        while !unsent.is_empty() {
            let sent = write(connection, alarm, unsent, ticket).await?;
            unsent = &unsent[sent..];
        }
        loop {
            let received = read(connection, alarm, inbox, ticket).await?;
            if received == 0 {
                return inbox.closed().ok_or(Failure::BrokeOff);
            }
            if let Some(head) = inbox.arrived(received).map_err(|_| Failure::Malformed)? {
                return Ok(head);
            }
        }
    }
}

async fn write(
    connection: &mut TcpStream,
    alarm: &mut Alarm,
    bytes: &[u8],
    ticket: Ticket,
) -> Result<usize, Failure> {
    poll_fn(|context| match Pin::new(&mut *connection).poll_write(context, bytes) {
        Poll::Ready(sent) => Poll::Ready(sent.map_err(broken)),
        Poll::Pending => alarm.poll(ticket.deadline, context).map(|()| Err(late(ticket))),
    })
    .await
}

/// Reads into the inbox; how many bytes came, zero when the server closed its side.
async fn read(
    connection: &mut TcpStream,
    alarm: &mut Alarm,
    inbox: &mut Inbox,
    ticket: Ticket,
) -> Result<usize, Failure> {
    poll_fn(|context| {
        let mut space = ReadBuf::new(inbox.space());
        match Pin::new(&mut *connection).poll_read(context, &mut space) {
            Poll::Ready(result) => Poll::Ready(result.map(|()| space.filled().len()).map_err(broken)),
            Poll::Pending => alarm.poll(ticket.deadline, context).map(|()| Err(late(ticket))),
        }
    })
    .await
}

fn late(ticket: Ticket) -> Failure {
    if ticket.ends_with_the_run { Failure::Unfinished } else { Failure::Timeout }
}

fn broken(_: io::Error) -> Failure {
    Failure::BrokeOff
}
