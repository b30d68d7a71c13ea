//! Answered: one thing of a response, such as `response.status`. Known where a response passes: in `headers.response`. Made by
//! `bind`; read by `slot`.

use cel::Value;
use http::HeaderName;

use crate::Context;
use crate::kind::ValueKind;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answered {
    /// The status, a number.
    Status,
    /// All lines of a field, joined with a comma (RFC 9110 §5.2).
    Field(HeaderName),
    /// What the cache did, in a word.
    Cache,
}

impl Answered {
    /// Appends its text. False, and nothing appended, where there is no response, or it has no such thing.
    pub(crate) fn write(&self, context: &Context<'_>, out: &mut Vec<u8>) -> bool {
        let Some(response) = context.response else { return false };
        match self {
            Answered::Status => out.extend_from_slice(response.status.as_str().as_bytes()),
            Answered::Cache => match response.cache {
                Some(status) => out.extend_from_slice(status.word().as_bytes()),
                None => return false,
            },
            Answered::Field(name) => {
                let mut values = response.fields.all(name);
                let Some(first) = values.next() else { return false };
                out.extend_from_slice(first);
                for value in values {
                    out.extend_from_slice(b", ");
                    out.extend_from_slice(value);
                }
            }
        }
        true
    }

    /// As the interpreter sees it, where it is no text.
    pub(crate) fn number(&self, context: &Context<'_>) -> Option<Value> {
        match self {
            Answered::Status => Some(
                context
                    .response
                    .map_or(Value::Null, |response| Value::Int(i64::from(response.status.as_u16()))),
            ),
            Answered::Field(_) | Answered::Cache => None,
        }
    }

    pub(crate) fn kind(&self) -> ValueKind {
        match self {
            Answered::Status => ValueKind::Int,
            Answered::Field(_) | Answered::Cache => ValueKind::Text,
        }
    }

    /// What it is called, for messages.
    pub(crate) fn noun(&self) -> String {
        match self {
            Answered::Status => "the response's status".to_owned(),
            Answered::Field(name) => format!("the response's field `{name}`"),
            Answered::Cache => "what the cache did".to_owned(),
        }
    }
}
