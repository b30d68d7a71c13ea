//! End: where a request ends on one core: an origin, a read, or many calls. Behind a cache policy or without.

use futures_util::future::Either;
use message::{Call, Request, Response, Result, Trip};
use source::{HttpSource, ReadSource};

use crate::walk::composed::Composed;

/// See the module. Clones share pools and connections.
#[derive(Clone)]
pub(crate) enum End {
    Http(HttpSource),
    Read(ReadSource),
    Compose(Composed),
}

impl End {
    /// The read that it is.
    pub(crate) fn read(&self) -> Option<&ReadSource> {
        match self {
            End::Http(_) | End::Compose(_) => None,
            End::Read(read) => Some(read),
        }
    }
}

impl Call for End {
    /// Not `async` itself: a future that only wraps another would hold the request once more.
    fn call(&self, request: Request, trip: &mut Trip) -> impl Future<Output = Result<Response>> {
        match self {
            End::Http(http) => Either::Left(http.call(request, trip)),
            // Boxed, so that requests to origins do not carry its memory about.
            End::Read(read) => Either::Right(Either::Left(Box::pin(read.call(request, trip)))),
            End::Compose(composed) => Either::Right(Either::Right(Box::pin(composed.call(request, trip)))),
        }
    }
}
