//! Origin: one target as seen from one core: its connections, and the choice among them. Called by `send`.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use http1::Encoder;
use message::{Error, Kind, Response, Result, Retry, Scheme};
use plan::Protocol;

use super::connect::{Connected, connect};
use super::connection::Connection;
use super::exchange::{Exchanging, Terms, exchange};
use super::http2_exchange;
use super::http2_session::Session;
use super::outgoing::Outgoing;
use super::pool::{Pool, Slot};
use super::shared_origin::{SharedOrigin, Target};
use super::upload::Upload;

/// HTTP/2 connections at most; each carries as many streams as the origin allows, so more are rarely needed.
const MAX_SESSIONS: usize = 4;
/// Requests that may wait on one HTTP/2 connection for others to end.
const MAX_QUEUED: usize = 256;
/// How often a request goes out over HTTP/2 when the origin says each time that it has not touched it.
const MAX_ATTEMPTS: u32 = 3;

/// See the module.
pub(super) struct Origin {
    shared: Arc<SharedOrigin>,
    index: usize,
    pool: Rc<Pool>,
    sessions: RefCell<Vec<Rc<Session>>>,
    speaks: Cell<Speaks>,
    /// Held while an HTTP/2 connection is made, so that many requests at once do not each make one.
    opening: tokio::sync::Mutex<()>,
}

/// What a target has been found to speak.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaks {
    /// It is TLS and ALPN will tell.
    Unknown,
    Http1,
    Http2,
}

/// A connection of either kind.
enum Opened {
    Http1(Box<Connection>),
    Http2(Rc<Session>),
}

impl Origin {
    pub(super) fn new(shared: &Arc<SharedOrigin>, index: usize) -> Self {
        let target = &shared.targets[index];
        let speaks = match (shared.plan.protocol, target.plan.scheme) {
            (Protocol::Http1, _) | (Protocol::Auto, Scheme::Http) => Speaks::Http1,
            (Protocol::Http2, _) => Speaks::Http2,
            (Protocol::Auto, Scheme::Https) => Speaks::Unknown,
        };
        Origin {
            shared: Arc::clone(shared),
            index,
            pool: Pool::new(Arc::clone(&target.name), &shared.plan),
            sessions: RefCell::default(),
            speaks: Cell::new(speaks),
            opening: tokio::sync::Mutex::default(),
        }
    }

    fn target(&self) -> &Target {
        &self.shared.targets[self.index]
    }

    /// Requests under way and waiting.
    pub(super) fn load(&self) -> usize {
        let sessions = self.sessions.borrow();
        self.pool.load() + sessions.iter().map(|session| session.streams()).sum::<usize>()
    }

    pub(super) fn idle(&self) -> usize {
        let sessions = self.sessions.borrow();
        self.pool.idle()
            + sessions.iter().filter(|session| session.is_open() && session.streams() == 0).count()
    }

    /// Sends the request to this target. After a connect failure the request is as it was before.
    pub(super) async fn send(&self, outgoing: &mut Outgoing) -> Result<Response> {
        if outgoing.upgrade.is_some() {
            // A connection of its own: it leaves HTTP, and nothing must have been said on it before.
            return Box::pin(async {
                let slot = self.slot().await?;
                let connection = self.connect_http1(slot).await?;
                self.exchange(connection, outgoing).await.map_err(|failed| failed.error)
            })
            .await;
        }
        if self.speaks.get() != Speaks::Http1 {
            return Box::pin(self.send_by_alpn(outgoing)).await;
        }
        let slot = match self.pool.try_slot() {
            Some(slot) => slot,
            None => Box::pin(self.slot()).await?,
        };
        let connection = match self.pool.take(slot) {
            Ok(connection) => connection,
            Err(slot) => Box::pin(self.connect_http1(slot)).await?,
        };
        self.send_on(connection, outgoing).await
    }

    /// Sends the request on this connection, and once more on a fresh one where that is allowed.
    async fn send_on(&self, connection: Box<Connection>, outgoing: &mut Outgoing) -> Result<Response> {
        let failed = match self.exchange(connection, outgoing).await {
            Ok(response) => return Ok(response),
            Err(failed) => failed,
        };
        let Some(body) = failed.again else { return Err(failed.error) };
        outgoing.body = body;
        Box::pin(async {
            let slot = self.slot().await?;
            self.pool.close_oldest();
            let connection = self.connect_http1(slot).await?;
            self.exchange(connection, outgoing).await.map_err(|failed| failed.error)
        })
        .await
    }

