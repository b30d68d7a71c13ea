//! Early: a connection some of whose bytes were already read, by whoever had to look at them first.
//!
//! Used under TLS (bytes behind a PROXY protocol header) and under HTTP/2 (the preface).

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Gives the early bytes first, then what the connection gives.
#[derive(Debug)]
pub(crate) struct Early<IO> {
    bytes: BytesMut,
    io: IO,
}

impl<IO> Early<IO> {
    pub(crate) fn new(bytes: BytesMut, io: IO) -> Self {
        Early { bytes, io }
    }
}

impl<IO: AsyncRead + Unpin> AsyncRead for Early<IO> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.bytes.is_empty() {
            return Pin::new(&mut self.io).poll_read(cx, buf);
        }
        let length = self.bytes.len().min(buf.remaining());
        buf.put_slice(&self.bytes[..length]);
        self.bytes.advance(length);
        if self.bytes.is_empty() {
            self.bytes = BytesMut::new();
        }
        Poll::Ready(Ok(()))
    }
}

impl<IO: AsyncWrite + Unpin> AsyncWrite for Early<IO> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn early_bytes_come_first_whatever_the_reader_asks_for() {
        let mut early = Early::new(BytesMut::from("early "), &b"and late"[..]);
        let mut first = [0; 4];
        early.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"earl");
        let mut rest = String::new();
        early.read_to_string(&mut rest).await.unwrap();
        assert_eq!(rest, "y and late");
    }
}
