//! Serve: connections to the admin port. Run by `server` on a thread and runtime of its own.
//!
//! A connection carries one request and has a short, fixed time for all of it: probes and scrapes come seconds apart,
//! and so nobody can hold the few places by being slow; when all are taken, whoever has said nothing for longest gives way. That is why hyper is used directly here: `axum::serve` has no
//! such limits.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::Admin;
use crate::answers::router;

/// Connections at once.
const CONNECTIONS: usize = 64;

/// From the accept to the end of the request's head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);

/// From the accept to the end of the answer, unless whoever answers [extends](Deadline::extend) it.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(20);

/// Bytes and fields of a request's head.
const HEAD_SIZE: usize = 16 * 1024;
const HEAD_FIELDS: usize = 64;

/// How long answers under way may take once told to stop.
const DRAIN: Duration = Duration::from_secs(1);

/// How long to wait when the system has no connection to give, out of file descriptors for one.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Answers on this listener until `shutdown` is done. Needs a tokio runtime with I/O and time.
pub async fn serve(listener: TcpListener, state: Admin, shutdown: impl Future<Output = ()>) {
    let router = router(state);
    let mut connections = JoinSet::new();
    let mut places = Places::default();
    let mut shutdown = pin!(shutdown);
    loop {
        tokio::select! {
            () = &mut shutdown => break,
            Some(_) = connections.join_next() => {}
            stream = accept(&listener), if places.has_room() => {
                let state = State::new(AtomicU8::new(Stage::Silent as u8));
                let task = connections.spawn(answer(stream, router.clone(), Arc::clone(&state)));
                places.take(Place { task, state });
            }
        }
    }
    drop(listener);
    let finished = timeout(DRAIN, async { while connections.join_next().await.is_some() {} }).await;
    if finished.is_err() {
        tracing::debug!("admin connections cut off at shutdown");
    }
}

async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) => {
                tracing::warn!(%error, "the admin port cannot accept a connection");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// What a connection has come to, later ones last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
enum Stage {
    /// It has said nothing, or not all of a head.
    Silent,
    /// It is being answered, or has been.
    Asked,
    /// Its answer was given more time, which only those get who control the cache.
    Extended,
}

/// A connection's [`Stage`], written by itself.
type State = Arc<AtomicU8>;

/// The connections open, the oldest first.
#[derive(Default)]
struct Places(Vec<Place>);

struct Place {
    task: AbortHandle,
    state: State,
}

impl Places {
    /// Whether another one may come: there is a place, or somebody who gives way.
    fn has_room(&mut self) -> bool {
        self.0.retain(|place| !place.task.is_finished());
        self.0.len() < CONNECTIONS || self.0.iter().any(|place| place.stage() < Stage::Extended as u8)
    }

    /// Takes one in, in place of the oldest of those that have come least far.
    fn take(&mut self, place: Place) {
        if self.0.len() >= CONNECTIONS
            && let Some((index, _)) = self.0.iter().enumerate().min_by_key(|(_, place)| place.stage())
        {
            self.0.remove(index).task.abort();
        }
        self.0.push(place);
    }
}

impl Place {
    fn stage(&self) -> u8 {
        self.state.load(Relaxed)
    }
}

/// When a connection is cut off.
#[derive(Clone, Debug)]
pub(crate) struct Deadline {
    at: watch::Sender<Instant>,
    state: State,
}

impl Deadline {
    fn new(state: State) -> Self {
        Deadline { at: watch::Sender::new(Instant::now() + CONNECTION_TIMEOUT), state }
    }

    /// The answer may take so long from now.
    pub(crate) fn extend(&self, time: Duration) {
        self.state.store(Stage::Extended as u8, Relaxed);
        self.at.send_replace(Instant::now() + time);
    }

    async fn passed(&self) {
        loop {
            let deadline = *self.at.borrow();
            sleep_until(deadline).await;
            if *self.at.borrow() <= deadline {
                return;
            }
        }
    }
}

async fn answer(stream: TcpStream, router: Router, state: State) {
    let peer = stream.peer_addr().ok();
    let deadline = Deadline::new(Arc::clone(&state));
    let extensible = deadline.clone();
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        state.store(Stage::Asked as u8, Relaxed);
        request.extensions_mut().insert(extensible.clone());
        router.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .keep_alive(false)
        .header_read_timeout(HEAD_TIMEOUT)
        .max_headers(HEAD_FIELDS)
        .max_buf_size(HEAD_SIZE)
        .serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        served = connection => {
            if let Err(error) = served {
                tracing::debug!(%error, ?peer, "admin connection failed");
            }
        }
        () = deadline.passed() => tracing::debug!(?peer, "admin connection took too long"),
    }
}
