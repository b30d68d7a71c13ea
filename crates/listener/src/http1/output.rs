//! Output: what is still to be written to a client, in the order in which it has to be.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use tokio::io::AsyncWrite;

/// Content up to this length is copied behind the head, so that both leave in one piece; longer content is written
/// from where it lies.
pub(super) const COPIED: usize = 16 * 1024;
/// Once this much is staged, it is written before more is added. What a client does not take waits here, so that it is
/// also what one who takes nothing costs.
pub(super) const FLUSH: usize = 8 * 1024;

/// Heads and short content (`staged`), then long content, then what ends that.
#[derive(Debug, Default)]
pub(super) struct Output {
    staged: Vec<u8>,
    /// How much of `staged` is written already.
    written: usize,
    content: Bytes,
    suffix: &'static [u8],
}

impl Output {
    /// Whether all is written.
    pub(super) fn is_empty(&self) -> bool {
        self.staged.is_empty() && self.content.is_empty() && self.suffix.is_empty()
    }

    /// Whether more may be added: no content is waiting, and not too much is staged.
    pub(super) fn has_room(&self) -> bool {
        self.content.is_empty() && self.suffix.is_empty() && self.staged.len() < FLUSH
    }

    /// Where heads and the like are appended. To be used only while no content is waiting.
    pub(super) fn staged(&mut self) -> &mut Vec<u8> {
        debug_assert!(
            self.content.is_empty() && self.suffix.is_empty(),
            "content goes behind what is staged"
        );
        &mut self.staged
    }

    /// Adds finished answers, emptying `answers`, and the content that follows the last of them.
    pub(super) fn stage(&mut self, answers: &mut Vec<u8>, content: Bytes) {
        if self.staged.is_empty() {
            std::mem::swap(&mut self.staged, answers);
        } else {
            self.staged().append(answers);
        }
        self.add(content, b"");
    }

    /// Adds content and what ends it.
    pub(super) fn add(&mut self, content: Bytes, suffix: &'static [u8]) {
        if content.len() <= COPIED {
            let staged = self.staged();
            staged.extend_from_slice(&content);
            staged.extend_from_slice(suffix);
        } else {
            debug_assert!(self.content.is_empty() && self.suffix.is_empty(), "one content at a time");
            self.content = content;
            self.suffix = suffix;
        }
    }

    /// Writes once. Ready with the number of bytes written.
    pub(super) fn poll_write(
        &mut self,
        io: Pin<&mut impl AsyncWrite>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        let staged = &self.staged[self.written..];
        if self.content.is_empty() && self.suffix.is_empty() {
            io.poll_write(cx, staged)
        } else {
            io.poll_write_vectored(cx, &[staged, &self.content, self.suffix].map(IoSlice::new))
        }
    }

    /// Forgets the first `length` bytes.
    pub(super) fn advance(&mut self, length: usize) {
        let from_staged = length.min(self.staged.len() - self.written);
        self.written += from_staged;
        if self.written == self.staged.len() {
            self.staged.clear();
            self.written = 0;
        }
        let from_content = (length - from_staged).min(self.content.len());
        self.content.advance(from_content);
        if self.content.is_empty() {
            self.content = Bytes::new(); // an empty slice would still hold the whole
        }
        self.suffix = &self.suffix[length - from_staged - from_content..];
    }

    /// The client takes nothing for now: no more is held than what waits. A short rest of content is copied, so as not to
    /// hold the whole it is part of.
    pub(super) fn settle(&mut self) {
        self.staged.drain(..std::mem::take(&mut self.written));
        if (1..=COPIED).contains(&self.content.len()) {
            self.staged.reserve_exact(self.content.len() + self.suffix.len());
            self.staged.extend_from_slice(&std::mem::take(&mut self.content));
            self.staged.extend_from_slice(std::mem::take(&mut self.suffix));
        }
        self.staged.shrink_to_fit();
    }

    /// Bytes of memory held for what is staged.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.staged.capacity()
    }

    /// Gives the memory away; all must have been written.
    pub(super) fn release(&mut self) -> Vec<u8> {
        debug_assert!(self.is_empty(), "nothing may be lost");
        std::mem::take(&mut self.staged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn bytes_leave_in_order_however_few_are_taken() {
        for at_once in [1, 7, 1000, 100_000] {
            let mut output = Output::default();
            output.stage(&mut b"head".to_vec(), Bytes::new());
            output.add(Bytes::from_static(b"short"), b"\r\n");
            output.add(Bytes::from(vec![b'x'; 20_000]), b"\r\n");
            let mut written = Vec::new();
            while !output.is_empty() {
                assert!(!output.has_room());
                let mut sink = Limited { written: &mut written, at_once };
                let length =
                    std::future::poll_fn(|cx| output.poll_write(Pin::new(&mut sink), cx)).await.unwrap();
                output.advance(length);
            }
            let expected = [b"headshort\r\n".as_slice(), &vec![b'x'; 20_000], b"\r\n"].concat();
            assert!(written == expected, "{at_once}");
            assert!(output.has_room());
        }
    }

    /// Takes few bytes at a time.
    struct Limited<'a> {
        written: &'a mut Vec<u8>,
        at_once: usize,
    }

    impl AsyncWrite for Limited<'_> {
        fn poll_write(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            let length = bytes.len().min(self.at_once);
            self.written.extend_from_slice(&bytes[..length]);
            Poll::Ready(Ok(length))
        }

        fn poll_write_vectored(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            slices: &[IoSlice<'_>],
        ) -> Poll<io::Result<usize>> {
            let mut left = self.at_once;
            for slice in slices {
                let length = slice.len().min(left);
                self.written.extend_from_slice(&slice[..length]);
                left -= length;
            }
            Poll::Ready(Ok(self.at_once - left))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }
}
