//! Node: one server, or the master of the moment, as one core sees it: its connection, made when it is needed and given
//! up when it is of no use any more. Used by `link`, and by `cluster` for each of its servers.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use guard::{Opened as BreakerOpened, Passage, SharedBreaker};
use message::{Error, Result, Side};
use plan::RedisServer;
use redis::aio::MultiplexedConnection;
use redis::{Cmd, Pipeline, RedisResult, Value};

use crate::attempt::Attempt;
use crate::connect::{As, OnPush, Opened, open};
use crate::failure::{self, Failure};
use crate::figures::LinkCounters;
use crate::pace::Pace;
use crate::sentinel::open_master;
use crate::shared_link::SharedLink;
use crate::slot;

/// So many replies in a row that did not come in time mean that the connection is half dead.
const LATE: u32 = 3;
/// Connections to a server that does not take what is written are given up so far apart: it may be the right one.
const READ_ONLY: Duration = Duration::from_secs(1);
/// For the task of an attempt to say that its time is over.
const GRACE: Duration = Duration::from_millis(20);

/// What is asked in one round trip.
#[derive(Clone, Copy)]
pub(crate) enum Commands<'a> {
    One(&'a Cmd),
    Several(&'a Pipeline),
}

impl Commands<'_> {
    /// The slot of a cluster that it is for, if it has a key.
    pub(crate) fn slot(self) -> Option<u16> {
        match self {
            Commands::One(command) => slot::of_command(command),
            Commands::Several(pipeline) => pipeline.cmd_iter().find_map(slot::of_command),
        }
    }

    /// Sends it and waits for the reply. Replies are matched by their order: when nobody waits any more, the library
    /// still counts the reply off, so those of others stay in step.
    pub(crate) async fn put(self, connection: &mut MultiplexedConnection) -> RedisResult<Value> {
        match self {
            Commands::One(command) => connection.send_packed_command(command).await,
            Commands::Several(pipeline) => pipeline.query_async(connection).await,
        }
    }
}

/// Where a connection leads.
pub(crate) enum Target {
    /// To this server.
    Server(RedisServer),
    /// To the master of the sentinels' choice.
    Master {
        /// At least one.
        sentinels: Vec<RedisServer>,
        /// What they call it.
        master: String,
    },
}

/// A connection in use.
struct Line {
    opened: Opened,
    late: Cell<u32>,
    of_use: Cell<bool>,
}

enum State {
    Idle,
    Connecting(Attempt<Opened>),
    Connected(Rc<Line>),
}

/// See the module.
pub(crate) struct Node {
    shared: Arc<SharedLink>,
    target: Arc<Target>,
    breaker: Arc<SharedBreaker>,
    state: RefCell<State>,
    pace: RefCell<Pace>,
    recoveries: Cell<u64>,
    /// When a connection was last given up since its server takes nothing.
    left: Cell<Option<Instant>>,
}

impl Node {
    pub(crate) fn new(shared: Arc<SharedLink>, target: Target) -> Self {
        let breaker = match &target {
            Target::Server(server) => shared.breaker(&server.address()),
            Target::Master { master, .. } => shared.breaker(master),
        };
        Node {
            shared,
            target: Arc::new(target),
            breaker,
            state: RefCell::new(State::Idle),
            pace: RefCell::default(),
            recoveries: Cell::new(0),
            left: Cell::default(),
        }
    }

    pub(crate) fn shared(&self) -> &SharedLink {
        &self.shared
    }

    /// A connection that nobody shares.
    pub(crate) async fn separate(&self, on_push: Option<OnPush>) -> Result<Opened> {
        connect(Arc::clone(&self.shared), Arc::clone(&self.target), on_push).await
    }

    /// Whether its breaker lets requests through.
    pub(crate) fn is_up(&self) -> bool {
        self.breaker.would_pass(Instant::now)
    }

