//! Http2Client: a well-behaved HTTP/2 client, in cleartext with prior knowledge or over TLS by ALPN.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use h2::{RecvStream, SendStream};
use http::{HeaderMap, Request, Response};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio_rustls::TlsConnector;

use crate::{Answer, Certificate, DEADLINE, Head};

/// One connection.
pub struct Http2Client {
    runtime: Runtime,
    requests: SendRequest<Bytes>,
}

/// One stream of it, both of whose directions are open.
pub struct Http2Exchange<'a> {
    runtime: &'a Runtime,
    up: SendStream<Bytes>,
    response: Option<ResponseFuture>,
    down: Option<RecvStream>,
}

impl Http2Client {
    /// Connects in cleartext.
    pub fn connect(address: SocketAddr) -> Self {
        let runtime = runtime();
        let requests = runtime.block_on(async {
            let stream = TcpStream::connect(address).await.expect("the server listens");
            handshake(stream).await
        });
        Http2Client { runtime, requests }
    }

    /// Connects over TLS; panics when the server does not choose `h2`.
    pub fn connect_tls(address: SocketAddr, certificate: &Certificate) -> Self {
        let runtime = runtime();
        let config = Arc::new(certificate.client_config(&["h2", "http/1.1"]));
        let requests = runtime.block_on(async {
            let stream = TcpStream::connect(address).await.expect("the server listens");
            let name = ServerName::try_from("localhost").expect("a valid name");
            let stream =
                TlsConnector::from(config).connect(name, stream).await.expect("the handshake succeeds");
            assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
            handshake(stream).await
        });
        Http2Client { runtime, requests }
    }

    /// Sends a request whose content follows, `Request::post("http://example.test/x")` say.
    pub fn open(&mut self, request: Request<()>) -> Http2Exchange<'_> {
        let (response, up) = self.runtime.block_on(async {
            let mut ready = self.requests.clone().ready().await.expect("the connection takes streams");
            ready.send_request(request, false).expect("the request is proper")
        });
        Http2Exchange { runtime: &self.runtime, up, response: Some(response), down: None }
    }

    /// Sends a request without content, and reads its whole answer.
    pub fn ask(&mut self, request: Request<()>) -> Result<Answer, h2::Error> {
        self.ask_with(request, b"")
    }

    /// Sends a request with content, and reads its whole answer.
    pub fn ask_with(&mut self, request: Request<()>, content: &[u8]) -> Result<Answer, h2::Error> {
        self.runtime.block_on(within(async {
            let mut ready = self.requests.clone().ready().await?;
            let (response, mut up) = ready.send_request(request, content.is_empty())?;
            if !content.is_empty() {
                up.send_data(Bytes::copy_from_slice(content), true)?;
            }
            let (head, mut down) = response.await?.into_parts();
            let mut answer = answer(&Response::from_parts(head, ()));
            while let Some(data) = down.data().await {
                let data = data?;
                down.flow_control().release_capacity(data.len())?;
                answer.body.extend_from_slice(&data);
            }
            answer.trailers = down.trailers().await?.map(|trailers| fields(&trailers)).unwrap_or_default();
            Ok(answer)
        }))
    }

    /// `GET`, with the host `example.test`.
    pub fn get(&mut self, target: &str) -> Answer {
        let request = Request::get(format!("http://example.test{target}")).body(()).expect("a proper target");
        self.ask(request).unwrap_or_else(|error| panic!("GET {target} over HTTP/2: {error}"))
    }
}

impl Http2Exchange<'_> {
    /// Sends content.
    pub fn send(&mut self, content: &[u8]) {
        self.up.send_data(Bytes::copy_from_slice(content), false).expect("the stream is open");
    }

    /// Ends our direction, with trailers.
    pub fn finish(&mut self, trailers: &[(&'static str, &str)]) {
        let trailers = trailers.iter().map(|(name, value)| {
            (http::HeaderName::from_static(name), value.parse().expect("a proper trailer value"))
        });
        self.up.send_trailers(trailers.collect()).expect("the stream is open");
    }

    /// Waits for the answer's head.
    pub fn read_head(&mut self) -> Answer {
        let response = self.response.take().expect("the head is read once");
        let response = self.runtime.block_on(within(response)).expect("an answer");
        let (head, down) = response.into_parts();
        self.down = Some(down);
        answer(&Response::from_parts(head, ()))
    }

    /// Waits for the next piece of content; nothing at its end.
    pub fn read(&mut self) -> Option<Bytes> {
        let down = self.down.as_mut().expect("the head is read first");
        let data = self.runtime.block_on(within(down.data()))?.expect("content");
        down.flow_control().release_capacity(data.len()).expect("it was counted");
        Some(data)
    }

    /// Waits for the trailers, after the content.
    pub fn read_trailers(&mut self) -> Vec<(String, String)> {
        let down = self.down.as_mut().expect("the head is read first");
        let trailers = self.runtime.block_on(within(down.trailers())).expect("an orderly end");
        trailers.map(|trailers| fields(&trailers)).unwrap_or_default()
    }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, future).await.expect("an answer within the deadline")
}

async fn handshake(io: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> SendRequest<Bytes> {
    let (requests, connection) = within(h2::client::handshake(io)).await.expect("the server speaks HTTP/2");
    tokio::spawn(async move {
        let _ended = connection.await;
    });
    requests
}

fn answer(response: &Response<()>) -> Answer {
    let head = Head { start: response.status().to_string(), fields: fields(response.headers()) };
    Answer { status: response.status().as_u16(), head, ..Answer::default() }
}

pub(crate) fn fields(map: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    map.iter().map(|(name, value)| (name.to_string(), text(value))).collect()
}
