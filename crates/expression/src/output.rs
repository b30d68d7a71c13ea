//! Output: one `${…}` whose value goes into JSON, or into a statement as a parameter. Parsed by `plan`; written for
//! requests by `compose`.

use std::fmt;
use std::sync::Arc;

use cel::Value;
use cel::common::ast::IdedExpr;
use http::HeaderName;

use crate::Context;
use crate::argument::Arguments;
use crate::compile::{Compiled, Form, Known, compile_tree, read};
use crate::decode::{self, Coding};
use crate::expression::braced;
use crate::fault::Fault;
use crate::given;
use crate::kind::Kind;
use crate::names::Names;
use crate::reshape::{self, Reshaping};
use crate::scalar::{Parameter, Scalar};
use crate::slot::{Slot, parameters};

/// See the module. Equal when written the same and, where it reads the environment, when that holds the same.
#[derive(Clone)]
pub struct Output {
    text: Arc<str>,
    compiled: Compiled,
    reshapings: Vec<Reshaping>,
}

impl Output {
    /// Parses a text that is one `${…}` and nothing else.
    pub fn parse_braced(text: &str, names: &Names<'_>) -> Result<Self, Fault> {
        Self::parse(braced(text)?, &Known::new(*names))
    }

    pub(crate) fn parse(text: &str, known: &Known<'_>) -> Result<Self, Fault> {
        Self::of_tree(text, read(text)?, known)
    }

    pub(crate) fn of_tree(text: &str, tree: IdedExpr, known: &Known<'_>) -> Result<Self, Fault> {
        let (tree, reshapings) = reshape::take(tree, text, known)?;
        let compiled = compile_tree(text, tree, known)?;
        Ok(Output { text: text.trim().into(), compiled, reshapings })
    }

    /// What it gives, as far as that is known.
    pub fn kind(&self) -> Kind {
        if self.reshapings.is_empty() { self.compiled.kind } else { Kind::Any }
    }

    /// Appends its value as JSON: what is only handed on byte for byte, as it came. False, and nothing appended, where
    /// there is nothing: a step that was left out.
    pub fn write_json(&self, context: &Context<'_>, out: &mut Vec<u8>) -> bool {
        if self.reshapings.is_empty() {
            return self.write_plain(context, out);
        }
        let mut value = Vec::new();
        if !self.write_plain(context, &mut value) {
            return false;
        }
        for reshaping in &self.reshapings {
            let mut next = Vec::with_capacity(value.len());
            reshaping.apply(&text(value), context, &mut next);
            value = next;
        }
        out.extend_from_slice(&value);
        true
    }

