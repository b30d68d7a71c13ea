//! Timeout: the layer that gives a call up when it takes too long. One stands around all tries and one around each of them.
//!
//! It does not wait itself but hands a deadline down in the trip. Whatever below it waits for somebody heeds that, so that
//! several timeouts cost one timer (see `under_way`), and a retry knows whether another try is worth it. The time runs from
//! when the request has been sent: how long a client takes for its content is no fault of the source, and is watched by the
//! listener.

use std::pin::pin;
use std::time::Duration;

use message::{Ask, Call, Deadline, Result, Trip};

use crate::stack::around::{Arrival, Moment};
use crate::stack::under_way::late;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct TimeoutLayer {
    /// How long what lies below may take.
    pub within: Duration,
}

impl TimeoutLayer {
    /// Begins now: what lies below has no more time than this. Where content is still being sent, it begins after that.
    pub(crate) fn arrive<Q: Ask>(self, ask: &Q, trip: &mut Trip, moment: &Moment) -> Arrival<Q::Answer> {
        if ask.is_sending() {
            return Arrival::Wait;
        }
        let own = Deadline { at: moment.now() + self.within, within: self.within };
        if trip.deadline.is_none_or(|outer| own.at < outer.at) {
            trip.deadline = Some(own);
        }
        Arrival::Pass
    }

    /// Begins when the content has been sent, which nobody knows beforehand.
    pub(crate) async fn call<Q: Ask>(
        self,
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
        tokio::time::timeout(self.within, call).await.unwrap_or_else(|_| Err(late(self.within)))
    }
}