    /// Asks, and takes no longer than the plan's connect timeout and timeout together.
    pub(crate) async fn ask(&self, question: Commands<'_>) -> Result<Value> {
        let plan = self.shared.plan();
        let passage = self.breaker.pass(Instant::now).ok_or_else(|| {
            self.shared.counters().refused();
            failure::shut(&plan.name)
        })?;
        let (line, passage) = self.line(passage).await?;
        let mut connection = line.opened.connection.clone();
        let reply = tokio::time::timeout(plan.timeout, question.put(&mut connection)).await;
        drop(connection);
        let Ok(reply) = reply else {
            let error = failure::late(&plan.name, plan.timeout);
            self.failed(passage, &error);
            line.late.set(line.late.get() + 1);
            if line.late.get() >= LATE {
                tracing::debug!(
                    "source {}: several replies in a row did not come: connecting anew",
                    plan.name
                );
                self.give_up(&line);
            }
            return Err(error);
        };
        let reply = failure::checked(&plan.name, reply);
        match &reply {
            Ok(_) => {
                self.of_use(&line);
                self.succeeded(passage);
            }
            Err(Failure::Refusal(error)) => {
                self.of_use(&line);
                self.shared.replied(error);
                // The master has become a replica: the sentinels, or the name, may lead to another by now. It is well
                // all the same, and whoever reads from it goes on.
                let lately = || self.left.get().is_some_and(|at| at.elapsed() < READ_ONLY);
                if failure::is_read_only(error) && !lately() {
                    self.left.set(Some(Instant::now()));
                    self.give_up(&line);
                }
                if failure::is_unable(error) {
                    self.failed(passage, error);
                } else {
                    self.succeeded(passage);
                }
            }
            Err(Failure::Broken(error)) => {
                // One connection is one failure, however many replies were awaited on it.
                if self.give_up(&line) || passage.is_probe() {
                    self.failed(passage, error);
                }
            }
        }
        reply.map_err(Failure::into_error)
    }

    fn failed(&self, passage: Passage, error: &Error) {
        failed(self.shared.counters(), passage, error);
    }

    fn succeeded(&self, passage: Passage) {
        if passage.succeeded(Instant::now) {
            self.tell_of_recovery();
        }
    }

    /// It has answered somebody who does not pass the breaker.
    pub(crate) fn revived(&self) {
        if self.breaker.revived() {
            self.tell_of_recovery();
        }
    }

    fn tell_of_recovery(&self) {
        tracing::info!("source {}: Redis answers again", self.shared.plan().name);
    }

    fn of_use(&self, line: &Line) {
        line.late.set(0);
        if !line.of_use.replace(true) {
            self.pace.borrow_mut().succeeded();
        }
    }

    /// The next request connects anew. Those under way on this connection may still get their replies. Says whether this
    /// was the first to do so.
    fn give_up(&self, line: &Rc<Line>) -> bool {
        let mut state = self.state.borrow_mut();
        let is_first = matches!(&*state, State::Connected(current) if Rc::ptr_eq(current, line));
        if is_first {
            *state = State::Idle;
            if !line.of_use.get() {
                self.pace.borrow_mut().failed(Instant::now());
            }
        }
        is_first
    }

    /// The connection, made if there is none. A probe does not wait for the next attempt to be due.
    async fn line(&self, passage: Passage) -> Result<(Rc<Line>, Passage)> {
        let attempt = match self.ready_or_connecting(passage.is_probe()) {
            Ok(Ready::Line(line)) => return Ok((line, passage)),
            Ok(Ready::Attempt(attempt)) => attempt,
            Err(error) => return Err(error),
        };
        let plan = self.shared.plan();
        // The attempt ends by itself in this time; only its end may come a moment after ours.
        let outcome = attempt.wait(plan.connect_timeout + GRACE).await;
        let first = self.settle(&attempt);
        let error = match outcome {
            Some((Ok(opened), _)) => return Ok((self.line_of(opened), passage)),
            Some((Err(error), _)) => error,
            None => failure::late_connection(&plan.name),
        };
        // One attempt is one failure, however many waited for it.
        if first || passage.is_probe() {
            self.failed(passage, &error);
        }
        Err(error)
    }

