//! Gate: where one side of a test waits until the other lets it go on. Instead of sleeping.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::DEADLINE;

/// Closed at first; once opened it stays open. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets everybody through who waits or comes later.
    pub fn open(&self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.1.notify_all();
    }

    /// Waits until the gate is open, or panics after [`DEADLINE`].
    pub fn wait(&self) {
        let open = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (_open, waited) = self
            .0
            .1
            .wait_timeout_while(open, DEADLINE, |open| !*open)
            .unwrap_or_else(PoisonError::into_inner);
        assert!(!waited.timed_out(), "the gate was not opened within {DEADLINE:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::Gate;

    #[test]
    fn lets_through_once_open() {
        let gate = Gate::new();
        let other = gate.clone();
        let thread = std::thread::spawn(move || other.wait());
        gate.open();
        thread.join().unwrap();
        gate.wait();
    }
}
