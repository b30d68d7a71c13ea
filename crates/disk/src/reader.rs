//! Reader: a record found in the index → its key, head and body, each checked before it is given out.
//!
//! A small record is read and checked whole. A large one gives its head first and then its body piece by piece; two
//! pieces are read ahead and no more, however slow the client is.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use tokio::sync::oneshot;

use crate::checksum::Place;
use crate::error::{Error, Result};
use crate::figures::count;
use crate::index::Slot;
use crate::record::{Front, HEADER, Header, PIECE, UNIT};
use crate::segment::{self, Segment};
use crate::shared_disk::SharedDisk;

/// Records up to this length are read in one go.
const AT_ONCE: u64 = 272 << 10;
/// What is read first of longer ones.
const BEGINNING: u64 = 16 << 10;
/// Records that may wait for a reading thread; more are misses.
const WAITING: usize = 1024;
/// Pieces read before they are asked for.
const AHEAD: usize = 2;

/// A record that the index knows: not read yet.
#[derive(Clone, Debug)]
pub struct FoundRecord {
    pub(crate) hash: u64,
    pub(crate) slot: Slot,
    pub(crate) key: Box<[u8]>,
}

impl FoundRecord {
    /// Bytes it takes on disk.
    pub fn bytes(&self) -> u64 {
        self.slot.length()
    }
}

/// A record as it was stored.
#[derive(Debug)]
pub struct Record {
    /// The key it was stored under.
    pub key: Bytes,
    /// The head, opaque.
    pub head: Bytes,
    /// The sequence it was stored with.
    pub sequence: u64,
    /// The body.
    pub body: PieceReader,
}

/// A body, piece by piece.
pub struct PieceReader {
    length: u64,
    source: Source,
}

enum Source {
    /// What is left of a small body, checked already.
    Whole(Bytes),
    Pieces(Box<Pieces>),
}

struct Pieces {
    at: Located,
    front: Front,
    next: u64,
    ahead: VecDeque<oneshot::Receiver<Result<Bytes>>>,
}

/// A record in its segment, which stays open as long as this is held.
#[derive(Clone)]
struct Located {
    shared: Arc<SharedDisk>,
    segment: Arc<Segment>,
    place: Place,
    header: Header,
}

/// Has a reading thread read the record. `None`: it is not there (any more), or not to be trusted.
pub(crate) async fn read(shared: Arc<SharedDisk>, found: FoundRecord) -> Option<Record> {
    let (answer, answered) = oneshot::channel();
    let job = {
        let shared = Arc::clone(&shared);
        // Nobody waits any more for what was dropped, as here so for pieces.
        Box::new(move || {
            if !answer.is_closed() {
                let _ = answer.send(read_now(&shared, &found));
            }
        })
    };
    if !shared.pool.submit(WAITING, job) {
        count(&shared.counters.errors);
    }
    let record = answered.await.ok().flatten();
    count(if record.is_some() { &shared.counters.hits } else { &shared.counters.misses });
    record
}

fn read_now(shared: &Arc<SharedDisk>, found: &FoundRecord) -> Option<Record> {
    let place = found.slot.place;
    let Some(segment) = shared.segment(place.segment) else {
        shared.index.forget(found.hash, place);
        return None;
    };
    match read_from(shared, &segment, found) {
        Ok(record) => record,
        // Evicted since.
        Err(Error::Evicted) => None,
        Err(Error::Io { source, .. }) if source.kind() != std::io::ErrorKind::UnexpectedEof => {
            count(&shared.counters.errors);
            None
        }
        Err(_) => {
            shared.condemn(found.hash, place);
            None
        }
    }
}

