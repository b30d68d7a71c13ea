//! Worker: one thread with its runtime and its share of the clients. Started by `run`; gives back its tally.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use http::Method;
use tokio::runtime::{Builder, LocalOptions};

use crate::client::Client;
use crate::tally::Tally;
use crate::target::Target;
use crate::{Scenario, Think};

/// When what happens in a run. The same for every worker.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    pub(crate) start: Instant,
    /// Requests sent before it are the warm-up.
    pub(crate) measure_from: Instant,
    pub(crate) end: Instant,
    /// For each request.
    pub(crate) timeout: Duration,
}

impl Schedule {
    pub(crate) fn new(start: Instant, scenario: &Scenario) -> Self {
        let measure_from = start + scenario.warm_up;
        Schedule { start, measure_from, end: measure_from + scenario.duration, timeout: scenario.timeout }
    }
}

/// How many requests may still be sent, and how many have been answered. Shared by all workers.
#[derive(Debug)]
pub(crate) struct Budget {
    pub(crate) limit: Option<u64>,
    sent: AtomicU64,
    answered: AtomicU64,
}

impl Budget {
    pub(crate) fn new(limit: Option<u64>) -> Self {
        Budget { limit, sent: AtomicU64::new(0), answered: AtomicU64::new(0) }
    }

    /// Requests answered so far, warm-up aside.
    pub(crate) fn answered(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }

    pub(crate) fn count_answer(&self) {
        self.answered.fetch_add(1, Ordering::Relaxed);
    }

    fn take(&self) -> bool {
        self.limit.is_none_or(|limit| self.sent.fetch_add(1, Ordering::Relaxed) < limit)
    }

    fn is_spent(&self) -> bool {
        self.limit.is_some_and(|limit| self.sent.load(Ordering::Relaxed) >= limit)
    }
}

/// A request that may be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticket {
    /// False in the warm-up.
    pub(crate) measured: bool,
    /// When to give up on it.
    pub(crate) deadline: Instant,
    /// Whether the end of the run comes before the request's own timeout.
    pub(crate) ends_with_the_run: bool,
}

/// What the clients of one thread share.
pub(crate) struct Worker {
    pub(crate) schedule: Schedule,
    pub(crate) budget: Arc<Budget>,
    pub(crate) method: Method,
    /// Of the whole scenario.
    pub(crate) connections: usize,
    pub(crate) think: Option<Think>,
    pub(crate) tally: RefCell<Tally>,
}

impl Worker {
    /// Whether, at this moment, one more request may be sent.
    pub(crate) fn admit(&self, now: Instant) -> Option<Ticket> {
        let Schedule { measure_from, end, timeout, .. } = self.schedule;
        let measured = now >= measure_from;
        let admitted = if measured { now < end && self.budget.take() } else { !self.budget.is_spent() };
        let own_deadline = now + timeout;
        let ends_with_the_run = own_deadline >= end;
        let deadline = if ends_with_the_run { end } else { own_deadline };
        admitted.then_some(Ticket { measured, deadline, ends_with_the_run })
    }
}

/// Runs every `step`th client of the scenario, beginning with `first`, until the schedule or the budget ends.
pub(crate) fn work(
    scenario: &Scenario,
    targets: &Arc<Vec<Target>>,
    schedule: Schedule,
    budget: Arc<Budget>,
    (first, step): (usize, usize),
) -> io::Result<Tally> {
    let runtime =
        Builder::new_current_thread().enable_io().enable_time().build_local(LocalOptions::default())?;
    let method = scenario.method.clone();
    let Scenario { connections, think, .. } = *scenario;
    let tally = RefCell::new(Tally::new(schedule.measure_from));
    let worker = Rc::new(Worker { schedule, budget, method, connections, think, tally });
    let clients = (first..connections).step_by(step);
    let running: Vec<_> = clients
        .map(|number| {
            let (worker, targets) = (Rc::clone(&worker), Arc::clone(targets));
            runtime.spawn_local(async move { Client::new(&worker, &targets, number).run().await })
        })
        .collect();
    runtime.block_on(async {
        for client in running {
            client.await.map_err(io::Error::other)?;
        }
        io::Result::Ok(())
    })?;
    let tally = worker.tally.replace(Tally::new(schedule.measure_from));
    Ok(tally)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker(scenario: &Scenario, start: Instant) -> Worker {
        Worker {
            schedule: Schedule::new(start, scenario),
            budget: Arc::new(Budget::new(scenario.requests)),
            method: Method::GET,
            connections: 1,
            think: None,
            tally: RefCell::new(Tally::new(start)),
        }
    }

    #[test]
    fn the_warm_up_is_neither_measured_nor_taken_from_the_budget() {
        let start = Instant::now();
        let second = Duration::from_secs(1);
        let scenario = Scenario { requests: Some(1), warm_up: second, ..Scenario::new("", "") };
        let worker = worker(&scenario, start);
        for _ in 0..10 {
            assert!(!worker.admit(start).expect("warm-up").measured);
        }
        assert!(worker.admit(start + second).expect("the one").measured);
        assert!(worker.admit(start + second).is_none());
        assert!(worker.admit(start).is_none(), "the budget is spent");
    }

    #[test]
    fn deadlines_are_the_timeout_or_the_end_and_never_go_backwards() {
        let start = Instant::now();
        let scenario = Scenario { timeout: Duration::from_secs(4), ..Scenario::new("", "") };
        let worker = worker(&scenario, start);
        let mut last = start;
        for second in 0..10 {
            let ticket = worker.admit(start + Duration::from_secs(second)).expect("before the end");
            assert_eq!(ticket.ends_with_the_run, second >= 6);
            assert!(ticket.deadline >= last && ticket.deadline <= start + Duration::from_secs(10));
            last = ticket.deadline;
        }
        assert!(worker.admit(start + Duration::from_secs(10)).is_none());
    }
}
