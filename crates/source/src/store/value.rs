//! Value: one value of a store: its text, and what it is besides. Read once, when the file is.

use std::collections::HashMap;
use std::fmt;

use bytes::Bytes;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::Error;
use serde_json::value::RawValue;

use super::sorted::Sorted;

/// See the module.
#[derive(Debug)]
pub(super) struct Value {
    /// A text as it is, anything else as JSON, byte for byte as in the file.
    pub(super) text: Bytes,
    pub(super) shape: Shape,
}

/// What commands besides `GET` find.
#[derive(Debug)]
pub(super) enum Shape {
    /// A text, a number, `true`, `false` or `null`.
    Single,
    List(Vec<Bytes>),
    Hash(Hash),
}

/// An object.
#[derive(Debug)]
pub(super) struct Hash {
    /// In the order of the file.
    pub(super) fields: Vec<(Bytes, Bytes)>,
    places: HashMap<Bytes, usize, foldhash::fast::RandomState>,
    /// Where all values are numbers.
    pub(super) sorted: Option<Sorted>,
}

impl Value {
    /// Reads it. What it holds is text or JSON again, and is not looked into further.
    pub(super) fn new(raw: &RawValue) -> Result<Value, Error> {
        let shape = match raw.get().as_bytes().first() {
            Some(b'[') => {
                let items: Vec<&RawValue> = serde_json::from_str(raw.get())?;
                Shape::List(items.into_iter().map(text).collect::<Result<_, _>>()?)
            }
            Some(b'{') => Shape::Hash(serde_json::from_str::<Fields>(raw.get())?.hash()),
            _ => Shape::Single,
        };
        Ok(Value { text: text(raw)?, shape })
    }
}

impl Hash {
    pub(super) fn get(&self, field: &[u8]) -> Option<&Bytes> {
        Some(&self.fields[*self.places.get(field)?].1)
    }
}

fn text(raw: &RawValue) -> Result<Bytes, Error> {
    if raw.get().starts_with('"') {
        return serde_json::from_str::<String>(raw.get()).map(Bytes::from);
    }
    Ok(Bytes::copy_from_slice(raw.get().as_bytes()))
}

/// The fields of an object, each with its value's text and, where it is one, its number.
struct Fields(Vec<(Bytes, Bytes, Option<f64>)>);

impl Fields {
    fn hash(self) -> Hash {
        let scores: Option<Vec<_>> =
            self.0.iter().map(|(name, _, number)| Some((name.clone(), (*number)?))).collect();
        let sorted = scores.map(Sorted::new);
        let fields: Vec<_> = self.0.into_iter().map(|(name, value, _)| (name, value)).collect();
        let places = fields.iter().enumerate().map(|(place, (name, _))| (name.clone(), place)).collect();
        Hash { fields, places, sorted }
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                let mut names = std::collections::HashSet::new();
                while let Some(name) = map.next_key::<String>()? {
                    let raw = map.next_value::<&RawValue>()?;
                    let number = serde_json::from_str::<f64>(raw.get()).ok();
                    if !names.insert(name.clone()) {
                        return Err(A::Error::custom(format!("`{name}` stands there twice")));
                    }
                    let value = text(raw).map_err(A::Error::custom)?;
                    fields.push((Bytes::from(name), value, number));
                }
                Ok(Fields(fields))
            }
        }

        deserializer.deserialize_map(Object)
    }
}
