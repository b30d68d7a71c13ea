//! Composed: a route with many calls, on one core. In: a request. Out: a response made of what all its steps gave, or why
//! there is none. The steps' order is `compose`'s business; who carries them out stands in `steps`.

use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use compose::{Run, Took};
use message::{Call, Error, Kind, OnBehalf, Request, Response, Result, Trip};
use tokio::time::Instant;

use crate::walk::composition::Composition;
use crate::walk::lines::{Lines, StepStack};
use crate::walk::steps::Steps;

/// See the module. Clones share everything.
#[derive(Clone)]
pub(crate) struct Composed {
    pub(crate) composition: Arc<Composition>,
    lines: Rc<Lines>,
}

impl Composed {
    pub(crate) fn new(composition: Arc<Composition>, lines: Rc<Lines>) -> Self {
        Composed { composition, lines }
    }

    /// What wraps the calls of steps with this number.
    pub(crate) fn layers_of_step(&self, number: usize) -> &[policy::Layer] {
        match &self.lines.steps[number] {
            StepStack::Http(stack, _) => stack.layers(),
            StepStack::Value(stack) => stack.layers(),
        }
    }

    /// Answers, and says what each step did, also where there is no answer.
    pub(crate) async fn serve(&self, mut request: Request) -> (Result<Response>, Vec<Took>) {
        let began = Instant::now();
        let Composition { plan, names, places, .. } = &*self.composition;
        let content = if plan.reads_body {
            match self.content(&mut request).await {
                Ok(content) => content,
                Err(error) => return (Err(error), Vec::new()),
            }
        } else {
            Bytes::new()
        };
        // What nobody has read of it stays with this exchange; the rest may outlive it in a fill.
        let Request { parts, body: _unread, interim: _told, .. } = request;
        let on_behalf = Rc::new(OnBehalf { parts, names: Arc::clone(names) });
        let view = on_behalf.parts.view();
        let steps = Steps::new(&self.lines, Rc::clone(&on_behalf), plan.save.pipeline);
        let flights = &self.lines.flights;
        let run = Run {
            compose: plan,
            request: &view,
            names,
            calls: &steps,
            flights,
            places: places.as_deref(),
            began,
        };
        let (served, account) = run.serve(content).await;
        let outcome = served.and_then(|served| served.response(plan, &view, names, &account.took));
        self.composition.counters.count(&account, outcome.is_ok());
        (outcome, account.took)
    }

    async fn content(&self, request: &mut Request) -> Result<Bytes> {
        let most = self.composition.most_content;
        std::mem::take(&mut request.body).within(most as u64).await?.map_err(|_| {
            let detail =
                format!("the request's content is longer than {most} bytes, the most that steps may read");
            Error::new(Kind::ContentTooLarge, detail)
        })
    }
}

impl Call for Composed {
    async fn call<'a>(&'a self, request: Request, trip: &'a mut Trip) -> Result<Response> {
        let began = Instant::now();
        let (outcome, took) = self.serve(request).await;
        trip.source_time = Some(began.elapsed());
        if self.composition.plan.server_timing {
            trip.server_timing = Some(Box::new(compose::server_timing(&took)));
        }
        outcome
    }
}
