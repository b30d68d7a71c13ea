//! Value: a call that gives a value and no response: of a Redis, a store, a database or a module. In: a step's bound call.
//! Out: JSON. Where such calls end is a [`ValueSource`]; what wraps them is the same as for requests.

use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use expression::{Arguments, Json};
use http::{HeaderMap, StatusCode};
use message::{Ask, Call, Kind, OnBehalf, Request, RequestView, Response, Result, Sent, Trip};
use plan::{Read, ReadForm};

use crate::call::{BoundCall, Question};
use crate::content;
use crate::read::{Pipelines, ReadAsked, ReadLine};
use crate::source::LocalSource;

/// A step's call on its way. Clones are the same call, once more.
#[derive(Clone)]
pub struct ValueCall {
    /// What is asked.
    pub call: BoundCall,
    /// For whom.
    pub on_behalf: Rc<OnBehalf>,
    /// Reads that start together go together.
    pub pipelines: Option<Rc<Pipelines>>,
}

/// What a step gave.
#[derive(Clone, Debug)]
pub struct Value {
    /// The value.
    pub json: Json,
    /// Whether it stands in for what cannot be given now: it was given before, or the config says it.
    pub is_stale: bool,
}

/// One core's way to a source of values. Clones are the same way.
#[derive(Clone)]
pub struct ValueSource(LocalSource);

impl From<Json> for Value {
    fn from(json: Json) -> Self {
        Value { json, is_stale: false }
    }
}

impl Ask for ValueCall {
    type Answer = Value;

    fn is_idempotent(&self) -> bool {
        self.call.is_safe()
    }

    fn is_safe(&self) -> bool {
        self.call.is_safe()
    }

    async fn hold_content(&mut self, _: u64) -> Result<()> {
        Ok(())
    }

    fn is_sending(&self) -> bool {
        false
    }

    fn content_sent(&mut self) -> Option<Sent> {
        None
    }

    fn once_more(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn standing_in(json: Bytes, _: Kind) -> Value {
        Value { json: Json::kept(json), is_stale: true }
    }

    fn head_of(_: &Value) -> Option<(StatusCode, &HeaderMap)> {
        None
    }

    fn request_mut(&mut self) -> Option<&mut Request> {
        None
    }

    fn answered(_: Response) -> Option<Value> {
        None
    }

    fn response_mut(_: &mut Value) -> Option<&mut Response> {
        None
    }

    fn read_by_policies<'a>(
        &'a self,
        _: &'a [Option<Box<str>>],
    ) -> (RequestView<'a>, &'a [Option<Box<str>>]) {
        (self.on_behalf.parts.view(), &self.on_behalf.names)
    }
}

impl ValueSource {
    /// This way, which is none to an origin.
    pub fn new(source: LocalSource) -> Self {
        ValueSource(source)
    }

    async fn read(
        line: &ReadLine,
        read: &Arc<Read>,
        arguments: &Arguments,
        ask: &ValueCall,
    ) -> Result<Value> {
        let asked = ReadAsked { read: Arc::clone(read), arguments: arguments.clone() };
        let value = match (&ask.pipelines, line) {
            (Some(pipelines), ReadLine::Redis(_)) => pipelines.ask(ask.call.source, line, asked).await?,
            _ => line.value(asked).await?,
        };
        let json = match value.content {
            None => Json::null(),
            Some(text) if read.form == ReadForm::Text => content::string(&text)?,
            Some(json) => content::checked(json)?,
        };
        Ok(Value { json, is_stale: value.is_stale })
    }
}

impl Call<ValueCall> for ValueSource {
    async fn call<'a>(&'a self, ask: ValueCall, _: &'a mut Trip) -> Result<Value> {
        match (&ask.call.question, &self.0) {
            (Question::Read { read, arguments }, LocalSource::Read(line)) => {
                ValueSource::read(line, read, arguments, &ask).await
            }
            (Question::Sql { statement, parameters }, LocalSource::Sql(line)) => {
                Ok(content::checked(line.query(statement, parameters).await?)?.into())
            }
            (Question::Wasm { function, input }, LocalSource::Wasm(module)) => {
                Ok(content::checked(module.call(function, input.clone()).await?)?.into())
            }
            _ => unreachable!("the plan asks a source what it can answer, and origins as requests"),
        }
    }
}
