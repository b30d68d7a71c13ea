//! Queue: calls that wait for their turn instead of being refused, shared by all cores. In: a call, and whoever says whether it may
//! go. Out: what that has given it, or that it has waited in vain. Used by `limit`, `learn` and
//! `concurrency`.

use std::num::{IntErrorKind, ParseIntError};
use std::sync::Arc;
use std::time::Duration;

use expression::{Context, Template};
use guard::{Admission, SharedLines};
use message::{RequestView, Trip};
use tokio::time::Instant;

use crate::remedies::outcomes::Outcome;
use crate::stack::explain::{Then, Told, spoken};

/// See the module.
#[derive(Debug)]
pub(crate) struct Queue {
    rule: plan::Queue,
    lines: Arc<SharedLines>,
}

/// Why a call that waited may not go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InVain {
    /// Too many wait.
    Full,
    /// It has waited as long as it may, would have to wait longer, or made room for a better one.
    Late,
}

impl From<InVain> for Outcome {
    fn from(in_vain: InVain) -> Self {
        match in_vain {
            InVain::Full => Outcome::Refused,
            InVain::Late => Outcome::Late,
        }
    }
}

impl Queue {
    pub(crate) fn new(rule: plan::Queue) -> Self {
        Queue { lines: SharedLines::new(rule.size), rule }
    }

    /// What [`wake`](SharedLines::wake) is to be said to.
    pub(crate) fn lines(&self) -> &Arc<SharedLines> {
        &self.lines
    }

    /// Whether nobody waits for what this key stands for, so that a newcomer overtakes nobody.
    pub(crate) fn is_empty(&self, key: &[u8]) -> bool {
        self.lines.is_empty(key)
    }

    /// What becomes of a call that may not go sooner than this, for people. `within`: what timeouts leave; `status`: what it is refused
    /// with in vain.
    pub(crate) fn explain(&self, key: &[u8], least: Duration, within: Option<Duration>, status: u16) -> Told {
        let longest = within.map_or(self.rule.wait, |within| within.min(self.rule.wait));
        let (before, most) = (self.lines.waiting_for(key), spoken(longest));
        if least > longest {
            let least = spoken(least);
            let told =
                format!("refused with {status}: its turn would come in {least}, and it waits {most} at most");
            return Told::new(told, Then::Refused);
        }
        let least = if least.is_zero() { String::new() } else { format!("{} at least, ", spoken(least)) };
        Told::new(format!("waits for its turn, {least}{most} at most, {before} before it"), Then::Waits)
    }

    /// How many wait.
    pub(crate) fn waiting(&self) -> usize {
        self.lines.waiting()
    }

    /// Waits until the first in line is this one and is admitted. Notes in the trip how long that took. Nobody waits beyond the
    /// trip's deadline either: here that says nothing of the source, which was not asked, so it is not left to `under_way`.
    ///
    /// # Errors
    /// It may not go.
    pub(crate) async fn turn<T>(
        &self,
        key: &[u8],
        request: &RequestView<'_>,
        names: &[Option<Box<str>>],
        trip: &mut Trip,
        admit: impl FnMut(std::time::Instant) -> Admission<T>,
    ) -> Result<T, InVain> {
        let began = Instant::now();
        let context = Context::of_request(request, names);
        let priority = self.rule.priority.as_ref().map_or(0, |priority| number(&context, priority));
        let mut group = Vec::new();
        if let Some(fair) = &self.rule.fair {
            fair.write(&context, &mut group);
        }
        let longest = began + self.rule.wait;
        let until = trip.deadline.map_or(longest, |deadline| deadline.at.min(longest));
        let waiting = self.lines.join(key, priority, &group, until);
        let turn = match waiting {
            Ok(waiting) => waiting.admitted(admit).await.map_err(|_| InVain::Late),
            Err(_) => Err(InVain::Full),
        };
        trip.queued = Some(trip.queued.unwrap_or(Duration::ZERO) + began.elapsed());
        turn
    }
}

/// A whole number, as far as it can be told apart; what is none is zero.
fn number(context: &Context<'_>, template: &Template) -> i32 {
    let mut text = Vec::new();
    if !template.write(context, &mut text) {
        return 0;
    }
    std::str::from_utf8(&text).map_or(0, |text| whole(text.trim()))
}

fn whole(text: &str) -> i32 {
    text.parse().unwrap_or_else(|error: ParseIntError| match error.kind() {
        IntErrorKind::PosOverflow => i32::MAX,
        IntErrorKind::NegOverflow => i32::MIN,
        _ => 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_priority_that_is_too_large_is_the_highest() {
        for (text, priority) in [
            ("7", 7),
            ("-7", -7),
            ("2147483647", i32::MAX),
            ("2147483648", i32::MAX),
            ("1795443836000", i32::MAX),
            ("99999999999999999999999999", i32::MAX),
            ("-99999999999999999999999999", i32::MIN),
            ("", 0),
            ("1.5", 0),
            ("high", 0),
        ] {
            assert_eq!(whole(text), priority, "{text}");
        }
    }
}
