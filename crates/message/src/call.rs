//! Call: a request in, a response out. A source is a call that ends it; a policy wraps one.

use std::future::Future;

use crate::{Request, Response, Result, Trip};

/// Something that can answer a request on this core. Clones are cheap and share pools and state.
pub trait Call: Clone + 'static {
    /// Sends the request on and gives the final answer, whose body may still be arriving. What happened on the way is
    /// written into `trip`, also where there is no answer.
    fn call<'a>(&'a self, request: Request, trip: &'a mut Trip) -> impl Future<Output = Result<Response>>;
}
