//! Together: a call that counts against a limit which all instances share: asks, waits for its turn where there is a queue, and tells
//! what came of it. The line is that of this instance: its first asks, and again when it was told that it may.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use guard::{Admission, LimitDecision};
use message::{Ask, Error, Kind, Result, Trip};
use redis_link::Link;

use super::LimitLayer;
use super::joint::{JointLimit, Said};
use crate::remedies::outcomes::Outcome;
use crate::remedies::queue::{InVain, Queue};

/// Whoever was refused asks again no sooner, however soon it may.
const PAUSE: Duration = Duration::from_millis(1);

/// What a call asks, each time anew.
struct Question<'a> {
    joint: &'a JointLimit,
    link: &'a Link,
    key: &'a [u8],
}

impl Question<'_> {
    async fn ask(&self) -> Said {
        self.joint.take(self.link, self.key).await
    }
}

/// Why a call that waited may not go, and what it was told last.
struct Vain {
    in_vain: InVain,
    last: LimitDecision,
}

impl LimitLayer {
    /// Counts a call, or waits until it may be counted.
    pub(super) async fn count_together<Q: Ask>(
        &self,
        joint: &JointLimit,
        key: &[u8],
        ask: &Q,
        trip: &mut Trip,
    ) -> Result<()> {
        let link = self.link.as_ref().expect("whoever makes a layer gives it a way to where it counts");
        let question = Question { joint, link, key };
        let Some(queue) = &self.limited.queue else { return self.settle(question.ask().await, trip) };
        let mut refused = None;
        // Whoever waits comes first.
        if queue.is_empty(key) {
            let said = question.ask().await;
            refused = said.refused();
            if refused.is_none() {
                return self.settle(said, trip);
            }
        }
        match self.turn(&question, queue, refused, ask, trip).await {
            Ok(said) => {
                self.outcomes.count(Outcome::Queued);
                self.settle(said, trip)
            }
            Err(Vain { in_vain, last }) => Err(self.refuse(&last, in_vain.into(), trip)),
        }
    }

    fn settle(&self, said: Said, trip: &mut Trip) -> Result<()> {
        match said {
            Said::Together(decision) | Said::Alone(decision) if !decision.is_allowed => {
                Err(self.refuse(&decision, Outcome::Refused, trip))
            }
            Said::Together(decision) => {
                self.tell(&decision, trip);
                Ok(())
            }
            Said::Alone(decision) => {
                self.outcomes.count(Outcome::Local);
                self.tell(&decision, trip);
                Ok(())
            }
            Said::Uncounted => {
                self.outcomes.count(Outcome::Uncounted);
                Ok(())
            }
            Said::Unavailable => {
                self.outcomes.count(Outcome::Unavailable);
                let name = &self.limited.rule.name;
                let detail = format!("policy {name}: the shared limit cannot be counted");
                Err(Error::new(Kind::LimitUnavailable, detail))
            }
        }
    }

    /// Waits until this one is the first in line and something else is said of it than that it is too early.
    async fn turn<Q: Ask>(
        &self,
        question: &Question<'_>,
        queue: &Queue,
        refused: Option<LimitDecision>,
        ask: &Q,
        trip: &mut Trip,
    ) -> std::result::Result<Said, Vain> {
        let (request, names) = ask.read_by_policies(&self.names);
        let waker = RefCell::new(Waker::noop().clone());
        let last = Cell::new(refused);
        let mut may_ask = refused.and_then(|decision| Instant::now().checked_add(decision.retry_after));
        let mut asking: Option<Pin<Box<dyn Future<Output = Said> + '_>>> = None;
        // The line asks without waiting, so the question goes on from poll to poll.
        let admit = |now: Instant| loop {
            if let Some(wait) =
                may_ask.and_then(|at| at.checked_duration_since(now)).filter(|it| !it.is_zero())
            {
                return Admission::In(wait);
            }
            let asked = asking.get_or_insert_with(|| Box::pin(question.ask()));
            let Poll::Ready(said) = asked.as_mut().poll(&mut Context::from_waker(&waker.borrow())) else {
                return Admission::WhenTold;
            };
            asking = None;
            let Some(decision) = said.refused() else { return Admission::Taken(said) };
            last.set(Some(decision));
            may_ask = now.checked_add(decision.retry_after.max(PAUSE));
            if may_ask.is_none() {
                return Admission::In(Duration::MAX);
            }
        };
        let mut turn = pin!(queue.turn(question.key, &request, names, trip, admit));
        let turn = poll_fn(|cx| {
            waker.borrow_mut().clone_from(cx.waker());
            turn.as_mut().poll(cx)
        });
        turn.await
            .map_err(|in_vain| Vain { in_vain, last: last.get().unwrap_or_else(|| question.joint.unasked()) })
    }
}
