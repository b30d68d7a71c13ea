//! Writer: the one thread that writes. Operations come from the queue; records go to the end of the active segment and
//! are published in the index when their bytes are written. What is written when the disk is full: `eviction`.
//!
//! One thread, so that records stand on disk in the order of their operations and the newest of a key is the last.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use crate::checksum::Place;
use crate::condition::Part;
use crate::error::{Error, Result};
use crate::figures::count;
use crate::folder::Folder;
use crate::index::{Slot, Ticket};
use crate::journal::Journal;
use crate::queue::{Incoming, Operation, Work};
use crate::record::{self, Header, UNIT};
use crate::segment::{self, Contents, Entry, Segment};
use crate::shared_disk::SharedDisk;

/// What small records are gathered in before they are written.
const BUFFER: usize = 1 << 20;

/// What a failure means, for people.
const NOT_KEPT: &str = "answers are not kept on disk until it can be written";

/// The state of the writing thread.
pub(crate) struct Writer {
    pub(crate) shared: Arc<SharedDisk>,
    pub(crate) folder: Arc<Folder>,
    journal: Arc<Journal>,
    active: Option<Active>,
    /// Lengths of the segments that are written to no more.
    pub(crate) sealed: BTreeMap<u32, u64>,
    /// Evicted, but still read from.
    pub(crate) held: VecDeque<(Arc<Segment>, u64)>,
    next: u32,
}

/// The segment that is written to.
struct Active {
    segment: Arc<Segment>,
    file: Arc<File>,
    /// The records in it, those in the buffer included.
    contents: Contents,
    /// Bytes not yet written.
    buffer: Vec<u8>,
    /// Where the buffer begins.
    at: u64,
    /// Records that are to be published when they are written.
    staged: Vec<Staged>,
    /// How far it is written and published.
    good: u64,
}

/// What is to be told the index when the bytes are written.
struct Staged {
    hash: u64,
    slot: Option<Slot>,
    from: From,
}

#[derive(Clone, Copy)]
enum From {
    Queue(Ticket),
    /// Written again by eviction.
    Place(Place),
}

/// A record to write, wherever it comes from.
pub(crate) struct Outgoing<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) head: &'a [u8],
    pub(crate) body: &'a [u8],
    pub(crate) hash: u64,
    pub(crate) sequence: u64,
}

impl Writer {
    /// A writer that goes on where the sealed segments end.
    pub(crate) fn new(
        shared: Arc<SharedDisk>,
        folder: Arc<Folder>,
        journal: Arc<Journal>,
        sealed: BTreeMap<u32, u64>,
    ) -> Self {
        let next = sealed.last_key_value().map_or(1, |(number, _)| number.saturating_add(1));
        let writer = Writer { shared, folder, journal, active: None, sealed, held: VecDeque::new(), next };
        writer.report();
        writer
    }

    /// Writes until the queue ends.
    pub(crate) fn run(mut self) {
        loop {
            match self.shared.queue.take(self.shared.settings.pause) {
                Work::Write(operations, sync) => {
                    if sync && self.journal.sync().is_err() {
                        count(&self.shared.counters.errors);
                    }
                    self.write(operations);
                }
                Work::Look => self.look(),
                Work::End => break,
            }
            self.report();
        }
        if self.journal.sync().and_then(|()| self.seal()).is_err() {
            count(&self.shared.counters.errors);
        }
        self.report();
        self.shared.queue.done();
    }

    /// After a failure, what could not be written is dropped, and nothing is written until that works again.
    fn write(&mut self, operations: Vec<Operation>) {
        let mut operations = operations.into_iter();
        let mut outcome = Ok(());
        for operation in operations.by_ref() {
            outcome = self.operate(&operation);
            if outcome.is_err() {
                self.drop_operation(&operation);
                break;
            }
        }
        if let Err(error) = outcome.and_then(|()| self.flush()) {
            self.fail(&error);
            operations.for_each(|operation| self.drop_operation(&operation));
        }
    }

    fn fail(&mut self, error: &Error) {
        count(&self.shared.counters.errors);
        self.shared.condition.fails(Part::Records, error, NOT_KEPT);
        let waiting = self.shared.queue.pause(self.shared.settings.pause);
        self.abandon();
        for operation in &waiting {
            self.drop_operation(operation);
        }
    }

    /// Looks whether the folder is still there, and after a failure whether it can be written again.
    fn look(&mut self) {
        if !self.shared.queue.paused() && self.folder.is_in_place() {
            return;
        }
        match self.restore() {
            Ok(()) => {
                self.shared.condition.works(Part::Records);
                self.shared.queue.resume();
            }
            Err(error) => self.fail(&error),
        }
    }

