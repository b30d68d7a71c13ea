//! Core: one thread with its own runtime, listening sockets, pools and counters. Takes its orders from `control`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use admin::{Errand, Fetched};
use cache::Store;
use listener::{ConnectionCounters, CoreContext, Listener, ListenerKind, OpenConnections, Settings};
use redis_link::Link;
use telemetry::{Metrics, Recorder};
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::{mpsc, oneshot};
use tokio::task::spawn_local;

use crate::explain::{ExplainRequest, Explanation, explain_in};
use crate::walk::errand;
use crate::walk::handler::CoreHandler;
use crate::walk::identity::Identity;
use crate::walk::local::Local;
use crate::walk::recent::Recent;
use crate::walk::running::Running;

/// What control tells a core.
pub(crate) enum CoreOrder {
    /// Go on with this plan.
    Apply(Arc<Running>),
    /// Listen here too.
    Listen(SocketAddr, TcpListener, ListenerKind),
    /// Listen there no longer; connections go on.
    Unlisten(SocketAddr),
    /// Fetch this, and say what came of it.
    Fetch(Box<Errand>, oneshot::Sender<Fetched>),
    /// Explain this.
    Explain(Box<ExplainRequest>, oneshot::Sender<Explanation>),
    /// Finish what is under way, then end.
    Drain,
}

/// What all cores share.
#[derive(Clone)]
pub(crate) struct Instance {
    pub(crate) store: Arc<Store>,
    /// The tier that instances share.
    pub(crate) redis: Option<Arc<redis_link::SharedLink>>,
    pub(crate) connections: Arc<OpenConnections>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) recent: Arc<Recent>,
}

/// A core as control sees it.
pub(crate) struct Core {
    pub(crate) orders: mpsc::UnboundedSender<CoreOrder>,
    pub(crate) counters: Arc<ConnectionCounters>,
    pub(crate) thread: JoinHandle<()>,
}

impl Core {
    /// Starts a core's thread with a first plan.
    pub(crate) fn start(number: usize, shared: Instance, running: Arc<Running>) -> io::Result<Core> {
        // Unbounded, yet never long: control sends a handful of orders per reload, and the admin port bounds its
        // errands.
        let (orders, received) = mpsc::unbounded_channel();
        let counters = ConnectionCounters::new();
        let counters_there = Arc::clone(&counters);
        let (started, outcome) = std::sync::mpsc::sync_channel(1);
        let thread = std::thread::Builder::new().name(format!("core-{number}")).spawn(move || {
            // Built here, since a local runtime stays on its thread.
            let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default());
            let (runtime, result) =
                runtime.map_or_else(|error| (None, Err(error)), |runtime| (Some(runtime), Ok(())));
            // Whoever started us waits for this.
            let _ = started.send(result);
            if let Some(runtime) = runtime {
                runtime.block_on(run(number, shared, counters_there, running, received));
            }
        })?;
        outcome.recv().map_err(|_| io::Error::other("the thread ended at once"))??;
        Ok(Core { orders, counters, thread })
    }

    /// Sends an order. A core that has ended needs none.
    pub(crate) fn order(&self, order: CoreOrder) {
        drop(self.orders.send(order));
    }
}

async fn run(
    number: usize,
    shared: Instance,
    counters: Arc<ConnectionCounters>,
    running: Arc<Running>,
    mut orders: mpsc::UnboundedReceiver<CoreOrder>,
) {
    let recorder = Rc::new(Recorder::new(Arc::clone(&shared.metrics), number, running.plan.access_log));
    let settings = Settings::from(&*running.plan);
    let identity = Identity::new();
    let tier = shared.redis.map(Link::new);
    let local = Local::new(running, None, &identity, &shared.store, tier.as_ref());
    let handler = Rc::new(CoreHandler {
        number,
        store: shared.store,
        tier,
        local: RefCell::new(local),
        identity,
        scratch: RefCell::default(),
        read_scratch: RefCell::default(),
        field_scratch: RefCell::default(),
        recorder: Rc::clone(&recorder),
        recent: shared.recent,
    });
    let connections = Arc::clone(&shared.connections);
    let context = CoreContext::new(Rc::clone(&handler), settings, shared.connections, counters);
    let mut listeners = HashMap::new();
    while let Some(order) = orders.recv().await {
        match order {
            CoreOrder::Apply(running) => {
                recorder.set_access_log(running.plan.access_log);
                context.apply(Settings::from(&*running.plan));
                let (before, tier) = (Rc::clone(&handler.local.borrow()), handler.tier.as_ref());
                let next = Local::new(running, Some(&before), &handler.identity, &handler.store, tier);
                handler.local.replace(next);
            }
            CoreOrder::Listen(address, socket, kind) => {
                match Listener::start(socket, kind, context.clone()) {
                    Ok(listener) => drop(listeners.insert(address, listener)),
                    Err(error) => tracing::error!("core {number} cannot listen on {address}: {error}"),
                }
            }
            CoreOrder::Unlisten(address) => {
                if let Some(listener) = listeners.remove(&address) {
                    listener.stop().await;
                }
            }
            // Whoever asked may have left; nobody waits for the answer then.
            CoreOrder::Fetch(errand, reply) => {
                let fetch = errand::run(Rc::clone(&handler), *errand);
                spawn_local(async move { drop(reply.send(fetch.await)) });
            }
            CoreOrder::Explain(question, reply) => {
                let handler = Rc::clone(&handler);
                spawn_local(async move { drop(reply.send(explain(&handler, *question).await)) });
            }
            CoreOrder::Drain => {
                context.drain().await;
                return everybody_gone(&connections).await;
            }
        }
    }
}

/// What would happen to a request.
async fn explain(handler: &CoreHandler, question: ExplainRequest) -> Explanation {
    if question.ask {
        handler.recorder.errand(telemetry::Errand::Explain);
    }
    let local = Rc::clone(&handler.local.borrow());
    explain_in(&local, &handler.store, question).await
}

/// A fetch begun on this core may feed clients of the others, so the core ends no sooner than the last of them. How long
/// that may take, control decides.
async fn everybody_gone(connections: &OpenConnections) {
    while connections.open() > 0 {
        tokio::time::sleep(POLL).await;
    }
}

/// The last connection of another core says nothing to this one; this often we look.
const POLL: Duration = Duration::from_millis(20);
