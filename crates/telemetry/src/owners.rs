//! Owners: figures that others keep (the cache, the listener, the sources), asked for each time somebody renders.
//!
//! `server` says once how to ask; nothing of this is on the way of a request.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use crate::Family;

/// Puts what is counted here where it is to stand among the figures of all owners.
type Ask = Box<dyn Fn(Vec<Family>) -> Vec<Family> + Send + Sync>;

/// See the module.
#[derive(Default)]
pub(crate) struct Owners(Mutex<Option<Ask>>);

impl Owners {
    pub(crate) fn set(&self, ask: Ask) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(ask);
    }

    pub(crate) fn families(&self, own: Vec<Family>) -> Vec<Family> {
        match &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(ask) => ask(own),
            None => own,
        }
    }
}

impl fmt::Debug for Owners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Owners")
    }
}
