//! Testing: a listener on a loopback port with a handler the test writes, and certificates for it.

use std::cell::RefCell;
use std::future::Future;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use http::StatusCode;
use message::{Body, Client, Error, Kind as ErrorKind, Request, RequestView, Response};
use plan::{Limits, Tls};
use rustls::pki_types::CertificateDer;

use crate::context::{CoreContext, Settings};
use crate::counters::ConnectionCounters;
use crate::handler::Handler;
use crate::open_connections::OpenConnections;
use crate::{Listener, ListenerKind, bind};

type Answer = Pin<Box<dyn Future<Output = Response>>>;

/// Answers with what the test wrote, and remembers what was refused.
pub(crate) struct Scripted {
    answer: Box<dyn Fn(Request) -> Answer>,
    pub(crate) refused: RefCell<Vec<Error>>,
}

impl Scripted {
    pub(crate) fn new<F: Future<Output = Response> + 'static>(
        answer: impl Fn(Request) -> F + 'static,
    ) -> Rc<Self> {
        Rc::new(Scripted {
            answer: Box::new(move |request| Box::pin(answer(request))),
            refused: RefCell::default(),
        })
    }

    /// Answers every request with its target and the client's address as the content.
    pub(crate) fn echo_target() -> Rc<Self> {
        Scripted::new(|request| async move {
            let text = format!("{} {} {}", request.scheme.as_str(), request.target, request.client.address);
            ok(text)
        })
    }
}

impl Handler for Scripted {
    fn answer_fresh(&self, _: &RequestView<'_>, _: &Client, _: &mut Vec<u8>) -> Option<Bytes> {
        None
    }

    fn answer(&self, request: Request) -> impl Future<Output = Response> {
        (self.answer)(request)
    }

    fn refuse(&self, _: &Client, error: &Error) -> Response {
        self.refused.borrow_mut().push(error.clone());
        Response::new(match error.kind() {
            ErrorKind::MalformedRequest => StatusCode::BAD_REQUEST,
            ErrorKind::ContentTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            ErrorKind::HeadTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            ErrorKind::ClientTimeout => StatusCode::REQUEST_TIMEOUT,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        })
    }
}

/// A 200 with this content.
pub(crate) fn ok(content: impl Into<Bytes>) -> Response {
    Response { body: Body::from(content.into()), ..Response::new(StatusCode::OK) }
}

/// A running listener with all that belongs to it.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) handler: Rc<Scripted>,
    pub(crate) context: CoreContext<Scripted>,
    pub(crate) counters: Arc<ConnectionCounters>,
    pub(crate) listener: Listener,
}

impl Server {
    /// Listens on a free loopback port.
    pub(crate) fn start(handler: Rc<Scripted>, kind: ListenerKind, settings: Settings) -> Self {
        let socket = bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let counters = ConnectionCounters::new();
        let context =
            CoreContext::new(Rc::clone(&handler), settings, OpenConnections::new(), Arc::clone(&counters));
        let listener = Listener::start(socket, kind, context.clone()).unwrap();
        Server { address: listener.address(), handler, context, counters, listener }
    }

    /// The same in cleartext with these limits.
    pub(crate) fn cleartext(handler: Rc<Scripted>, limits: Limits) -> Self {
        Server::start(handler, ListenerKind::Http, settings(limits))
    }
}

pub(crate) fn settings(limits: Limits) -> Settings {
    Settings { limits: Rc::new(limits), trust: Vec::new(), proxy_protocol: false }
}

/// A self-signed certificate with its key.
pub(crate) struct Certificate(rcgen::CertifiedKey<rcgen::KeyPair>);

impl Certificate {
    pub(crate) fn new(name: &str) -> Self {
        Certificate(rcgen::generate_simple_self_signed([name.to_owned()]).unwrap())
    }

    /// Writes `NAME.pem` and `NAME.key`.
    pub(crate) fn write(&self, folder: &Path, name: &str) -> Tls {
        let (certificate, key) = (folder.join(format!("{name}.pem")), folder.join(format!("{name}.key")));
        std::fs::write(&certificate, self.0.cert.pem()).unwrap();
        std::fs::write(&key, self.0.signing_key.serialize_pem()).unwrap();
        Tls { certificate, key }
    }

    pub(crate) fn der(&self) -> CertificateDer<'static> {
        self.0.cert.der().clone()
    }
}
