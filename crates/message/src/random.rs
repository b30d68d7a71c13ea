//! Random: a share that nobody has to keep secret: for spreading out what would else happen at once.

use std::hash::{BuildHasher, RandomState};

/// Between 0 and 1, without 1.
pub fn random() -> f64 {
    // Each has keys of its own.
    let bits = RandomState::new().hash_one(0_u8);
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}
