//! Disk: the tier of the cache that survives a restart. Opaque records (key, head, body) in a folder of its own, never
//! more than so many bytes, each checked before a byte of it is given out.
//!
//! ```text
//! insert ─► queue ─► writer ─► segments, oldest evicted first          (queue, writer, eviction, segment, record)
//! find   ─► index in memory                                            (index)
//! read   ─► pool of threads ─► head at once, body piece by piece       (pool, reader)
//! purges ─► journal, replayed by the cache at the next start           (journal)
//! open   ─► indexes of the segments ─► index                           (folder, recovery)
//! ```
//!
//! Nothing that serves a request waits for the disk or fails because of it: what cannot be written is dropped, what
//! cannot be read is a miss, both are counted ([`DiskFigures`]), and what is wrong is told ([`Disk::trouble`]). Why it is our own: docs/decisions/0006-disk-tier.md.

mod checksum;
mod condition;
mod disk;
mod error;
mod eviction;
mod figures;
mod folder;
mod index;
mod journal;
mod pool;
mod queue;
mod reader;
mod record;
mod recovery;
mod segment;
mod settings;
mod shared_disk;
mod writer;

pub use disk::Disk;
pub use error::{Error, Result};
pub use figures::DiskFigures;
pub use journal::{Journal, Noted};
pub use reader::{FoundRecord, PieceReader, Record};
pub use settings::Settings;
