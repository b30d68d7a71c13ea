//! Scratch: the buffers that all connections of a core share while they are polled.
//!
//! A connection's own buffer would be cold each time it is used, and a million waiting connections would each hold
//! one. These stay in the processor's cache; only what cannot be finished at once is copied into a connection's own.

use std::cell::Cell;

use super::output::Output;

/// Bytes read at once.
const INPUT: usize = 16 * 1024;
/// A longer output buffer is not kept.
const MAX_OUTPUT: usize = 256 * 1024;

/// See the module.
pub(super) struct Scratch {
    /// What is read goes here first.
    pub(super) input: Box<[u8]>,
    /// Answers are written here; empty between two uses.
    pub(super) output: Vec<u8>,
}

thread_local! {
    static SHARED: Cell<Option<Scratch>> = const { Cell::new(None) };
}

impl Scratch {
    /// The core's scratch. Taken rather than borrowed: should it ever be in use already, the second user gets another.
    pub(super) fn take() -> Scratch {
        let another = || Scratch { input: vec![0; INPUT].into_boxed_slice(), output: Vec::new() };
        SHARED.take().unwrap_or_else(another)
    }

    /// Makes it available again.
    pub(super) fn put_back(self) {
        SHARED.set(Some(self));
    }

    /// Takes the memory back that a connection's finished output was written from.
    pub(super) fn take_back(&mut self, output: &mut Output) {
        let memory = output.release();
        if memory.capacity() > self.output.capacity() && memory.capacity() <= MAX_OUTPUT {
            self.output = memory;
        }
    }
}
