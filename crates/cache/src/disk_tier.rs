//! DiskTier: what lies behind the memory and survives a restart. Bound to `disk`, which stores opaque records; here they
//! become answers, and purges become entries of its journal.
//!
//! Told by the store of everything worth keeping; asked when the memory has nothing.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use disk::{Disk, PieceReader};
use http_body::{Body as HttpBody, Frame, SizeHint};
use message::{Error, Kind, Timestamp};

use crate::entry::{Draft, Entry};
use crate::form;
use crate::key::KeyView;
use crate::marks::{Marked, Marks};
use crate::purge::{Purge, Scope};

/// See the module.
pub(crate) struct DiskTier {
    disk: Arc<Disk>,
}

/// An answer found on disk. Its content may still be there.
pub(crate) struct OnDisk {
    pub(crate) draft: Draft,
    pub(crate) content: PieceReader,
}

/// What is of use for less than that is not worth a write.
const WORTH: Duration = Duration::from_secs(10);
/// A confirmed answer (304) of more than that is not written once more for its new dates alone: the next start asks again.
const REWRITTEN: usize = 1024 * 1024;
/// Purges are written down anew when their journal is longer than that.
const COMPACTED: u64 = 8 * 1024 * 1024;

impl DiskTier {
    /// Opens it for a store without answers, which learns of the purges before this start.
    pub(crate) fn new(disk: Arc<Disk>, marks: &Marks) -> Self {
        let entries = disk.journal().take_entries();
        let recalled: Option<Vec<_>> = entries.iter().map(|entry| read_mark(entry)).collect();
        if recalled.is_none() {
            // Purges of another version, which nobody can read: what they were to forget must not come back.
            disk.clear();
        }
        marks.recall(recalled.unwrap_or_default(), disk.last_sequence());
        DiskTier { disk }
    }

    /// Looks the key up and reads what is there but for long content.
    pub(crate) async fn find(&self, key: &KeyView<'_>) -> Option<OnDisk> {
        let found = self.disk.find(&name(key))?;
        let record = self.disk.read(found).await?;
        let mut draft = form::read(&record.head)?;
        // Whatever the head says, purges after this one concern it.
        draft.since = draft.since.min(record.sequence);
        Some(OnDisk { draft, content: record.body })
    }

    /// Keeps an answer, if it is worth it. `confirmed`: the same content has been kept before.
    pub(crate) fn keep(&self, key: &KeyView<'_>, entry: &Entry, confirmed: bool, now: Timestamp) {
        if (confirmed && entry.body().len() > REWRITTEN) || entry.terms().servable_until() < now + WORTH {
            return;
        }
        self.disk.insert(name(key), form::write(entry), entry.body().clone(), entry.compared());
    }

    /// Forgets what is stored under the key.
    pub(crate) fn remove(&self, key: &KeyView<'_>) {
        self.disk.remove(&name(key));
    }

    /// A purge that must outlive this process. Where it cannot be written, what it may concern goes at once instead.
    pub(crate) fn note(&self, marked: &Marked) {
        if self.disk.journal().append(&write_mark(marked)).is_err() {
            self.disk.clear();
        }
    }

    /// Keeps the journal short. Waits for the disk: not for a core.
    pub(crate) fn compact(&self, marks: &Marks) {
        if self.disk.journal().bytes() > COMPACTED {
            // A failure leaves the old one, which is only longer.
            let _ = self.disk.journal().rewrite(marks.all().iter().map(write_mark));
        }
    }
}

impl OnDisk {
    /// All of its content, where that is no more than `most` and not damaged.
    pub(crate) async fn content(&mut self, most: u64) -> Option<Bytes> {
        if let Some(whole) = self.content.whole() {
            return Some(whole.clone());
        }
        let length = self.content.length();
        if length > most {
            return None;
        }
        let mut content = BytesMut::with_capacity(length as usize);
        loop {
            match poll_fn(|cx| self.content.poll_next(cx)).await {
                None => return Some(content.freeze()),
                Some(Ok(piece)) => content.extend_from_slice(&piece),
                Some(Err(_)) => return None,
            }
        }
    }

