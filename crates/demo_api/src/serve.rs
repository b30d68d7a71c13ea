//! Serve: the API on a listening socket until it is told to stop.

use std::future::Future;
use std::io;
use std::net::TcpListener;
use std::time::Duration;

use axum::serve::ListenerExt;
use socket2::SockRef;
use tokio::sync::oneshot;

use crate::Counts;
use crate::endpoints;

/// Connections that may wait to be accepted: a load test opens a thousand at once, and the usual 128 would make the
/// rest of them wait a second for the next try of their handshake.
const BACKLOG: i32 = 4096;
/// How long requests under way may go on after `shutdown`.
const GRACE: Duration = Duration::from_secs(1);

/// Serves the API on `listener` until `shutdown` completes; every request is counted in `counts`.
///
/// Runs on any tokio runtime with I/O and time. Requests under way at the end get one second more.
/// Fails where the socket cannot be used.
pub async fn serve(
    listener: TcpListener,
    counts: Counts,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    SockRef::from(&listener).listen(BACKLOG)?;
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?.tap_io(|connection| {
        // Without it an answer may wait for the client's delayed acknowledgement; a connection that is already gone
        // says so at its next use.
        let _ = connection.set_nodelay(true);
    });
    let (stopping, stopped) = oneshot::channel();
    let shutdown = async move {
        shutdown.await;
        let _ = stopping.send(());
    };
    let serving = axum::serve(listener, endpoints::router(counts)).with_graceful_shutdown(shutdown);
    let grace_over = async move {
        match stopped.await {
            Ok(()) => tokio::time::sleep(GRACE).await,
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        served = serving.into_future() => served,
        () = grace_over => Ok(()),
    }
}
