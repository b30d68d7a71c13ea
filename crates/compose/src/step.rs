//! Step: one step from its beginning to its value: whether it runs at all, once or for each item of a list, how long it
//! may take, and what stands in for it. Called by `graph`.

use std::pin::Pin;

use expression::{Content, Context, Given, Json};
use futures_util::StreamExt;
use futures_util::stream;
use message::{Error, Kind, Misfit, Result};
use plan::{Graph, Otherwise, Over, Step, StepCall, Task};
use source::{BoundCall, Value};
use tokio::time::Instant;

use crate::graph;
use crate::prepare::{is_of_request, missing, prepare, unable};
use crate::run::{Calls, Running};
use crate::timing::Outcome;

/// A step under way.
pub(crate) type Begun<'r> = Pin<Box<dyn Future<Output = Result<Given>> + 'r>>;

/// Why a step gave nothing.
struct Failure {
    error: Error,
    /// Whether nothing may stand in: the request is at fault, or there is no room for it.
    is_final: bool,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let is_final = error.kind() == Kind::MalformedRequest;
        Failure { error, is_final }
    }
}

/// What a step gave, or why not.
type Done = std::result::Result<Value, Failure>;

/// What a step does, once what it needs is known.
enum Work<'r> {
    Call(Asking<'r>),
    Compose(&'r Graph, Vec<Given>),
    Each(&'r Over, Vec<Given>, Vec<Given>),
}

/// A call with its arguments bound.
struct Asking<'r> {
    call: &'r StepCall,
    bound: BoundCall,
    /// Of each argument of a statement whether the request gave it.
    sent: Box<[bool]>,
}

impl<'r> Asking<'r> {
    fn of(call: &'r StepCall, context: &Context<'_>) -> Result<Self> {
        let of_request =
            |argument: &Content| !argument.is_constant() && is_of_request(context, argument.values());
        let sent = match call {
            StepCall::Sql(call) => call.arguments.iter().map(of_request).collect(),
            _ => Box::default(),
        };
        Ok(Asking { call, bound: prepare(call, context)?, sent })
    }
}

/// Begins a step. `None`: it is left out.
///
/// # Errors
/// When the request lacks what the step needs, which was not known before.
pub(crate) fn begin<'r, C: Calls>(
    running: &'r Running<'r, C>,
    step: &'r Step,
    values: &[Given],
    within: &'r str,
) -> Result<Option<Begun<'r>>> {
    running.begin()?;
    let context = running.context(values);
    let began = Instant::now();
    let name =
        || if within.is_empty() { step.name.clone() } else { format!("{within}/{}", step.name).into() };
    let decided = step.when.as_ref().map_or(Ok(true), |when| when.decide(&context));
    if decided == Ok(false) {
        running.note(name(), began, Outcome::LeftOut);
        return Ok(None);
    }
    let work = match (decided, &step.over, &step.task) {
        (Err(undecided), ..) => Err(unable(&context, undecided)),
        (Ok(_), Some(over), _) => items(over, &context).map(|items| Work::Each(over, items, values.to_vec())),
        (Ok(_), None, Task::Call(call)) => Asking::of(call, &context).map(Work::Call),
        (Ok(_), None, Task::Compose(inner)) => Ok(Work::Compose(inner, values[..inner.before].to_vec())),
        (Ok(_), None, Task::Gather(_)) => unreachable!("what gathers is done by `graph`"),
    };
    if let Err(error) = &work
        && error.kind() == Kind::MalformedRequest
    {
        return Err(error.clone());
    }
    let name = name();
    running.pending.borrow_mut().push(name.clone());
    Ok(Some(Box::pin(async move {
        let done = within_time(running, step, work, &name).await;
        running.pending.borrow_mut().retain(|pending| *pending != name);
        let (outcome, given) = settle(step, done)?;
        running.note(name, began, outcome);
        Ok(given)
    })))
}

