//! Shared store: one store as all cores share it: its values, replaced whole when the file changes.

use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use expression::Arguments;
use message::Result;
use plan::{Read, StoreSource};

use super::carry_out::carry_out;
use super::file::{State, StoreError, Values, read};
use crate::read::Rendered;

/// See the module.
pub struct SharedStore {
    plan: Arc<StoreSource>,
    values: ArcSwap<Values>,
    /// What the file was when it was read last.
    state: Mutex<Option<State>>,
}

impl SharedStore {
    /// Reads the file; blocks.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn open(plan: Arc<StoreSource>) -> std::result::Result<Arc<SharedStore>, StoreError> {
        let state = Mutex::new(State::of(&plan.file));
        let values = read(&plan.file)?;
        Ok(Arc::new(SharedStore { plan, values: ArcSwap::from_pointee(values), state }))
    }

    /// Reads the file again, unless it is as it was when it was read; blocks. How many keys there are now.
    ///
    /// # Errors
    /// What is wrong with the file. Everything stays as it was.
    pub fn read_again(&self) -> std::result::Result<Option<usize>, StoreError> {
        // Held until the values are there, so that of two that read at once the later state remains.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let found = State::of(&self.plan.file);
        if found.is_some() && *state == found {
            return Ok(None);
        }
        *state = found;
        let values = read(&self.plan.file)?;
        let keys = values.len();
        self.values.store(Arc::new(values));
        Ok(Some(keys))
    }

    /// What the plan says of it.
    pub fn plan(&self) -> &StoreSource {
        &self.plan
    }

    /// Where answers come from, for people.
    pub(crate) fn describe(&self) -> String {
        format!("all {} keys of the file are in memory", self.values.load().len())
    }

    /// The answer to these arguments.
    pub(crate) fn answer(&self, read: &Read, arguments: &Arguments) -> Result<Arc<Rendered>> {
        let found = carry_out(read.command, arguments, &self.values.load())?;
        Rendered::new(found, read).map(Arc::new)
    }
}
