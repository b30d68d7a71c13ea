//! Prepare: a call of the plan and what is known now → what is asked, its arguments bound. Called by `step` when a step
//! begins.

use std::sync::Arc;

use bytes::Bytes;
use expression::{Arguments, Content, Context, Json, Template, Unable, Unwritten};
use http::{HeaderMap, HeaderValue};
use message::{Error, Kind, Result};
use plan::{HttpCall, SourceId, StepCall};
use source::{BoundCall, Question};

/// Arguments of one command, bytes of them, and bytes of a target or a field, so that no request makes a call without end.
const MOST_ARGUMENTS: usize = 1000;
const MOST_BYTES: usize = 64 * 1024;

/// Binds the arguments of a call.
///
/// # Errors
/// [`Kind::MalformedRequest`] where the request gives a value that cannot be used; [`Kind::UnusableReply`] where a step
/// gave none that can.
pub(crate) fn prepare(call: &StepCall, context: &Context<'_>) -> Result<BoundCall> {
    Ok(match call {
        StepCall::Http(call) => http(call, context)?,
        StepCall::Read(read) => {
            let mut arguments = Arguments::default();
            let keys = read.command.keys(read.arguments.len());
            for (index, argument) in read.arguments.iter().enumerate() {
                let before = arguments.len();
                if !argument.write(context, &mut arguments) {
                    return Err(unable(context, argument.unwritten(context)));
                }
                if arguments.len() > MOST_ARGUMENTS || arguments.bytes() > MOST_BYTES {
                    return Err(too_much(is_of_request(context, argument.values())));
                }
                if index < keys && arguments.iter().skip(before).any(rules::path::misleads_decoded) {
                    let detail = "a requested key contains a control character or a `.` or `..` segment";
                    return Err(Error::new(kind_of_fault(is_of_request(context, argument.values())), detail));
                }
            }
            bound(read.from, Question::Read { read: Arc::clone(read), arguments })
        }
        StepCall::Sql(call) => {
            let one = |content: &Content| {
                asked_for(content, context)?;
                content.parameter(context).map_err(|why| unable(context, why))
            };
            let parameters = call.arguments.iter().map(one).collect::<Result<_>>()?;
            bound(call.source, Question::Sql { statement: Arc::clone(&call.statement), parameters })
        }
        StepCall::Wasm(call) => {
            let input = written(&call.input, context)?;
            bound(call.source, Question::Wasm { function: call.function.as_str().into(), input })
        }
    })
}

fn bound(source: SourceId, question: Question) -> BoundCall {
    BoundCall { source, question }
}

fn http(call: &HttpCall, context: &Context<'_>) -> Result<BoundCall> {
    let from_request = is_of_request(context, call.target.values());
    let mut target = Vec::with_capacity(64);
    match call.target.write_target(context, &mut target) {
        Ok(()) => {}
        Err(Unwritten::Missing) => {
            return Err(unwritten(context, &call.target));
        }
        Err(Unwritten::Segment { noun, from_request }) => {
            return Err(Error::new(
                kind_of_fault(from_request),
                format!("{noun} is empty or leads out of its path segment"),
            ));
        }
    }
    if target.len() > MOST_BYTES {
        return Err(too_much(from_request));
    }
    let target = String::from_utf8(target).expect("a target is written in ASCII");
    // What is asked for has the form that requests have, so that purges find it.
    let target = rules::path::normalized(&target).into();
    let mut fields = HeaderMap::with_capacity(call.fields.len());
    for (name, template) in &call.fields {
        let from_request = is_of_request(context, template.values());
        let mut value = Vec::new();
        if !template.write(context, &mut value) {
            return Err(unwritten(context, template));
        }
        if value.len() > MOST_BYTES {
            return Err(too_much(from_request));
        }
        let value = HeaderValue::from_bytes(&value).map_err(|_| {
            Error::new(
                kind_of_fault(from_request),
                format!("the value for the header `{name}` contains bytes that no header may contain"),
            )
        })?;
        fields.append(name.clone(), value);
    }
    let body = call.body.as_ref().map(|body| written(body, context)).transpose()?;
    let (method, form) = (call.method.clone(), call.form);
    Ok(bound(call.source, Question::Http { method, form, target, fields, body }))
}

/// Why a text was not written.
fn unwritten(context: &Context<'_>, template: &Template) -> Error {
    let why = template.unwritten(context);
    unable(context, why.expect("it was not written"))
}

/// Whose fault it is that something is missing or cannot be worked out: who gave what it reads.
pub(crate) fn unable(context: &Context<'_>, unable: Unable) -> Error {
    let from_request = is_of_request(context, unable.values);
    Error::new(kind_of_fault(from_request), unable.detail)
}

/// Whether these values are the request's own, as its content is, which may be empty, and no step's.
pub(crate) fn is_of_request(context: &Context<'_>, places: impl IntoIterator<Item = usize>) -> bool {
    places.into_iter().all(|place| place == plan::BODY || context.is_sent(place))
}

/// What is named of the request's content has to be in it: an origin that gets null, or a table, cannot tell it from what
/// a client wrote.
fn asked_for(content: &Content, context: &Context<'_>) -> Result<()> {
    if !content.values().contains(&plan::BODY) {
        return Ok(());
    }
    let of_request = Context { values: context.values.get(..=plan::BODY).unwrap_or_default(), ..*context };
    let mut lacks = Vec::new();
    content.missing(&of_request, &mut lacks);
    lacks.first().map_or(Ok(()), |lacks| Err(missing(lacks)))
}

fn written(content: &Content, context: &Context<'_>) -> Result<Bytes> {
    asked_for(content, context)?;
    let mut out = Vec::new();
    let is_there = content.write(context, &mut out).map_err(|why| unable(context, why))?;
    Ok(if is_there { out.into() } else { Json::null().bytes().clone() })
}

/// Whose fault a value is that cannot be used.
fn kind_of_fault(from_request: bool) -> Kind {
    if from_request { Kind::MalformedRequest } else { Kind::UnusableReply }
}

/// The request lacks something.
pub(crate) fn missing(lacks: &str) -> Error {
    Error::new(Kind::MalformedRequest, format!("{lacks} is missing"))
}

fn too_much(from_request: bool) -> Error {
    Error::new(
        kind_of_fault(from_request),
        format!("more than {MOST_ARGUMENTS} values, or {} KiB of them, are requested", MOST_BYTES / 1024),
    )
}
