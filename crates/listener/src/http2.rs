//! HTTP/2 to clients (RFC 9113): one connection, from its preface to its last stream.
//!
//! The framing is the `h2` crate's. This folder turns streams into requests (`request`), their content into a body
//! (`content`), responses into streams (`response`, `sending`), and bounds what a client may cost us: what h2 bounds
//! itself is set in [`builder`], floods of frames that carry nothing are counted in `flood`.

mod content;
mod flood;
mod request;
mod response;
mod sending;
mod stream;

use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use h2::Reason;
use h2::server::{Builder, Connection};
use message::Duplex;
use plan::Limits;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use crate::connection::ConnectionContext;
use crate::counters::{ConnectionCounters, Event};
use crate::handler::Handler;
use flood::{Alarm, Metered};

/// Requests a client may have open at once on one connection.
const MAX_STREAMS: u32 = 128;
/// Content a client may send ahead on one stream before we have read it.
const STREAM_WINDOW: u32 = 64 * 1024;
/// Content a client may send ahead on all streams of a connection.
const CONNECTION_WINDOW: u32 = 256 * 1024;
/// Content of an answer that may wait for the socket, per stream.
const SEND_BUFFER: usize = 64 * 1024;
/// Streams a client may open and reset before we have looked at them ("rapid reset").
const MAX_UNSEEN_RESETS: usize = 32;
/// Streams we reset and still remember, so that late frames for them are not taken for errors.
const MAX_REMEMBERED_RESETS: usize = 64;
/// Streams a client may make us reset by breaking the protocol, over the life of a connection.
const MAX_PROVOKED_RESETS: usize = 256;
/// How long a connection that has nothing left to do may take to say goodbye.
const GOODBYE: Duration = Duration::from_secs(5);

/// Serves one connection to its end.
pub(crate) async fn serve<H: Handler, IO: Duplex + 'static>(
    io: IO,
    connection: ConnectionContext<H>,
    counters: Arc<ConnectionCounters>,
) {
    let alarm = Alarm::default();
    let handshake = builder(&connection.limits).handshake(Metered::new(io, alarm.clone()));
    let Ok(Ok(frames)) = timeout(connection.limits.header_timeout, handshake).await else { return };
    run(frames, Rc::new(connection), alarm, &counters).await;
}

fn builder(limits: &Limits) -> Builder {
    let mut builder = Builder::new();
    builder
        .max_concurrent_streams(MAX_STREAMS)
        .max_header_list_size(u32::try_from(limits.head_size).unwrap_or(u32::MAX))
        .initial_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buffer_size(SEND_BUFFER)
        .max_pending_accept_reset_streams(MAX_UNSEEN_RESETS)
        .max_concurrent_reset_streams(MAX_REMEMBERED_RESETS)
        .max_local_error_reset_streams(Some(MAX_PROVOKED_RESETS));
    builder
}

/// Accepts streams until the connection ends. Dropping the set of streams ends those that are left.
async fn run<H: Handler, IO: Duplex>(
    mut frames: Connection<IO, Bytes>,
    connection: Rc<ConnectionContext<H>>,
    alarm: Alarm,
    counters: &ConnectionCounters,
) {
    let limits = Rc::clone(&connection.limits);
    let mut streams = JoinSet::new();
    let mut closing = false;
    let mut drain = pin!(connection.drain.wait());
    // runs out when there was no stream for too long
    let mut unused = pin!(sleep(limits.idle_timeout));
    loop {
        tokio::select! {
            biased;
            () = alarm.raised() => {
                counters.count(Event::Flooded);
                frames.abrupt_shutdown(Reason::ENHANCE_YOUR_CALM);
                let _ = timeout(GOODBYE, std::future::poll_fn(|cx| frames.poll_closed(cx))).await;
                return;
            }
            Some(_) = streams.join_next() => {
                if streams.is_empty() {
                    unused.as_mut().reset(Instant::now() + if closing { GOODBYE } else { limits.idle_timeout });
                }
            }
            accepted = frames.accept() => {
                // an error here is the connection's; h2 has sent its GOAWAY
                let Some(Ok((request, respond))) = accepted else { return };
                streams.spawn_local(stream::serve(request, respond, Rc::clone(&connection)));
            }
            () = &mut drain, if !closing => {
                closing = true;
                frames.graceful_shutdown();
                unused.as_mut().reset(Instant::now() + GOODBYE);
            }
            () = &mut unused, if streams.is_empty() => {
                if closing {
                    return;
                }
                closing = true;
                frames.graceful_shutdown();
                unused.as_mut().reset(Instant::now() + GOODBYE);
            }
        }
    }
}

#[cfg(test)]
#[path = "http2/tests/mod.rs"]
mod tests;
