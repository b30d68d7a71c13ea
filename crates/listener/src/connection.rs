//! Connection: what every connection of a core is served with, whichever version of HTTP it speaks. Made by the
//! acceptor once the client's address and the protocol are known; read by `http1` and `http2`.

use std::rc::Rc;
use std::time::Duration;

use http::HeaderName;
use message::{Client, Fields, Scheme};
use plan::Limits;
use tokio::time::Instant;

use crate::Handler;
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

impl<H> ConnectionContext<H> {
    /// The scheme of a request: the connection's, or what a trusted proxy says its client used. It is part of the key, so
    /// that a redirect to `https` never answers those who are there already.
    pub(crate) fn scheme_of(&self, fields: Fields<'_>) -> Scheme {
        const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
        if !self.client.trusted {
            return self.scheme;
        }
        // Of several the first: the proxies on the way have appended theirs.
        let said = fields.first(&FORWARDED_PROTO).and_then(|line| line.split(|byte| *byte == b',').next());
        match said.map(<[u8]>::trim_ascii) {
            Some(word) if word.eq_ignore_ascii_case(b"https") => Scheme::Https,
            Some(word) if word.eq_ignore_ascii_case(b"http") => Scheme::Http,
            _ => self.scheme,
        }
    }
}

impl<H: Handler> ConnectionContext<H> {
    /// How long a client may take nothing of what we write, as things are now.
    pub(crate) fn patience(&self) -> Duration {
        let patience = self.limits.body_timeout;
        if self.handler.is_short_of_memory() { patience.min(SHORT_PATIENCE) } else { patience }
    }

    /// Until when one who has taken nothing since then need not be looked at again: things may change meanwhile.
    pub(crate) fn next_look(&self, stalled_since: Instant, now: Instant) -> Instant {
        (stalled_since + self.patience()).min(now.max(stalled_since) + SHORT_PATIENCE / 5)
    }
}

/// How long a client may take nothing when others need the memory.
const SHORT_PATIENCE: Duration = Duration::from_secs(10);

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
