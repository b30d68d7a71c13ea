//! Shared disk: what cores, the writer and the readers of a disk tier all use. Not the folder's lock, so that a reader that
//! outlives the tier does not keep the next one from opening.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};

use crate::checksum::{Place, Secret};
use crate::condition::Condition;
use crate::figures::{DiskCounters, count};
use crate::index::Index;
use crate::journal::Told;
use crate::pool::Pool;
use crate::queue::{Operation, Queue};
use crate::segment::Segment;
use crate::settings::Settings;

/// The state of a disk tier.
pub(crate) struct SharedDisk {
    pub(crate) settings: Settings,
    pub(crate) secret: Secret,
    pub(crate) index: Index,
    pub(crate) queue: Arc<Queue>,
    pub(crate) pool: Arc<Pool>,
    pub(crate) counters: DiskCounters,
    pub(crate) condition: Arc<Condition>,
    segments: RwLock<HashMap<u32, Arc<Segment>>>,
    /// For tests: every write fails, as on a full disk.
    pub(crate) broken: AtomicBool,
}

impl SharedDisk {
    pub(crate) fn new(settings: Settings, secret: Secret, (queue, condition): Told, pool: Arc<Pool>) -> Self {
        SharedDisk {
            settings,
            secret,
            index: Index::new(),
            queue,
            pool,
            counters: DiskCounters::default(),
            condition,
            segments: RwLock::default(),
            broken: AtomicBool::new(false),
        }
    }

    /// The segment with this number, if it is still there.
    pub(crate) fn segment(&self, number: u32) -> Option<Arc<Segment>> {
        self.segments.read().unwrap_or_else(PoisonError::into_inner).get(&number).cloned()
    }

    pub(crate) fn add_segment(&self, segment: Arc<Segment>) {
        self.segments.write().unwrap_or_else(PoisonError::into_inner).insert(segment.number, segment);
    }

    pub(crate) fn remove_segment(&self, number: u32) {
        self.segments.write().unwrap_or_else(PoisonError::into_inner).remove(&number);
    }

    /// A record is not what was written: it is not found any more, nor after the next start.
    pub(crate) fn condemn(&self, hash: u64, place: Place) {
        count(&self.counters.corrupt);
        if self.index.current(hash, place).is_some() {
            let remove = |ticket| self.queue.push(Operation::Remove { hash, ticket });
            self.index.supersede(hash, |_| false, remove);
        }
    }

    /// Whether writes are made to fail.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.load(Relaxed)
    }
}
