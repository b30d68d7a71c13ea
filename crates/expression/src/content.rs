//! Content: literal JSON with `${…}` in it: a response, the content of a call, the input of a module, an argument.
//! Built by `plan` from what stands in the configuration; written for requests by `compose`.

use crate::Context;
use crate::fault::quoted;
use crate::output::{Output, parameter_of_json};
use crate::reads::Reads;
use crate::scalar::{Parameter, Scalar};
use crate::template::Template;
use crate::unable::Unable;

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// JSON that depends on nothing.
    Literal(String),
    /// `${…}` alone: its value.
    Value(Output),
    /// A text with `${…}` in it: a string.
    Text(Template),
    /// Items; those that are not there are left out.
    List(Vec<Content>),
    /// Members with their names; those that are not there are left out.
    Map(Vec<(String, Content)>),
}

impl Content {
    /// Appends it as JSON. False, and nothing appended, where it is a value that is not there.
    ///
    /// # Errors
    /// Something in it cannot be worked out. What was appended by then is of no use.
    pub fn write(&self, context: &Context<'_>, out: &mut Vec<u8>) -> Result<bool, Unable> {
        match self {
            Content::Literal(json) => {
                out.extend_from_slice(json.as_bytes());
                Ok(true)
            }
            Content::Value(output) => output.write_json(context, out),
            Content::Text(template) => {
                let mut text = Vec::new();
                if template.write(context, &mut text) {
                    json::write_string(&String::from_utf8_lossy(&text), out);
                } else if let Some(unable) = template.unable(context) {
                    return Err(unable);
                } else {
                    out.extend_from_slice(b"null");
                }
                Ok(true)
            }
            Content::List(items) => {
                out.push(b'[');
                let mut is_first = true;
                for item in items {
                    is_first &= !one(is_first, out, |out| item.write(context, out))?;
                }
                out.push(b']');
                Ok(true)
            }
            Content::Map(members) => {
                out.push(b'{');
                let mut is_first = true;
                for (name, value) in members {
                    is_first &= !one(is_first, out, |out| {
                        json::write_string(name, out);
                        out.push(b':');
                        value.write(context, out)
                    })?;
                }
                out.push(b'}');
                Ok(true)
            }
        }
    }

    /// It as a parameter of a statement.
    ///
    /// # Errors
    /// Something in it is not there, or cannot be worked out: which, in words.
    pub fn parameter(&self, context: &Context<'_>) -> Result<Parameter, Unable> {
        match self {
            Content::Value(output) => output.parameter(context),
            Content::Literal(json) => Ok(parameter_of_json(json)),
            Content::Text(template) => {
                let mut text = Vec::new();
                if template.write(context, &mut text) {
                    return Ok(Parameter::One(Scalar::Text(String::from_utf8_lossy(&text).into_owned())));
                }
                Err(template
                    .unwritten(context)
                    .unwrap_or_else(|| Unable::missing("a value", template.values())))
            }
            Content::List(_) | Content::Map(_) => {
                let mut out = Vec::new();
                self.write(context, &mut out)?;
                Ok(parameter_of_json(&String::from_utf8_lossy(&out)))
            }
        }
    }

    /// Whether nothing in it depends on a request, or on what steps give.
    pub fn is_constant(&self) -> bool {
        match self {
            Content::Literal(_) => true,
            Content::Value(output) => output.is_constant(),
            Content::Text(template) => template.constant().is_some(),
            Content::List(items) => items.iter().all(Content::is_constant),
            Content::Map(members) => members.iter().all(|(_, value)| value.is_constant()),
        }
    }

    /// How a message calls it.
    pub fn noun(&self) -> String {
        match self {
            Content::Value(output) => output.noun(),
            Content::Text(template) => quoted(template.text()),
            Content::Literal(json) => quoted(json),
            Content::List(_) | Content::Map(_) => "a value of the request".to_owned(),
        }
    }

    /// What a request lacks for it, each in words. What depends on values that are not known yet is not looked at.
    pub fn missing(&self, context: &Context<'_>, found: &mut Vec<String>) {
        match self {
            Content::Value(output) => found.extend(output.missing(context)),
            Content::Text(template) if template.values().all(|place| place < context.values.len()) => {
                found.extend(template.missing(context));
            }
            Content::Literal(_) | Content::Text(_) => {}
            Content::List(items) => items.iter().for_each(|item| item.missing(context, found)),
            Content::Map(members) => members.iter().for_each(|(_, value)| value.missing(context, found)),
        }
    }

    /// The values beside the request that it reads, as places in [`Names::values`](crate::Names::values).
    pub fn values(&self) -> Vec<usize> {
        match self {
            Content::Literal(_) => Vec::new(),
            Content::Value(output) => output.values().collect(),
            Content::Text(template) => template.values().collect(),
            Content::List(items) => items.iter().flat_map(Content::values).collect(),
            Content::Map(members) => members.iter().flat_map(|(_, value)| value.values()).collect(),
        }
    }

    /// All that it reads of a request.
    pub fn reads(&self) -> Reads<'_> {
        match self {
            Content::Literal(_) => Reads::of_all([]),
            Content::Value(output) => output.reads(),
            Content::Text(template) => template.reads(),
            Content::List(items) => Reads::of_all(items.iter().map(Content::reads)),
            Content::Map(members) => Reads::of_all(members.iter().map(|(_, value)| value.reads())),
        }
    }
}

/// Appends one of several, a comma before it where it is not the first. Says whether it is there.
fn one(
    is_first: bool,
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<bool, Unable>,
) -> Result<bool, Unable> {
    let before = out.len();
    if !is_first {
        out.push(b',');
    }
    let is_there = write(out)?;
    if !is_there {
        out.truncate(before);
    }
    Ok(is_there)
}
