//! Figures: what became of calls. Counted by `counters`; read by whoever shows metrics.

/// Counts since the start, and how many there are now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModuleFigures {
    /// Calls that were asked for.
    pub calls: u64,
    /// Of these, those that gave nothing usable: traps, too much memory, no JSON.
    pub failed: u64,
    /// Those that computed for too long.
    pub timed_out: u64,
    /// Those refused, since too many waited already.
    pub refused: u64,
    /// Those whose caller went away before they had ended, begun or not.
    pub cancelled: u64,
    /// Calls that wait for a thread now.
    pub waiting: usize,
    /// Calls that compute now.
    pub running: usize,
}
