//! Headers: what `headers` of a policy means: how fields of requests and responses are changed.

use expression::Template;
use http::{HeaderName, HeaderValue};
use message::FieldPattern;

/// How header fields are changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Headers {
    /// The policy's name in the file.
    pub name: String,
    /// Those of a request, on its way down.
    pub request: FieldEdits,
    /// Those of a response, on its way up.
    pub response: FieldEdits,
}

/// Changes to the fields of one message, in the order in which they are made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FieldEdits {
    /// These are taken out.
    pub remove: Vec<FieldPattern>,
    /// These take the place of whatever was there, also where they have no value.
    pub set: Vec<Field>,
    /// These are added as lines of their own.
    pub add: Vec<Field>,
}

/// A field and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: HeaderName,
    /// Its value.
    pub value: FieldText,
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldText {
    /// The same for every request.
    Constant(HeaderValue),
    /// Made for each. Where a value in it is missing, or is none that a field may have, there is no field.
    Made(Template),
}

impl FieldEdits {
    /// Whether nothing is changed.
    pub fn is_empty(&self) -> bool {
        self.remove.is_empty() && self.set.is_empty() && self.add.is_empty()
    }

    /// The fields that are set or added.
    pub fn fields(&self) -> impl Iterator<Item = &Field> {
        self.set.iter().chain(&self.add)
    }

    /// The values that are made for each request.
    pub fn made(&self) -> impl Iterator<Item = &Template> {
        self.fields().filter_map(|field| field.value.made())
    }
}

impl FieldText {
    /// The template, where the value is made for each request.
    pub fn made(&self) -> Option<&Template> {
        match self {
            FieldText::Constant(_) => None,
            FieldText::Made(template) => Some(template),
        }
    }
}
