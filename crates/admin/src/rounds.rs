//! Rounds: many errands, at a rate and a few at a time. For `warm`, whose caller waits, and for the refresh after a
//! purge, which goes on by itself.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use crate::backstage::{Backstage, Errand, Fetched};
use crate::refusal::AdminRefusal;

/// Errands a second where nobody says.
pub(crate) const RATE: NonZeroU32 = NonZeroU32::new(50).expect("50 is not zero");

/// Errands a second at most.
pub(crate) const MOST_RATE: u32 = 1_000;

/// Errands a call may send at most.
pub(crate) const MOST: usize = 10_000;

/// Errands of one round under way at once.
const TOGETHER: usize = 32;

/// Rounds at once.
const ROUNDS: usize = 4;

/// A round is refused where its rate makes it longer than that.
pub(crate) const LONGEST: Duration = Duration::from_mins(10);

/// See the module.
#[derive(Debug)]
pub(crate) struct Rounds(Arc<Semaphore>);

/// A place for a round, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Round {
    rate: NonZeroU32,
    _place: OwnedSemaphorePermit,
}

impl Rounds {
    pub(crate) fn new() -> Self {
        Rounds(Arc::new(Semaphore::new(ROUNDS)))
    }

    /// A place for a round of at most `most` errands.
    pub(crate) fn begin(&self, most: usize, rate: NonZeroU32) -> Result<Round, AdminRefusal> {
        let seconds = most as u64 / u64::from(rate.get());
        if seconds > LONGEST.as_secs() {
            let longest = LONGEST.as_secs();
            return Err(AdminRefusal::request(format!(
                "{most} URLs at {rate} a second take {seconds} s, and {longest} s is the most: raise `rate` or send fewer"
            )));
        }
        let place = Arc::clone(&self.0).try_acquire_owned().map_err(|_| {
            AdminRefusal::busy(format!("{ROUNDS} calls are fetching already; ask again when one is done"))
        })?;
        Ok(Round { rate, _place: place })
    }
}

impl Round {
    /// Runs all of them and gives what came of each, in their order. Dropped, it sends no more.
    pub(crate) async fn run(self, backstage: Arc<dyn Backstage>, errands: Vec<Errand>) -> Vec<Fetched> {
        let mut fetched: Vec<Option<Fetched>> = vec![None; errands.len()];
        let mut under_way = JoinSet::new();
        let mut pace = interval(Duration::from_secs(1) / self.rate.get());
        // Late ticks are not caught up with in a burst.
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        for (index, errand) in errands.into_iter().enumerate() {
            pace.tick().await;
            while under_way.len() >= TOGETHER {
                keep(under_way.join_next().await, &mut fetched);
            }
            let fetch = backstage.fetch(errand);
            under_way.spawn(async move { (index, fetch.await) });
        }
        while let Some(done) = under_way.join_next().await {
            keep(Some(done), &mut fetched);
        }
        fetched.into_iter().flatten().collect()
    }
}

type Done = Result<(usize, Fetched), tokio::task::JoinError>;

fn keep(done: Option<Done>, fetched: &mut [Option<Fetched>]) {
    match done {
        Some(Ok((index, outcome))) => fetched[index] = Some(outcome),
        Some(Err(error)) => tracing::error!(%error, "an errand failed"),
        None => {}
    }
}
