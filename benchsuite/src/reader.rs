//! Reader: the read API as one would write it without fleetfoot, the least that HTTP and Redis together cost: hyper on one
//! core, redis-rs with one connection for all requests of that core, no framework, one answer for every path. Pooled, it
//! stands for what most programs have, the seed's among them: each request has a connection to Redis to itself, so that
//! no two share a write or a read.

use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use redis::aio::MultiplexedConnection;
use redis::{AsyncCommands, AsyncConnectionConfig, Client, RedisResult};

use crate::failure::Result;

/// What everybody in `reads` asks Redis for, the name of the fifth seed document.
pub(crate) const KEY: &str = "known-key";

/// As in rivals/fleetfoot-reads.yaml: Redis shares its core with the load, and must not fail for it.
const PATIENCE: Duration = Duration::from_secs(5);

/// Serves until the process is ended.
pub(crate) fn serve(address: SocketAddr, redis: SocketAddr, pooled: bool) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let client = Client::open(format!("redis://{redis}"))?;
        let patient = AsyncConnectionConfig::new().set_response_timeout(Some(PATIENCE));
        let connect = || client.get_multiplexed_async_connection_with_config(&patient);
        let shared = connect().await?;
        let listener = TcpListener::bind(address)?;
        rustix::net::listen(&listener, 16_384)?;
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        loop {
            let Ok((stream, _)) = listener.accept().await else { continue };
            let _slower_without = stream.set_nodelay(true);
            let connection = if pooled { connect().await? } else { shared.clone() };
            let service = service_fn(move |request| answer(request, connection.clone()));
            let serving = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            tokio::spawn(async move {
                let _client_left = serving.await;
            });
        }
    })
}

async fn answer(
    _request: Request<Incoming>,
    mut connection: MultiplexedConnection,
) -> std::result::Result<Response<Full<Bytes>>, Infallible> {
    let value: RedisResult<Option<Vec<u8>>> = connection.get(KEY).await;
    let (status, content) = match value {
        Ok(Some(value)) => (StatusCode::OK, Bytes::from(value)),
        Ok(None) => (StatusCode::NOT_FOUND, Bytes::from_static(b"no such key")),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, Bytes::from_static(b"no answer from Redis")),
    };
    let mut response = Response::new(Full::new(content));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}