    fn write_plain(&self, context: &Context<'_>, out: &mut Vec<u8>) -> bool {
        match &self.compiled.form {
            Form::Slot(Slot::Given(inner)) => {
                if context.values.get(inner.place).is_none_or(|given| given.json().is_none()) {
                    // A part of what is not there is not there either.
                    return false;
                }
                out.extend_from_slice(inner.json(context).unwrap_or("null").as_bytes());
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
            Form::Computed(computed) => {
                let value = computed.value(context).unwrap_or(Value::Null);
                given::write_json(&value, out)
            }
        }
    }

    /// Its JSON, `null` where there is nothing.
    pub(crate) fn text_of(&self, context: &Context<'_>) -> String {
        let mut out = Vec::new();
        if !self.write_json(context, &mut out) {
            out.extend_from_slice(b"null");
        }
        text(out)
    }

    /// Its value as a parameter of a statement. `None`: the request has no such thing.
    pub fn parameter(&self, context: &Context<'_>) -> Option<Parameter> {
        match &self.compiled.form {
            Form::Slot(Slot::All(name)) if self.reshapings.is_empty() => {
                let values: Vec<_> = all(context, name).map(scalar_of_bytes).collect();
                (!values.is_empty()).then_some(Parameter::List(values))
            }
            Form::Slot(Slot::Given(_)) => Some(parameter_of_json(&self.text_of(context))),
            Form::Slot(slot) if self.reshapings.is_empty() => {
                let mut value = Vec::new();
                slot.write(context, &mut value).then(|| Parameter::One(scalar_of_bytes(value)))
            }
            Form::Computed(computed) if self.reshapings.is_empty() => {
                computed.value(context).map(|value| parameter_of_value(&value))
            }
            _ => Some(parameter_of_json(&self.text_of(context))),
        }
    }

    /// Appends its values one by one. False where there is none, or one is no text.
    pub(crate) fn write_each(&self, context: &Context<'_>, out: &mut Arguments) -> bool {
        match &self.compiled.form {
            Form::Slot(Slot::All(name)) => {
                let before = out.len();
                for value in context.request.query().into_iter().flat_map(|query| parameters(query, name)) {
                    out.push(|bytes| {
                        decode::write(value, Coding::Form, bytes);
                        true
                    });
                }
                out.len() > before
            }
            // As they came: `1.50` is no other key than `1.50`.
            Form::Slot(Slot::Given(_)) => {
                let value = self.text_of(context);
                let mut one = |json: &str| out.push(|bytes| write_member(json, bytes));
                match json::items(&value) {
                    Some(mut items) => items.clone().next().is_some() && items.all(&mut one),
                    None => one(&value),
                }
            }
            _ => match self.parameter(context) {
                None => false,
                Some(Parameter::One(scalar)) => write_scalar(&scalar, out),
                Some(Parameter::List(list)) => {
                    !list.is_empty() && list.iter().all(|scalar| write_scalar(scalar, out))
                }
            },
        }
    }

    /// What a request lacks for it, in words; `None`: nothing, or it is not the request's to give.
    pub fn missing(&self, context: &Context<'_>) -> Option<String> {
        if self.values().next().is_some() || self.parameter(context).is_some() {
            return None;
        }
        Some(match &self.compiled.form {
            Form::Slot(slot) => slot.noun(),
            _ => format!("a value for {}", crate::quoted(&self.text)),
        })
    }

    /// The values beside the request that it reads, as places in [`Names::values`].
    pub fn values(&self) -> impl Iterator<Item = usize> {
        let mut places = Vec::new();
        self.collect(&mut |slot| places.extend(slot.place()));
        places.into_iter()
    }

    /// The fields of a request that it reads, for `Vary`.
    pub fn fields(&self) -> impl Iterator<Item = HeaderName> {
        let mut fields = Vec::new();
        self.collect(&mut |slot| fields.extend(slot.field()));
        fields.into_iter()
    }

    fn collect(&self, each: &mut dyn FnMut(&Slot)) {
        self.compiled.form.slots().iter().for_each(&mut *each);
        for other in self.reshapings.iter().filter_map(Reshaping::other) {
            other.collect(each);
        }
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
    if matches!(json::kind(json), json::Kind::List | json::Kind::Map) {
        out.extend_from_slice(json.as_bytes());
        return true;
    }
    given::write_text(json, out)
}

fn write_scalar(scalar: &Scalar, out: &mut Arguments) -> bool {
    let text = match scalar {
        Scalar::Null => return false,
        Scalar::Truth(truth) => truth.to_string().into_bytes(),
        Scalar::Int(number) => number.to_string().into_bytes(),
        Scalar::Uint(number) => number.to_string().into_bytes(),
        Scalar::Double(number) => number.to_string().into_bytes(),
        Scalar::Text(text) => text.clone().into_bytes(),
        Scalar::Bytes(bytes) => bytes.clone(),
    };
    out.push(|bytes| {
        bytes.extend_from_slice(&text);
        true
    })
}

/// Lists become several, maps a text of JSON.
pub(crate) fn parameter_of_json(json: &str) -> Parameter {
    match json::kind(json) {
        json::Kind::List => {
            Parameter::List(json::items(json).into_iter().flatten().map(scalar_of_json).collect())
        }
        _ => Parameter::One(scalar_of_json(json)),
    }
}

fn scalar_of_json(json: &str) -> Scalar {
    match json::kind(json) {
        json::Kind::Null => Scalar::Null,
        json::Kind::Truth => Scalar::Truth(json == "true"),
        json::Kind::Number => scalar_of_number(json),
        json::Kind::Text => {
            Scalar::Text(json::text(json).map_or_else(|| json.to_owned(), std::borrow::Cow::into_owned))
        }
        json::Kind::List | json::Kind::Map => Scalar::Text(json.to_owned()),
    }
}

/// What no number of a database holds stays as it is written: an identifier of thirty digits is not to lose its last ones.
fn scalar_of_number(json: &str) -> Scalar {
    let is_whole = !json.contains(['.', 'e', 'E']);
    match (json.parse(), json.parse(), json.parse::<f64>()) {
        (Ok(int), _, _) => Scalar::Int(int),
        (_, Ok(uint), _) => Scalar::Uint(uint),
        (_, _, Ok(double)) if !is_whole && double.is_finite() => Scalar::Double(double),
        _ => Scalar::Text(json.to_owned()),
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
