//! DiskTier: what lies behind the memory and survives a restart. Bound to `disk`, which stores opaque records; here they
//! become answers, and purges become entries of its journal.
//!
//! Told by the store of everything worth keeping; asked when the memory has nothing.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use disk::{Disk, Noted, PieceReader};
use http_body::{Body as HttpBody, Frame, SizeHint};
use message::{Clock, Error, Kind, Skew, Timestamp};

use crate::entry::form;
use crate::entry::{Draft, Entry};
use crate::key::KeyView;
use crate::purge::marks::{Mark, MarkedPlace, Marks, Note, Prefix};

/// See the module.
pub(crate) struct DiskTier {
    disk: Arc<Disk>,
    /// Bytes of the journal when it was last written anew.
    rewritten: AtomicU64,
    /// Whatever was asked for before this epoch is gone from here: its purges had no room in the journal.
    retired: AtomicU64,
    /// The life of the stream of purges that instances share in which all there is was stored or made stale; 0: none.
    life: AtomicU64,
}

/// An answer found on disk. Its content may still be there.
pub(crate) struct OnDisk {
    pub(crate) draft: Draft,
    pub(crate) content: PieceReader,
}

/// What is of use for less than that is not worth a write.
const WORTH: Duration = Duration::from_secs(10);
/// A confirmed answer (304) of more than that is not written once more for its new dates alone.
const REWRITTEN: usize = 1024 * 1024;

impl DiskTier {
    /// Opens it for a store without answers, which learns of the purges before this start.
    pub(crate) fn new(disk: Arc<Disk>, marks: &Marks) -> Self {
        let entries = disk.journal().take_entries();
        let life = entries.iter().rev().find_map(|entry| read_life(entry)).unwrap_or(0);
        let notes = entries.iter().filter(|entry| read_life(entry).is_none());
        let notes: Option<Vec<_>> =
            notes.map(|entry| read_note(entry, Clock::skew(), Clock::now())).collect();
        let mut retired = 0;
        if notes.is_none() {
            // Purges of another version, which nobody can read: what they were to forget must not come back.
            disk.clear();
            retired = disk.last_sequence() + 1;
        }
        marks.recall(&notes.unwrap_or_default(), disk.last_sequence().max(retired));
        let (rewritten, retired) = (AtomicU64::new(0), AtomicU64::new(retired));
        DiskTier { disk, rewritten, retired, life: AtomicU64::new(life) }
    }

    /// See the field.
    pub(crate) fn life(&self) -> u64 {
        self.life.load(Relaxed)
    }

    /// Another life has begun, and what is there was made stale. Where that cannot be written, the next start begins empty
    /// or does so again.
    pub(crate) fn enter(&self, life: u64) {
        if self.life.swap(life, Relaxed) != life {
            self.disk.journal().append(&write_life(life));
        }
    }

    /// Looks the key up and reads what is there but for long content.
    pub(crate) async fn find(&self, key: &KeyView<'_>) -> Option<OnDisk> {
        let found = self.disk.find(&key.to_name())?;
        let record = self.disk.read(found).await?;
        let mut draft = form::read(&record.head, Clock::skew(), Clock::now())?;
        // Whatever the head says, purges after this one concern it.
        draft.since = draft.since.min(record.sequence);
        Some(OnDisk { draft, content: record.body })
    }

    /// Keeps an answer, if it is worth it; if not, what was kept before it goes. `before`: the same content with other
    /// terms, which may be there.
    pub(crate) fn keep(&self, key: &KeyView<'_>, entry: &Entry, before: Option<&Entry>, now: Timestamp) {
        let terms = entry.terms();
        if terms.worth_keeping_until() < now + WORTH {
            return self.remove(key);
        }
        // What is there is good for no longer than the new one: the next start asks again, which costs less than a write.
        let stays = before.is_some_and(|before| before.terms().servable_until() <= terms.servable_until());
        let is_for_asking = terms.servable_until() < now + WORTH;
        if stays && (is_for_asking || entry.body().len() > REWRITTEN) {
            return;
        }
        self.disk.insert(
            key.to_name(),
            form::write(entry, Clock::skew()),
            entry.body().clone(),
            entry.compared(),
        );
    }

