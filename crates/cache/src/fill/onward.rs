//! Onward: the rest of an answer for a reader whom a fill has left behind. The origin is asked once more; where it says
//! the same from the first byte on, the reader gets what follows, and else sees that the answer breaks off.
//!
//! Not by a range: few answers of unknown length have a strong validator, and those that have none can be trusted as
//! well once their beginning has been compared.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_RANGE, CONTENT_TYPE, ETAG, LAST_MODIFIED};
use http_body::{Body as _, Frame};
use message::{Body, Call, Error, Kind, Request, Response, Result};

use crate::below;
use crate::fill::ArrivingHead;
use crate::fill::beginning::Beginning;
use crate::request::prepare::remove_conditions;

type Asking = Pin<Box<dyn Future<Output = Result<Response>>>>;

/// How to ask for the answer once more.
pub(crate) struct Again(Box<dyn FnOnce() -> Asking>);

impl Again {
    /// `request`: as the origin got it.
    pub(crate) fn new<C: Call>(call: &C, request: &Request) -> Self {
        let (call, mut request) = (call.clone(), request.again());
        remove_conditions(&mut request);
        Again(Box::new(move || Box::pin(async move { below::ask(&call, request).await })))
    }
}

/// See the module.
pub(crate) struct Onward {
    step: Step,
    had: Beginning,
}

enum Step {
    Asking { asking: Asking, head: Arc<ArrivingHead> },
    Comparing { body: Body, seen: Beginning },
    Giving(Body),
}

impl Onward {
    /// `had`: what the reader has had of the answer with this head.
    pub(crate) fn new(again: Again, head: Arc<ArrivingHead>, had: Beginning) -> Self {
        Onward { step: Step::Asking { asking: again.0(), head }, had }
    }

    pub(crate) fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>>>> {
        loop {
            match &mut self.step {
                Step::Asking { asking, head } => {
                    let response = ready!(asking.as_mut().poll(cx))?;
                    if !is_same(head, &response) {
                        return Poll::Ready(Some(Err(changed())));
                    }
                    self.step = Step::Comparing { body: response.body, seen: self.had.anew() };
                }
                Step::Comparing { body, seen } => {
                    let left = self.had.length() - seen.length();
                    if left == 0 {
                        if !seen.is_same(&self.had) {
                            return Poll::Ready(Some(Err(changed())));
                        }
                        self.step = Step::Giving(std::mem::take(body));
                        continue;
                    }
                    let frame = ready!(Pin::new(&mut *body).poll_frame(cx)).transpose()?;
                    let Some(Ok(mut data)) = frame.map(Frame::into_data) else {
                        return Poll::Ready(Some(Err(changed())));
                    };
                    seen.push(&data.split_to(data.len().min(left as usize)));
                    if !data.is_empty() {
                        if !seen.is_same(&self.had) {
                            return Poll::Ready(Some(Err(changed())));
                        }
                        self.step = Step::Giving(std::mem::take(body));
                        return Poll::Ready(Some(Ok(Frame::data(data))));
                    }
                }
                Step::Giving(body) => return Pin::new(body).poll_frame(cx),
            }
        }
    }
}

/// Whether both heads describe the same content, as far as they say.
fn is_same(head: &ArrivingHead, response: &Response) -> bool {
    let draft = &head.draft;
    draft.status == response.status
        && [ETAG, LAST_MODIFIED, CONTENT_TYPE, CONTENT_ENCODING, CONTENT_RANGE]
            .iter()
            .all(|name| draft.fields.get(name) == response.fields.get(name))
}

fn changed() -> Error {
    Error::new(Kind::BrokeOff, "the answer changed while a client read it too slowly to share it with others")
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use http::StatusCode;

    use super::*;
    use crate::sample;

    fn head() -> Arc<ArrivingHead> {
        Arc::new(ArrivingHead { draft: sample::draft(), length: None, fingerprint: None })
    }

    /// What a reader gets who has had `had`, when the origin says `anew` the second time.
    fn rest(had: &[u8], anew: Response) -> Result<Vec<u8>> {
        let mut beginning = Beginning::new();
        beginning.push(had);
        let again = Again(Box::new(|| Box::pin(std::future::ready(Ok(anew)))));
        let mut onward = Onward::new(again, head(), beginning);
        let mut cx = Context::from_waker(Waker::noop());
        let mut given = Vec::new();
        while let Poll::Ready(Some(frame)) = onward.poll_frame(&mut cx) {
            given.extend_from_slice(frame?.data_ref().expect("content"));
        }
        Ok(given)
    }

    fn response(content: &'static [u8]) -> Response {
        let body = Bytes::from_static(content).into();
        Response { body, fields: sample::fields(), ..Response::new(StatusCode::OK) }
    }

    #[test]
    fn what_begins_as_before_goes_on_where_the_reader_was() {
        assert_eq!(rest(b"one", response(b"one two")).unwrap(), b" two");
        assert_eq!(rest(b"", response(b"one two")).unwrap(), b"one two");
        assert_eq!(rest(b"one", response(b"one")).unwrap(), b"");
    }

    #[test]
    fn what_begins_otherwise_breaks_off() {
        for anew in [response(b"two one"), response(b"on"), response(b"")] {
            rest(b"one", anew).unwrap_err();
        }
        let mut other = response(b"one two");
        other.fields.insert(ETAG, http::HeaderValue::from_static("\"2\""));
        rest(b"one", other).unwrap_err();
        rest(b"one", Response { status: StatusCode::BAD_GATEWAY, ..response(b"one two") }).unwrap_err();
    }
}