async fn within_time<'r, C: Calls>(
    running: &'r Running<'r, C>,
    step: &'r Step,
    work: Result<Work<'r>>,
    name: &str,
) -> Done {
    let done = carry_out(running, step, work?, name);
    match step.timeout {
        None => done.await,
        Some(timeout) => tokio::time::timeout(timeout, done).await.unwrap_or_else(|_| {
            Err(Error::new(Kind::SourceTimeout, format!("not done within {timeout:?}")).into())
        }),
    }
}

async fn carry_out<'r, C: Calls>(
    running: &'r Running<'r, C>,
    step: &'r Step,
    work: Work<'r>,
    name: &str,
) -> Done {
    match work {
        Work::Call(Asking { call, bound, sent }) => {
            let _place = match running.run.places {
                Some(places) => Some(places.take().await.ok_or_else(no_place)?),
                None => None,
            };
            Ok(running.call(step, bound).await.map_err(|error| at_fault(call, &sent, error))?)
        }
        Work::Compose(inner, before) => {
            // What it gives may be as large as what it reads, for each item anew.
            Ok(running.hold(compose(running, inner, before, name).await?)?)
        }
        Work::Each(over, items, values) => {
            // One after the other where the whole route is so.
            let width = if running.compose().run == plan::Run::Serial { 1 } else { over.width };
            let values = &values;
            let each = items.into_iter().enumerate().map(|(index, item)| async move {
                running.begin()?;
                let mut values = values.clone();
                values.push(item);
                let work = match &step.task {
                    Task::Call(call) => Work::Call(Asking::of(call, &running.context(&values))?),
                    Task::Compose(inner) => Work::Compose(inner, values),
                    Task::Gather(_) => unreachable!("what gathers has no list"),
                };
                let name = format!("{name}[{index}]");
                Box::pin(carry_out(running, step, work, &name)).await
            });
            let mut done = stream::iter(each).buffered(width);
            let (mut out, mut is_stale) = (String::from("["), false);
            while let Some(answered) = done.next().await {
                let answered = answered?;
                if out.len() > 1 {
                    out.push(',');
                }
                out.push_str(answered.json.as_str());
                is_stale |= answered.is_stale;
            }
            out.push(']');
            Ok(Value { json: Json::written(out), is_stale })
        }
    }
}

/// The pool is full. That is not the source's fault, so `on_error` does not hide it: the client should retry later.
fn no_place() -> Failure {
    let detail = "every place of the pool is taken, and its queue is full";
    Failure { error: Error::new(Kind::Overloaded, detail), is_final: true }
}

/// A value that does not fit is the client's fault where the client gave it, and is told by the name that it has there.
fn at_fault(call: &StepCall, sent: &[bool], error: Error) -> Error {
    let (StepCall::Sql(call), Some(Misfit { argument, takes })) = (call, error.misfit()) else {
        return error;
    };
    let given = || call.arguments.iter().zip(sent).filter(|(argument, _)| !argument.is_constant());
    let noun = match argument {
        Some(index) if sent.get(*index) == Some(&true) => call.arguments.get(*index).map(Content::noun),
        // One of them all.
        None if given().next().is_some() && given().all(|(_, is_sent)| *is_sent) => {
            Some(given().map(|(argument, _)| argument.noun()).collect::<Vec<_>>().join(" or "))
        }
        Some(_) | None => None,
    };
    match noun {
        Some(noun) => Error::new(Kind::MalformedRequest, format!("{noun} does not fit: it takes {takes}")),
        None => Error::new(Kind::UnusableReply, error.to_string()),
    }
}

async fn compose<C: Calls>(
    running: &Running<'_, C>,
    inner: &Graph,
    before: Vec<Given>,
    name: &str,
) -> Result<Value> {
    let values = graph::run(running, inner, before, name).await?;
    let mut out = Vec::new();
    let context = running.context(&values);
    if !inner.respond.write(&context, &mut out).map_err(|why| unable(&context, why))? {
        return Ok(Value { json: Json::null(), is_stale: false });
    }
    let text = String::from_utf8(out).expect("JSON is written from texts");
    Ok(Value { json: Json::written(text), is_stale: false })
}

