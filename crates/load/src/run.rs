//! Run: a scenario from its first connection to its report.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::tally::Tally;
use crate::worker::{Budget, Schedule, work};
use crate::{Error, Report, Scenario, target};

/// How often progress is told.
const TICK: Duration = Duration::from_millis(100);

/// How far a run has come, for a bar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// What is going on.
    pub phase: Phase,
    /// Requests answered so far, warm-up aside.
    pub answered: u64,
    /// Since the run began, warm-up included.
    pub elapsed: Duration,
    /// From 0 to 1, by time or by number, whichever is further.
    pub share: f64,
}

/// What is going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Answers are not counted yet.
    WarmUp,
    /// They are.
    Measuring,
}

/// Runs the scenario and blocks until it is over: within its warm-up and duration.
pub fn run(scenario: &Scenario) -> Result<Report, Error> {
    run_with_progress(scenario, |_| {})
}

/// The same, telling about ten times a second how far it has come.
pub fn run_with_progress(scenario: &Scenario, mut tell: impl FnMut(&Progress)) -> Result<Report, Error> {
    scenario.check()?;
    let targets = Arc::new(target::targets(scenario)?);
    let budget = Arc::new(Budget::new(scenario.requests));
    let schedule = Schedule::new(Instant::now(), scenario);
    let threads = scenario.threads.min(scenario.connections);
    let tallies: io::Result<Vec<Tally>> = thread::scope(|scope| {
        // Never sent on: it hangs up when the last worker is done.
        let (working, done) = mpsc::channel::<Infallible>();
        let workers: io::Result<Vec<_>> = (0..threads)
            .map(|number| {
                let (working, budget, targets) = (working.clone(), Arc::clone(&budget), &targets);
                thread::Builder::new().name(format!("load-{number}")).spawn_scoped(scope, move || {
                    let _working = working;
                    work(scenario, targets, schedule, budget, (number, threads))
                })
            })
            .collect();
        drop(working);
        while done.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            tell(&progress(schedule, &budget));
        }
        workers?
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|_| Err(io::Error::other("a worker panicked"))))
            .collect()
    });
    let mut tally = Tally::new(schedule.measure_from);
    for part in tallies.map_err(Error::System)? {
        tally.merge(&part);
    }
    Ok(Report::new(scenario, &tally, measured(schedule, &tally)))
}

/// The time measured: all of it, or until the last answer where the number of requests ended the run.
fn measured(schedule: Schedule, tally: &Tally) -> Duration {
    let ended =
        if Instant::now() >= schedule.end { schedule.end } else { tally.last.unwrap_or(schedule.end) };
    ended.saturating_duration_since(schedule.measure_from)
}

fn progress(schedule: Schedule, budget: &Budget) -> Progress {
    let now = Instant::now();
    let elapsed = now.saturating_duration_since(schedule.start);
    let whole = schedule.end.saturating_duration_since(schedule.start);
    let answered = budget.answered();
    let by_number = budget.limit.map_or(0.0, |limit| answered as f64 / limit as f64);
    let by_time = elapsed.as_secs_f64() / whole.as_secs_f64();
    let phase = if now < schedule.measure_from { Phase::WarmUp } else { Phase::Measuring };
    Progress { phase, answered, elapsed, share: by_time.max(by_number).min(1.0) }
}