    fn exchange<'a>(&'a self, connection: Box<Connection>, outgoing: &'a mut Outgoing) -> Exchanging<'a> {
        let plan = &self.shared.plan;
        let mut head = Vec::new();
        outgoing.write_head(outgoing.host(&plan.host, self.target()), &mut head);
        let encoder = Encoder::from(outgoing.framing());
        let upload =
            Upload::new(head, std::mem::take(&mut outgoing.body), encoder, outgoing.expects_continue);
        let terms = Terms {
            method: outgoing.method(),
            interim: &outgoing.interim,
            upgrade: outgoing.upgrade.as_ref(),
            timeouts: &plan.timeouts,
            target: &self.target().name,
        };
        exchange(connection, upload, terms)
    }

    async fn slot(&self) -> Result<Slot> {
        self.pool.wait_for_slot(self.shared.plan.timeouts.connect).await
    }

    async fn connect_http1(&self, slot: Slot) -> Result<Box<Connection>> {
        let connected = connect(&self.shared, self.target(), true).await?;
        Ok(Connection::new(connected.transport, slot, connected.tether))
    }

    /// The way of targets that speak HTTP/2, or may.
    async fn send_by_alpn(&self, outgoing: &mut Outgoing) -> Result<Response> {
        let mut attempts = 1;
        loop {
            let session = match self.open().await? {
                Opened::Http1(connection) => return self.send_on(connection, outgoing).await,
                Opened::Http2(session) => session,
            };
            match http2_exchange::exchange(&session, outgoing, &self.shared.plan, self.target()).await {
                Ok(response) => return Ok(response),
                Err(failed) => match failed.again {
                    Some(body) if attempts < MAX_ATTEMPTS => outgoing.body = body,
                    _ => return Err(failed.error),
                },
            }
            attempts += 1;
        }
    }

    /// A connection of the kind that the target speaks; an HTTP/2 one is shared.
    async fn open(&self) -> Result<Opened> {
        if let Some(session) = self.session()? {
            return Ok(Opened::Http2(session));
        }
        let limit = self.shared.plan.timeouts.connect;
        let opening = tokio::time::timeout(limit, self.opening.lock()).await.map_err(|_| {
            let detail =
                format!("{}: waiting for a connection took longer than {limit:?}", self.target().name);
            Error::new(Kind::ConnectTimeout, detail).retry(Retry::Always)
        })?;
        if let Some(session) = self.session()? {
            return Ok(Opened::Http2(session));
        }
        if self.speaks.get() == Speaks::Http1 {
            drop(opening);
            return self.open_http1().await.map(Opened::Http1);
        }
        let slot = self.slot().await?;
        let Connected { transport, tether, is_http2 } = connect(&self.shared, self.target(), false).await?;
        if !is_http2 {
            self.speaks.set(Speaks::Http1);
            return Ok(Opened::Http1(Connection::new(transport, slot, tether)));
        }
        self.speaks.set(Speaks::Http2);
        let session = Session::start(transport, slot, tether).await.map_err(|error| {
            let detail = format!("{}: the HTTP/2 connection could not be started", self.target().name);
            Error::new(Kind::Connect, detail).retry(Retry::Always).caused_by(error)
        })?;
        self.sessions.borrow_mut().push(Rc::clone(&session));
        Ok(Opened::Http2(session))
    }

    async fn open_http1(&self) -> Result<Box<Connection>> {
        match self.pool.take(self.slot().await?) {
            Ok(connection) => Ok(connection),
            Err(slot) => self.connect_http1(slot).await,
        }
    }

    /// The least busy HTTP/2 connection, unless another should be opened.
    fn session(&self) -> Result<Option<Rc<Session>>> {
        let mut sessions = self.sessions.borrow_mut();
        sessions.retain(|session| session.is_open());
        let Some(session) = sessions.iter().min_by_key(|session| session.streams()) else { return Ok(None) };
        let limit = match self.shared.plan.connections {
            0 => MAX_SESSIONS,
            connections => connections.min(MAX_SESSIONS),
        };
        if session.streams() >= session.max_streams() && sessions.len() < limit {
            return Ok(None);
        }
        if session.streams() >= session.max_streams().saturating_add(MAX_QUEUED) {
            let detail =
                format!("{}: all streams are in use, and {MAX_QUEUED} requests wait", self.target().name);
            return Err(Error::new(Kind::Overloaded, detail));
        }
        Ok(Some(Rc::clone(session)))
    }
}