/// The items of a list, within its bound.
fn items(over: &Over, context: &Context<'_>) -> Result<Vec<Given>> {
    let mut written = Vec::new();
    let reads_content = over.list.values().next().is_some() && is_of_request(context, over.list.values());
    if reads_content && let Some(lacks) = over.list.missing(context) {
        return Err(missing(&lacks));
    }
    if !over.list.write_json(context, &mut written).map_err(|why| unable(context, why))? {
        return Ok(Vec::new());
    }
    let whole = Json::written(String::from_utf8(written).expect("JSON is written from texts"));
    if whole.as_str() == "null" {
        return Ok(Vec::new());
    }
    let from_request = !over.list.is_constant() && is_of_request(context, over.list.values());
    let kind = if from_request { Kind::MalformedRequest } else { Kind::UnusableReply };
    let unusable = |detail: String| Error::new(kind, detail);
    let items =
        json::items(whole.as_str()).ok_or_else(|| unusable(format!("`{}` is no list", over.list.text())))?;
    let items: Vec<&str> = items.collect();
    if items.len() > over.most {
        let (text, most) = (over.list.text(), over.most);
        return Err(unusable(format!("`{text}` has {} items, and `most` is {most}", items.len())));
    }
    let given = if from_request { Given::Sent } else { Given::Json };
    Ok(items.into_iter().map(|item| given(Json::part(&whole, item))).collect())
}

/// What there is after a step: its value, or what stands in for it.
fn settle(step: &Step, done: Done) -> Result<(Outcome, Given)> {
    let Failure { error, is_final } = match done {
        Ok(Value { json, is_stale }) => {
            let outcome = if is_stale { Outcome::Stale } else { Outcome::Given };
            return Ok((outcome, Given::Json(json)));
        }
        Err(failure) => failure,
    };
    match &step.on_error.then {
        Otherwise::Omit if !is_final => Ok((Outcome::Failed(error), Given::Nothing)),
        Otherwise::Value(json) if !is_final => {
            Ok((Outcome::Failed(error), Given::Json(Json::written(json.clone()))))
        }
        _ => Err(named(step, error)),
    }
}

/// With the name of the step, which the log needs.
fn named(step: &Step, error: Error) -> Error {
    if error.kind() == Kind::MalformedRequest {
        return error;
    }
    error.within(format_args!("step {}", step.name))
}

/// What a request lacks for the steps that will run for certain. The context has its content, and no step has run yet.
pub(crate) fn lacking(graph: &Graph, context: &Context<'_>, found: &mut Vec<String>) {
    let is_known = |mut places: &mut dyn Iterator<Item = usize>| {
        Iterator::all(&mut places, |place| place < context.values.len())
    };
    for step in &graph.steps {
        let is_certain = step.over.is_none()
            && step.when.as_ref().is_none_or(|when| is_known(&mut when.values()) && when.holds(context));
        if !is_certain {
            continue;
        }
        match &step.task {
            Task::Compose(inner) => lacking(inner, context, found),
            Task::Gather(_) => {}
            Task::Call(StepCall::Http(call)) => {
                if is_known(&mut call.target.values()) {
                    found.extend(call.target.missing(context));
                }
                for (_, field) in &call.fields {
                    if is_known(&mut field.values()) {
                        found.extend(field.missing(context));
                    }
                }
                call.body.iter().for_each(|body| body.missing(context, found));
            }
            Task::Call(StepCall::Read(read)) => {
                let of_request =
                    read.arguments.iter().filter(|argument| is_known(&mut argument.values().into_iter()));
                found.extend(of_request.filter_map(|argument| argument.missing(context)));
            }
            Task::Call(StepCall::Sql(call)) => {
                call.arguments.iter().for_each(|argument| argument.missing(context, found));
            }
            Task::Call(StepCall::Wasm(call)) => call.input.missing(context, found),
        }
    }
}