    fn restore(&mut self) -> Result<()> {
        if self.shared.is_broken() {
            return Err(Error::io("write to", self.folder.path())(std::io::ErrorKind::StorageFull.into()));
        }
        if !self.folder.is_in_place() {
            let lost = Error::Lost(self.folder.path().to_owned());
            self.shared.condition.fails(Part::Records, &lost, NOT_KEPT);
            self.begin_anew()?;
        }
        self.folder.try_writing(BUFFER.min(self.shared.settings.segment() as usize))
    }

    /// The folder was taken away, with all that was in it.
    fn begin_anew(&mut self) -> Result<()> {
        self.abandon();
        self.journal.folder_was_lost();
        for number in std::mem::take(&mut self.sealed).into_keys() {
            self.shared.index.forget_segment(number);
            self.shared.remove_segment(number);
        }
        self.held.clear();
        self.folder.claim_again()
    }

    fn operate(&mut self, operation: &Operation) -> Result<()> {
        match operation {
            Operation::Store(incoming) => self.store(incoming),
            Operation::Remove { hash, ticket } => self.remove(*hash, *ticket),
            Operation::Clear => self.clear(),
        }
    }

    fn store(&mut self, incoming: &Incoming) -> Result<()> {
        if !self.shared.index.wanted(incoming.hash, incoming.ticket) {
            return Ok(());
        }
        let (key, head, body) = (&incoming.key[..], &incoming.head[..], &incoming.body[..]);
        self.make_room(record::length(key.len(), head.len(), body.len()))?;
        let outgoing = Outgoing { key, head, body, hash: incoming.hash, sequence: incoming.sequence };
        self.append(&outgoing, From::Queue(incoming.ticket))
    }

    fn remove(&mut self, hash: u64, ticket: Ticket) -> Result<()> {
        if !self.shared.index.wanted(hash, ticket) {
            return Ok(());
        }
        self.make_room(UNIT)?;
        let secret = self.shared.secret;
        let active = self.active(UNIT)?;
        let place = active.place();
        active.buffer.extend_from_slice(&Header::removal(hash).encode(secret, place));
        active.stage(hash, None, UNIT, From::Queue(ticket));
        self.flush_large()
    }

    /// Writes a record that eviction wants to keep.
    pub(crate) fn rewrite(&mut self, outgoing: &Outgoing<'_>, from: Place) -> Result<()> {
        self.append(outgoing, From::Place(from))?;
        count(&self.shared.counters.reinserted);
        Ok(())
    }

    fn append(&mut self, outgoing: &Outgoing<'_>, from: From) -> Result<()> {
        let Outgoing { key, head, body, hash, sequence } = *outgoing;
        let length = record::length(key.len(), head.len(), body.len());
        let shared = Arc::clone(&self.shared);
        let active = self.active(length)?;
        let place = active.place();
        let identity = (hash, sequence);
        record::encode_front(&mut active.buffer, key, head, body, identity, shared.secret, place);
        if body.len() < BUFFER {
            active.buffer.extend_from_slice(body);
        } else {
            active.flush(&shared)?;
            active.write(&shared, body)?;
        }
        let padding = active.contents.end + length - active.at - active.buffer.len() as u64;
        active.buffer.resize(active.buffer.len() + padding as usize, 0);
        active.contents.sequence = active.contents.sequence.max(sequence);
        active.stage(hash, Some(Slot::new(place, length)), length, from);
        self.flush_large()
    }

    /// The active segment, with room for so many bytes; the next one, if this one is full.
    fn active(&mut self, length: u64) -> Result<&mut Active> {
        let most = self.shared.settings.segment();
        if self
            .active
            .as_ref()
            .is_some_and(|active| active.contents.end > 0 && active.contents.end + length > most)
        {
            self.seal()?;
        }
        let active = match self.active.take() {
            Some(active) => active,
            None => self.begin()?,
        };
        Ok(self.active.insert(active))
    }

