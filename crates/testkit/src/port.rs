//! Port: a TCP port of 127.0.0.1 that stays ours while nobody listens on it: a killed server comes back on the same
//! one, and until then connections are refused, whatever other tests open meanwhile.

use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener};

use socket2::{Domain, SockRef, Socket, Type};

/// A port on which nobody listens until a server of the test does. Given back on drop.
///
/// The socket is bound but does not listen. Linux lets another socket bind and listen beside it, as long as both ask
/// for `SO_REUSEADDR` (Redis does), but gives the port to nobody who asks for any free one.
pub struct Port {
    _holder: Socket,
    address: SocketAddr,
}

impl Port {
    /// A free one.
    pub fn reserve() -> Self {
        let holder = bound(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
        let address = holder.local_addr().ok().and_then(|address| address.as_socket());
        Port { address: address.expect("a bound socket has an address"), _holder: holder }
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its number.
    pub fn number(&self) -> u16 {
        self.address.port()
    }

    /// Listens on it, until [`stop_listening`].
    pub(crate) fn listen(&self) -> TcpListener {
        let socket = bound(self.address);
        socket.listen(128).expect("nobody else listens on a reserved port");
        socket.into()
    }
}

/// Refuses connections from now on. To drop the listener is not enough: a process that another test is just starting
/// holds a copy of it until it runs its own program.
pub(crate) fn stop_listening(listener: &TcpListener) {
    let _stopped_already = SockRef::from(listener).shutdown(Shutdown::Both);
}

fn bound(address: SocketAddr) -> Socket {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    socket.set_reuse_address(true).expect("a fresh socket takes options");
    socket.bind(&address.into()).unwrap_or_else(|error| panic!("cannot bind {address}: {error}"));
    socket
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;

    use super::{Port, stop_listening};

    #[test]
    fn stays_ours_while_nobody_listens() {
        let port = Port::reserve();
        assert!(TcpStream::connect(port.address()).is_err());
        let listener = port.listen();
        TcpStream::connect(port.address()).unwrap();
        stop_listening(&listener);
        assert!(TcpStream::connect(port.address()).is_err());
        let _listens_again = port.listen();
    }
}
