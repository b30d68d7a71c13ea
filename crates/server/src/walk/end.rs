//! End: where a request ends on one core: an origin, a read, many calls, or before any of them. Behind a cache policy or without.

use std::future::ready;

use futures_util::future::Either;
use message::{Call, Error, Kind, Request, RequestView, Response, Result, Timestamp, Trip};
use plan::StatusForm;
use policy::{AtHand, Fresh};
use response::Saying;
use source::{HttpSource, ReadSource};

use crate::walk::composed::Composed;

/// See the module. Clones share pools and connections.
#[derive(Clone)]
pub(crate) enum End {
    Http(HttpSource),
    Read(ReadSource),
    Compose(Composed),
    /// The route's innermost layer answers; nothing comes here.
    Respond,
}

impl policy::End for End {
    fn holds(&self) -> bool {
        matches!(self, End::Read(read) if read.holds())
    }

    fn fresh(
        &self,
        request: &RequestView<'_>,
        now: Timestamp,
        at_hand: &AtHand<'_>,
        out: &mut Vec<u8>,
    ) -> Option<Fresh> {
        let End::Read(read) = self else { return None };
        let fresh = read.fresh(request, now, &mut at_hand.reads.borrow_mut())?;
        fresh.write_head(now, out);
        out.extend_from_slice(b"date: ");
        listener::write_date(out);
        out.extend_from_slice(b"\r\n");
        if let Some(status) = &fresh.cache {
            Saying { form: StatusForm::Field, id: at_hand.cache_id }.write(status, out);
        }
        let content = fresh.content(request.method);
        Some(Fresh { status: fresh.status(), cache: fresh.cache, content })
    }
}

impl Call for End {
    /// Not `async` itself: a future that only wraps another would hold the request once more.
    fn call<'a>(&'a self, request: Request, trip: &'a mut Trip) -> impl Future<Output = Result<Response>> {
        match self {
            End::Http(http) => Either::Left(http.call(request, trip)),
            // Boxed, so that requests to origins do not carry its memory about.
            End::Read(read) => Either::Right(Either::Left(Box::pin(read.call(request, trip)))),
            End::Compose(composed) => {
                Either::Right(Either::Right(Either::Left(Box::pin(composed.call(request, trip)))))
            }
            End::Respond => {
                let error = Error::new(Kind::Internal, "the route's own layer has let a request pass");
                Either::Right(Either::Right(Either::Right(ready(Err(error)))))
            }
        }
    }
}
