//! Beginning: how much of an answer somebody has had, and what it was, without keeping the bytes: a digest that goes on.

use std::hash::{BuildHasher, RandomState};

use twox_hash::XxHash3_128;

/// See the module.
#[derive(Clone)]
pub(crate) struct Beginning {
    length: u64,
    /// Half a kilobyte, and few fills need one.
    digest: Box<XxHash3_128>,
    /// Not to be guessed, so that no other content can be made to look like this.
    seed: u64,
}

impl Beginning {
    /// Of something new.
    pub(crate) fn new() -> Self {
        Self::seeded(RandomState::new().hash_one(0))
    }

    fn seeded(seed: u64) -> Self {
        Beginning { length: 0, digest: Box::new(XxHash3_128::with_seed(seed)), seed }
    }

    /// None yet, to be compared with this one when it has become as long.
    pub(crate) fn anew(&self) -> Self {
        Self::seeded(self.seed)
    }

    /// Bytes.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        self.digest.write(bytes);
    }

    /// Whether both are the same bytes.
    pub(crate) fn is_same(&self, other: &Beginning) -> bool {
        self.seed == other.seed
            && self.length == other.length
            && self.digest.finish_128() == other.digest.finish_128()
    }
}

impl std::fmt::Debug for Beginning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Beginning({} bytes)", self.length)
    }
}
