//! Connection: what every connection of a core is served with, whichever version of HTTP it speaks. Made by the
//! acceptor once the client's address and the protocol are known; read by `http1` and `http2`.

use std::rc::Rc;

use message::{Client, Scheme};
use plan::Limits;

use crate::drain::Drain;

/// What a connection is served with.
pub(crate) struct ConnectionContext<H> {
    /// Answers its requests.
    pub(crate) handler: Rc<H>,
    /// Who is at the other end.
    pub(crate) client: Client,
    /// Whether it came over TLS.
    pub(crate) scheme: Scheme,
    /// What it may ask of us at most.
    pub(crate) limits: Rc<Limits>,
    /// Tells when to stop.
    pub(crate) drain: Drain,
}

impl<H> Clone for ConnectionContext<H> {
    fn clone(&self) -> Self {
        ConnectionContext {
            handler: Rc::clone(&self.handler),
            client: self.client,
            scheme: self.scheme,
            limits: Rc::clone(&self.limits),
            drain: self.drain.clone(),
        }
    }
}
