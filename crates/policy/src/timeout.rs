//! Timeout: the layer that gives a call up when it takes too long. One stands around all tries and one around each of them;
//! what lies below reads in the trip by when it must be done. The time runs from when the request has been sent: how long a
//! client takes for its content is no fault of the source, and is watched by the listener.

use std::pin::pin;
use std::time::Duration;

use message::{Ask, Call, Error, Kind, Result, Retry, Trip};
use tokio::time::Instant;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct TimeoutLayer {
    /// How long what lies below may take.
    pub within: Duration,
}

impl TimeoutLayer {
    pub(crate) async fn call<Q: Ask>(
        self,
        mut ask: Q,
        below: impl Call<Q>,
        trip: &mut Trip,
    ) -> Result<Q::Answer> {
        if let Some(sent) = ask.content_sent() {
            let mut call = pin!(below.call(ask, trip));
            tokio::select! {
                biased;
                outcome = &mut call => return outcome,
                () = sent => {}
            }
            return tokio::time::timeout(self.within, call).await.unwrap_or_else(|_| Err(self.late()));
        }
        let own = Instant::now() + self.within;
        let before = trip.deadline;
        trip.deadline = Some(before.map_or(own, |before| before.min(own)));
        let outcome = tokio::time::timeout_at(own, below.call(ask, trip)).await;
        trip.deadline = before;
        outcome.unwrap_or_else(|_| Err(self.late()))
    }

    /// Whoever asks may ask again where that does no harm: nobody knows how far the call got.
    fn late(self) -> Error {
        Error::new(Kind::SourceTimeout, format!("not done within {:?}", self.within))
            .retry(Retry::IfIdempotent)
    }
}
