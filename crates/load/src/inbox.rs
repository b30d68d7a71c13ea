//! Inbox: one connection's buffer, in which an answer is found and thrown away.
//!
//! Bytes from the socket come in; a [`Head`] goes out when its whole answer has been read. Used by `client`.

use crate::answer::{self, Framing, Head, Malformed};
use crate::chunks::Chunks;

/// Also the longest head.
const SIZE: usize = 32 * 1024;
/// Informational answers before the final one; more are refused.
const MOST_INTERIM: u32 = 32;

/// See the module.
pub(crate) struct Inbox {
    buffer: Box<[u8]>,
    /// Bytes before it are done with.
    start: usize,
    /// Bytes from it on are free.
    end: usize,
    stage: Stage,
    received: u64,
}

enum Stage {
    Head { to_head: bool, interim: u32 },
    Content { head: Head, rest: Rest },
}

/// The content that has not come yet.
enum Rest {
    Length(u64),
    Chunks(Chunks),
    UntilClose,
}

impl Inbox {
    pub(crate) fn new() -> Self {
        Inbox {
            buffer: vec![0; SIZE].into_boxed_slice(),
            start: 0,
            end: 0,
            stage: Stage::Head { to_head: false, interim: 0 },
            received: 0,
        }
    }

    /// Forgets everything and waits for the answer to a new request. `to_head`: the request is a HEAD.
    pub(crate) fn begin(&mut self, to_head: bool) {
        (self.start, self.end, self.received) = (0, 0, 0);
        self.stage = Stage::Head { to_head, interim: 0 };
    }

    /// Where the next bytes may be put; never empty between `begin` and the answer's end.
    pub(crate) fn space(&mut self) -> &mut [u8] {
        &mut self.buffer[self.end..]
    }

    /// Bytes received since `begin`.
    pub(crate) fn received(&self) -> u64 {
        self.received
    }

    /// So many bytes have been put into the space. The head goes out with the answer's last byte.
    pub(crate) fn arrived(&mut self, count: usize) -> Result<Option<Head>, Malformed> {
        self.end += count;
        self.received += count as u64;
        loop {
            match &mut self.stage {
                Stage::Head { to_head, interim } => {
                    let Some(head) = answer::parse(&self.buffer[self.start..self.end], *to_head)? else {
                        return self.make_room();
                    };
                    self.start += head.length;
                    if head.status >= 200 {
                        self.stage = Stage::Content { rest: Rest::of(&head), head };
                    } else if head.status == 101 || *interim == MOST_INTERIM {
                        return Err(Malformed); // nobody asked for another protocol, nor for that many hints
                    } else {
                        *interim += 1;
                    }
                }
                Stage::Content { head, rest } => {
                    let head = *head;
                    self.start += rest.advance(&self.buffer[self.start..self.end])?;
                    let unasked = self.start < self.end;
                    (self.start, self.end) = (0, 0);
                    return match (rest.done(), unasked) {
                        (true, false) => Ok(Some(head)),
                        (true, true) => Err(Malformed), // bytes behind an answer when no request is under way
                        (false, _) => Ok(None),
                    };
                }
            }
        }
    }

    /// The server closed its side. The head goes out where that is the proper end of the answer.
    pub(crate) fn closed(&self) -> Option<Head> {
        match &self.stage {
            Stage::Content { head, rest: Rest::UntilClose } => Some(Head { keep_alive: false, ..*head }),
            _ => None,
        }
    }

    /// Moves an incomplete head to the front, so that its rest has room.
    fn make_room(&mut self) -> Result<Option<Head>, Malformed> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.end == self.buffer.len() { Err(Malformed) } else { Ok(None) }
    }
}

impl Rest {
    fn of(head: &Head) -> Self {
        match head.framing {
            Framing::Length(length) => Rest::Length(length),
            Framing::Chunked => Rest::Chunks(Chunks::new()),
            Framing::UntilClose => Rest::UntilClose,
        }
    }

    /// How many of the bytes belong to the content.
    fn advance(&mut self, bytes: &[u8]) -> Result<usize, Malformed> {
        match self {
            Rest::Length(left) => {
                let here = (*left).min(bytes.len() as u64);
                *left -= here;
                Ok(here as usize)
            }
            Rest::Chunks(chunks) => chunks.advance(bytes),
            Rest::UntilClose => Ok(bytes.len()),
        }
    }

    fn done(&self) -> bool {
        match self {
            Rest::Length(left) => *left == 0,
            Rest::Chunks(chunks) => chunks.done(),
            Rest::UntilClose => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds the answer in pieces of this size.
    fn read(inbox: &mut Inbox, answer: &[u8], piece: usize) -> Result<Option<Head>, Malformed> {
        let mut outcome = Ok(None);
        for bytes in answer.chunks(piece) {
            assert_eq!(outcome, Ok(None), "whole before its last byte");
            inbox.space()[..bytes.len()].copy_from_slice(bytes);
            outcome = Ok(inbox.arrived(bytes.len())?);
        }
        outcome
    }

    #[test]
    fn an_answer_is_whole_with_its_last_byte_however_it_arrives() {
        for answer in [
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 204 No Content\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
        ] {
            let mut inbox = Inbox::new();
            for piece in 1..=answer.len() {
                inbox.begin(false);
                let head = read(&mut inbox, answer.as_bytes(), piece).expect(answer).expect(answer);
                assert!(head.status == 200 || head.status == 204);
                assert_eq!(inbox.received(), answer.len() as u64);
            }
        }
    }

    #[test]
    fn content_longer_than_the_buffer_is_read_past() {
        let answer =
            [b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n".as_slice(), &vec![b'x'; 1_000_000]]
                .concat();
        let mut inbox = Inbox::new();
        inbox.begin(false);
        assert_eq!(read(&mut inbox, &answer, 10_000).unwrap().unwrap().status, 200);
    }

    #[test]
    fn bytes_nobody_asked_for_are_an_error() {
        let mut inbox = Inbox::new();
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhello";
        assert_eq!(read(&mut inbox, answer, answer.len()), Err(Malformed));
    }

    #[test]
    fn content_without_a_length_ends_with_the_connection_and_nothing_else_does() {
        let mut inbox = Inbox::new();
        assert_eq!(inbox.closed(), None);
        assert_eq!(read(&mut inbox, b"HTTP/1.1 200 OK\r\n\r\nhello", 7), Ok(None));
        let head = inbox.closed().unwrap();
        assert!(!head.keep_alive);
        inbox.begin(false);
        assert_eq!(read(&mut inbox, b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello", 7), Ok(None));
        assert_eq!(inbox.closed(), None);
    }

    #[test]
    fn heads_that_do_not_end_and_hints_that_do_not_stop_are_refused() {
        let endless = [b"HTTP/1.1 200 OK\r\nX: ".as_slice(), &vec![b'x'; SIZE]].concat();
        let mut inbox = Inbox::new();
        let fits = &endless[..SIZE];
        assert_eq!(read(&mut inbox, fits, SIZE), Err(Malformed));
        let hints = b"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(MOST_INTERIM as usize + 1);
        let mut inbox = Inbox::new();
        assert_eq!(read(&mut inbox, &hints, hints.len()), Err(Malformed));
        let mut inbox = Inbox::new();
        assert_eq!(read(&mut inbox, b"HTTP/1.1 101 Switching Protocols\r\n\r\n", 64), Err(Malformed));
    }
}
