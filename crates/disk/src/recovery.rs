//! Recovery: the segments of a folder → the index, as it was. Runs once, when the tier is opened.
//!
//! A segment that was sealed has its index at the end, so one read of 16 bytes a record is all it takes. Only the one
//! that was written to when we were killed is walked record by record; it is then sealed too. The newest record of a
//! key wins; if that one was cut short, the key is gone.

use std::collections::BTreeMap;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use crate::checksum::Place;
use crate::error::{Error, Result};
use crate::figures::count;
use crate::folder::{self, Folder};
use crate::index::Slot;
use crate::record::UNIT;
use crate::segment::{self, Contents, Segment};
use crate::shared_disk::SharedDisk;

/// What was found.
pub(crate) struct Recovered {
    /// Lengths of the segments.
    pub(crate) sealed: BTreeMap<u32, u64>,
    /// The highest sequence of a record.
    pub(crate) sequence: u64,
}

/// Reads all segments, oldest first, those that no longer fit into the bytes deleted before.
pub(crate) fn recover(folder: &Folder, shared: &SharedDisk) -> Result<Recovered> {
    let mut recovered = Recovered { sealed: BTreeMap::new(), sequence: 0 };
    let segments = folder.segments()?;
    let mut bytes: u64 = segments.iter().map(|(_, length)| length).sum();
    for (number, length) in segments {
        let path = folder.segment(number);
        if bytes > shared.settings.segments() {
            std::fs::remove_file(&path).map_err(Error::io("delete", &path))?;
            bytes -= length;
            continue;
        }
        let segment = Segment::new(number, path.clone(), folder::create(&path)?);
        let kept = if let Ok(contents) = segment::contents(&segment, length, shared.secret) {
            recover_segment(shared, &segment, &contents, length, &mut recovered.sequence)?
        } else {
            // Unreadable: as if it were not there.
            count(&shared.counters.errors);
            None
        };
        match kept {
            Some(length) => {
                recovered.sealed.insert(number, length);
                shared.add_segment(Arc::new(segment));
            }
            None => std::fs::remove_file(&path).map_err(Error::io("delete", &path))?,
        }
    }
    Ok(recovered)
}

/// Enters its records, and seals it if it is not. Tells its length, or that nothing is in it.
fn recover_segment(
    shared: &SharedDisk,
    segment: &Segment,
    contents: &Contents,
    length: u64,
    sequence: &mut u64,
) -> Result<Option<u64>> {
    if contents.damaged {
        count(&shared.counters.corrupt);
    }
    for entry in &contents.entries {
        let place = Place { segment: segment.number, offset: entry.offset };
        let end = (u64::from(entry.offset) + u64::from(entry.length)) * UNIT;
        let slot = (entry.length > 0 && end <= contents.end)
            .then(|| Slot::new(place, u64::from(entry.length) * UNIT));
        shared.index.recover(entry.hash, slot);
    }
    *sequence = contents.sequence.max(*sequence);
    if contents.sealed {
        return Ok(Some(length));
    }
    if contents.entries.is_empty() {
        return Ok(None);
    }
    // A failure (a full disk) costs the next start a walk, and nothing else.
    let index = segment::encode_index(contents, segment.number, shared.secret);
    let file = segment.file()?;
    let cut = file.set_len(contents.end).and_then(|()| file.write_all_at(&index, contents.end));
    if cut.and_then(|()| file.sync_data()).is_err() {
        count(&shared.counters.errors);
    }
    Ok(Some(contents.end + index.len() as u64))
}
