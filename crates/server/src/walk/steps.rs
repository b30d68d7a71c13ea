//! Steps: who carries out the calls of a compose, on one core: each through the stack around it to its source. Called by
//! `compose`.

use std::rc::Rc;

use compose::{Calls, Flight};
use http::header::{CONTENT_TYPE, VIA};
use http::{HeaderValue, Version};
use message::{Body, Call, Client, FLEETFOOT_ERROR, OnBehalf, Request, RequestParts, Result, Trip};
use plan::{HttpForm, Step};
use policy::Stack;
use source::{BoundCall, ContentSource, Pipelines, Question, Value, ValueCall};

use crate::walk::lines::{Lines, StepStack};

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// For one request.
pub(crate) struct Steps {
    lines: Rc<Lines>,
    on_behalf: Rc<OnBehalf>,
    /// Reads that start together go together.
    pipelines: Option<Rc<Pipelines>>,
}

impl Steps {
    pub(crate) fn new(lines: &Rc<Lines>, on_behalf: Rc<OnBehalf>, is_pipelined: bool) -> Self {
        let pipelines = is_pipelined.then(Rc::default);
        Steps { lines: Rc::clone(lines), on_behalf, pipelines }
    }
}

impl Calls for Steps {
    fn call(&self, step: &Step, call: BoundCall) -> Flight {
        let number = step.wrapping.expect("each step that calls has a wrapping");
        let on_behalf = Rc::clone(&self.on_behalf);
        match self.lines.steps[number].clone() {
            StepStack::Http(stack, form) => {
                let request = request(&stack.end().origin, call, on_behalf);
                Box::pin(async move { asked(&stack, request, form).await })
            }
            StepStack::Value(stack) => {
                let ask = ValueCall { call, on_behalf, pipelines: self.pipelines.clone() };
                Box::pin(async move { stack.call(ask, &mut Trip::default()).await })
            }
        }
    }
}

/// What an origin gives, as a value.
async fn asked(stack: &Stack<ContentSource>, request: Request, form: HttpForm) -> Result<Value> {
    let mut trip = Trip::default();
    let response = stack.call(request, &mut trip).await?;
    // Or a policy has given something of its own instead, and says so.
    let is_stale =
        trip.cache.is_some_and(|status| status.stands_in()) || response.fields.contains_key(FLEETFOOT_ERROR);
    let is_checked = trip.cache.is_none() && !stack.makes_content();
    Ok(Value { json: source::content(response, form, is_checked).await?, is_stale })
}

/// A step's call as a request to its origin.
fn request(origin: &source::HttpSource, call: BoundCall, on_behalf: Rc<OnBehalf>) -> Request {
    let Question::Http { method, target, mut fields, body, .. } = call.question else {
        unreachable!("the plan asks origins as requests")
    };
    // There is no client whose host it could ask for.
    let first = &origin.shared().plan().targets[0];
    if body.is_some() {
        fields.entry(CONTENT_TYPE).or_insert(JSON);
    }
    // So that one that comes back to us by its own steps is found out.
    for passed in on_behalf.parts.fields.get_all(VIA) {
        fields.append(VIA, passed.clone());
    }
    let mut request = Request::new(RequestParts {
        method,
        scheme: first.scheme,
        authority: first.authority().into(),
        target,
        version: Version::HTTP_11,
        fields,
        // Whoever asks is no part of the call: it may be made for several at once, and its answer kept.
        client: Client::NOBODY,
    });
    request.body = body.map_or(Body::Empty, Body::from);
    request.on_behalf = Some(on_behalf);
    request
}
