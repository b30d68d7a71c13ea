//! HTTP/1.1 to clients: one connection, from its first byte to its last.

use bytes::BytesMut;
use message::Duplex;

use crate::Handler;
use crate::connection::ConnectionContext;

/// Serves one connection to its end.
pub(crate) async fn serve<H: Handler, IO: Duplex + 'static>(
    io: IO,
    initial: BytesMut,
    connection: ConnectionContext<H>,
) {
    let _ = (io, initial, connection);
    std::future::ready(()).await;
}
