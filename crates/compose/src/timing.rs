//! Timing: what each step of a request did, and when. Noted by `step`; read by `respond` and by `explain --live`.

use std::time::Duration;

use message::Error;

/// One step, once it has ended.
#[derive(Clone, Debug)]
pub struct Took {
    /// What it is called; inside of another step with that one's name before it.
    pub name: Box<str>,
    /// From the beginning of the request to that of the step.
    pub started: Duration,
    /// How long it took.
    pub took: Duration,
    /// How it ended.
    pub outcome: Outcome,
}

/// How a step ended.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It gave a value.
    Given,
    /// It was left out: its `when` did not hold.
    LeftOut,
    /// What it gave last stands in.
    Stale,
    /// It failed; what `on_error` says stands in, or nothing.
    Failed(Error),
}

impl Took {
    /// Why the response is not complete because of it, in one word; `None`: it is.
    pub fn failure(&self) -> Option<&'static str> {
        match &self.outcome {
            Outcome::Given | Outcome::LeftOut => None,
            Outcome::Stale => Some("stale"),
            Outcome::Failed(error) => Some(error.kind().word()),
        }
    }

    /// Whether it stands inside of another step.
    pub(crate) fn is_inside(&self) -> bool {
        self.name.contains('/')
    }
}
