//! Output: one `${…}` whose value goes into JSON, or into a statement as a parameter. Parsed by `plan`; written for
//! requests by `compose`.

use std::fmt;
use std::sync::Arc;

use cel::Value;
use cel::common::ast::IdedExpr;

use crate::Context;
use crate::compile::{Compiled, Form, Known, compile_tree, read};
use crate::decode::{self, Coding};
use crate::expression::braced;
use crate::fault::ExpressionFault;
use crate::given;
use crate::kind::ValueKind;
use crate::names::Names;
use crate::reads::Reads;
use crate::reshape::{self, Reshaping};
use crate::scalar::{Parameter, Scalar};
use crate::slot::{Slot, parameters};
use crate::unable::{Cause, Failure, Unable};

/// See the module. Equal when written the same and, where it reads the environment, when that holds the same.
#[derive(Clone)]
pub struct Output {
    text: Arc<str>,
    compiled: Compiled,
    reshapings: Vec<Reshaping>,
}

/// Appends one value. False, and perhaps something appended, where it is no text.
pub(crate) type Append<'v> = dyn Fn(&mut Vec<u8>) -> bool + 'v;

impl Output {
    /// Parses a text that is one `${…}` and nothing else.
    pub fn parse_braced(text: &str, names: &Names<'_>) -> Result<Self, ExpressionFault> {
        Self::parse(braced(text)?, &Known::new(*names))
    }

    pub(crate) fn parse(text: &str, known: &Known<'_>) -> Result<Self, ExpressionFault> {
        Self::of_tree(text, read(text)?, known)
    }

    pub(crate) fn of_tree(text: &str, tree: IdedExpr, known: &Known<'_>) -> Result<Self, ExpressionFault> {
        let (tree, reshapings) = reshape::take(tree, text, known)?;
        let compiled = compile_tree(text, tree, known)?;
        Ok(Output { text: text.trim().into(), compiled, reshapings })
    }

    /// What it gives, as far as that is known.
    pub fn kind(&self) -> ValueKind {
        if self.reshapings.is_empty() { self.compiled.kind } else { ValueKind::Any }
    }

    /// Appends its value as JSON: what is only handed on byte for byte, as it came. False, and nothing appended, where
    /// there is nothing: a step that was left out.
    ///
    /// # Errors
    /// It cannot be worked out, though there is something.
    pub fn write_json(&self, context: &Context<'_>, out: &mut Vec<u8>) -> Result<bool, Unable> {
        if self.reshapings.is_empty() {
            return self.write_plain(context, out);
        }
        let mut value = Vec::new();
        if !self.write_plain(context, &mut value)? {
            return Ok(false);
        }
        for reshaping in &self.reshapings {
            let mut next = Vec::with_capacity(value.len());
            let applied = reshaping.apply(&text(value), context, &mut next)?;
            applied.map_err(|why| Unable::of(&self.text, Cause { why, values: self.values().collect() }))?;
            value = next;
        }
        out.extend_from_slice(&value);
        Ok(true)
    }

    fn write_plain(&self, context: &Context<'_>, out: &mut Vec<u8>) -> Result<bool, Unable> {
        Ok(match &self.compiled.form {
            Form::Slot(Slot::Given(inner)) => {
                if context.values.get(inner.place).is_none_or(|given| given.json().is_none()) {
                    // A part of what is not there is not there either.
                    return Ok(false);
                }
                out.extend_from_slice(inner.json(context).unwrap_or("null").as_bytes());
                true
            }
            Form::Slot(Slot::There(inner)) => {
                out.extend_from_slice(inner.json(context).is_some().to_string().as_bytes());
                true
            }
            Form::Slot(Slot::All(name)) => {
                out.push(b'[');
                let before = out.len();
                for value in all(context, name) {
                    if out.len() > before {
                        out.push(b',');
                    }
                    json::write_string(&String::from_utf8_lossy(&value), out);
                }
                out.push(b']');
                true
            }
            Form::Slot(slot) => {
                let mut value = Vec::new();
                if slot.write(context, &mut value) {
                    json::write_string(&String::from_utf8_lossy(&value), out);
                } else {
                    out.extend_from_slice(b"null");
                }
                true
            }
            Form::Constant(value) => given::write_json(value, out),
            Form::Computed(computed) => match computed.value(context) {
                Ok(value) => given::write_json(&value, out),
                Err(Failure::Missing(_)) => given::write_json(&Value::Null, out),
                Err(Failure::Unable(cause)) => return Err(Unable::of(&self.text, cause)),
            },
        })
    }

