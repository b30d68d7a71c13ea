//! Observed: an exchange under way, recorded once its last byte is handed over, or when the client leaves before, and
//! remembered where somebody may ask about it. The content of its request is counted as it comes in.

use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode, Version};
use http_body::{Body as HttpBody, Frame, SizeHint};
use message::{Body, Client, Clock, Error, Kind, Request, Response, Scheme, Trip};
use telemetry::{Exchange, Recorder};

use crate::walk::recent::{Recent, RecentRequest};

/// What will be recorded; dropping it records.
pub(crate) struct Observed {
    recorder: Rc<Recorder>,
    started: Instant,
    client: Client,
    method: Method,
    scheme: Scheme,
    authority: Box<str>,
    target: Box<str>,
    version: Version,
    user_agent: Option<HeaderValue>,
    referer: Option<HeaderValue>,
    status: Option<StatusCode>,
    head_time: Option<Duration>,
    bytes: u64,
    /// What happened on the way, as far as it is known.
    pub(crate) trip: Trip,
    pub(crate) error: Option<Error>,
    pub(crate) route: Option<Arc<str>>,
    /// Where the request had anything to do with the cache.
    memory: Option<Memory>,
}

/// What a request is remembered by.
struct Memory {
    id: HeaderValue,
    core: usize,
    recent: Arc<Recent>,
}

impl Observed {
    /// From the moment the request's head is complete.
    pub(crate) fn new(request: &Request, recorder: Rc<Recorder>) -> Self {
        // Only a line has a use for words; the counters have not.
        let words = |text: &str| if recorder.is_logging() { text.into() } else { Box::default() };
        let line_field = |name| if recorder.is_logging() { request.fields.get(name).cloned() } else { None };
        Observed {
            started: Instant::now(),
            client: request.client,
            method: request.method.clone(),
            scheme: request.scheme,
            authority: words(&request.authority),
            target: words(&request.target),
            version: request.version,
            user_agent: line_field(http::header::USER_AGENT),
            referer: line_field(http::header::REFERER),
            status: None,
            head_time: None,
            bytes: 0,
            trip: Trip::default(),
            error: None,
            route: None,
            memory: None,
            recorder,
        }
    }

    /// Has the request remembered by this id.
    pub(crate) fn remember(&mut self, request: &Request, id: HeaderValue, core: usize, recent: &Arc<Recent>) {
        if self.target.is_empty() {
            (self.authority, self.target) = (request.authority.clone(), request.target.clone());
        }
        self.memory = Some(Memory { id, core, recent: Arc::clone(recent) });
    }

    /// It was a fresh hit, which nobody asks about.
    pub(crate) fn forget(&mut self) {
        self.memory = None;
    }

    /// By which id it is remembered.
    pub(crate) fn id(&self) -> Option<&HeaderValue> {
        self.memory.as_ref().map(|memory| &memory.id)
    }

    /// The response, with this watching its content go.
    pub(crate) fn watch(mut self, mut response: Response) -> Response {
        self.status = Some(response.status);
        self.head_time = Some(self.started.elapsed());
        match response.body {
            Body::Empty | Body::Tunnel(_) => {}
            Body::Whole(_) if self.method == Method::HEAD => {} // it is not sent
            Body::Whole(ref bytes) => self.bytes = bytes.len() as u64,
            Body::Stream(inner) => response.body = Body::stream(ObservedBody { inner, observed: self }),
        }
        response
    }
}

impl Drop for Observed {
    fn drop(&mut self) {
        // No status: the answer's future was dropped because the client left.
        if self.status.is_none() && self.error.is_none() {
            self.error = Some(Error::new(Kind::ClientGone, "the client left before the answer"));
        }
        let status = self.status.unwrap_or_else(client_closed_request);
        let duration = self.started.elapsed();
        self.recorder.record(&Exchange {
            client: &self.client,
            method: &self.method,
            scheme: self.scheme,
            authority: &self.authority,
            target: &self.target,
            version: self.version,
            status,
            bytes: self.bytes,
            duration,
            // Whoever left before waited for the source, not for us.
            head_time: self.head_time.unwrap_or_default(),
            source_time: self.trip.source_time,
            queued: self.trip.queued,
            attempts: self.trip.attempts,
            account: self.trip.account.as_deref(),
            cache: self.trip.cache,
            error: self.error.as_ref(),
            route: self.route.as_deref(),
            id: self.id().and_then(|id| id.to_str().ok()),
            user_agent: self.user_agent.as_ref().map(HeaderValue::as_bytes),
            referer: self.referer.as_ref().map(HeaderValue::as_bytes),
        });
        let Some((Memory { id, core, recent }, route)) = self.memory.take().zip(self.route.take()) else {
            return;
        };
        let record = RecentRequest {
            id,
            at: Clock::at(self.started),
            method: std::mem::take(&mut self.method),
            scheme: self.scheme,
            authority: std::mem::take(&mut self.authority),
            target: std::mem::take(&mut self.target),
            route,
            status,
            cache: self.trip.cache,
            error: self.error.take(),
            duration,
            source_time: self.trip.source_time,
        };
        recent.remember(core, record);
    }
}

/// Has the request's content counted while it is read. Most requests have none and stay as they are.
pub(crate) fn count_content(request: &mut Request, recorder: &Rc<Recorder>) {
    request.body = match std::mem::take(&mut request.body) {
        Body::Stream(inner) if !inner.is_end_stream() => {
            Body::stream(CountedBody { inner, recorder: Rc::clone(recorder) })
        }
        Body::Whole(bytes) => {
            recorder.bytes_in(bytes.len() as u64);
            Body::Whole(bytes)
        }
        empty => empty,
    };
}

/// Nobody receives it; nginx made it the customary word in logs.
fn client_closed_request() -> StatusCode {
    StatusCode::from_u16(499).expect("three digits make a status")
}

struct ObservedBody {
    inner: Pin<Box<dyn HttpBody<Data = Bytes, Error = Error>>>,
    observed: Observed,
}

impl HttpBody for ObservedBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let frame = std::task::ready!(self.inner.as_mut().poll_frame(cx));
        match &frame {
            Some(Ok(frame)) => self.observed.bytes += frame.data_ref().map_or(0, |data| data.len() as u64),
            Some(Err(error)) => self.observed.error = Some(error.clone()),
            None => {}
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

struct CountedBody {
    inner: Pin<Box<dyn HttpBody<Data = Bytes, Error = Error>>>,
    recorder: Rc<Recorder>,
}

impl HttpBody for CountedBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let frame = std::task::ready!(self.inner.as_mut().poll_frame(cx));
        if let Some(Ok(Some(data))) = frame.as_ref().map(|frame| frame.as_ref().map(Frame::data_ref)) {
            self.recorder.bytes_in(data.len() as u64);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
