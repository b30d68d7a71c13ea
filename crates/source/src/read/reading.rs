//! Reading: the `read` of one route, ready to be carried out: what the plan says, and what its answers are found by.

use std::collections::BTreeSet;
use std::sync::Arc;

use expression::{Argument, Arguments};
use http::{HeaderValue, StatusCode};
use plan::{Read, ReadForm, ReadFrom};

/// See the module. Shared by all cores.
pub struct Reading {
    pub(crate) plan: Arc<Read>,
    /// What the route calls the segments of its path.
    pub(crate) names: Box<[Option<Box<str>>]>,
    /// What the keys of its answers begin with: all that shapes them besides the arguments.
    shape: Box<[u8]>,
    /// The fields of a request that choose the answer; `None`: it is chosen by the URL alone.
    vary: Option<HeaderValue>,
}

impl Reading {
    /// Of a route that calls the segments of its path so.
    pub fn new(plan: Arc<Read>, names: Box<[Option<Box<str>>]>) -> Self {
        let mut shape = vec![plan.command as u8, plan.form as u8];
        shape.extend_from_slice(&plan.missing.as_u16().to_be_bytes());
        let content_type = plan.content_type.as_ref().map_or(&b""[..], HeaderValue::as_bytes);
        write_part(content_type, &mut shape);
        let vary = vary(&plan);
        write_part(vary.as_ref().map_or(&b""[..], HeaderValue::as_bytes), &mut shape);
        Reading { plan, names, shape: shape.into(), vary }
    }

    /// Whom it asks.
    pub fn from(&self) -> ReadFrom {
        self.plan.from
    }

    /// What it asks, for people: `GET user:${path.id}`.
    pub fn text(&self) -> String {
        let mut text = self.plan.command.word().to_owned();
        for argument in &self.plan.arguments {
            text.push(' ');
            text.push_str(&argument.text());
        }
        text
    }

    /// Which answer these arguments have: routes with the same command, form and statuses share it.
    pub(crate) fn key(&self, arguments: &Arguments, key: &mut Vec<u8>) {
        key.clear();
        key.extend_from_slice(&self.shape);
        arguments.iter().for_each(|argument| write_part(argument, key));
    }

    /// The arguments that are keys.
    pub(crate) fn keys<'a>(&self, arguments: &'a Arguments) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        arguments.iter().take(self.plan.command.keys(arguments.len()))
    }

    /// What answers are called.
    pub(crate) fn content_type(&self) -> HeaderValue {
        self.plan.content_type.clone().unwrap_or(match self.plan.form {
            ReadForm::Json => HeaderValue::from_static("application/json"),
            ReadForm::Text => HeaderValue::from_static("text/plain; charset=utf-8"),
            ReadForm::Raw => HeaderValue::from_static("application/octet-stream"),
        })
    }

    /// What caches must compare besides the URL (RFC 9110 §12.5.5).
    pub(crate) fn vary(&self) -> Option<&HeaderValue> {
        self.vary.as_ref()
    }

    /// The status where there is nothing.
    pub(crate) fn missing(&self) -> StatusCode {
        self.plan.missing
    }
}

fn vary(plan: &Read) -> Option<HeaderValue> {
    let names: BTreeSet<String> =
        plan.arguments.iter().flat_map(Argument::fields).map(|name| name.as_str().to_owned()).collect();
    let list = names.into_iter().collect::<Vec<_>>().join(", ");
    (!list.is_empty()).then(|| HeaderValue::try_from(list).expect("names of fields are a field value"))
}

/// With its length, so that no two lists of parts are the same bytes. An argument has 64 KiB at most, see `asked`.
fn write_part(part: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(part.len() as u32).to_be_bytes());
    out.extend_from_slice(part);
}
