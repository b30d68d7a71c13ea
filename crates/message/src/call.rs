//! Call: a request in, a response out. A source is a call that ends it; a policy wraps one.

use std::future::Future;

use crate::{Request, Response, Result};

/// Something that can answer a request on this core. Clones are cheap and share pools and state.
pub trait Call: Clone + 'static {
    /// Sends the request on and gives the final answer, whose body may still be arriving.
    fn call(&self, request: Request) -> impl Future<Output = Result<Response>>;
}
