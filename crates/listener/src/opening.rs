//! Opening: an accepted socket → whichever protocol serves it: PROXY header, TLS handshake or preface first.
//!
//! Tens of thousands of these tasks sleep in idle HTTP/1 connections, so what happens once or to few connections (the
//! PROXY header, TLS, HTTP/2) lives in boxes of its own and takes no room in theirs.

use std::rc::Rc;
use std::sync::Arc;

use bytes::BytesMut;
use message::Scheme;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use crate::context::{Addresses, CoreContext, Settings};
use crate::counters::Event;
use crate::early::Early;
use crate::handler::Handler;
use crate::open_connections::Permit;
use crate::preface::{self, Protocol};
use crate::{http1, http2, proxy_protocol, tls};

/// Serves a cleartext connection to its end.
pub(crate) async fn cleartext<H: Handler>(
    mut stream: TcpStream,
    mut addresses: Addresses,
    settings: Rc<Settings>,
    context: CoreContext<H>,
    permit: Permit,
) {
    let mut initial = BytesMut::new();
    if settings.proxy_protocol {
        let told = Box::pin(client_behind_proxy(&mut stream, &mut initial, addresses, &settings, &context));
        let Some(told) = told.await else { return };
        addresses = told;
    }
    let patience = settings.limits.header_timeout;
    let protocol = preface::protocol(&stream, &mut initial, patience, context.draining()).await;
    let connection = context.connection(&settings, addresses, Scheme::Http);
    drop(settings);
    match protocol {
        Some(Protocol::Http1) => {
            drop(context);
            http1::serve(stream, initial, connection).await;
        }
        Some(Protocol::Http2) => {
            let io = Early::new(initial, stream);
            Box::pin(http2::serve(io, connection, Arc::clone(context.counters()))).await;
        }
        None => {}
    }
    drop(permit);
}

/// Serves a TLS connection to its end.
pub(crate) async fn encrypted<H: Handler>(
    mut stream: TcpStream,
    acceptor: TlsAcceptor,
    mut addresses: Addresses,
    settings: Rc<Settings>,
    context: CoreContext<H>,
    permit: Permit,
) {
    let mut initial = BytesMut::new();
    if settings.proxy_protocol {
        let told = Box::pin(client_behind_proxy(&mut stream, &mut initial, addresses, &settings, &context));
        let Some(told) = told.await else { return };
        addresses = told;
    }
    let handshake = acceptor.accept(Early::new(initial, stream));
    let Ok(Ok(stream)) = Box::pin(timeout(settings.limits.header_timeout, handshake)).await else {
        context.counters().count(Event::HandshakeFailed);
        return;
    };
    let connection = context.connection(&settings, addresses, Scheme::Https);
    drop(settings);
    if stream.get_ref().1.alpn_protocol() == Some(tls::HTTP2) {
        Box::pin(http2::serve(stream, connection, Arc::clone(context.counters()))).await;
    } else {
        drop(context);
        http1::serve(stream, BytesMut::new(), connection).await;
    }
    drop(permit);
}

/// Who the client is by the PROXY protocol header. `None`: the header was not to be taken, which has been counted.
async fn client_behind_proxy<H>(
    stream: &mut TcpStream,
    initial: &mut BytesMut,
    addresses: Addresses,
    settings: &Settings,
    context: &CoreContext<H>,
) -> Option<Addresses> {
    let reading = proxy_protocol::read(stream, initial, addresses);
    let told = timeout(settings.limits.header_timeout, reading).await;
    let told = told.ok().and_then(Result::ok);
    if told.is_none() {
        context.counters().count(Event::ProxyHeaderFailed);
    }
    told
}
