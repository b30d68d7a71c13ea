//! Readiness: whether requests should be sent here now. Told by `server`, asked by `/readyz`.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;

/// Ready is what has started, is not draining, and passes every check.
#[derive(Debug, Default)]
pub struct Readiness {
    started: AtomicBool,
    draining: AtomicBool,
    checks: Mutex<Vec<Check>>,
}

/// A condition of being ready: a source has a healthy target, for one.
pub struct Check {
    name: String,
    /// Requests can be served without it, if only more slowly.
    is_dispensable: bool,
    ask: Box<dyn Fn() -> Result<(), String> + Send + Sync>,
}

impl Check {
    /// A named condition; `ask` says at once, without blocking, whether it holds, and if not, what is missing.
    pub fn new(
        name: impl Into<String>,
        ask: impl Fn() -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        Check { name: name.into(), is_dispensable: false, ask: Box::new(ask) }
    }

    /// The same for what requests can be served without: it is told, and we are ready all the same.
    pub fn dispensable(
        name: impl Into<String>,
        ask: impl Fn() -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        Check { is_dispensable: true, ..Check::new(name, ask) }
    }
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Check").field(&self.name).finish()
    }
}

/// What one condition came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The condition's name.
    pub check: String,
    /// What is missing; `None`: nothing.
    pub missing: Option<String>,
    /// Requests can be served without it.
    #[serde(skip)]
    pub is_dispensable: bool,
}

/// What all conditions came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// `started` and `serving` first, then the checks in their order.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Whether nothing is missing.
    pub fn is_ready(&self) -> bool {
        self.missing().next().is_none()
    }

    /// The conditions that must hold and do not.
    pub fn missing(&self) -> impl Iterator<Item = &Finding> {
        self.failing(false)
    }

    /// The conditions that do not hold, and need not.
    pub fn degraded(&self) -> impl Iterator<Item = &Finding> {
        self.failing(true)
    }

    fn failing(&self, is_dispensable: bool) -> impl Iterator<Item = &Finding> {
        let fails =
            move |finding: &&Finding| finding.missing.is_some() && finding.is_dispensable == is_dispensable;
        self.findings.iter().filter(fails)
    }
}

impl Readiness {
    /// Neither started nor draining, without checks.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// All listeners are open: from now on ready, as far as the checks say so.
    pub fn set_started(&self) {
        self.started.store(true, Ordering::Release);
    }

    /// Shutting down: never ready again.
    pub fn set_draining(&self) {
        self.draining.store(true, Ordering::Release);
    }

    /// Whether [`set_draining`](Self::set_draining) was called.
    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }

    /// The checks from now on, in place of those before; a reload brings others.
    pub fn set_checks(&self, checks: impl IntoIterator<Item = Check>) {
        let checks = checks.into_iter().collect();
        *self.checks() = checks;
    }

    /// Asks everything.
    pub fn report(&self) -> Report {
        let started = self.started.load(Ordering::Acquire);
        let mut findings = vec![
            finding("started", if started { Ok(()) } else { Err("still starting".to_owned()) }),
            finding("serving", if self.is_draining() { Err("shutting down".to_owned()) } else { Ok(()) }),
        ];
        findings.extend(self.checks().iter().map(|check| Finding {
            is_dispensable: check.is_dispensable,
            ..finding(&check.name, (check.ask)())
        }));
        Report { findings }
    }

    fn checks(&self) -> MutexGuard<'_, Vec<Check>> {
        self.checks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn finding(check: &str, outcome: Result<(), String>) -> Finding {
    Finding { check: check.to_owned(), missing: outcome.err(), is_dispensable: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(readiness: &Readiness) -> Vec<String> {
        readiness.report().missing().map(|finding| finding.check.clone()).collect()
    }

    #[test]
    fn ready_from_start_to_drain() {
        let readiness = Readiness::new();
        assert_eq!(missing(&readiness), ["started"]);
        readiness.set_started();
        assert!(readiness.report().is_ready());
        readiness.set_draining();
        assert_eq!(missing(&readiness), ["serving"]);
        assert!(readiness.is_draining());
    }

    #[test]
    fn every_check_must_pass_and_a_reload_replaces_them() {
        let readiness = Readiness::new();
        readiness.set_started();
        let healthy = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&healthy);
        let ask = move || {
            if asked.load(Ordering::Relaxed) { Ok(()) } else { Err("no healthy target".to_owned()) }
        };
        readiness.set_checks([Check::new("source api", ask), Check::new("source other", || Ok(()))]);
        let report = readiness.report();
        assert!(!report.is_ready());
        let found = report.missing().next().unwrap();
        assert_eq!(
            (found.check.as_str(), found.missing.as_deref()),
            ("source api", Some("no healthy target"))
        );
        assert_eq!(report.findings.len(), 4);

        healthy.store(true, Ordering::Relaxed);
        assert!(readiness.report().is_ready());
        readiness.set_checks([]);
        assert_eq!(readiness.report().findings.len(), 2);
    }

    #[test]
    fn it_is_shared_between_threads() {
        fn assert_shared<T: Send + Sync>() {}
        assert_shared::<Readiness>();
    }
}
