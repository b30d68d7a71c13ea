//! Call: a request in, a response out. A source is a call that ends it; a policy wraps one.

use std::future::Future;

use crate::{Ask, Request, Result, Trip};

/// Something that can answer on this core what is asked: a request, or a step's bound call. Clones are cheap and share pools
/// and state.
pub trait Call<Q: Ask = Request>: Clone + 'static {
    /// Sends it on and gives the final answer, whose body may still be arriving. What happened on the way is written into
    /// `trip`, also where there is no answer.
    fn call<'a>(&'a self, ask: Q, trip: &'a mut Trip) -> impl Future<Output = Result<Q::Answer>>;
}
