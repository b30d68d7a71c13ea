//! Taken: how far Redis has taken what this instance has to tell the others. Written by `telling`; read by whoever purges
//! and waits to hear that it was told, and by whoever asks how things are.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

/// See the module. Read and written by any thread.
pub(crate) struct Taken(watch::Sender<State>);

#[derive(Debug, Default)]
struct State {
    /// Purges of ours up to this epoch have been taken.
    up_to: u64,
    /// Purges that were not.
    waiting: u64,
    refused: Option<Refused>,
    /// All was told, and that this instance is leaving.
    left: bool,
}

/// Nothing has been taken since then, though there was something to tell.
#[derive(Debug)]
struct Refused {
    since: Instant,
    why: String,
}

/// What is not taken within this time is said not to be.
pub(super) const PATIENCE: Duration = Duration::from_secs(1);

impl State {
    fn overdue(&self) -> Option<&str> {
        self.refused
            .as_ref()
            .filter(|refused| refused.since.elapsed() >= PATIENCE)
            .map(|refused| &*refused.why)
    }
}

impl Taken {
    pub(super) fn new() -> Self {
        Taken(watch::Sender::default())
    }

    /// Whether a purge of this epoch has been taken. Waits for it, though not where nothing is taken at all. An error says
    /// why it is not.
    pub(crate) async fn has(&self, epoch: u64) -> Result<(), String> {
        let mut state = self.0.subscribe();
        let taken = state.wait_for(|state| state.up_to >= epoch || state.overdue().is_some());
        if let Ok(Ok(state)) = tokio::time::timeout(PATIENCE, taken).await
            && state.up_to >= epoch
        {
            return Ok(());
        }
        let state = self.0.borrow();
        let why =
            state.refused.as_ref().map_or("Redis has not answered within a second", |refused| &refused.why);
        if state.up_to >= epoch { Ok(()) } else { Err(why.to_owned()) }
    }

    /// Why nothing has been taken for too long; `None`: all is well.
    pub(crate) fn overdue(&self) -> Option<String> {
        self.0.borrow().overdue().map(str::to_owned)
    }

    /// Purges that have not been taken yet.
    pub(crate) fn waiting(&self) -> u64 {
        self.0.borrow().waiting
    }

    /// Comes back when all is told and the others know that this instance leaves.
    pub(crate) async fn left(&self) {
        drop(self.0.subscribe().wait_for(|state| state.left).await);
    }

    pub(super) fn added(&self, waiting: usize) {
        self.0.send_modify(|state| state.waiting = waiting as u64);
    }

    /// Redis took something, the purges up to this epoch at least.
    pub(super) fn took(&self, up_to: u64, waiting: usize) {
        self.0.send_modify(|state| {
            state.up_to = state.up_to.max(up_to);
            state.waiting = waiting as u64;
            state.refused = None;
        });
    }

    /// Redis did not take what was to be told since then.
    pub(super) fn refused(&self, tried: Instant, why: String) {
        self.0.send_modify(|state| {
            let since = state.refused.as_ref().map_or(tried, |refused| refused.since);
            state.refused = Some(Refused { since, why });
        });
    }

    pub(super) fn leave(&self) {
        self.0.send_modify(|state| state.left = true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_is_taken_in_time_is_told() {
        let taken = Taken::new();
        let (told, ()) = tokio::join!(taken.has(7), async {
            taken.took(6, 1);
            tokio::time::sleep(PATIENCE / 2).await;
            taken.took(7, 0);
        });
        assert_eq!(told, Ok(()));
        assert_eq!(taken.overdue(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_refused_says_why_and_nobody_waits_for_it_again() {
        let taken = Taken::new();
        taken.refused(Instant::now(), "OOM".to_owned());
        assert_eq!(taken.overdue(), None, "not yet");
        assert_eq!(taken.has(1).await, Err("OOM".to_owned()));
        let begun = Instant::now();
        assert_eq!(taken.has(2).await, Err("OOM".to_owned()));
        assert_eq!((begun.elapsed(), taken.overdue().as_deref()), (Duration::ZERO, Some("OOM")));
        taken.took(2, 0);
        assert_eq!((taken.has(2).await, taken.overdue()), (Ok(()), None));
    }
}
