//! What the stories share: scripted origins, requests, and reading an answer to its end.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Version};
use http_body::Frame;
use http_body_util::BodyExt;
use message::{Body, Client, Error, Request, RequestParts, Response, Scheme};
use plan::{Balance, HostField, Protocol, Target, Timeouts};
use source::{HttpSource, SharedOrigin};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A connection as the origin sees it.
pub(crate) struct Peer {
    pub(crate) stream: TcpStream,
    buffer: Vec<u8>,
}

impl Peer {
    /// The next request head, its empty line included; empty when the connection ended.
    pub(crate) async fn head(&mut self) -> String {
        loop {
            if let Some(end) = self.buffer.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                return String::from_utf8(self.buffer.drain(..end + 4).collect()).unwrap();
            }
            if self.more().await == 0 {
                assert!(self.buffer.is_empty(), "half a head: {:?}", self.buffer.escape_ascii().to_string());
                return String::new();
            }
        }
    }

    /// The next `length` bytes.
    pub(crate) async fn bytes(&mut self, length: usize) -> Vec<u8> {
        while self.buffer.len() < length {
            assert_ne!(self.more().await, 0, "ended after {:?}", self.buffer.escape_ascii().to_string());
        }
        self.buffer.drain(..length).collect()
    }

    /// Everything until these bytes, they included.
    pub(crate) async fn until(&mut self, end: &[u8]) -> Vec<u8> {
        loop {
            if end.is_empty() {
                return Vec::new();
            }
            if let Some(at) = self.buffer.windows(end.len()).position(|bytes| bytes == end) {
                return self.buffer.drain(..at + end.len()).collect();
            }
            assert_ne!(self.more().await, 0, "ended after {:?}", self.buffer.escape_ascii().to_string());
        }
    }

    async fn more(&mut self) -> usize {
        self.stream.read_buf(&mut self.buffer).await.unwrap_or(0)
    }

    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let _closed_by_the_source = self.stream.write_all(bytes.as_ref()).await;
    }

    /// Waits until the source closes the connection.
    pub(crate) async fn closed(&mut self) {
        while self.more().await != 0 {}
    }

    /// Closes so that the other side sees a reset.
    pub(crate) fn reset(self) {
        self.stream.set_zero_linger().unwrap();
    }
}

/// A free port on which `talk` gets each connection, with its number. The second is what has been noted.
pub(crate) async fn origin<F>(talk: impl Fn(usize, Peer) -> F + 'static) -> u16
where
    F: Future<Output = ()> + 'static,
{
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::task::spawn_local(serve(listener, talk));
    port
}

pub(crate) async fn serve<F>(listener: TcpListener, talk: impl Fn(usize, Peer) -> F + 'static)
where
    F: Future<Output = ()> + 'static,
{
    for number in 0.. {
        let (stream, _) = listener.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        tokio::task::spawn_local(talk(number, Peer { stream, buffer: Vec::new() }));
    }
}

/// An origin that answers every request of every connection with the same bytes, and stays.
pub(crate) async fn always(answer: &'static str) -> u16 {
    origin(move |_, mut peer| async move {
        while !peer.head().await.is_empty() {
            peer.send(answer).await;
        }
    })
    .await
}

/// An origin that answers one request of each connection with these bytes and closes.
pub(crate) async fn once(answer: &'static [u8]) -> u16 {
    origin(move |_, mut peer| async move {
        peer.head().await;
        peer.send(answer).await;
    })
    .await
}

/// Things noted by an origin for the test to look at.
pub(crate) type Notes = Rc<RefCell<Vec<String>>>;

pub(crate) fn target(port: u16) -> Target {
    Target { scheme: Scheme::Http, host: "127.0.0.1".to_owned(), port }
}

pub(crate) fn plan(ports: &[u16]) -> plan::HttpSource {
    plan::HttpSource {
        name: "api".to_owned(),
        targets: ports.iter().map(|&port| target(port)).collect(),
        protocol: Protocol::Auto,
        host: HostField::Auto,
        balance: Balance::RoundRobin,
        health: None,
        verify: true,
        authorities: None,
        timeouts: Timeouts {
            connect: Duration::from_secs(5),
            head: Duration::from_secs(10),
            body: Duration::from_secs(10),
        },
        idle_connections: 8,
        connection_age: Duration::from_hours(1),
        connections: 0,
    }
}

pub(crate) fn source(plan: plan::HttpSource) -> HttpSource {
    HttpSource::new(SharedOrigin::new(Arc::new(plan)).unwrap())
}

pub(crate) fn source_at(port: u16) -> HttpSource {
    source(plan(&[port]))
}

pub(crate) fn request(method: Method, target: &str) -> Request {
    let address = SocketAddr::from((Ipv4Addr::new(192, 0, 2, 7), 5555));
    Request::new(RequestParts {
        method,
        scheme: Scheme::Http,
        authority: "api.example".into(),
        target: target.into(),
        version: Version::HTTP_11,
        fields: HeaderMap::new(),
        client: Client { address, local: address, trusted: false },
    })
}

pub(crate) fn get(target: &str) -> Request {
    request(Method::GET, target)
}

pub(crate) fn post(body: impl Into<Body>) -> Request {
    Request { body: body.into(), ..request(Method::POST, "/") }
}

pub(crate) fn with(mut request: Request, fields: &[(&'static str, &'static str)]) -> Request {
    for &(name, value) in fields {
        request.parts_mut().fields.append(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    request
}

/// A body of unknown length, made of these pieces, one at each poll.
pub(crate) struct Pieces(pub(crate) VecDeque<Result<Frame<Bytes>, Error>>);

impl Pieces {
    pub(crate) fn body(pieces: &[&'static str]) -> Body {
        Body::stream(Pieces(
            pieces.iter().map(|&piece| Ok(Frame::data(Bytes::from_static(piece.as_bytes())))).collect(),
        ))
    }
}

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        Poll::Ready(self.0.pop_front())
    }
}

/// A body whose pieces the test sends when it likes; dropping the sender ends it.
pub(crate) struct Sent(tokio::sync::mpsc::UnboundedReceiver<Bytes>);

impl Sent {
    pub(crate) fn body() -> (tokio::sync::mpsc::UnboundedSender<Bytes>, Body) {
        let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
        (sender, Body::stream(Sent(receiver)))
    }
}

impl http_body::Body for Sent {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        self.0.poll_recv(cx).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}

/// The whole content and its trailers.
pub(crate) async fn content(response: Response) -> Result<(String, Option<HeaderMap>), Error> {
    let collected = response.body.collect().await?;
    let trailers = collected.trailers().cloned();
    Ok((String::from_utf8(collected.to_bytes().to_vec()).unwrap(), trailers))
}

/// Status and content of an answer that must be fine.
pub(crate) async fn answer(source: &HttpSource, request: Request) -> (u16, String) {
    let response = source.send(request).await.unwrap();
    let status = response.status.as_u16();
    (status, content(response).await.unwrap().0)
}

/// A body that is already in memory.
pub(crate) fn whole(text: &'static str) -> Body {
    Body::from(Bytes::from_static(text.as_bytes()))
}