    /// Its JSON, `null` where there is nothing.
    pub(crate) fn text_of(&self, context: &Context<'_>) -> Result<String, Unable> {
        let mut out = Vec::new();
        if !self.write_json(context, &mut out)? {
            out.extend_from_slice(b"null");
        }
        Ok(text(out))
    }

    /// Its value as a parameter of a statement.
    ///
    /// # Errors
    /// There is no such thing, or it cannot be worked out. Null is bound only where null was given: what is not there is
    /// not to become `NULL` in a table.
    pub fn parameter(&self, context: &Context<'_>) -> Result<Parameter, Unable> {
        let missing = || Unable::missing(&self.noun(), self.values());
        match &self.compiled.form {
            Form::Slot(Slot::Given(inner)) if inner.json(context).is_none() => Err(missing()),
            Form::Slot(Slot::All(name)) if self.reshapings.is_empty() => {
                let values: Vec<_> = all(context, name).map(scalar_of_bytes).collect();
                if values.is_empty() { Err(missing()) } else { Ok(Parameter::List(values)) }
            }
            Form::Slot(Slot::Given(_) | Slot::There(_)) => Ok(parameter_of_json(&self.text_of(context)?)),
            Form::Slot(slot) if self.reshapings.is_empty() => {
                let mut value = Vec::new();
                if slot.write(context, &mut value) {
                    Ok(Parameter::One(scalar_of_bytes(value)))
                } else {
                    Err(missing())
                }
            }
            Form::Computed(computed) if self.reshapings.is_empty() => match computed.value(context) {
                Ok(value) => Ok(parameter_of_value(&value)),
                Err(Failure::Missing(values)) => Err(Unable::missing(&self.noun(), values.into_iter())),
                Err(Failure::Unable(cause)) => Err(Unable::of(&self.text, cause)),
            },
            _ => Ok(parameter_of_json(&self.text_of(context)?)),
        }
    }

    /// How a message calls it: `the parameter `id``, or the expression.
    pub fn noun(&self) -> String {
        match &self.compiled.form {
            Form::Slot(slot) => slot.noun(),
            _ => format!("a value for {}", crate::quoted(&self.text)),
        }
    }

    /// Gives its values one by one to `each`, as what appends one. False where there is none, or one is no text.
    pub(crate) fn write_each(
        &self,
        context: &Context<'_>,
        each: &mut dyn FnMut(&Append<'_>) -> bool,
    ) -> bool {
        match &self.compiled.form {
            Form::Slot(Slot::All(name)) => {
                let mut values =
                    context.request.query().into_iter().flat_map(|query| parameters(query, name)).peekable();
                values.peek().is_some()
                    && values.all(|value| {
                        each(&|bytes| {
                            decode::write(value, Coding::Form, bytes);
                            true
                        })
                    })
            }
            // As they came: `1.50` is no other key than `1.50`.
            Form::Slot(Slot::Given(_)) => {
                let Ok(value) = self.text_of(context) else { return false };
                let mut one = |json: &str| each(&|bytes| write_member(json, bytes));
                match json::items(&value) {
                    Some(mut items) => items.clone().next().is_some() && items.all(&mut one),
                    None => one(&value),
                }
            }
            _ => match self.parameter(context) {
                Err(_) => false,
                Ok(Parameter::One(scalar)) => each(&|bytes| write_scalar(&scalar, bytes)),
                Ok(Parameter::List(list)) => {
                    !list.is_empty() && list.iter().all(|scalar| each(&|bytes| write_scalar(scalar, bytes)))
                }
            },
        }
    }

    /// What is lacking for it, in words; `None`: nothing, or that is not known yet.
    pub fn missing(&self, context: &Context<'_>) -> Option<String> {
        let is_known = self.values().all(|place| place < context.values.len());
        (is_known && self.parameter(context).is_err()).then(|| self.noun())
    }

    /// The values beside the request that it reads, as places in [`Names::values`].
    pub fn values(&self) -> impl Iterator<Item = usize> {
        let mut places = Vec::new();
        self.collect(&mut |slot| places.extend(slot.place()));
        places.into_iter()
    }

    /// Whether it reads what came with the request; `is_sent` tells it of the value at a place.
    pub fn reads_sent(&self, is_sent: &dyn Fn(usize) -> bool) -> bool {
        let mut reads = false;
        self.collect(&mut |slot| reads |= slot.place().is_none_or(is_sent));
        reads
    }

    /// All that it reads of a request.
    pub fn reads(&self) -> Reads<'_> {
        let mut slots = Vec::new();
        self.collect(&mut |slot| slots.push(slot));
        Reads::of(slots.into_iter())
    }

