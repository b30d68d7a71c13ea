//! Encode: a stored answer's compressed form, made when somebody asks for it first, kept beside the answer.
//!
//! Off the core, since a megabyte takes longer than a thousand hits. Whoever asks for a short one waits; for a longer one
//! the content goes out as it is meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use rules::Encoding;

use crate::entry::Entry;
use crate::key::Key;
use crate::store::Store;

/// Content up to this length is waited for: it is compressed within a millisecond or two.
const SHORT: usize = 64 * 1024;
/// Content above that goes out as it is, as with most CDNs: it would hold a processor for seconds.
const LONGEST: usize = 10 * 1024 * 1024;
/// So many at once; whoever comes above that gets the content as it is.
const MOST: usize = 4;

/// How many are under way, over all cores.
#[derive(Debug, Default)]
pub(crate) struct UnderWay(AtomicUsize);

/// The entry with this form, or as it is where that is not to be had now.
pub(crate) async fn encoded(
    store: &Arc<Store>,
    key: &Key,
    entry: Arc<Entry>,
    encoding: Encoding,
    most_variants: usize,
) -> Arc<Entry> {
    let is_long = entry.body().len() > LONGEST;
    if is_long || !entry.is_encodable() || entry.encoded(encoding).is_some() || !entry.begin_encoding() {
        return entry;
    }
    if store.encoding.0.fetch_add(1, Relaxed) >= MOST {
        store.encoding.0.fetch_sub(1, Relaxed);
        entry.end_encoding();
        return entry;
    }
    // A task of its own, so that it comes to its end when the client who asked leaves.
    let work = make(Arc::clone(store), key.clone(), Arc::clone(&entry), encoding, most_variants);
    let work = tokio::task::spawn_local(work);
    if entry.body().len() > SHORT {
        return entry;
    }
    work.await.ok().flatten().unwrap_or(entry)
}

/// `None` when it came to nothing.
async fn make(
    store: Arc<Store>,
    key: Key,
    entry: Arc<Entry>,
    encoding: Encoding,
    most_variants: usize,
) -> Option<Arc<Entry>> {
    let content = entry.body().clone();
    let made = tokio::task::spawn_blocking(move || response::encode(&content, encoding)).await;
    store.encoding.0.fetch_sub(1, Relaxed);
    let Ok(Ok(body)) = made else {
        entry.end_encoding();
        return None;
    };
    if body.len() >= entry.body().len() {
        // Marked as being compressed for good, so that nobody tries again.
        return None;
    }
    let Some(hold) = store.memory.held().room(body.len() as u64) else {
        entry.end_encoding();
        return None;
    };
    let next = Arc::new(entry.with_encoded(encoding, hold.copied(&body)));
    store.memory.replace(&key.view(), &entry, Arc::clone(&next), most_variants);
    store.counters.encoded();
    Some(next)
}
