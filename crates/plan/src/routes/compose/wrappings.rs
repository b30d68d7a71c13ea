//! Wrappings: what wraps the calls of steps, each once for the whole file, by number. Filled by `step`.

use std::cell::RefCell;
use std::sync::Arc;

use crate::meant::{CachePolicy, Wrapping};

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Wrappings(RefCell<Vec<Wrapping>>);

impl Wrappings {
    /// The one that is equal to this, or this one as the next.
    pub(super) fn of(&self, policy: CachePolicy, stands_in: bool) -> Wrapping {
        let mut known = self.0.borrow_mut();
        let number = u32::try_from(known.len()).expect("a file has fewer steps than that");
        let wrapping = Wrapping { policy: Arc::new(policy), stands_in, number };
        if let Some(same) = known.iter().find(|known| **known == wrapping) {
            return same.clone();
        }
        known.push(wrapping.clone());
        wrapping
    }
}