    fn ready_or_connecting(&self, probe: bool) -> Result<Ready> {
        loop {
            let finished = match &*self.state.borrow() {
                State::Connected(line) if !line.opened.is_closed() => {
                    return Ok(Ready::Line(Rc::clone(line)));
                }
                State::Connecting(attempt) if attempt.outcome().is_some() || attempt.is_lost() => {
                    attempt.clone()
                }
                State::Connecting(attempt) => return Ok(Ready::Attempt(attempt.clone())),
                State::Connected(_) | State::Idle => break,
            };
            // Everybody who waited for it has left.
            self.settle(&finished);
        }
        let now = Instant::now();
        let mut pace = self.pace.borrow_mut();
        let recoveries = self.breaker.recoveries();
        if self.recoveries.replace(recoveries) != recoveries {
            pace.forget();
        }
        if !probe && !pace.may_begin(now) {
            return Err(failure::paused(&self.shared.plan().name));
        }
        pace.begun(now);
        let attempt = Attempt::begin(connect(Arc::clone(&self.shared), Arc::clone(&self.target), None));
        self.state.replace(State::Connecting(attempt.clone()));
        Ok(Ready::Attempt(attempt))
    }

    /// Takes over what came of an attempt. Says whether this was the first to do so and it had failed.
    fn settle(&self, attempt: &Attempt<Opened>) -> bool {
        let mut state = self.state.borrow_mut();
        if !matches!(&*state, State::Connecting(current) if current.is(attempt)) {
            return false;
        }
        match attempt.outcome() {
            Some((Ok(opened), _)) => {
                let line = Line { opened, late: Cell::new(0), of_use: Cell::new(false) };
                *state = State::Connected(Rc::new(line));
                false
            }
            Some((Err(error), ended)) => {
                tracing::debug!("{error}");
                *state = State::Idle;
                self.pace.borrow_mut().failed(ended);
                true
            }
            // Still under way, and bounded in time itself; or gone with the runtime.
            None => {
                if attempt.is_lost() {
                    *state = State::Idle;
                }
                false
            }
        }
    }

    /// The line of this connection: the current one, or, where that has been given up meanwhile, one that nobody shares.
    fn line_of(&self, opened: Opened) -> Rc<Line> {
        match &*self.state.borrow() {
            State::Connected(line) => Rc::clone(line),
            State::Idle | State::Connecting(_) => {
                Rc::new(Line { opened, late: Cell::new(0), of_use: Cell::new(false) })
            }
        }
    }
}

/// An outage is told once: when it begins to be left alone. Of a failure of ours nothing follows for the server.
fn failed(counters: &LinkCounters, passage: Passage, error: &Error) {
    if error.side() == Side::Us {
        return;
    }
    counters.failed();
    let opened = passage.failed(Instant::now());
    if opened != BreakerOpened::No {
        counters.opened();
    }
    if opened == BreakerOpened::Newly {
        tracing::warn!("{error}; Redis keeps failing, so it is left alone for a while");
    }
}

enum Ready {
    Line(Rc<Line>),
    Attempt(Attempt<Opened>),
}

/// Connects to where the target is now, within the connect timeout.
pub(crate) async fn connect(
    shared: Arc<SharedLink>,
    target: Arc<Target>,
    on_push: Option<OnPush>,
) -> Result<Opened> {
    let plan = shared.plan();
    let most = plan.connect_timeout;
    let opened = async {
        match &*target {
            Target::Server(server) => open(&shared, server, As::User, most, on_push).await,
            Target::Master { sentinels, master } => {
                open_master(&shared, sentinels, master, most, on_push).await
            }
        }
    };
    tokio::time::timeout(most, opened).await.unwrap_or_else(|_| Err(failure::late_connection(&plan.name)))
}

#[cfg(test)]
mod tests {
    use message::open_files;

    use super::*;
    use crate::shared_link::breaker_rule;

    /// What as many connections that fail so do to the breaker as open it.
    fn is_open_after(cause: std::io::Error) -> bool {
        let breaker = SharedBreaker::new(breaker_rule(Duration::from_secs(5)));
        let error = failure::unconnected("redis", "127.0.0.1:6379", cause.into());
        for _ in 0..5 {
            let passage = breaker.pass(Instant::now).expect("nothing opens it before the fifth");
            failed(&LinkCounters::default(), passage, &error);
        }
        !breaker.is_closed()
    }

    #[test]
    fn a_server_is_left_alone_for_its_own_failures_and_not_for_ours() {
        assert!(is_open_after(std::io::ErrorKind::ConnectionRefused.into()));
        assert!(!is_open_after(open_files::exhausted()));
    }
}
