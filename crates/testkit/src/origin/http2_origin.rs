//! Http2Origin: an origin that speaks HTTP/2 and echoes, as a gRPC service with a bidirectional method would.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use h2::RecvStream;
use h2::server::SendResponse;
use http::{HeaderMap, HeaderValue, Request, Response};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

use crate::client::fields;
use crate::{Certificate, Head};

/// Answers every request at once with 200, sends back each piece of content as it comes, and ends with the trailers
/// `grpc-status: 0` and whatever the request's trailers were. Stops on drop.
pub struct Http2Origin {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<Head>>>,
    _stop: oneshot::Sender<()>,
}

impl Http2Origin {
    /// In cleartext.
    pub fn start() -> Self {
        Self::start_with(None)
    }

    /// Over TLS, with ALPN.
    pub fn start_tls(certificate: &Certificate) -> Self {
        Self::start_with(Some(TlsAcceptor::from(Arc::new(certificate.server_config(&["h2"])))))
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The requests so far: method and URI, with their fields.
    pub fn requests(&self) -> Vec<Head> {
        self.heads.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn start_with(tls: Option<TlsAcceptor>) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("a fresh socket takes options");
        let address = listener.local_addr().expect("a bound listener has an address");
        let heads = Arc::new(Mutex::new(Vec::new()));
        let (stop, stopped) = oneshot::channel();
        let seen = Arc::clone(&heads);
        std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async move {
                let listener = TcpListener::from_std(listener).expect("a listener");
                tokio::select! {
                    () = accept(listener, tls, seen) => {}
                    _ = stopped => {}
                }
            });
        });
        Http2Origin { address, heads, _stop: stop }
    }
}

async fn accept(listener: TcpListener, tls: Option<TlsAcceptor>, seen: Arc<Mutex<Vec<Head>>>) {
    while let Ok((stream, _)) = listener.accept().await {
        let (tls, seen) = (tls.clone(), Arc::clone(&seen));
        tokio::spawn(async move {
            match tls {
                None => serve(stream, seen).await,
                Some(tls) => {
                    if let Ok(stream) = tls.accept(stream).await {
                        serve(stream, seen).await;
                    }
                }
            }
        });
    }
}

async fn serve(io: impl AsyncRead + AsyncWrite + Unpin, seen: Arc<Mutex<Vec<Head>>>) {
    let Ok(mut connection) = h2::server::handshake(io).await else { return };
    while let Some(Ok((request, respond))) = connection.accept().await {
        let head = Head {
            start: format!("{} {}", request.method(), request.uri()),
            fields: fields(request.headers()),
        };
        seen.lock().unwrap_or_else(PoisonError::into_inner).push(head);
        tokio::spawn(async move {
            let _client_left = echo(request, respond).await;
        });
    }
}

async fn echo(request: Request<RecvStream>, mut respond: SendResponse<Bytes>) -> Result<(), h2::Error> {
    let content_type = request.headers().get("content-type").cloned();
    let mut up = request.into_body();
    let mut response = Response::new(());
    if let Some(content_type) = content_type {
        response.headers_mut().insert("content-type", content_type);
    }
    let mut down = respond.send_response(response, false)?;
    while let Some(data) = up.data().await {
        let data = data?;
        up.flow_control().release_capacity(data.len())?;
        down.send_data(data, false)?;
    }
    let mut trailers: HeaderMap = up.trailers().await?.unwrap_or_default();
    trailers.insert("grpc-status", HeaderValue::from_static("0"));
    down.send_trailers(trailers)
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::Http2Origin;
    use crate::{Certificate, Http2Client, Http2Frames, Outcome};

    #[test]
    fn echoes_both_ways_with_trailers() {
        let certificate = Certificate::new();
        let origin = Http2Origin::start_tls(&certificate);
        let mut client = Http2Client::connect_tls(origin.address(), &certificate);
        let request =
            Request::post("https://localhost/call").header("content-type", "application/grpc").body(());
        let mut exchange = client.open(request.unwrap());
        assert_eq!(exchange.read_head().field("content-type"), Some("application/grpc"));
        for piece in [b"one", b"two"] {
            exchange.send(piece);
            assert_eq!(exchange.read().as_deref(), Some(&piece[..]));
        }
        exchange.finish(&[("sent", "2")]);
        assert_eq!(exchange.read(), None);
        let trailers = exchange.read_trailers();
        assert!(trailers.contains(&("sent".to_owned(), "2".to_owned())), "{trailers:?}");
        assert_eq!(origin.requests()[0].start, "POST https://localhost/call");
    }

    #[test]
    fn frames_reach_it_raw() {
        let origin = Http2Origin::start();
        let mut frames = Http2Frames::connect(origin.address());
        let good: [(&[u8], &[u8]); 4] =
            [(b":method", b"GET"), (b":scheme", b"http"), (b":authority", b"x"), (b":path", b"/")];
        assert_eq!(frames.headers(1, &good, true).outcome(1), Outcome::Answered(200));
        let bad: [(&[u8], &[u8]); 5] = [good[0], good[1], good[2], good[3], (b"Upper", b"x")];
        assert_ne!(frames.headers(3, &bad, true).outcome(3), Outcome::Answered(200));
    }
}
