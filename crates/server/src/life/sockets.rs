//! Sockets: which addresses are listened on, and what a new plan changes about that.
//!
//! New addresses are bound before anything else changes, so that a reload that cannot listen changes nothing.

use std::net::{SocketAddr, TcpListener};

use listener::{Acceptor, ListenerKind, bind, ensure_free};
use plan::Listen;

use crate::configuration::{Listening, StartError};
use crate::life::core::{Core, CoreOrder};

/// The addresses listened on now.
#[derive(Default)]
pub(crate) struct Sockets {
    open: Vec<Open>,
    acceptor: Option<Acceptor>,
}

#[derive(Clone, PartialEq, Eq)]
struct Open {
    /// As the plan says it, which may be port 0.
    wanted: SocketAddr,
    /// As it is.
    listening: Listening,
}

/// Addresses bound but not yet listened on by the cores.
pub(crate) struct Change {
    bound: Vec<(Open, Vec<TcpListener>)>,
    acceptor: Option<Acceptor>,
}

impl Sockets {
    /// Binds what `listen` has that is not open yet, once per core; reads certificates.
    pub(crate) fn prepare(&self, listen: &Listen, cores: usize) -> Result<Change, StartError> {
        let mut bound = Vec::new();
        for (kind, wanted) in wanted(listen) {
            if self.open.iter().any(|open| open.wanted == wanted && open.listening.kind == kind) {
                continue;
            }
            // Not where a socket of our own is about to be replaced.
            let ours = |open: &Open| open.listening.address.port() == wanted.port();
            if wanted.port() != 0 && !self.open.iter().any(ours) {
                ensure_free(wanted).map_err(|error| StartError::Bind(wanted, error))?;
            }
            let mut sockets = Vec::with_capacity(cores);
            let mut address = wanted;
            for _ in 0..cores {
                let socket = bind(address).map_err(|error| StartError::Bind(wanted, error))?;
                address = socket.local_addr().map_err(|error| StartError::Bind(wanted, error))?;
                sockets.push(socket);
            }
            bound.push((Open { wanted, listening: Listening { kind, address } }, sockets));
        }
        // Last, for it shows new certificates at once: whatever can fail has not.
        let acceptor = match (&listen.tls, &self.acceptor) {
            (None, _) => None,
            (Some(tls), None) => Some(Acceptor::load(tls).map_err(StartError::Tls)?),
            (Some(tls), Some(acceptor)) => {
                acceptor.reload(tls).map_err(StartError::Tls)?;
                Some(acceptor.clone())
            }
        };
        Ok(Change { bound, acceptor })
    }

    /// Has the cores listen on what was bound, and leave what the plan no longer has. Gives what is new.
    pub(crate) fn apply(&mut self, change: Change, listen: &Listen, cores: &[Core]) -> Vec<Listening> {
        self.acceptor = change.acceptor;
        let wanted: Vec<_> = wanted(listen).collect();
        self.open.retain(|open| {
            let stays = wanted.contains(&(open.listening.kind, open.wanted));
            if !stays {
                for core in cores {
                    core.order(CoreOrder::Unlisten(open.listening.address));
                }
            }
            stays
        });
        let mut new = Vec::new();
        for (open, sockets) in change.bound {
            for (core, socket) in cores.iter().zip(sockets) {
                let kind = match (&self.acceptor, open.listening.kind) {
                    (Some(acceptor), "https") => ListenerKind::Https(acceptor.clone()),
                    _ => ListenerKind::Http,
                };
                core.order(CoreOrder::Listen(open.listening.address, socket, kind));
            }
            new.push(open.listening.clone());
            self.open.push(open);
        }
        new
    }
}

fn wanted(listen: &Listen) -> impl Iterator<Item = (&'static str, SocketAddr)> {
    let http = listen.http.iter().map(|address| ("http", *address));
    http.chain(listen.https.iter().map(|address| ("https", *address)))
}
