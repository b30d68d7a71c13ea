//! Ending: the ways in which a connection ends, which differ in what the client sees.

use std::any::Any;
use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use message::Duplex;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::Connection;
use super::scratch::Scratch;
use crate::Handler;

/// How a connection ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ending {
    /// Without a word: the client is gone, or has to see that an answer is not whole.
    Drop,
    /// With a reset: the client has to see that an answer is not whole, and takes a mere close for its end.
    Reset,
    /// In order.
    Close,
    /// In order, but the client may still be sending: what it sends is read for a while, since otherwise the system
    /// answers it with a reset, and that can overtake our last answer (RFC 9112 §9.6).
    Linger,
}

/// How long a client that still sends is listened to.
const LINGER_TIMEOUT: Duration = Duration::from_secs(2);
/// How many bytes of it are read.
const LINGER_BYTES: usize = 512 * 1024;

impl<H: Handler, IO: Duplex + 'static> Connection<H, IO> {
    /// Ends the connection; all output has been written or is to be lost.
    pub(super) async fn end(self, ending: Ending) {
        match ending {
            Ending::Drop => {}
            Ending::Reset => reset(&self.transport.borrow().io),
            // A timeout, for over TLS closing writes.
            Ending::Close => drop(timeout(LINGER_TIMEOUT, self.close()).await),
            Ending::Linger => drop(timeout(LINGER_TIMEOUT, self.linger()).await),
        }
    }

    async fn close(&self) -> std::io::Result<()> {
        poll_fn(|cx| Pin::new(&mut self.transport.borrow_mut().io).poll_shutdown(cx)).await
    }

    async fn linger(&self) -> std::io::Result<()> {
        self.close().await?;
        let mut left = LINGER_BYTES;
        while left > 0 {
            let length = poll_fn(|cx| {
                let mut scratch = Scratch::take();
                let read = self.transport.borrow_mut().poll_read(&mut scratch.input, cx);
                scratch.put_back();
                read
            })
            .await?;
            if length == 0 {
                break;
            }
            left = left.saturating_sub(length);
        }
        Ok(())
    }
}

/// Lets the close that follows be a reset. Over TLS nothing is needed: a close without its farewell is a break.
fn reset(io: &dyn Any) {
    if let Some(stream) = io.downcast_ref::<TcpStream>() {
        drop(stream.set_zero_linger()); // if that fails, the socket is broken anyway
    }
}
