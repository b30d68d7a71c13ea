//! Arrived: what has come over a connection and nobody has taken yet. RawClient and AsyncClient read into it, each in its
//! way, and take from it whole: an answer, a head, so many bytes.

use std::io::{self, Read};

use tokio::io::{AsyncRead, AsyncReadExt};

use super::answer::Unread;
use crate::head::{end_of_head, shown};
use crate::{Answer, Broken, Head};

/// At most so many bytes are read at once.
const PIECE: usize = 16 * 1024;

/// Bytes, and whether more may come.
#[derive(Debug, Default)]
pub(crate) struct Arrived {
    bytes: Vec<u8>,
    ended: bool,
}

impl Arrived {
    /// Reads more, or that the other side has ended the connection, in order or not.
    pub(crate) fn read_from(&mut self, stream: &mut impl Read) -> io::Result<()> {
        let mut piece = [0; PIECE];
        let read = stream.read(&mut piece);
        let read = read.inspect(|&count| self.bytes.extend_from_slice(&piece[..count]));
        self.note(read)
    }

    /// The same, while others go on.
    pub(crate) async fn read_from_async(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> io::Result<()> {
        self.bytes.reserve(PIECE);
        let read = stream.read_buf(&mut self.bytes).await;
        self.note(read)
    }

    fn note(&mut self, read: io::Result<usize>) -> io::Result<()> {
        match read {
            Ok(count) => self.ended = count == 0,
            Err(error) if is_end(&error) => self.ended = true,
            Err(error) => return Err(self.failed(&error)),
        }
        Ok(())
    }

    /// This error, with what has arrived before it.
    pub(crate) fn failed(&self, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("{error} while waiting, after {}", self.shown()))
    }

    /// Whether no more will come.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// One final answer to a request of this method, or what came of it; nothing, while more has to come.
    pub(crate) fn answer(&mut self, method: &str) -> io::Result<Option<Result<Answer, Broken>>> {
        match Answer::parse(method, &self.bytes, self.ended) {
            Ok((answer, length)) => {
                self.bytes.drain(..length);
                Ok(Some(Ok(answer)))
            }
            Err(Unread::Incomplete) => Ok(self.all().map(|bytes| Err(Broken { bytes }))),
            Err(Unread::Malformed(error)) => Err(error),
        }
    }

    /// One head, interim or final.
    pub(crate) fn head(&mut self) -> Option<Head> {
        let end = end_of_head(&self.bytes)?;
        Some(Head::parse(&self.exactly(end)?[..end - 4]))
    }

    /// Exactly this many bytes.
    pub(crate) fn exactly(&mut self, count: usize) -> Option<Vec<u8>> {
        (self.bytes.len() >= count).then(|| self.bytes.drain(..count).collect())
    }

    /// Up to and with these bytes.
    pub(crate) fn until(&mut self, end: &[u8]) -> Option<Vec<u8>> {
        let at = self.bytes.windows(end.len()).position(|window| window == end)?;
        self.exactly(at + end.len())
    }

    /// Everything, once no more will come.
    pub(crate) fn all(&mut self) -> Option<Vec<u8>> {
        self.ended.then(|| std::mem::take(&mut self.bytes))
    }

    /// That there is something to be taken; it stays.
    pub(crate) fn something(&mut self) -> Option<()> {
        (!self.bytes.is_empty()).then_some(())
    }

    /// What nobody has taken, for whoever reads of a failure.
    pub(crate) fn shown(&self) -> String {
        shown(&self.bytes)
    }
}

fn is_end(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe | io::ErrorKind::UnexpectedEof
    )
}
