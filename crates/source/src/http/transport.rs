//! Transport: a connected byte stream to a target, with or without TLS. Made by `connect`, read and written by the
//! HTTP/1.1 and HTTP/2 connections and by tunnels.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// See the module.
pub(super) enum Transport {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Transport {
    /// True when nothing unread has arrived and the peer has not closed: only then may another request be sent.
    ///
    /// In cleartext the runtime knows whether anything has arrived since the last answer, so the kernel is asked only
    /// when something has. Asking it each time (a peek, 0.5 µs) would narrow the moment in which bytes arrive unseen
    /// but not close it: they may arrive right after the peek as well.
    pub(super) fn is_quiet(&mut self) -> bool {
        let mut byte = [MaybeUninit::uninit()];
        match self {
            Transport::Plain(tcp) => {
                let peeked = tcp.try_io(Interest::READABLE, || SockRef::from(&*tcp).peek(&mut byte));
                matches!(peeked, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
            }
            // Records that carry no content (session tickets) may be waiting here; a read digests them.
            Transport::Tls(tls) => {
                let mut buffer = ReadBuf::uninit(&mut byte);
                Pin::new(tls).poll_read(&mut Context::from_waker(Waker::noop()), &mut buffer).is_pending()
            }
        }
    }
}

impl AsyncRead for Transport {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Transport::Plain(tcp) => Pin::new(tcp).poll_read(cx, buffer),
            Transport::Tls(tls) => Pin::new(tls).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Transport {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Transport::Plain(tcp) => Pin::new(tcp).poll_write(cx, bytes),
            Transport::Tls(tls) => Pin::new(tls).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Transport::Plain(tcp) => Pin::new(tcp).poll_write_vectored(cx, slices),
            Transport::Tls(tls) => Pin::new(tls).poll_write_vectored(cx, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Transport::Plain(tcp) => Pin::new(tcp).poll_flush(cx),
            Transport::Tls(tls) => Pin::new(tls).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Transport::Plain(tcp) => Pin::new(tcp).poll_shutdown(cx),
            Transport::Tls(tls) => Pin::new(tls).poll_shutdown(cx),
        }
    }
}
