//! By source: what a policy keeps apart for each source that it stands around, shared by all cores. In: a name. Out: what is kept
//! under it, made where there is none. Forgotten once no place has it any more. Used by breakers, `learn` and
//! `concurrency`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// See the module. `N` is the name: of a source, or of a source and its target.
#[derive(Debug)]
pub(crate) struct BySource<N, T>(Mutex<BTreeMap<N, Arc<T>>>);

impl<N: Ord, T> BySource<N, T> {
    pub(crate) fn of(&self, name: N, made: impl FnOnce() -> Arc<T>) -> Arc<T> {
        let mut all = self.lock();
        all.retain(|_, kept| Arc::strong_count(kept) > 1);
        Arc::clone(all.entry(name).or_insert_with(made))
    }

    /// Something of each.
    pub(crate) fn each<V>(&self, look: impl Fn(&N, &T) -> V) -> Vec<V> {
        self.lock().iter().map(|(name, kept)| look(name, kept)).collect()
    }

    /// No code that can panic runs under the lock, so a poisoned one is as good as another.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<N, Arc<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<N, T> Default for BySource<N, T> {
    fn default() -> Self {
        BySource(Mutex::default())
    }
}
