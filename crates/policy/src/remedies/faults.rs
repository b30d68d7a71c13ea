//! Faults: the layer in which calls go wrong on purpose, by chance: they wait, they fail, or their content breaks off half-way. It
//! stands innermost, so that everything around it meets the fault as if the source had made it, and each try anew. Modelled on
//! Envoy's fault filter.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame};
use message::{Ask, Body, Call, Error, Kind, RequestView, Response, Result, Retry, Trip, random};

use crate::remedies::outcomes::{Outcome, Outcomes};
use crate::stack::around::Arrival;

/// See the module. One for each place and core.
#[derive(Debug)]
pub struct FaultsLayer {
    /// What goes wrong.
    pub faults: Arc<plan::FaultInjection>,
    /// What the route calls the segments of its path.
    pub names: Arc<[Option<Box<str>>]>,
    /// What went wrong.
    pub outcomes: Arc<Outcomes>,
}

/// Content that breaks off in the middle of what comes first.
struct Cut {
    content: Body,
    is_cut: bool,
}

impl FaultsLayer {
    /// What it tells of.
    pub const OUTCOMES: &[Outcome] = &[Outcome::Delayed, Outcome::Aborted, Outcome::Cut];

    /// Calls for which nothing goes wrong pass.
    pub(crate) fn arrive<Q: Ask>(&self, ask: &Q) -> Arrival<Q::Answer> {
        let (request, names) = ask.read_by_policies(&self.names);
        if self.is_meant(&request, names) { Arrival::Wait } else { Arrival::Pass }
    }

    /// Whether something may go wrong with a call.
    pub(crate) fn is_meant(&self, request: &RequestView<'_>, names: &[Option<Box<str>>]) -> bool {
        let context = expression::Context::of_request(request, names);
        self.faults.when.as_ref().is_none_or(|when| when.holds(&context))
    }

    pub(crate) async fn call<Q: Ask>(
        &self,
        ask: Q,
        below: impl Call<Q>,
        trip: &mut Trip,
    ) -> Result<Q::Answer> {
        let faults = &*self.faults;
        if let Some(delay) = faults.delay.as_ref().filter(|delay| random() < delay.share) {
            self.outcomes.count(Outcome::Delayed);
            tokio::time::sleep(delay.least + delay.most.saturating_sub(delay.least).mul_f64(random())).await;
        }
        if let Some(abort) = faults.abort.as_ref().filter(|abort| random() < abort.share) {
            self.outcomes.count(Outcome::Aborted);
            let mut response = Response::new(abort.status);
            response.body = Body::Whole(Bytes::from_static(b"failed on purpose\n"));
            let failed = || Error::new(Kind::BrokeOff, "failed on purpose").retry(Retry::IfIdempotent);
            return Q::answered(response).ok_or_else(failed);
        }
        let is_cut = faults.cut > 0.0 && random() < faults.cut;
        let mut answer = below.call(ask, trip).await?;
        if is_cut
            && let Some(response) = Q::response_mut(&mut answer)
            && !response.body.is_empty()
            && !matches!(response.body, Body::Tunnel(_))
        {
            self.outcomes.count(Outcome::Cut);
            let content = std::mem::take(&mut response.body);
            response.body = Body::stream(Cut { content, is_cut: false });
        }
        Ok(answer)
    }
}

impl HttpBody for Cut {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>>>> {
        if self.is_cut {
            let error = Error::new(Kind::BrokeOff, "broken off on purpose");
            return Poll::Ready(Some(Err(error)));
        }
        let frame = Pin::new(&mut self.content).poll_frame(cx);
        frame.map(|frame| {
            self.is_cut = true;
            let data = frame?.map(Frame::into_data);
            Some(
                data.map(|data| {
                    Frame::data(data.map(|data| data.slice(..data.len() / 2)).unwrap_or_default())
                }),
            )
        })
    }
}
