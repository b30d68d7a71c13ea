//! Bounds: what one call may use, and what it has used. Asked by the engine: whenever a memory or a table is to grow, and
//! at every tick.

use std::time::{Duration, Instant};

use wasmtime::{ResourceLimiter, UpdateDeadline};
use workers::Stop;

/// Bytes that an element of a table takes.
const ELEMENT: usize = size_of::<usize>();

/// See the module.
pub(crate) struct Bounds {
    bytes: usize,
    most: usize,
    wanted_more: bool,
    begun: Instant,
    timeout: Duration,
    stop: Stop,
}

impl Bounds {
    /// So many bytes, so long from now on, and no longer than somebody waits.
    pub(crate) fn new(most: usize, timeout: Duration, stop: Stop) -> Self {
        Bounds { bytes: 0, most, wanted_more: false, begun: Instant::now(), timeout, stop }
    }

    /// Whether it was refused memory.
    pub(crate) fn wanted_more(&self) -> bool {
        self.wanted_more
    }

    /// What to do at a tick.
    pub(crate) fn at_tick(&self) -> UpdateDeadline {
        if self.stop.is_set() || self.begun.elapsed() >= self.timeout {
            UpdateDeadline::Interrupt
        } else {
            UpdateDeadline::Continue(1)
        }
    }

    fn grow(&mut self, more: usize) -> bool {
        let bytes = self.bytes.saturating_add(more);
        let granted = bytes <= self.most;
        if granted {
            self.bytes = bytes;
        } else {
            self.wanted_more = true;
        }
        granted
    }
}

/// What is refused here, a module may take well: it is told so, as the specification has it (`memory.grow` gives -1).
impl ResourceLimiter for Bounds {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        // What is above its own maximum fails in any case, and is not to be counted.
        let possible = maximum.is_none_or(|maximum| desired <= maximum);
        Ok(possible && self.grow(desired.saturating_sub(current)))
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let possible = maximum.is_none_or(|maximum| desired <= maximum);
        Ok(possible && self.grow(desired.saturating_sub(current).saturating_mul(ELEMENT)))
    }
}
