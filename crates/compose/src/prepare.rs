//! Prepare: a call of the plan and what is known now → what is asked, its arguments bound. Called by `step` when a step
//! begins.

use std::sync::Arc;

use bytes::Bytes;
use expression::{Arguments, Content, Context, Json, Parameter, Template, Unable, Unwritten};
use http::{HeaderMap, HeaderValue, Method};
use message::{Error, Kind, Result};
use plan::{HttpCall, HttpForm, Read, Statement, StepCall};

/// Arguments of one command, bytes of them, and bytes of a target or a field, so that no request makes a call without end.
const MOST_ARGUMENTS: usize = 1000;
const MOST_BYTES: usize = 64 * 1024;

/// What is asked, and of whom: all that carrying it out takes, perhaps more than once.
#[derive(Clone, Debug)]
pub enum Prepared {
    /// Of an origin.
    Http {
        /// Index into [`plan::Plan::sources`].
        source: usize,
        /// The method.
        method: Method,
        /// How the content of the answer is read.
        form: HttpForm,
        /// Path and query.
        target: Box<str>,
        /// Fields.
        fields: HeaderMap,
        /// Content, as JSON.
        body: Option<Bytes>,
    },
    /// Of a Redis or a store.
    Read {
        /// The command and its form.
        read: Arc<Read>,
        /// What stands behind the command.
        arguments: Arguments,
    },
    /// Of a database.
    Sql {
        /// Index into [`plan::Plan::databases`].
        source: usize,
        /// Taken apart at its placeholders.
        statement: Arc<Statement>,
        /// One for each placeholder.
        parameters: Vec<Parameter>,
    },
    /// Of a module.
    Wasm {
        /// Index into [`plan::Plan::modules`].
        source: usize,
        /// What is called.
        function: Box<str>,
        /// What it gets.
        input: Bytes,
    },
}

/// Binds the arguments of a call.
///
/// # Errors
/// [`Kind::MalformedRequest`] where the request gives a value that cannot be used; [`Kind::UnusableReply`] where a step
/// gave none that can.
pub(crate) fn prepare(call: &StepCall, context: &Context<'_>) -> Result<Prepared> {
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
                    let detail =
                        "a key that is asked for has a control character, or leads out of its place by `..`";
                    return Err(Error::new(kind_of_fault(is_of_request(context, argument.values())), detail));
                }
            }
            Prepared::Read { read: Arc::clone(read), arguments }
        }
        StepCall::Sql(call) => {
            let one = |content: &Content| {
                asked_for(content, context)?;
                content.parameter(context).map_err(|why| unable(context, why))
            };
            let parameters = call.arguments.iter().map(one).collect::<Result<_>>()?;
            Prepared::Sql { source: call.source, statement: Arc::clone(&call.statement), parameters }
        }
        StepCall::Wasm(call) => Prepared::Wasm {
            source: call.source,
            function: call.function.as_str().into(),
            input: written(&call.input, context)?,
        },
    })
}

fn http(call: &HttpCall, context: &Context<'_>) -> Result<Prepared> {
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
                format!("{noun} is empty, or leads out of its segment, which names nothing in a path"),
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
                format!("the value for the field `{name}` has bytes that no field can have"),
            )
        })?;
        fields.append(name.clone(), value);
    }
    let body = call.body.as_ref().map(|body| written(body, context)).transpose()?;
    let (source, method, form) = (call.source, call.method.clone(), call.form);
    Ok(Prepared::Http { source, method, form, target, fields, body })
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
        format!("more than {MOST_ARGUMENTS} values, or {} KiB, are asked for", MOST_BYTES / 1024),
    )
}

impl Prepared {
    /// Whether it may be carried out once for several who ask the same: what only reads.
    pub(crate) fn is_shareable(&self) -> bool {
        match self {
            Prepared::Http { method, .. } => method.is_safe(),
            Prepared::Read { .. } | Prepared::Wasm { .. } => true,
            Prepared::Sql { statement, .. } => statement.reads,
        }
    }

    /// What makes it this call and no other, every part with its length: equal bytes, equal call.
    pub(crate) fn key(&self, out: &mut Vec<u8>) {
        match self {
            Prepared::Http { source, method, form, target, fields, body } => {
                number(0, *source, out);
                part(method.as_str().as_bytes(), out);
                out.push(*form as u8);
                part(target.as_bytes(), out);
                for (name, value) in fields {
                    part(name.as_str().as_bytes(), out);
                    part(value.as_bytes(), out);
                }
                // Apart from a field's name, which is never empty.
                part(b"", out);
                part(body.as_deref().unwrap_or_default(), out);
            }
            Prepared::Read { read, arguments } => {
                match read.from {
                    plan::ReadFrom::Redis(index) => number(1, index, out),
                    plan::ReadFrom::Store(index) => number(2, index, out),
                }
                out.extend_from_slice(&[read.command as u8, read.form as u8]);
                arguments.iter().for_each(|argument| part(argument, out));
            }
            Prepared::Sql { source, statement, parameters } => {
                number(3, *source, out);
                out.extend_from_slice(&[statement.rows as u8, u8::from(statement.batch.is_some())]);
                statement.pieces.iter().for_each(|piece| part(piece.as_bytes(), out));
                part(b"", out);
                // Texts and numbers are told apart by how they are shown.
                part(format!("{parameters:?}").as_bytes(), out);
            }
            Prepared::Wasm { source, function, input } => {
                number(4, *source, out);
                part(function.as_bytes(), out);
                part(input, out);
            }
        }
    }
}

fn number(kind: u8, source: usize, out: &mut Vec<u8>) {
    out.push(kind);
    out.extend_from_slice(&(source as u64).to_be_bytes());
}

fn part(part: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(part.len() as u64).to_be_bytes());
    out.extend_from_slice(part);
}