    fn begin(&mut self) -> Result<Active> {
        let number = self.next;
        let path = self.folder.segment(number);
        // As good as never: four thousand million segments.
        self.next = number.checked_add(1).ok_or(Error::Closed)?;
        let options = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path);
        let file = options.map_err(Error::io("make", &path))?;
        let segment = Arc::new(Segment::new(number, path, file));
        self.shared.add_segment(Arc::clone(&segment));
        Ok(Active {
            file: segment.file()?,
            segment,
            contents: Contents::default(),
            buffer: Vec::new(),
            at: 0,
            staged: Vec::new(),
            good: 0,
        })
    }

    /// Writes what is gathered, and publishes it.
    pub(crate) fn flush(&mut self) -> Result<()> {
        match &mut self.active {
            Some(active) => active.flush(&self.shared),
            None => Ok(()),
        }
    }

    fn flush_large(&mut self) -> Result<()> {
        match &mut self.active {
            Some(active) if active.buffer.len() >= BUFFER => active.flush(&self.shared),
            _ => Ok(()),
        }
    }

    /// Ends the active segment with its index, and has the disk keep it.
    pub(crate) fn seal(&mut self) -> Result<()> {
        self.flush()?;
        let Some(active) = &mut self.active else { return Ok(()) };
        let number = active.segment.number;
        let index = segment::encode_index(&active.contents, number, self.shared.secret);
        active.write(&self.shared, &index)?;
        active.file.sync_data().map_err(Error::io("flush", active.segment.path()))?;
        self.sealed.insert(number, active.at);
        self.active = None;
        Ok(())
    }

    /// A write failed: what is not published is forgotten, and the segment is left as it is up to there. Its index is
    /// missing, so the next start reads it record by record.
    fn abandon(&mut self) {
        let Some(active) = self.active.take() else { return };
        for staged in &active.staged {
            if let From::Queue(ticket) = staged.from {
                self.forsake(staged.hash, ticket, staged.slot.is_some());
            }
        }
        let number = active.segment.number;
        if active.good == 0 && std::fs::remove_file(active.segment.path()).is_ok() {
            self.shared.remove_segment(number);
            return;
        }
        let cut = active.file.set_len(active.good).is_ok();
        self.sealed.insert(number, if cut { active.good } else { active.at.max(active.good) });
    }

    fn drop_operation(&self, operation: &Operation) {
        match operation {
            Operation::Store(incoming) => self.forsake(incoming.hash, incoming.ticket, true),
            Operation::Remove { hash, ticket } => self.forsake(*hash, *ticket, false),
            // Until it is done, its files stand there.
            Operation::Clear => drop(self.shared.queue.push(Operation::Clear)),
        }
    }

    /// The operation is not going to be written. What stands on disk from before is to go all the same, when writing
    /// is on again.
    fn forsake(&self, hash: u64, ticket: Ticket, record: bool) {
        let newest = if record {
            self.shared.index.turn_into_removal(hash, ticket)
        } else {
            self.shared.index.wanted(hash, ticket)
        };
        if !newest {
            return;
        }
        if record {
            count(&self.shared.counters.dropped);
        }
        if !self.shared.queue.push(Operation::Remove { hash, ticket }) {
            self.shared.index.publish(hash, ticket, None);
        }
    }

    /// Bytes on disk, the index of the active segment included, which is still to come.
    pub(crate) fn used(&self) -> u64 {
        let sealed: u64 = self.sealed.values().sum();
        let held: u64 = self.held.iter().map(|(_, length)| length).sum();
        let active = self
            .active
            .as_ref()
            .map_or(0, |active| active.contents.end + segment::index_length(active.contents.entries.len()));
        sealed + held + active
    }

    /// Whether there is a segment that is written to.
    pub(crate) fn has_active(&self) -> bool {
        self.active.is_some()
    }

    fn report(&self) {
        self.shared.counters.bytes.store(self.used(), Relaxed);
    }
}

impl Active {
    /// Where the next record goes.
    fn place(&self) -> Place {
        Place { segment: self.segment.number, offset: (self.contents.end / UNIT) as u32 }
    }

    /// A record is complete, here or in the buffer.
    fn stage(&mut self, hash: u64, slot: Option<Slot>, length: u64, from: From) {
        let offset = (self.contents.end / UNIT) as u32;
        let units = if slot.is_some() { (length / UNIT) as u32 } else { 0 };
        self.contents.entries.push(Entry { hash, offset, length: units });
        self.contents.end += length;
        self.staged.push(Staged { hash, slot, from });
    }

    /// Writes the buffer and publishes what is complete.
    fn flush(&mut self, shared: &SharedDisk) -> Result<()> {
        let buffer = std::mem::take(&mut self.buffer);
        let written = self.write(shared, &buffer);
        self.buffer = buffer;
        self.buffer.clear();
        written?;
        for staged in self.staged.drain(..) {
            match (staged.from, staged.slot) {
                (From::Queue(ticket), slot) => {
                    shared.index.publish(staged.hash, ticket, slot);
                    if slot.is_some() {
                        count(&shared.counters.writes);
                    }
                }
                (From::Place(from), Some(slot)) => shared.index.moved(staged.hash, from, slot),
                (From::Place(_), None) => {}
            }
        }
        self.good = self.contents.end;
        Ok(())
    }

    fn write(&mut self, shared: &SharedDisk, bytes: &[u8]) -> Result<()> {
        if shared.is_broken() {
            return Err(Error::io("write", self.segment.path())(std::io::ErrorKind::StorageFull.into()));
        }
        self.file.write_all_at(bytes, self.at).map_err(Error::io("write", self.segment.path()))?;
        self.at += bytes.len() as u64;
        shared.counters.written.fetch_add(bytes.len() as u64, Relaxed);
        Ok(())
    }
}