/// `Ok(None)`: another key with the same hash.
fn read_from(
    shared: &Arc<SharedDisk>,
    segment: &Arc<Segment>,
    found: &FoundRecord,
) -> Result<Option<Record>> {
    let (place, length) = (found.slot.place, found.slot.length());
    let begin = u64::from(place.offset) * UNIT;
    let whole = length <= AT_ONCE;
    let first = if whole { length } else { BEGINNING };
    let mut bytes = Bytes::from(segment.read(begin, first as usize)?);
    let (header, front) = if whole {
        segment::intact(&bytes, shared.secret, place).ok_or(Error::Damaged)?
    } else {
        let header = Header::decode(&bytes, shared.secret, place).ok_or(Error::Damaged)?;
        if header.removed || header.length() != length {
            return Err(Error::Damaged);
        }
        if header.body_offset() > first {
            bytes = Bytes::from(segment.read(begin, header.body_offset() as usize)?);
        }
        let front = Front::decode(&bytes.slice(HEADER..), &header, shared.secret, place);
        (header, front.ok_or(Error::Damaged)?)
    };
    if front.key[..] != found.key[..] {
        return Ok(None);
    }
    let (key, head) = (front.key.clone(), front.head.clone());
    let source = if whole {
        let body = header.body_offset() as usize;
        Source::Whole(bytes.slice(body..body + header.body as usize))
    } else {
        let at = Located { shared: Arc::clone(shared), segment: Arc::clone(segment), place, header };
        Source::Pieces(Box::new(Pieces { at, front, next: 0, ahead: VecDeque::with_capacity(AHEAD) }))
    };
    let body = PieceReader { length: header.body, source };
    Ok(Some(Record { key, head, sequence: header.sequence, body }))
}

impl PieceReader {
    /// Bytes of the whole body.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The next piece; `None` after the last. After an error there is nothing more: what was given out so far is
    /// right, and it is not the whole.
    pub async fn next(&mut self) -> Option<Result<Bytes>> {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// See [`PieceReader::next`].
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes>>> {
        match &mut self.source {
            Source::Whole(rest) if rest.is_empty() => Poll::Ready(None),
            Source::Whole(rest) => Poll::Ready(Some(Ok(std::mem::take(rest)))),
            Source::Pieces(pieces) => pieces.poll_next(context),
        }
    }

    /// The whole body, if it is small and so was read and checked already.
    pub fn whole(&self) -> Option<&Bytes> {
        match &self.source {
            Source::Whole(body) if body.len() as u64 == self.length => Some(body),
            _ => None,
        }
    }

    /// Reads the whole body into memory.
    pub async fn collect(mut self) -> Result<Bytes> {
        if let Source::Whole(body) = self.source {
            return Ok(body);
        }
        let mut whole = BytesMut::with_capacity(self.length as usize);
        while let Some(piece) = self.next().await {
            whole.extend_from_slice(&piece?);
        }
        Ok(whole.freeze())
    }
}

impl Pieces {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes>>> {
        self.read_ahead();
        let Some(first) = self.ahead.front_mut() else { return Poll::Ready(None) };
        let Poll::Ready(piece) = Pin::new(first).poll(context) else { return Poll::Pending };
        self.ahead.pop_front();
        let piece = piece.unwrap_or(Err(Error::Closed));
        if piece.is_ok() {
            self.read_ahead();
        } else {
            self.ahead.clear();
            self.next = self.at.header.pieces();
        }
        Poll::Ready(Some(piece))
    }

    fn read_ahead(&mut self) {
        while self.ahead.len() < AHEAD && self.next < self.at.header.pieces() {
            let (answer, answered) = oneshot::channel();
            let (at, front, piece) = (self.at.clone(), self.front.clone(), self.next);
            let job = Box::new(move || {
                if !answer.is_closed() {
                    let _ = answer.send(at.piece(&front, piece));
                }
            });
            self.at.shared.pool.submit(usize::MAX, job);
            self.ahead.push_back(answered);
            self.next += 1;
        }
    }
}

impl Located {
    fn piece(&self, front: &Front, piece: u64) -> Result<Bytes> {
        let begin = u64::from(self.place.offset) * UNIT + self.header.body_offset() + piece * PIECE as u64;
        let bytes = self.segment.read(begin, self.header.piece_length(piece));
        let bytes = match bytes {
            Err(Error::Io { source, what }) if source.kind() != std::io::ErrorKind::UnexpectedEof => {
                count(&self.shared.counters.errors);
                return Err(Error::Io { what, source });
            }
            Err(Error::Evicted) => return Err(Error::Evicted),
            bytes => bytes.unwrap_or_default(),
        };
        if front.matches(piece, &bytes, self.shared.secret, self.place) {
            return Ok(Bytes::from(bytes));
        }
        self.shared.condemn(self.header.hash, self.place);
        Err(Error::Damaged)
    }
}

impl std::fmt::Debug for PieceReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PieceReader").field("length", &self.length).finish_non_exhaustive()
    }
}
