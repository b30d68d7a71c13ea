//! Wasm: the layer that has functions of a module change or answer calls: one is told of each request before the source is asked, one
//! of its response. What the source gets to see and what is stored behind it is what they have made of it.
//!
//! - `told`: a request or a response as JSON, for a function.
//! - `said`: what a function says, checked, as what is to be done.
//! - `content`: the content of a response, as far as a function may be given it.
//!
//! A function is ours as far as the source is concerned: one that fails is an error on our side, and no time of the source's. So is a
//! call whose time runs out in one, which is late, and not passed over. Behind a cache it is told only of those header fields that its key holds: what comes of one request is given to others.

mod content;
mod said;
mod told;

use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, RANGE, VARY};
use http::{HeaderName, HeaderValue, Method};
use message::{Ask, Body, Call, Deadline, Error, FieldEdit, Kind, RequestParts, Response, Result, Trip};
use plan::ResponseHook;
use rules::vary::Vary;

pub use self::said::AskedFor;
use self::said::{OfRequest, OfResponse};
use self::told::Asked;
use crate::remedies::headers::edit_request;
use crate::remedies::outcomes::{Outcome, Outcomes};
use crate::stack::around::Arrival;
use crate::stack::under_way::Timers;

/// See the module. One for each place and core.
pub struct WasmLayer {
    /// Which functions are called.
    pub hooks: Arc<plan::Hooks>,
    /// Whose they are.
    pub module: Arc<wasm::Module>,
    /// What a function is told of a request; `None`: all.
    pub keyed: Option<plan::Keyed>,
    /// How the source is asked here.
    pub asked: AskedFor,
    /// What functions did.
    pub outcomes: Arc<Outcomes>,
}

/// Why what a function said, or was to be told, is of no use.
type Unfit = std::borrow::Cow<'static, str>;

impl WasmLayer {
    /// What it tells of.
    pub const OUTCOMES: &[Outcome] = &[Outcome::Changed, Outcome::Answered, Outcome::Failed];

    /// Functions run on threads of their own.
    pub(crate) fn arrive<Q: Ask>(ask: &mut Q) -> Arrival<Q::Answer> {
        if ask.request_mut().is_some() { Arrival::Wait } else { Arrival::Pass }
    }

    /// Whether it may put content in the place of a source's.
    pub(crate) fn makes_content(&self) -> bool {
        self.hooks.request.is_some() || self.hooks.response.as_ref().is_some_and(|hook| hook.body.is_some())
    }

    /// Which functions it would call, for people.
    pub(crate) fn explain(&self) -> String {
        let module = &self.module.plan().name;
        let before = self.hooks.request.as_ref();
        let before =
            before.map(|function| format!("calls `{function}` of `{module}` before the source is asked"));
        let after = self.hooks.response.as_ref().map(|ResponseHook { function, body }| match body {
            None => format!("calls `{function}` of `{module}` with its response"),
            Some(most) => {
                format!(
                    "calls `{function}` of `{module}` with its response and up to {most} bytes of content"
                )
            }
        });
        before.into_iter().chain(after).collect::<Vec<_>>().join("; ")
    }

    pub(crate) async fn call<Q: Ask>(
        &self,
        mut ask: Q,
        below: impl Call<Q>,
        trip: &mut Trip,
        timers: &Timers,
    ) -> Result<Q::Answer> {
        // That of a try inside is not ours.
        let deadline = trip.deadline;
        let Some(request) = ask.request_mut() else { return below.call(ask, trip).await };
        let mut changed = Vec::new();
        if let Some(function) = &self.hooks.request {
            let said = self.of_request(function, request, deadline, timers).await;
            match said.or_else(|error| self.failed(function, error).map(|()| OfRequest::default()))? {
                OfRequest::Answered(response) => {
                    if let Some(answer) = Q::answered(*response) {
                        self.outcomes.count(Outcome::Answered);
                        trip.is_answered_here = true;
                        return Ok(answer);
                    }
                }
                OfRequest::Changed { edits, target } => {
                    if !edits.is_empty() || target.is_some() {
                        self.outcomes.count(Outcome::Changed);
                    }
                    edit_request(&edits, request);
                    if let Some(target) = target {
                        request.parts_mut().target = target.into();
                    }
                    changed = edits;
                }
            }
        }
        let asked = self.hooks.response.as_ref().map(|hook| {
            if hook.body.is_some() {
                ask_for_the_whole(request.parts_mut());
            }
            (hook, Asked::of(&request.view()))
        });
        let mut answer = below.call(ask, trip).await?;
        if let Some(response) = Q::response_mut(&mut answer) {
            self.vary(&changed, response);
            if let Some((hook, asked)) = asked.filter(|_| !matches!(response.body, Body::Tunnel(_))) {
                self.of_response(hook, &asked, response, deadline, timers).await?;
            }
        }
        Ok(answer)
    }

