//! Ask: what a call is asked: a request, or a step's call with its arguments bound (`source`). One place says whether it may
//! be sent again, with which content, and for whom it is asked. How an answer is judged stands in `policy::verdict`.

use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};

use crate::{Body, FLEETFOOT_ERROR, Kind, Request, RequestParts, RequestView, Response, Result, Sent};

/// See the module.
pub trait Ask: Sized + 'static {
    /// What a call gives for it.
    type Answer: 'static;

    /// Whether asking twice changes no more than asking once (RFC 9110 §9.2.2).
    fn is_idempotent(&self) -> bool;

    /// Whether it only reads (RFC 9110 §9.2.1), so that something else may be given in place of its answer: to whoever writes, that
    /// would say that it has been done.
    fn is_safe(&self) -> bool;

    /// Reads its content, where that is no longer than `most` bytes, so that it can be sent again. A longer one goes on as
    /// it came.
    ///
    /// # Errors
    /// Whatever cut the content off.
    fn hold_content(&mut self, most: u64) -> impl Future<Output = Result<()>>;

    /// Whether its content is still to be read from somebody, so that nobody knows how long it takes to send.
    fn is_sending(&self) -> bool;

    /// When its content has been handed on; `None`: there is nothing to wait for.
    fn content_sent(&mut self) -> Option<Sent>;

    /// The same once more; `None`: its content cannot be sent again.
    fn once_more(&self) -> Option<Self>;

    /// What stands in for an answer: JSON that the config gives, and the word of the error that it stands in for.
    fn standing_in(json: Bytes, for_what: Kind) -> Self::Answer;

    /// Status and fields of an answer, where answers have them.
    fn head_of(answer: &Self::Answer) -> Option<(StatusCode, &HeaderMap)>;

    /// The request, where it is one.
    fn request_mut(&mut self) -> Option<&mut Request>;

    /// The response that an answer is, where it is one.
    fn response_mut(answer: &mut Self::Answer) -> Option<&mut Response>;

    /// An answer that is this response, where answers are responses.
    fn answered(response: Response) -> Option<Self::Answer>;

    /// The request that expressions of policies read, and what its route calls the segments of its path; `here`: what the
    /// place of the policy calls them.
    fn read_by_policies<'a>(
        &'a self,
        here: &'a [Option<Box<str>>],
    ) -> (RequestView<'a>, &'a [Option<Box<str>>]);
}

/// The request of a client for which something else is asked.
#[derive(Debug)]
pub struct OnBehalf {
    /// The request, without its content.
    pub parts: Rc<RequestParts>,
    /// What its route calls the segments of its path.
    pub names: Arc<[Option<Box<str>>]>,
}

impl Ask for Request {
    type Answer = Response;

    fn is_idempotent(&self) -> bool {
        self.view().is_idempotent()
    }

    fn is_safe(&self) -> bool {
        self.view().is_safe()
    }

    async fn hold_content(&mut self, most: u64) -> Result<()> {
        if matches!(self.body, Body::Empty) {
            return Ok(());
        }
        self.body = match std::mem::take(&mut self.body).within(most).await? {
            Ok(content) => {
                // Nobody waits for a word any more before it is sent.
                self.parts_mut().fields.remove(http::header::EXPECT);
                content.into()
            }
            Err(body) => body,
        };
        Ok(())
    }

    fn is_sending(&self) -> bool {
        self.body.is_arriving()
    }

    fn content_sent(&mut self) -> Option<Sent> {
        let (body, sent) = std::mem::take(&mut self.body).watched();
        self.body = body;
        sent
    }

    fn once_more(&self) -> Option<Self> {
        let body = match &self.body {
            Body::Whole(content) => Body::Whole(Bytes::clone(content)),
            Body::Empty => Body::Empty,
            // Nothing has been read of it, and nothing will be.
            body if body.is_empty() => Body::Empty,
            Body::Stream(_) | Body::Tunnel(_) => return None,
        };
        Some(self.with(body, self.interim.clone()))
    }

    fn standing_in(json: Bytes, for_what: Kind) -> Response {
        let mut response = Response::new(StatusCode::OK);
        let fields = &mut response.fields;
        fields.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        fields.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        fields.insert(FLEETFOOT_ERROR, HeaderValue::from_static(for_what.word()));
        response.body = json.into();
        response
    }

    fn head_of(response: &Response) -> Option<(StatusCode, &HeaderMap)> {
        Some((response.status, &response.fields))
    }

    fn request_mut(&mut self) -> Option<&mut Request> {
        Some(self)
    }

    fn response_mut(response: &mut Response) -> Option<&mut Response> {
        Some(response)
    }

    fn answered(response: Response) -> Option<Response> {
        Some(response)
    }

    fn read_by_policies<'a>(
        &'a self,
        here: &'a [Option<Box<str>>],
    ) -> (RequestView<'a>, &'a [Option<Box<str>>]) {
        match &self.on_behalf {
            Some(behalf) => (behalf.parts.view(), &behalf.names),
            None => (self.view(), here),
        }
    }
}
