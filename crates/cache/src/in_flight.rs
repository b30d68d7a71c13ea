//! InFlight: the content that fills hold before it is stored, counted over all cores. It is not part of the memory tier,
//! so it has a bound of its own: above it, answers stream past the cache.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::store::Store;

/// Bytes held by all fills.
#[derive(Debug, Default)]
pub(crate) struct InFlight(AtomicU64);

impl InFlight {
    pub(crate) fn bytes(&self) -> u64 {
        self.0.load(Relaxed)
    }

    /// One fill's share, none yet.
    pub(crate) fn share(&self) -> Share<'_> {
        Share { all: self, bytes: 0 }
    }
}

/// What one fill holds; given back when dropped.
#[derive(Debug)]
pub(crate) struct Share<'a> {
    all: &'a InFlight,
    bytes: u64,
}

impl Share<'_> {
    /// The fill holds so much more.
    pub(crate) fn grow(&mut self, bytes: u64) {
        self.bytes += bytes;
        self.all.0.fetch_add(bytes, Relaxed);
    }

    /// The fill keeps no more than a window from now on.
    pub(crate) fn release(&mut self) {
        self.all.0.fetch_sub(self.bytes, Relaxed);
        self.bytes = 0;
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        self.release();
    }
}

/// A known number of bytes, held beyond the life of a borrow.
pub(crate) struct Hold {
    store: Arc<Store>,
    bytes: u64,
}

impl Hold {
    /// `None` where there is no room for so much.
    pub(crate) fn of(store: &Arc<Store>, bytes: u64) -> Option<Self> {
        store.in_flight.0.fetch_add(bytes, Relaxed);
        let hold = Hold { store: Arc::clone(store), bytes };
        if store.is_overfull() { None } else { Some(hold) }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.store.in_flight.0.fetch_sub(self.bytes, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_given_back() {
        let all = InFlight::default();
        let mut one = all.share();
        let mut other = all.share();
        one.grow(5);
        other.grow(7);
        assert_eq!(all.bytes(), 12);
        drop(one);
        assert_eq!(all.bytes(), 7);
        other.release();
        drop(other);
        assert_eq!(all.bytes(), 0);
    }
}
