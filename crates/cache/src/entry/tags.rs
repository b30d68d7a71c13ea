//! Tags: what an entry is filed under, so that it can be forgotten together with others. Their bytes are counted, since
//! origins choose how many there are.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bytes of all tags in memory.
static BYTES: AtomicU64 = AtomicU64::new(0);

/// An entry's tags, as `rules::tags` makes them, joined by `\n`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tags(Box<str>);

impl Tags {
    /// From their joined text.
    pub fn new(joined: Box<str>) -> Self {
        BYTES.fetch_add(joined.len() as u64, Relaxed);
        Tags(joined)
    }

    /// Joined by `\n`.
    pub fn joined(&self) -> &str {
        &self.0
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// These and one more.
    #[must_use]
    pub(crate) fn and(self, tag: &str) -> Self {
        if self.is_empty() { Tags::new(tag.into()) } else { Tags::new(format!("{}\n{tag}", self.0).into()) }
    }

    /// These, and those of the others that are not among them, as far as there is room.
    #[must_use]
    pub(crate) fn union(self, others: &Tags) -> Self {
        /// As many as one answer may bring, twice.
        const MOST: usize = 128;
        let mut tags: Vec<&str> = self.0.split('\n').filter(|tag| !tag.is_empty()).collect();
        for tag in others.0.split('\n').filter(|tag| !tag.is_empty()) {
            if tags.len() < MOST && !tags.contains(&tag) {
                tags.push(tag);
            }
        }
        let joined = tags.join("\n");
        if joined == *self.0 { self } else { Tags::new(joined.into()) }
    }

    /// Bytes of all tags that this process holds.
    pub fn bytes_in_memory() -> u64 {
        BYTES.load(Relaxed)
    }
}

impl Clone for Tags {
    fn clone(&self) -> Self {
        Tags::new(self.0.clone())
    }
}

impl Drop for Tags {
    fn drop(&mut self) {
        BYTES.fetch_sub(self.0.len() as u64, Relaxed);
    }
}