    /// Its content as a body, checked piece by piece.
    pub(crate) fn into_body(self) -> message::Body {
        let left = self.content.length();
        message::Body::stream(DiskBody { content: self.content, left })
    }
}

/// The name a key has on disk.
fn name(key: &KeyView<'_>) -> Bytes {
    let mut name = BytesMut::with_capacity(key.authority.len() + key.target.len() + key.also.len() + 9);
    name.put_u8(u8::from(key.scheme == message::Scheme::Https));
    for part in [key.authority, key.target] {
        name.put_u32(part.len() as u32);
        name.put_slice(part.as_bytes());
    }
    name.put_slice(key.also.as_bytes());
    name.freeze()
}

struct DiskBody {
    content: PieceReader,
    left: u64,
}

impl HttpBody for DiskBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let piece = std::task::ready!(self.content.poll_next(cx));
        Poll::Ready(piece.map(|piece| match piece {
            Ok(piece) => {
                self.left = self.left.saturating_sub(piece.len() as u64);
                Ok(Frame::data(piece))
            }
            Err(error) => Err(Error::new(Kind::Internal, "a stored answer is damaged").caused_by(error)),
        }))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

const VERSION: u8 = 1;

/// A purge as an entry of the journal.
fn write_mark(marked: &Marked) -> Vec<u8> {
    let (kind, authority, text) = match &marked.purge.scope {
        Scope::Everything => (0, None, ""),
        Scope::Host(authority) => (1, Some(authority), ""),
        Scope::Prefix { authority, path } => (2, authority.as_ref(), &**path),
        Scope::Path { authority, path } => (3, Some(authority), &**path),
        Scope::Target { authority, target } => (4, Some(authority), &**target),
        Scope::Tag(tag) => (5, None, &**tag),
    };
    let mut out = vec![VERSION, kind, u8::from(marked.purge.soft), u8::from(authority.is_some())];
    out.extend(marked.epoch.to_le_bytes());
    out.extend(marked.at.as_millis().to_le_bytes());
    let authority = authority.map_or("", |authority| authority);
    out.extend((authority.len() as u32).to_le_bytes());
    out.extend_from_slice(authority.as_bytes());
    out.extend_from_slice(text.as_bytes());
    out
}

fn read_mark(entry: &[u8]) -> Option<Marked> {
    let ([VERSION, kind, soft, named], rest) = entry.split_first_chunk::<4>()? else { return None };
    let (epoch, rest) = rest.split_first_chunk()?;
    let (at, rest) = rest.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let (authority, text) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    let authority = || Some(Box::from(std::str::from_utf8(authority).ok()?));
    let text = || Some(Box::from(std::str::from_utf8(text).ok()?));
    let scope = match kind {
        0 => Scope::Everything,
        1 => Scope::Host(authority()?),
        2 => Scope::Prefix { authority: if *named == 1 { authority() } else { None }, path: text()? },
        3 => Scope::Path { authority: authority()?, path: text()? },
        4 => Scope::Target { authority: authority()?, target: text()? },
        5 => Scope::Tag(text()?),
        _ => return None,
    };
    Some(Marked {
        epoch: u64::from_le_bytes(*epoch),
        at: Timestamp::from_millis(u64::from_le_bytes(*at)),
        purge: Purge { scope, soft: *soft == 1 },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn purges_come_back_as_they_were() {
        let text = |text: &str| Box::from(text);
        for scope in [
            Scope::Everything,
            Scope::Host(text("a")),
            Scope::Prefix { authority: None, path: text("/x") },
            Scope::Prefix { authority: Some(text("a")), path: text("/x") },
            Scope::Path { authority: text("a"), path: text("/x") },
            Scope::Target { authority: text("a"), target: text("/x?q") },
            Scope::Tag(text("t")),
        ] {
            let marked = Marked { epoch: 7, at: Timestamp::from_secs(9), purge: Purge { scope, soft: true } };
            let written = write_mark(&marked);
            assert_eq!(read_mark(&written), Some(marked));
            assert_eq!(read_mark(&written[..10]), None);
        }
    }
}
