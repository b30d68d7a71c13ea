//! RawClient: sends the bytes a test gives it, in the pieces it gives them, and reads answers strictly.

use std::io::{self, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};
use socket2::{Domain, Socket, Type};

use super::answer::method_of;
use super::arrived::Arrived;
use crate::{Answer, Broken, Certificate, DEADLINE, Head};

/// One connection.
pub struct RawClient {
    stream: Stream,
    arrived: Arrived,
}

enum Stream {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl RawClient {
    /// Connects in cleartext.
    pub fn connect(address: SocketAddr) -> Self {
        Self::over(Stream::Plain(connected(address)))
    }

    /// Connects in cleartext, or says why not.
    pub fn try_connect(address: SocketAddr) -> io::Result<Self> {
        try_connected(address).map(|stream| Self::over(Stream::Plain(stream)))
    }

    /// Connects in cleartext with little room for what it does not read, so that it is soon the server who holds that.
    pub fn connect_narrow(address: SocketAddr) -> Self {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None).expect("a socket");
        socket.set_recv_buffer_size(4 * 1024).expect("a socket has a buffer");
        socket.connect_timeout(&address.into(), DEADLINE).expect("the server accepts connections");
        let stream = TcpStream::from(socket);
        stream.set_read_timeout(Some(DEADLINE)).expect("the time is not zero");
        Self::over(Stream::Plain(stream))
    }

    /// Connects over TLS to a server with this certificate, offering HTTP/1.1.
    pub fn connect_tls(address: SocketAddr, certificate: &Certificate) -> Self {
        let name = ServerName::try_from("localhost").expect("a valid name");
        let config = Arc::new(certificate.client_config(&["http/1.1"]));
        let connection = ClientConnection::new(config, name).expect("the configuration is complete");
        let stream = StreamOwned::new(connection, connected(address));
        Self::over(Stream::Tls(Box::new(stream)))
    }

    fn over(stream: Stream) -> Self {
        RawClient { stream, arrived: Arrived::default() }
    }

    /// Gives up waiting after this time instead of [`DEADLINE`].
    #[must_use]
    pub fn deadline(self, time: Duration) -> Self {
        self.socket().set_read_timeout(Some(time)).expect("the time is not zero");
        self
    }

    /// Sends these bytes. That the server has closed already is no error: tests look at what it answered.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        let _closed_already = self.try_send(bytes);
        self
    }

    /// Sends these bytes, or says why not.
    pub fn try_send(&mut self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        match &mut self.stream {
            Stream::Plain(stream) => stream.write_all(bytes.as_ref()),
            Stream::Tls(stream) => stream.write_all(bytes.as_ref()).and_then(|()| stream.flush()),
        }
    }

    /// Sends these bytes one by one.
    pub fn drip(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        for byte in bytes.as_ref() {
            self.send([*byte]);
        }
        self
    }

    /// Says that nothing more will come.
    pub fn finish(&mut self) -> &mut Self {
        let _closed_already = self.socket().shutdown(Shutdown::Write);
        self
    }

    /// Sends a request and reads its answer.
    pub fn ask(&mut self, request: impl AsRef<[u8]>) -> Answer {
        let request = request.as_ref();
        self.send(request);
        self.read_answer_to(&method_of(request))
    }

    /// Reads one final answer to a GET, or to anything else than HEAD.
    pub fn read_answer(&mut self) -> Answer {
        self.read_answer_to("GET")
    }

    /// Reads one final answer to a request of this method; panics where it breaks off.
    pub fn read_answer_to(&mut self, method: &str) -> Answer {
        self.try_answer_to(method).unwrap_or_else(|broken| panic!("{broken}"))
    }

    /// Reads one final answer to a GET, or says why there is none.
    pub fn try_read_answer(&mut self) -> io::Result<Answer> {
        Ok(self.answer_to("GET")??)
    }

    /// Reads one final answer, or what came of it when the server ends the connection before.
    pub fn try_answer_to(&mut self, method: &str) -> Result<Answer, Broken> {
        self.answer_to(method).unwrap_or_else(|error| panic!("{error}"))
    }

    fn answer_to(&mut self, method: &str) -> io::Result<Result<Answer, Broken>> {
        loop {
            if let Some(answer) = self.arrived.answer(method)? {
                return Ok(answer);
            }
            self.fill()?;
        }
    }

    /// Reads one head, interim or final, and leaves what follows it.
    pub fn read_head(&mut self) -> Head {
        self.take(Arrived::head).unwrap_or_else(|| panic!("no head but {}", self.arrived.shown()))
    }

    /// Exactly this many bytes.
    pub fn read_exactly(&mut self, count: usize) -> Vec<u8> {
        self.try_exactly(count).unwrap_or_else(|| panic!("ended early, after {}", self.arrived.shown()))
    }

    /// Exactly this many bytes, or nothing when the server ends the connection before.
    pub fn try_exactly(&mut self, count: usize) -> Option<Vec<u8>> {
        self.take(|arrived| arrived.exactly(count))
    }

    /// Up to and with these bytes.
    pub fn read_until(&mut self, end: &[u8]) -> Vec<u8> {
        let taken = self.take(|arrived| arrived.until(end));
        taken.unwrap_or_else(|| panic!("ended early, after {}", self.arrived.shown()))
    }

    /// Everything until the server closes or resets.
    pub fn read_to_end(&mut self) -> Vec<u8> {
        self.take(Arrived::all).unwrap_or_default()
    }

    /// Whether the server ends the connection now, with nothing more to say. Waits for it up to the deadline.
    pub fn is_closed(&mut self) -> bool {
        self.take(Arrived::something).is_none()
    }

    /// Reads until this can be taken; nothing, when the server ends the connection before.
    fn take<T>(&mut self, take: impl Fn(&mut Arrived) -> Option<T>) -> Option<T> {
        loop {
            let taken = take(&mut self.arrived);
            if taken.is_some() || self.arrived.has_ended() {
                return taken;
            }
            self.fill().unwrap_or_else(|error| panic!("{error}"));
        }
    }

    /// Ends the connection with a RST.
    pub fn reset(self) {
        let _already_gone = socket2::SockRef::from(self.socket()).set_linger(Some(Duration::ZERO));
    }

    /// The protocol chosen by ALPN, over TLS.
    pub fn protocol(&self) -> Option<&[u8]> {
        match &self.stream {
            Stream::Plain(_) => None,
            Stream::Tls(stream) => stream.conn.alpn_protocol(),
        }
    }

    /// Our own address on this connection.
    pub fn local(&self) -> SocketAddr {
        self.socket().local_addr().expect("a connected socket has an address")
    }

    fn socket(&self) -> &TcpStream {
        match &self.stream {
            Stream::Plain(stream) => stream,
            Stream::Tls(stream) => stream.get_ref(),
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        match &mut self.stream {
            Stream::Plain(stream) => self.arrived.read_from(stream),
            Stream::Tls(stream) => self.arrived.read_from(stream.as_mut()),
        }
    }
}

fn connected(address: SocketAddr) -> TcpStream {
    try_connected(address).unwrap_or_else(|error| panic!("cannot connect to {address}: {error}"))
}

fn try_connected(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&address, DEADLINE)?;
    stream.set_read_timeout(Some(DEADLINE))?;
    stream.set_nodelay(true)?;
    Ok(stream)
}