    fn collect<'a>(&'a self, each: &mut dyn FnMut(&'a Slot)) {
        self.compiled.form.slots().iter().for_each(&mut *each);
        for other in self.reshapings.iter().filter_map(Reshaping::other) {
            other.collect(each);
        }
    }

    /// Whether nothing in it depends on a request, or on what steps give.
    pub fn is_constant(&self) -> bool {
        let mut reads_nothing = true;
        self.collect(&mut |_| reads_nothing = false);
        reads_nothing
    }

    /// The expression as written, without `${` and `}`.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// The values of all parameters of that name, decoded.
fn all<'a>(context: &Context<'a>, name: &'a str) -> impl Iterator<Item = Vec<u8>> {
    let values = context.request.query().into_iter().flat_map(move |query| parameters(query, name));
    values.map(|value| {
        let mut decoded = Vec::with_capacity(value.len());
        decode::write(value, Coding::Form, &mut decoded);
        decoded
    })
}

fn text(written: Vec<u8>) -> String {
    String::from_utf8(written).expect("JSON is written from texts")
}

fn scalar_of_bytes(bytes: Vec<u8>) -> Scalar {
    String::from_utf8(bytes).map_or_else(|error| Scalar::Bytes(error.into_bytes()), Scalar::Text)
}

/// Where one value is asked for, a map or a list is a text of JSON.
fn write_member(json: &str, out: &mut Vec<u8>) -> bool {
    if matches!(json::kind(json), json::JsonKind::List | json::JsonKind::Map) {
        out.extend_from_slice(json.as_bytes());
        return true;
    }
    given::write_text(json, out)
}

fn write_scalar(scalar: &Scalar, out: &mut Vec<u8>) -> bool {
    let text = match scalar {
        Scalar::Null => return false,
        Scalar::Truth(truth) => truth.to_string().into_bytes(),
        Scalar::Int(number) => number.to_string().into_bytes(),
        Scalar::Uint(number) => number.to_string().into_bytes(),
        Scalar::Double(number) => number.to_string().into_bytes(),
        Scalar::Text(text) | Scalar::Decimal(text) => text.clone().into_bytes(),
        Scalar::Bytes(bytes) => bytes.clone(),
    };
    out.extend_from_slice(&text);
    true
}

/// Lists become several, maps a text of JSON.
pub(crate) fn parameter_of_json(json: &str) -> Parameter {
    match json::kind(json) {
        json::JsonKind::List => {
            Parameter::List(json::items(json).into_iter().flatten().map(scalar_of_json).collect())
        }
        _ => Parameter::One(scalar_of_json(json)),
    }
}

fn scalar_of_json(json: &str) -> Scalar {
    match json::kind(json) {
        json::JsonKind::Null => Scalar::Null,
        json::JsonKind::Truth => Scalar::Truth(json == "true"),
        json::JsonKind::Number => scalar_of_number(json),
        json::JsonKind::Text => {
            Scalar::Text(json::text(json).map_or_else(|| json.to_owned(), std::borrow::Cow::into_owned))
        }
        json::JsonKind::List | json::JsonKind::Map => Scalar::Text(json.to_owned()),
    }
}

/// What no number of a database holds stays as it is written: an identifier of thirty digits is not to lose its last ones.
fn scalar_of_number(json: &str) -> Scalar {
    let is_whole = !json.contains(['.', 'e', 'E']);
    match (json.parse(), json.parse()) {
        (Ok(int), _) => Scalar::Int(int),
        (_, Ok(uint)) => Scalar::Uint(uint),
        _ if is_whole => Scalar::Text(json.to_owned()),
        _ => Scalar::Decimal(json.to_owned()),
    }
}

fn parameter_of_value(value: &Value) -> Parameter {
    match value {
        Value::Bytes(bytes) => Parameter::One(Scalar::Bytes(bytes.to_vec())),
        Value::Float(number) => Parameter::One(Scalar::Double(*number)),
        value => {
            let mut out = Vec::new();
            if !given::write_json(value, &mut out) {
                return Parameter::One(Scalar::Null);
            }
            parameter_of_json(&text(out))
        }
    }
}

impl PartialEq for Output {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.compiled.environment == other.compiled.environment
    }
}

impl Eq for Output {}

/// Without the values of the environment, which may be secrets.
impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Output").field(&self.text).finish()
    }
}
