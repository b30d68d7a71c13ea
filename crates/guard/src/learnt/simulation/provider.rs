//! Provider: a limit as somebody else enforces it, and what is said of it.

use std::collections::VecDeque;
use std::time::Duration;

use crate::{Heard, HeardQuota};

/// How it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Windows follow each other.
    Fixed,
    /// In any time as long as the window.
    Sliding,
    /// A full bucket is emptied in a window.
    Bucket,
}

/// What it says when all is well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tells {
    /// Nothing.
    Nothing,
    /// Limit, what remains, and when there is more, in whole seconds, rounded up.
    More,
    /// The same, rounded down.
    MoreRoundedDown,
    /// Limit, what remains, and when it is whole, in whole seconds, rounded up.
    Whole,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Provider {
    pub(super) rule: Rule,
    pub(super) tells: Tells,
    pub(super) limit: u64,
    /// Seconds.
    pub(super) window: f64,
    /// When the first window began.
    pub(super) began: f64,
    /// Of those within a window, when they were let through. As a bucket: when each leaves it.
    pub(super) used: VecDeque<f64>,
}

/// What it answers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub(super) is_refused: bool,
    pause: Option<Duration>,
    quota: Option<HeardQuota>,
}

impl Provider {
    pub(super) fn ask(&mut self, now: f64) -> Answer {
        self.forget(now);
        let is_refused = self.used.len() as u64 >= self.limit;
        if !is_refused {
            self.used.push_back(match (self.rule, self.used.back()) {
                (Rule::Bucket, Some(last)) => last + self.window / self.limit as f64,
                (Rule::Bucket, None) => now + self.window / self.limit as f64,
                (Rule::Fixed | Rule::Sliding, _) => now,
            });
        }
        let more = self.more(now);
        let whole = match (self.rule, self.used.back()) {
            (Rule::Sliding, Some(last)) => last + self.window - now,
            (Rule::Bucket, Some(last)) => last - now,
            _ => more,
        };
        let reset = match self.tells {
            Tells::Nothing => None,
            Tells::More => Some(more.ceil()),
            Tells::MoreRoundedDown => Some(more.floor()),
            Tells::Whole => Some(whole.ceil()),
        };
        Answer {
            is_refused,
            pause: is_refused.then(|| Duration::from_secs_f64(more.ceil().max(1.0))),
            quota: reset.map(|reset| HeardQuota {
                name: 7,
                limit: Some(self.limit),
                remaining: self.limit.saturating_sub(self.used.len() as u64),
                reset: Duration::from_secs_f64(reset),
                window: None,
            }),
        }
    }

    fn forget(&mut self, now: f64) {
        let counts_from = match self.rule {
            Rule::Fixed => self.window_began(now),
            Rule::Sliding => now - self.window,
            Rule::Bucket => now,
        };
        while self.used.front().is_some_and(|at| *at <= counts_from) {
            self.used.pop_front();
        }
    }

    /// How long until one more is let through.
    fn more(&self, now: f64) -> f64 {
        match (self.rule, self.used.front()) {
            (Rule::Sliding, Some(first)) => first + self.window - now,
            (Rule::Bucket, Some(first)) => first - now,
            _ => self.window_began(now) + self.window - now,
        }
    }

    fn window_began(&self, now: f64) -> f64 {
        self.began + ((now - self.began) / self.window).floor() * self.window
    }
}

impl Answer {
    /// As it is told to whoever learns.
    pub(super) fn heard(&self) -> Heard<'_> {
        Heard { is_refused: self.is_refused, pause: self.pause, quotas: self.quota.as_slice() }
    }
}
