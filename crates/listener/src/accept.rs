//! Accept: a listening socket → connections, each a task on this core. Started and stopped by the server, one
//! [`Listener`] per core and address.
//!
//! Every core binds each address itself (`SO_REUSEPORT`), and the kernel deals the connections out.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use message::open_files;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::context::{Addresses, CoreContext};
use crate::counters::Event;
use crate::handler::Handler;
use crate::opening;
use crate::tls::Acceptor;

/// Connections the kernel keeps for us between two accepts; it lowers this to `net.core.somaxconn`.
const BACKLOG: i32 = 4096;

/// How long accepting rests after the system refused: long enough not to spin, short enough not to be noticed.
const REST: Duration = Duration::from_millis(50);

/// Binds and listens. Port 0 lets the system choose; bind once, read the port, and bind the other cores to it.
///
/// `[::]` takes IPv6 alone, as nginx does: IPv4 clients would otherwise show up as `::ffff:a.b.c.d`, and `0.0.0.0` on
/// the same port could not be bound beside it. Whoever wants both lists both.
pub fn bind(address: SocketAddr) -> io::Result<std::net::TcpListener> {
    let socket = socket(address)?;
    socket.set_reuse_port(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Fails with [`AddrInUse`](io::ErrorKind::AddrInUse) when somebody listens at an address already.
///
/// [`bind`] alone would not tell: `SO_REUSEPORT` succeeds beside another process of this user that has set it too, and
/// the kernel would deal the connections out to both.
pub fn ensure_free(address: SocketAddr) -> io::Result<()> {
    socket(address)?.bind(&address.into())
}

fn socket(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.set_reuse_address(true)?;
    Ok(socket)
}

/// What connections to an address begin with.
#[derive(Clone, Debug)]
pub enum ListenerKind {
    /// Cleartext: HTTP/1, or HTTP/2 with prior knowledge.
    Http,
    /// TLS, with HTTP/1 or HTTP/2 by ALPN.
    Https(Acceptor),
}

/// An address being listened on, on this core. Dropping it stops listening; connections go on.
#[derive(Debug)]
pub struct Listener {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Listener {
    /// Starts accepting from what [`bind`] gave. To be called inside the core's `LocalRuntime`.
    pub fn start<H: Handler>(
        listener: std::net::TcpListener,
        kind: ListenerKind,
        context: CoreContext<H>,
    ) -> io::Result<Self> {
        let listener = TcpListener::from_std(listener)?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let accepting = Accepting { address, kind, context };
        let task = tokio::task::spawn_local(accepting.run(listener, stopped));
        Ok(Listener { address, stop, task })
    }

    /// The address, with the port the system chose.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops listening; resolves once the socket is closed. Connections go on.
    pub async fn stop(self) {
        drop(self.stop);
        // the loop neither panics nor is cancelled before its runtime is
        let _ = self.task.await;
    }
}

struct Accepting<H> {
    address: SocketAddr,
    kind: ListenerKind,
    context: CoreContext<H>,
}

impl<H: Handler> Accepting<H> {
    async fn run(self, listener: TcpListener, stopped: oneshot::Receiver<()>) {
        let draining = self.context.draining().wait();
        let mut halt = std::pin::pin!(async {
            tokio::select! {
                _ = stopped => {}
                () = draining => {}
            }
        });
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = &mut halt => break,
            };
            let accepted = accepted.and_then(|(stream, peer)| {
                if open_files::is_in_reserve(&stream) {
                    Err(open_files::exhausted())
                } else {
                    Ok((stream, peer))
                }
            });
            let Err(error) = accepted.map(|(stream, peer)| self.open(stream, peer)) else { continue };
            self.context.counters().count(Event::AcceptFailed);
            if concerns_one_connection(&error) {
                continue;
            }
            self.context.refused_by_system(&error);
            tokio::select! {
                () = tokio::time::sleep(REST) => {}
                () = &mut halt => break,
            }
        }
        self.accept_the_rest(listener);
    }

    /// Takes what the kernel has queued for this socket: closing it would reset those connections.
    fn accept_the_rest(&self, listener: TcpListener) {
        let Ok(listener) = listener.into_std() else { return };
        for _ in 0..BACKLOG {
            let Ok((stream, peer)) = listener.accept() else { return };
            let stream = stream.set_nonblocking(true).and_then(|()| TcpStream::from_std(stream));
            if let Ok(stream) = stream {
                self.open(stream, peer);
            }
        }
    }

    fn open(&self, stream: TcpStream, peer: SocketAddr) {
        let context = &self.context;
        let settings = context.settings();
        let Some(permit) = context.try_enter(settings.limits.connections) else {
            context.counters().count(Event::Refused);
            return;
        };
        context.counters().count(Event::Accepted);
        // fails only on a connection that is gone, as the next read will tell
        let _ = stream.set_nodelay(true);
        let addresses = Addresses { client: peer, local: self.local_address(&stream) };
        let context = context.clone();
        match &self.kind {
            ListenerKind::Http => {
                let serving = opening::cleartext(stream, addresses, settings, context, permit);
                tokio::task::spawn_local(serving);
            }
            ListenerKind::Https(acceptor) => {
                let acceptor = acceptor.current();
                let serving = opening::encrypted(stream, acceptor, addresses, settings, context, permit);
                tokio::task::spawn_local(serving);
            }
        }
    }

    /// Our end of a connection; asks the system only where we listen on every address.
    fn local_address(&self, stream: &TcpStream) -> SocketAddr {
        if self.address.ip().is_unspecified() {
            stream.local_addr().unwrap_or(self.address)
        } else {
            self.address
        }
    }
}

/// Errors of a connection that broke before it was accepted: the next one may be fine. Every other error, such as
/// having no file descriptors left, would come again at once.
fn concerns_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::Interrupted
    )
}

#[cfg(test)]
#[path = "accept_tests.rs"]
mod tests;