    /// Forgets what is stored under the key.
    pub(crate) fn remove(&self, key: &KeyView<'_>) {
        self.disk.remove(&key.to_name());
    }

    /// A purge that must outlive this process. Where it cannot be written, the journal is given up, so that the next start
    /// begins empty, until [`Self::compact`] has written it anew; in this process the marks have it all the same.
    pub(crate) fn note(&self, notes: &[Note]) {
        let journal = self.disk.journal();
        // Those behind one that is not kept are not either.
        let _all = notes.iter().all(|note| journal.append(&write_note(note, Clock::skew())) == Noted::Kept);
    }

    /// What the next start finds of the purges so far.
    pub(crate) fn standing(&self) -> Noted {
        self.disk.journal().standing()
    }

    /// Whether [`Self::compact`] has to make good what could not be written.
    pub(crate) fn wants_rewrite(&self) -> bool {
        self.disk.journal().wants_rewrite()
    }

    /// Keeps the journal whole and short: written anew when it was given up, and when it is half full, unless that would
    /// not help. Waits for the disk: not for a core.
    pub(crate) fn compact(&self, marks: &Marks) {
        let journal = self.disk.journal();
        let long = (journal.capacity() / 2).max(2 * self.rewritten.load(Relaxed));
        if self.wants_rewrite() || (self.standing() == Noted::Kept && journal.bytes() > long) {
            self.rewrite(marks);
        }
    }

