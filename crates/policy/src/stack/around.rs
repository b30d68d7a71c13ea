//! Around: what a layer does where a call passes it: before it goes down, without waiting for anything, and after its answer
//! has come up. In: the call. Out: whether it goes on, and what the layer holds until the call has ended. Used by `stack`.
//!
//! Layers that only do this need no future of their own: those that follow each other share one, and where none of them
//! holds anything, there is none.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use guard::LearntCall;
use message::{Ask, Result, Trip};
use tokio::time::Instant;

use crate::remedies::accounts::AccountInUse;
use crate::remedies::breaker::Watched;
use crate::remedies::concurrency::UnderWayCall;
use crate::remedies::cors::HeldCors;
use crate::remedies::credentials::SharedCredentials;
use crate::remedies::headers::HeldHeaders;
use crate::remedies::learn::hear;
use crate::remedies::rewrite::HeldRewrite;

/// When a call arrives at layers that follow each other. The first of them that asks reads the clock: to read it takes as
/// long as most of them take.
#[derive(Debug, Default)]
pub(crate) struct Moment(Cell<Option<Instant>>);

impl Moment {
    pub(crate) fn now(&self) -> Instant {
        let now = self.0.get().unwrap_or_else(Instant::now);
        self.0.set(Some(now));
        now
    }
}

/// What a layer says of a call that arrives.
pub(crate) enum Arrival<A> {
    /// It goes on, and the layer has nothing more to do with it.
    Pass,
    /// It goes on; the layer holds this until the call has ended, however it ends.
    Hold(Held),
    /// It goes on, and must be done by then; it was given so long.
    By(Instant, Duration),
    /// It does not go on.
    End(Result<A>),
    /// The layer has to wait for somebody first: it needs a future of its own.
    Wait,
}

/// What a layer holds while a call is under way. Dropped where the call is cancelled.
pub(crate) enum Held {
    /// A breaker waits for what comes of it.
    Breaker(Watched),
    /// What the source says of its limits is listened to.
    Learnt(LearntCall),
    /// The call is under way until its answer has been handed on.
    UnderWay(UnderWayCall),
    /// What the call carried is taken out of its response.
    Credentials(Arc<SharedCredentials>),
    /// The account that the call uses.
    Account(AccountInUse),
    /// What the response's fields are changed by.
    Headers(Box<HeldHeaders>),
    /// How paths in the response are mended.
    Rewrite(Box<HeldRewrite>),
    /// Which page may read the response.
    Cors(Box<HeldCors>),
}

impl Held {
    /// The call has ended: the layer is told how, and may change it.
    pub(crate) fn end<Q: Ask>(self, outcome: &mut Result<Q::Answer>, trip: &mut Trip) {
        match self {
            Held::Breaker(watched) => watched.end::<Q>(outcome, trip),
            Held::Learnt(call) => hear::<Q>(call, outcome, trip),
            Held::UnderWay(call) => call.end::<Q>(outcome, trip),
            Held::Credentials(credentials) => credentials.end::<Q>(outcome),
            Held::Account(account) => account.end::<Q>(outcome, trip),
            Held::Headers(held) => held.end::<Q>(outcome, trip),
            Held::Rewrite(held) => held.end::<Q>(outcome),
            Held::Cors(held) => held.end::<Q>(outcome),
        }
    }
}
