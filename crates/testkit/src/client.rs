//! RawClient: sends the bytes a test gives it, in the pieces it gives them, and reads answers strictly.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};
use socket2::{Domain, Socket, Type};

use crate::answer::Progress;
use crate::head::{end_of_head, latin1};
use crate::{Answer, Broken, Certificate, DEADLINE, Head};

/// One connection.
pub struct RawClient {
    stream: Stream,
    buffer: Vec<u8>,
}

enum Stream {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl RawClient {
    /// Connects in cleartext.
    pub fn connect(address: SocketAddr) -> Self {
        RawClient { stream: Stream::Plain(connect(address)), buffer: Vec::new() }
    }

    /// Connects in cleartext with little room for what it does not read, so that it is soon the server who holds that.
    pub fn connect_narrow(address: SocketAddr) -> Self {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None).expect("a socket");
        socket.set_recv_buffer_size(4 * 1024).expect("a socket has a buffer");
        socket.connect_timeout(&address.into(), DEADLINE).expect("the server accepts connections");
        let stream = TcpStream::from(socket);
        stream.set_read_timeout(Some(DEADLINE)).expect("the time is not zero");
        RawClient { stream: Stream::Plain(stream), buffer: Vec::new() }
    }

    /// Connects over TLS to a server with this certificate, offering HTTP/1.1.
    pub fn connect_tls(address: SocketAddr, certificate: &Certificate) -> Self {
        let name = ServerName::try_from("localhost").expect("a valid name");
        let config = Arc::new(certificate.client_config(&["http/1.1"]));
        let connection = ClientConnection::new(config, name).expect("the configuration is complete");
        let stream = StreamOwned::new(connection, connect(address));
        RawClient { stream: Stream::Tls(Box::new(stream)), buffer: Vec::new() }
    }

    /// Gives up waiting after this time instead of [`DEADLINE`].
    #[must_use]
    pub fn deadline(self, time: Duration) -> Self {
        self.socket().set_read_timeout(Some(time)).expect("the time is not zero");
        self
    }

    /// Sends these bytes. That the server has closed already is no error: tests look at what it answered.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        let _closed_already = match &mut self.stream {
            Stream::Plain(stream) => stream.write_all(bytes.as_ref()),
            Stream::Tls(stream) => stream.write_all(bytes.as_ref()).and_then(|()| stream.flush()),
        };
        self
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
        let method = latin1(request.split(|&byte| byte == b' ').next().unwrap_or_default());
        self.send(request);
        self.read_answer_to(&method)
    }

    /// Reads one final answer to a GET, or to anything else than HEAD.
    pub fn read_answer(&mut self) -> Answer {
        self.read_answer_to("GET")
    }

    /// Reads one final answer to a request of this method; panics where it breaks off.
    pub fn read_answer_to(&mut self, method: &str) -> Answer {
        self.try_answer_to(method).unwrap_or_else(|broken| panic!("broke off after {:?}", broken.text()))
    }

    /// Reads one final answer, or what came of it.
    pub fn try_answer_to(&mut self, method: &str) -> Result<Answer, Broken> {
        let mut ended = false;
        loop {
            if let Progress::Whole(answer, length) = Answer::parse(method, &self.buffer, ended) {
                self.buffer.drain(..length);
                return Ok(*answer);
            }
            if ended {
                return Err(Broken { bytes: std::mem::take(&mut self.buffer) });
            }
            ended = !self.fill();
        }
    }

    /// Reads one head, interim or final, and leaves what follows it.
    pub fn read_head(&mut self) -> Head {
        loop {
            if let Some(end) = end_of_head(&self.buffer) {
                let head: Vec<u8> = self.buffer.drain(..end).collect();
                return Head::parse(&head[..end - 4]);
            }
            assert!(self.fill(), "no head but {:?}", latin1(&self.buffer));
        }
    }

    /// Exactly this many bytes.
    pub fn read_exactly(&mut self, count: usize) -> Vec<u8> {
        self.try_exactly(count).unwrap_or_else(|| panic!("ended early, after {:?}", latin1(&self.buffer)))
    }

    /// Exactly this many bytes, or nothing when the server ends the connection before.
    pub fn try_exactly(&mut self, count: usize) -> Option<Vec<u8>> {
        while self.buffer.len() < count {
            if !self.fill() {
                return None;
            }
        }
        Some(self.buffer.drain(..count).collect())
    }

    /// Up to and with these bytes.
    pub fn read_until(&mut self, end: &[u8]) -> Vec<u8> {
        loop {
            if let Some(at) = self.buffer.windows(end.len()).position(|window| window == end) {
                return self.buffer.drain(..at + end.len()).collect();
            }
            assert!(self.fill(), "ended early, after {:?}", latin1(&self.buffer));
        }
    }

    /// Everything until the server closes or resets.
    pub fn read_to_end(&mut self) -> Vec<u8> {
        while self.fill() {}
        std::mem::take(&mut self.buffer)
    }

    /// Whether the server ends the connection now, with nothing more to say. Waits for it up to the deadline.
    pub fn is_closed(&mut self) -> bool {
        self.buffer.is_empty() && !self.fill()
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

    /// Reads more; false at the end. Panics at the deadline.
    fn fill(&mut self) -> bool {
        let mut bytes = [0; 16 * 1024];
        let read = match &mut self.stream {
            Stream::Plain(stream) => stream.read(&mut bytes),
            Stream::Tls(stream) => stream.read(&mut bytes),
        };
        match read {
            Ok(count) => {
                self.buffer.extend_from_slice(&bytes[..count]);
                count > 0
            }
            Err(error) if is_end(&error) => false,
            Err(error) => panic!("{error} while waiting, after {:?}", latin1(&self.buffer)),
        }
    }
}

fn is_end(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe | io::ErrorKind::UnexpectedEof
    )
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect_timeout(&address, DEADLINE)
        .unwrap_or_else(|error| panic!("cannot connect to {address}: {error}"));
    stream.set_read_timeout(Some(DEADLINE)).expect("the time is not zero");
    stream.set_nodelay(true).expect("a fresh socket takes options");
    stream
}