    /// A failure leaves the old journal, as long or as given up as it was.
    fn rewrite(&self, marks: &Marks) {
        let journal = self.disk.journal();
        // Listed while nobody can append, so that each purge stands in this list or behind it.
        let write = || {
            let notes = std::iter::once_with(|| {
                let retired = self.retired.load(Relaxed);
                let newer = marks.notes().into_iter().filter(move |note| note.latest() > retired);
                std::iter::once(Note::Retired(retired)).chain(newer)
            });
            let life = std::iter::once_with(|| write_life(self.life()));
            journal.rewrite(notes.flatten().map(|note| write_note(&note, Clock::skew())).chain(life))
        };
        let full = match write() {
            Ok(()) => journal.bytes() > journal.capacity() / 4 * 3,
            Err(disk::Error::JournalFull) => true,
            Err(_) => return,
        };
        if full {
            // No folder so small keeps so many purges: instead, it forgets what they were to forget, and more.
            tracing::warn!("the disk tier has no room for so many purges, and is emptied");
            self.retired.fetch_max(marks.epoch(), Relaxed);
            self.disk.clear();
            let _ = write();
        }
        self.rewritten.store(journal.bytes(), Relaxed);
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

/// A note as an entry of the journal: version, kind, mark, and what is marked. When it was, stands there as a date.
fn write_note(note: &Note, skew: Skew) -> Vec<u8> {
    let place = |place: &MarkedPlace| match place {
        MarkedPlace::Host(hash) => (2, *hash),
        MarkedPlace::Path(hash) => (3, *hash),
        MarkedPlace::Target(hash) => (4, *hash),
        MarkedPlace::PathOfTarget(hash) => (5, *hash),
        MarkedPlace::Tag(hash) => (6, *hash),
    };
    let mut out = vec![VERSION];
    match note {
        Note::Retired(epoch) => {
            out.push(0);
            out.extend(epoch.to_le_bytes());
        }
        Note::Everything(mark) => {
            out.push(1);
            push_mark(&mut out, mark, skew);
        }
        Note::Place(marked, mark) => {
            let (kind, hash) = place(marked);
            out.push(kind);
            push_mark(&mut out, mark, skew);
            out.extend(hash.to_le_bytes());
        }
        Note::Prefix(prefix, mark) => {
            out.push(if prefix.authority.is_some() { 7 } else { 8 });
            push_mark(&mut out, mark, skew);
            let authority = prefix.authority.as_deref().unwrap_or_default();
            out.extend((authority.len() as u32).to_le_bytes());
            out.extend_from_slice(authority.as_bytes());
            out.extend_from_slice(prefix.path.as_bytes());
        }
    }
    out
}

/// The kind of an entry of the journal that is no note.
const LIFE: u8 = 9;

fn write_life(life: u64) -> Vec<u8> {
    [[VERSION, LIFE].as_slice(), &life.to_le_bytes()].concat()
}

fn read_life(entry: &[u8]) -> Option<u64> {
    let ([VERSION, LIFE], life) = entry.split_first_chunk::<2>()? else { return None };
    Some(u64::from_le_bytes(life.try_into().ok()?))
}

fn push_mark(out: &mut Vec<u8>, mark: &Mark, skew: Skew) {
    let date = |moment| skew.date_of(moment).as_millis();
    for number in [mark.hard, mark.soft, date(mark.soft_at), date(mark.at)] {
        out.extend(number.to_le_bytes());
    }
}

/// None is from later than now, whatever the clock said that dated it: what was made stale must not be fresh until then.
fn read_note(entry: &[u8], skew: Skew, now: Timestamp) -> Option<Note> {
    let ([VERSION, kind], rest) = entry.split_first_chunk::<2>()? else { return None };
    if *kind == 0 {
        return Some(Note::Retired(u64::from_le_bytes(rest.try_into().ok()?)));
    }
    let (numbers, rest) = rest.split_first_chunk::<32>()?;
    let number = |index: usize| u64::from_le_bytes(numbers.as_chunks::<8>().0[index]);
    let moment = |date| skew.moment_of(Timestamp::from_millis(date)).min(now);
    let mark = Mark { hard: number(0), soft: number(1), soft_at: moment(number(2)), at: moment(number(3)) };
    if let 7 | 8 = kind {
        let (length, rest) = rest.split_first_chunk()?;
        let (authority, path) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        let text = |bytes| Some(Box::from(std::str::from_utf8(bytes).ok()?));
        let authority = if *kind == 7 { Some(text(authority)?) } else { None };
        return Some(Note::Prefix(Prefix { authority, path: text(path)? }, mark));
    }
    if *kind == 1 {
        return rest.is_empty().then_some(Note::Everything(mark));
    }
    let hash = u128::from_le_bytes(rest.try_into().ok()?);
    let place = match kind {
        2 => MarkedPlace::Host(hash),
        3 => MarkedPlace::Path(hash),
        4 => MarkedPlace::Target(hash),
        5 => MarkedPlace::PathOfTarget(hash),
        6 => MarkedPlace::Tag(hash),
        _ => return None,
    };
    Some(Note::Place(place, mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_secs(20);

    #[test]
    fn what_another_clock_made_stale_later_than_now_is_stale_now() {
        let later = NOW + Duration::from_hours(1);
        let mark = Mark { hard: 0, soft: 8, soft_at: later, at: later };
        let read = read_note(&write_note(&Note::Everything(mark), Skew::NONE), Skew::NONE, NOW);
        assert_eq!(read, Some(Note::Everything(Mark { soft_at: NOW, at: NOW, ..mark })));
    }

    #[test]
    fn a_life_comes_back_as_it_was_and_is_no_note() {
        let written = write_life(7 << 40);
        assert_eq!((read_life(&written), read_note(&written, Skew::NONE, NOW)), (Some(7 << 40), None));
    }

    #[test]
    fn notes_come_back_as_they_were() {
        let mark = Mark { hard: 7, soft: 8, soft_at: Timestamp::from_secs(9), at: Timestamp::from_secs(10) };
        let prefix =
            |authority: Option<&str>| Prefix { authority: authority.map(Box::from), path: "/x".into() };
        for note in [
            Note::Retired(5),
            Note::Everything(mark),
            Note::Place(MarkedPlace::Host(1), mark),
            Note::Place(MarkedPlace::Path(u128::MAX), mark),
            Note::Place(MarkedPlace::Target(3), mark),
            Note::Place(MarkedPlace::PathOfTarget(4), mark),
            Note::Place(MarkedPlace::Tag(5), mark),
            Note::Prefix(prefix(None), mark),
            Note::Prefix(prefix(Some("a")), mark),
        ] {
            let written = write_note(&note, Skew::NONE);
            assert_eq!(read_note(&written, Skew::NONE, NOW).as_ref(), Some(&note));
            assert_eq!(read_note(&written[..9], Skew::NONE, NOW), None, "{note:?}");
            assert_eq!(read_life(&written), None, "{note:?}");
        }
    }
}
