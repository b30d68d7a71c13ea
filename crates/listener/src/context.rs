//! Context: what the accept loops and connections of one core share. Made by the server, one per core.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use message::{Client, Scheme};
use plan::{Limits, Network, Plan};

use crate::connection::ConnectionContext;
use crate::counters::ConnectionCounters;
use crate::drain::Drain;
use crate::open_connections::{CoreConnections, OpenConnections, Permit};
use crate::trust::is_trusted;

/// What of the plan connections need. A reload gives new ones to new connections; open ones keep theirs.
#[derive(Clone, Debug)]
pub struct Settings {
    /// See [`Limits`].
    pub limits: Rc<Limits>,
    /// Whose forwarding headers are believed.
    pub trust: Vec<Network>,
    /// Whether each connection begins with a PROXY protocol header.
    pub proxy_protocol: bool,
}

impl From<&Plan> for Settings {
    fn from(plan: &Plan) -> Self {
        Settings {
            limits: Rc::new(plan.limits.clone()),
            trust: plan.listen.trust.clone(),
            proxy_protocol: plan.listen.proxy_protocol,
        }
    }
}

/// What the accept loops and connections of one core share; clones share it.
pub struct CoreContext<H>(Rc<Core<H>>);

struct Core<H> {
    handler: Rc<H>,
    settings: RefCell<Rc<Settings>>,
    connections: CoreConnections,
    counters: Arc<ConnectionCounters>,
    drain: Drain,
}

impl<H> Clone for CoreContext<H> {
    fn clone(&self) -> Self {
        CoreContext(Rc::clone(&self.0))
    }
}

impl<H> CoreContext<H> {
    /// A context for this core. `connections` is shared by all cores, `counters` may be.
    pub fn new(
        handler: Rc<H>,
        settings: Settings,
        connections: Arc<OpenConnections>,
        counters: Arc<ConnectionCounters>,
    ) -> Self {
        CoreContext(Rc::new(Core {
            handler,
            settings: RefCell::new(Rc::new(settings)),
            connections: CoreConnections::new(connections),
            counters,
            drain: Drain::default(),
        }))
    }

    /// Gives new connections these settings from now on.
    pub fn apply(&self, settings: Settings) {
        self.0.settings.replace(Rc::new(settings));
    }

    /// Connections open now on this core.
    pub fn open_connections(&self) -> usize {
        self.0.connections.open()
    }

    /// Stops accepting, closes idle connections, lets busy ones finish, and resolves when the last one on this core is
    /// gone. Whoever will not wait so long drops the runtime.
    pub async fn drain(&self) {
        self.0.drain.start();
        self.0.connections.empty().await;
    }

    pub(crate) fn settings(&self) -> Rc<Settings> {
        Rc::clone(&self.0.settings.borrow())
    }

    pub(crate) fn counters(&self) -> &Arc<ConnectionCounters> {
        &self.0.counters
    }

    pub(crate) fn draining(&self) -> &Drain {
        &self.0.drain
    }

    /// A place for one more connection, unless the limit is reached.
    pub(crate) fn try_enter(&self, limit: usize) -> Option<Permit> {
        self.0.connections.try_enter(limit)
    }

    /// The system gives no further connection.
    pub(crate) fn refused_by_system(&self, error: &std::io::Error) {
        self.0.connections.refused_by_system(error);
    }

    /// What the protocol that serves a connection is given.
    pub(crate) fn connection(
        &self,
        settings: &Settings,
        addresses: Addresses,
        scheme: Scheme,
    ) -> ConnectionContext<H> {
        let trusted = is_trusted(&settings.trust, addresses.client.ip());
        ConnectionContext {
            handler: Rc::clone(&self.0.handler),
            client: Client { address: addresses.client, local: addresses.local, trusted },
            scheme,
            limits: Rc::clone(&settings.limits),
            drain: self.0.drain.clone(),
        }
    }
}

/// Both ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Addresses {
    /// The client's: of the connection, or what the PROXY protocol told.
    pub(crate) client: SocketAddr,
    /// Ours, or what the PROXY protocol told.
    pub(crate) local: SocketAddr,
}
