//! Timeout: the layer that gives a call up when it takes too long. One stands around all tries and one around each of them.
//!
//! It does not wait itself but hands a deadline down in the trip. Whatever below it waits for somebody heeds that, so that
//! several timeouts cost one timer (see `under_way`), and a retry knows whether another try is worth it. The time runs from
//! when the request has been sent: how long a client takes for its content is no fault of the source, and is watched by the
//! listener.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use message::{Ask, Call, Result, Trip};

use crate::remedies::outcomes::{Outcome, Outcomes};
use crate::stack::around::{Arrival, Moment};
use crate::stack::under_way::late;

/// See the module. One for each place and core.
#[derive(Clone, Debug)]
pub struct TimeoutLayer {
    /// How long what lies below may take.
    pub within: Duration,
    /// Calls that were given up.
    pub outcomes: Arc<Outcomes>,
}

impl TimeoutLayer {
    /// What it tells of.
    pub const OUTCOMES: &[Outcome] = &[Outcome::Late];

    /// Begins now: what lies below has no more time than this. Where content is still being sent, it begins after that.
    pub(crate) fn arrive<Q: Ask>(&self, ask: &Q, moment: &Moment) -> Arrival<Q::Answer> {
        if ask.is_sending() { Arrival::Wait } else { Arrival::By(moment.now() + self.within, self.within) }
    }

    /// Begins when the content has been sent, which nobody knows beforehand.
    pub(crate) async fn call<Q: Ask>(
        &self,
        mut ask: Q,
        below: impl Call<Q>,
        trip: &mut Trip,
    ) -> Result<Q::Answer> {
        let sent = ask.content_sent();
        let mut call = pin!(below.call(ask, trip));
        let Some(sent) = sent else { return call.await };
        tokio::select! {
            biased;
            outcome = &mut call => return outcome,
            () = sent => {}
        }
        tokio::time::timeout(self.within, call).await.unwrap_or_else(|_| {
            self.outcomes.count(Outcome::Late);
            Err(late(self.within))
        })
    }
}
