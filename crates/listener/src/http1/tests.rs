//! One client connection over memory, with a handler the test writes and a clock that stands still.

mod content;
mod hits;
mod limits;
mod refusals;
mod responses;
mod tunnels;

use std::cell::RefCell;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::DATE;
use http::{HeaderValue, Method, StatusCode};
use http_body::Frame;
use message::{Body, Client, Error, Kind, Request, RequestView, Response, Scheme};
use plan::Limits;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::Handler;
use crate::connection::ConnectionContext;
use crate::drain::Drain;

/// How long nothing has to come until nothing will.
const A_WHILE: Duration = Duration::from_millis(20);
/// How long to wait for what must come.
const A_LONG_WHILE: Duration = Duration::from_mins(10);

/// A fresh hit on `/fresh`, as it goes out.
const FRESH: &str = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nfresh";
const GET_FRESH: &str = "GET /fresh HTTP/1.1\r\nHost: a\r\n\r\n";

/// Length of the content of `/large`.
const LARGE: usize = 100_000;

type Answer = Pin<Box<dyn Future<Output = Response>>>;

/// Knows two fresh entries; everything else the test answers.
struct Script {
    answer: Box<dyn Fn(Request) -> Answer>,
    /// Heads that a fresh entry was looked up for: method, authority and target.
    looked_up: RefCell<Vec<String>>,
    refused: RefCell<Vec<Kind>>,
}

impl Script {
    fn new<F: Future<Output = Response> + 'static>(answer: impl Fn(Request) -> F + 'static) -> Rc<Self> {
        Rc::new(Script {
            answer: Box::new(move |request| Box::pin(answer(request))),
            looked_up: RefCell::default(),
            refused: RefCell::default(),
        })
    }
}

fn context(script: Rc<Script>, limits: Limits, drain: Drain, client: Client) -> ConnectionContext<Script> {
    ConnectionContext { handler: script, client, scheme: Scheme::Http, limits: Rc::new(limits), drain }
}

/// A client of whom nobody asks where it is.
fn somewhere() -> Client {
    let address = SocketAddr::from(([127, 0, 0, 1], 1));
    Client { address, local: address, trusted: false }
}

impl Handler for Script {
    fn answer_fresh(&self, request: &RequestView<'_>, _: &Client, out: &mut Vec<u8>) -> Option<Bytes> {
        let RequestView { method, authority, target, .. } = request;
        self.looked_up.borrow_mut().push(format!("{method} {authority} {target}"));
        let content = match *target {
            "/fresh" => Bytes::from_static(b"fresh"),
            "/large" => Bytes::from(vec![b'x'; LARGE]),
            _ => return None,
        };
        out.extend_from_slice(format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n", content.len()).as_bytes());
        Some(if *method == Method::HEAD { Bytes::new() } else { content })
    }

    fn answer(&self, request: Request) -> impl Future<Output = Response> {
        (self.answer)(request)
    }

    fn refuse(&self, _: &Client, error: &Error) -> Response {
        self.refused.borrow_mut().push(error.kind());
        response(match error.kind() {
            Kind::MalformedRequest => 400,
            Kind::MethodNotAllowed => 405,
            Kind::ClientTimeout => 408,
            Kind::ContentTooLarge => 413,
            Kind::TargetTooLong => 414,
            Kind::HeadTooLarge => 431,
            Kind::MalformedResponse => 502,
            Kind::UnsupportedVersion => 505,
            _ => 500,
        })
    }
}

/// A response with a date that does not change.
fn response(status: u16) -> Response {
    let mut response = Response::new(StatusCode::from_u16(status).unwrap());
    response.fields.insert(DATE, HeaderValue::from_static("D"));
    response
}

/// The same with this content.
fn with_content(content: &'static str) -> Response {
    Response { body: Body::from(Bytes::from(content)), ..response(200) }
}

/// How [`with_content`] goes out on a kept connection.
fn sent(content: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ndate: D\r\ncontent-length: {}\r\n\r\n{content}", content.len())
}

/// Content that the test sends while it is being sent on.
struct Channel(mpsc::UnboundedReceiver<Result<Frame<Bytes>, Error>>);

type Frames = mpsc::UnboundedSender<Result<Frame<Bytes>, Error>>;

fn channel() -> (Frames, Body) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (sender, Body::stream(Channel(receiver)))
}

