//! Session: one HTTP/2 connection to a target, shared by the requests of one core. A task of its own drives it, since
//! frames arrive when nobody waits for them. Opened by `origin`, used by `http2_exchange`.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::{Rc, Weak};
use std::time::Duration;

use bytes::Bytes;
use h2::client::{Connection, SendRequest};
use h2::{Ping, PingPong};
use tokio::time::{Instant, MissedTickBehavior};

use super::pool::{IDLE, Slot};
use super::tether::Tether;
use super::transport::Transport;

/// How often the driver looks at how long the connection has been idle, and whether it may be used on.
const TICK: Duration = Duration::from_secs(5);
/// Idle this long, the connection is pinged, once. gRPC servers end connections that ping more than twice without a
/// request in between.
const PING_AFTER: Duration = Duration::from_secs(25);
/// A ping that is not answered this long means that nobody is there any more.
const PONG_WITHIN: Duration = Duration::from_secs(10);
/// What one stream may have in flight towards us before it is read.
const STREAM_WINDOW: u32 = 1024 * 1024;
/// What all streams together may.
const CONNECTION_WINDOW: u32 = 4 * 1024 * 1024;
/// Bytes of a header list; as much as over HTTP/1.1.
const MAX_HEADER_LIST: u32 = 64 * 1024;

/// See the module.
pub(super) struct Session {
    /// None once retired: the connection ends when the last stream has.
    sender: RefCell<Option<SendRequest<Bytes>>>,
    streams: Cell<usize>,
    idle_since: Cell<Instant>,
    was_used: Cell<bool>,
}

/// One request under way on the connection.
pub(super) struct Stream(Rc<Session>);

impl Drop for Stream {
    fn drop(&mut self) {
        let session = &self.0;
        session.streams.set(session.streams.get() - 1);
        session.idle_since.set(Instant::now());
    }
}

impl Session {
    /// Says hello and starts the driver.
    pub(super) async fn start(
        transport: Transport,
        slot: Slot,
        tether: Tether,
    ) -> Result<Rc<Self>, h2::Error> {
        let (sender, connection) = h2::client::Builder::new()
            .enable_push(false)
            .initial_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_header_list_size(MAX_HEADER_LIST)
            .handshake(transport)
            .await?;
        let session = Rc::new(Session {
            sender: RefCell::new(Some(sender)),
            streams: Cell::new(0),
            idle_since: Cell::new(Instant::now()),
            was_used: Cell::new(false),
        });
        tokio::task::spawn_local(drive(connection, Rc::downgrade(&session), slot, tether));
        Ok(session)
    }

    /// Whether it takes further requests.
    pub(super) fn is_open(&self) -> bool {
        self.sender.borrow().is_some()
    }

    /// Requests under way.
    pub(super) fn streams(&self) -> usize {
        self.streams.get()
    }

    /// How many requests the origin allows at a time.
    pub(super) fn max_streams(&self) -> usize {
        self.sender.borrow().as_ref().map_or(0, SendRequest::current_max_send_streams)
    }

    /// Whether it has served a request before, so that the origin may be closing it right now.
    pub(super) fn was_used(&self) -> bool {
        self.was_used.get()
    }

    /// The way in for one request.
    pub(super) fn enter(self: &Rc<Self>) -> Option<(SendRequest<Bytes>, Stream)> {
        let sender = self.sender.borrow().clone()?;
        self.streams.set(self.streams.get() + 1);
        Some((sender, Stream(Rc::clone(self))))
    }

    /// A request was answered.
    pub(super) fn answered(&self) {
        self.was_used.set(true);
    }

    /// Takes no further request.
    pub(super) fn retire(&self) {
        drop(self.sender.borrow_mut().take());
    }
}

/// Drives the connection to its end, and closes it when it is idle for long or dead.
async fn drive(
    mut connection: Connection<Transport, Bytes>,
    session: Weak<Session>,
    slot: Slot,
    tether: Tether,
) {
    let mut pings = connection.ping_pong();
    let mut pinged: Option<Instant> = None;
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            ended = &mut connection => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "an HTTP/2 connection ended");
                }
                break;
            }
            () = pong(&mut pings), if pinged.is_some() => pinged = None,
            _ = tick.tick() => {
                let Some(session) = session.upgrade() else { continue };
                if pinged.is_some_and(|pinged| pinged.elapsed() >= PONG_WITHIN) {
                    break;
                }
                let idle = if session.streams() == 0 { session.idle_since.get().elapsed() } else { Duration::ZERO };
                tether.see_to_name();
                if idle >= IDLE || !tether.holds(Instant::now()) {
                    session.retire();
                } else if (PING_AFTER..PING_AFTER + TICK).contains(&idle)
                    && pinged.is_none()
                    && let Some(pings) = &mut pings
                    && pings.send_ping(Ping::opaque()).is_ok()
                {
                    pinged = Some(Instant::now());
                }
            }
        }
    }
    if let Some(session) = session.upgrade() {
        session.retire();
    }
    drop(slot);
}

async fn pong(pings: &mut Option<PingPong>) {
    match pings {
        Some(pings) => {
            let _an_error_ends_the_connection_too = poll_fn(|cx| pings.poll_pong(cx)).await;
        }
        None => std::future::pending().await,
    }
}
