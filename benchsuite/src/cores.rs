//! Cores: who runs where. The servers on one core, the load and the origin on another, so that neither takes time
//! from the other.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The two cores of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cores {
    /// For the servers measured.
    pub(crate) server: usize,
    /// For the load and the origin.
    pub(crate) load: usize,
}

impl Cores {
    /// The first two this process may use; twice the same where there is only one.
    pub(crate) fn available() -> Result<Self, String> {
        let allowed = sched_getaffinity(None).map_err(|error| format!("which cores may be used: {error}"))?;
        let mut cores = (0..CpuSet::MAX_CPU).filter(|core| allowed.is_set(*core));
        let server = cores.next().ok_or("no core may be used")?;
        Ok(Cores { server, load: cores.next().unwrap_or(server) })
    }
}

/// Keeps the calling thread, and whatever it starts from now on, on this core.
pub(crate) fn stay_on(core: usize) -> Result<(), String> {
    let mut only = CpuSet::new();
    only.set(core);
    sched_setaffinity(None, &only).map_err(|error| format!("cannot stay on core {core}: {error}"))
}

/// Does `work` on this core, then comes back. A process it starts stays there.
pub(crate) fn on<T>(core: usize, work: impl FnOnce() -> T) -> Result<T, String> {
    let before = sched_getaffinity(None).map_err(|error| format!("which cores may be used: {error}"))?;
    stay_on(core)?;
    let done = work();
    sched_setaffinity(None, &before)
        .map_err(|error| format!("cannot go back to the cores before: {error}"))?;
    Ok(done)
}