fn data(text: &'static str) -> Frame<Bytes> {
    Frame::data(Bytes::from(text))
}

impl http_body::Body for Channel {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        self.0.poll_recv(cx)
    }
}

/// All content of a request, and its trailers' names.
async fn read(mut body: Body) -> Result<(String, Vec<String>), Error> {
    let (mut text, mut trailers) = (Vec::new(), Vec::new());
    while let Some(frame) = next_frame(&mut body).await {
        match frame?.into_data() {
            Ok(data) => text.extend_from_slice(&data),
            Err(frame) => trailers = frame.into_trailers().unwrap().keys().map(ToString::to_string).collect(),
        }
    }
    Ok((String::from_utf8(text).unwrap(), trailers))
}

async fn next_frame(body: &mut Body) -> Option<Result<Frame<Bytes>, Error>> {
    std::future::poll_fn(|cx| http_body::Body::poll_frame(Pin::new(body), cx)).await
}

/// The client's end of a connection, and all there is at the other one.
struct Peer {
    io: DuplexStream,
    script: Rc<Script>,
    drain: Drain,
    serving: JoinHandle<()>,
}

impl Peer {
    fn connect<F: Future<Output = Response> + 'static>(answer: impl Fn(Request) -> F + 'static) -> Self {
        Peer::connect_with(Limits::default(), answer)
    }

    /// Where nothing but hits and refusals is expected.
    fn connect_for_hits() -> Self {
        Peer::connect(|request| async move { panic!("{} {} came through", request.method, request.target) })
    }

    fn connect_with<F: Future<Output = Response> + 'static>(
        limits: Limits,
        answer: impl Fn(Request) -> F + 'static,
    ) -> Self {
        let (io, server) = tokio::io::duplex(64 * 1024);
        let script = Script::new(answer);
        let drain = Drain::default();
        let context = context(Rc::clone(&script), limits, drain.clone(), somewhere());
        let serving = tokio::task::spawn_local(super::serve(server, BytesMut::new(), context));
        Peer { io, script, drain, serving }
    }

    async fn send(&mut self, text: impl AsRef<[u8]>) {
        self.io.write_all(text.as_ref()).await.unwrap();
    }

    /// Reads exactly this.
    async fn expect(&mut self, expected: impl AsRef<str>) {
        let expected = expected.as_ref();
        let mut read = Vec::new();
        while read.len() < expected.len() {
            let mut room = vec![0; expected.len() - read.len()];
            match timeout(A_LONG_WHILE, self.io.read(&mut room)).await {
                Ok(Ok(length)) if length > 0 => read.extend_from_slice(&room[..length]),
                _ => break,
            }
        }
        assert_eq!(String::from_utf8_lossy(&read), expected);
    }

    /// Sees nothing come.
    async fn expect_nothing(&mut self) {
        let mut room = [0; 1000];
        if let Ok(read) = timeout(A_WHILE, self.io.read(&mut room)).await {
            panic!("{:?} came", read.map(|length| String::from_utf8_lossy(&room[..length]).into_owned()));
        }
    }

    /// Sees this come and then the connection closed.
    async fn expect_last(mut self, expected: impl AsRef<str>) {
        self.expect(expected).await;
        self.expect_end().await;
    }

    /// Sees the connection closed, and the task behind it gone.
    async fn expect_end(mut self) {
        let mut rest = Vec::new();
        timeout(A_LONG_WHILE, self.io.read_to_end(&mut rest)).await.expect("an end").unwrap();
        assert_eq!(String::from_utf8_lossy(&rest), "");
        drop(self.io);
        timeout(A_LONG_WHILE, self.serving).await.expect("an end").unwrap();
    }
}
