//! End: where a request ends on one core: an origin, a read, or many calls. Behind a cache policy or without.

use message::{Call, Request, Response, Result};
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
    async fn call(&self, request: Request) -> Result<Response> {
        match self {
            End::Http(http) => http.send(request).await,
            // Boxed, so that requests to origins do not carry its memory about.
            End::Read(read) => Box::pin(read.call(request)).await,
            End::Compose(composed) => Box::pin(composed.call(request)).await,
        }
    }
}