    /// What is to become of a request.
    async fn of_request(
        &self,
        function: &str,
        request: &RequestParts,
        deadline: Option<Deadline>,
        timers: &Timers,
    ) -> Result<OfRequest> {
        let told = told::request(request, self.keyed.as_ref());
        let said = self.ask(function, told, deadline, timers).await?;
        OfRequest::read(&said, &request.target, self.asked).map_err(|why| self.unfit(function, &why))
    }

    /// Has a response changed.
    ///
    /// # Errors
    /// The source's content broke off; or the function failed, and calls do not go on without it.
    async fn of_response(
        &self,
        hook: &ResponseHook,
        asked: &Asked,
        response: &mut Response,
        deadline: Option<Deadline>,
        timers: &Timers,
    ) -> Result<()> {
        let given = match hook.body.filter(|_| asked.method != Method::HEAD) {
            None => Ok(None),
            // What the source breaks off is its own failure.
            Some(most) => content::given(response, most, deadline, timers).await?.map(Some),
        };
        let said = match given {
            Ok(content) => self.said_of(hook, asked, response, content.as_ref(), deadline, timers).await,
            Err(why) => Err(self.unfit(&hook.function, &why)),
        };
        match said {
            Ok(said) => {
                if !said.is_nothing() {
                    self.outcomes.count(Outcome::Changed);
                }
                said.apply(response, hook.body.is_some() && asked.method == Method::HEAD);
                Ok(())
            }
            Err(error) => self.failed(&hook.function, error),
        }
    }

    async fn said_of(
        &self,
        hook: &ResponseHook,
        asked: &Asked,
        response: &Response,
        content: Option<&Bytes>,
        deadline: Option<Deadline>,
        timers: &Timers,
    ) -> Result<OfResponse> {
        let unfit = |why: Unfit| self.unfit(&hook.function, &why);
        let told = told::response(response, asked, content).map_err(unfit)?;
        let said = self.ask(&hook.function, told, deadline, timers).await?;
        OfResponse::read(&said, response, hook.body.is_some(), self.asked).map_err(unfit)
    }

    /// Calls a function, for no longer than the call may take. Whoever waits around it for the same deadline looks here first, and
    /// so does not take the delay for the source's.
    async fn ask(
        &self,
        function: &str,
        told: Bytes,
        deadline: Option<Deadline>,
        timers: &Timers,
    ) -> Result<Bytes> {
        let call = self.module.call(function, told);
        let said = match deadline {
            None => call.await,
            Some(deadline) => tokio::select! {
                biased;
                () = timers.until(deadline.at) => return Err(self.late(function, deadline, timers)),
                said = call => said,
            },
        };
        said.map_err(|error| match error.kind() {
            // A limit of ours, which is over in a moment.
            Kind::Overloaded => error.within(format!("policy {}", self.hooks.name)),
            _ => self.unfit(function, &"failed".into()).caused_by(error),
        })
    }

    /// The call has missed a deadline in a function.
    fn late(&self, function: &str, deadline: Deadline, timers: &Timers) -> Error {
        timers.count_late(deadline);
        let (policy, within) = (&self.hooks.name, deadline.within);
        Error::new(Kind::HookTimeout, format!("policy {policy}: {function} was not done within {within:?}"))
    }

    /// A function has failed: goes on without it, where that is how it is meant. Nothing goes on that is late.
    fn failed(&self, function: &str, error: Error) -> Result<()> {
        if error.kind() == Kind::HookTimeout {
            return Err(error);
        }
        self.outcomes.count(Outcome::Failed);
        let plan::Hooks { name: policy, passes, .. } = &*self.hooks;
        tracing::debug!(policy, function, passes, "{error}");
        if *passes { Ok(()) } else { Err(error) }
    }

    fn unfit(&self, function: &str, why: &Unfit) -> Error {
        Error::new(Kind::HookFailed, format!("policy {}: {function} {why}", self.hooks.name))
    }

    /// A response that varies by a field which a function has changed varies by all that the function was told of.
    fn vary(&self, changed: &[FieldEdit], response: &mut Response) {
        let vary = Vary::of(&response.fields);
        let is_changed = |name: &HeaderName| {
            changed.iter().any(|edit| match edit {
                FieldEdit::Remove(pattern) => pattern.matches(name.as_str().as_bytes()),
                FieldEdit::Add(added, _) => added == name,
            })
        };
        if !vary.names().iter().any(is_changed) {
            return;
        }
        let Some(keyed) = &self.keyed else {
            response.fields.append(VARY, HeaderValue::from_static("*"));
            return;
        };
        for name in &keyed.fields {
            response.fields.append(VARY, name.clone().into());
        }
    }
}

/// A function that is given content gets all of it, as it is: neither a part, nor compressed, nor the word that nothing has changed.
/// What a write is conditional on stays (`If-Match`).
fn ask_for_the_whole(request: &mut RequestParts) {
    if matches!(request.method, Method::GET | Method::HEAD) {
        for name in [RANGE, IF_RANGE, IF_NONE_MATCH, IF_MODIFIED_SINCE] {
            request.fields.remove(name);
        }
    }
    request.fields.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
}
