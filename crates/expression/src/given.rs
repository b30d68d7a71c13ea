//! Given: what a step gave, as expressions see it. Made by `compose` and `server`; looked into by `slot`.

use std::collections::HashMap;

use bytes::Bytes;
use cel::Value;
use cel::objects::{Key, Map};
use json::JsonKind;
use serde_json::Value as Tree;

use crate::slot::joined;

/// Elements of a list that the interpreter may run over.
const LONGEST_LIST: usize = 1000;
/// Bytes of a value that the interpreter may look at whole.
const LARGEST: usize = 1024 * 1024;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Given {
    /// Nothing: it was left out, has failed, or has not run yet.
    #[default]
    Nothing,
    /// A value.
    Json(Json),
    /// A value that the request itself holds: its content, or an item of a list in it. What is wrong in it is the
    /// client's fault.
    Sent(Json),
}

/// JSON as it came, checked once. Clones share the bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct Json(Bytes);

impl Json {
    /// What came from outside; `None`: it is no JSON. White space around it is left out.
    pub fn check(bytes: Bytes) -> Option<Json> {
        let text = json::check(&bytes)?;
        let inner = bytes.slice_ref(text.as_bytes());
        Some(Json(inner))
    }

    /// A part of a value, as [`json::items`] and [`json::find`] give it.
    pub fn part(whole: &Json, part: &str) -> Json {
        Json(whole.0.slice_ref(part.as_bytes()))
    }

    /// What was written as JSON by whoever calls.
    pub fn written(text: String) -> Json {
        Json(text.into())
    }

    /// What was checked before and kept as it was.
    pub fn kept(bytes: Bytes) -> Json {
        Json(bytes)
    }

    /// A text as a string.
    pub fn string(text: &str) -> Json {
        let mut out = Vec::with_capacity(text.len() + 2);
        json::write_string(text, &mut out);
        Json(out.into())
    }

    /// `null`.
    pub fn null() -> Json {
        Json(Bytes::from_static(b"null"))
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("JSON is UTF-8, which was checked when it was made")
    }

    /// As bytes, shared.
    pub fn bytes(&self) -> &Bytes {
        &self.0
    }
}

impl std::fmt::Debug for Json {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Given {
    /// The value, where there is one.
    pub fn json(&self) -> Option<&Json> {
        match self {
            Given::Nothing => None,
            Given::Json(json) | Given::Sent(json) => Some(json),
        }
    }
}

/// Appends the text of a value: of a list its elements with commas between them. False, and nothing appended, for null,
/// maps, empty lists, and lists that hold one of these.
pub(crate) fn write_text(json: &str, out: &mut Vec<u8>) -> bool {
    match json::kind(json) {
        JsonKind::Text => json::text(json).is_some_and(|text| {
            out.extend_from_slice(text.as_bytes());
            true
        }),
        JsonKind::Number | JsonKind::Truth => {
            out.extend_from_slice(json.as_bytes());
            true
        }
        JsonKind::List => json::items(json).is_some_and(|items| {
            let is_plain = |item: &str| !matches!(json::kind(item), JsonKind::List | JsonKind::Map);
            items.clone().all(is_plain) && joined(items, out, write_text)
        }),
        JsonKind::Null | JsonKind::Map => false,
    }
}

/// Whether a value holds: all but `null`, `false`, and what is empty.
pub(crate) fn holds(json: &str) -> bool {
    !matches!(json, "null" | "false" | "\"\"" | "[]" | "{}")
}

/// As the interpreter sees it.
///
/// # Errors
/// Why it cannot be computed with.
pub(crate) fn value(json: &str) -> Result<Value, String> {
    if json.len() > LARGEST {
        return Err(format!("has more than {} MiB, and no more is computed with", LARGEST / 1024 / 1024));
    }
    if json::items(json).is_some_and(|mut items| items.nth(LONGEST_LIST).is_some()) {
        return Err(format!("has more than {LONGEST_LIST} items, and no more are computed with"));
    }
    let tree: Tree = serde_json::from_str(json)
        .map_err(|_| "is nested too deep, or holds a number beyond what is computed with".to_owned())?;
    Ok(of_tree(tree))
}

fn of_tree(tree: Tree) -> Value {
    match tree {
        Tree::Null => Value::Null,
        Tree::Bool(truth) => Value::Bool(truth),
        Tree::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(int), _, _) => Value::Int(int),
            (_, Some(uint), _) => Value::UInt(uint),
            (_, _, Some(double)) => Value::Float(double),
            _ => Value::Null,
        },
        Tree::String(text) => Value::String(text.into()),
        Tree::Array(list) => Value::List(list.into_iter().map(of_tree).collect::<Vec<_>>().into()),
        Tree::Object(members) => {
            let members = members.into_iter().map(|(name, value)| (Key::String(name.into()), of_tree(value)));
            Value::Map(Map { map: members.collect::<HashMap<_, _>>().into() })
        }
    }
}

/// A value of the interpreter as JSON; keys of maps in order, since it keeps none. False, and nothing appended, for what
/// has no JSON.
pub(crate) fn write_json(value: &Value, out: &mut Vec<u8>) -> bool {
    let before = out.len();
    let Some(tree) = to_tree(value) else { return false };
    let written = serde_json::to_writer(&mut *out, &tree).is_ok();
    if !written {
        out.truncate(before);
    }
    written
}

fn to_tree(value: &Value) -> Option<Tree> {
    Some(match value {
        Value::Null => Tree::Null,
        Value::Bool(truth) => Tree::Bool(*truth),
        Value::Int(number) => (*number).into(),
        Value::UInt(number) => (*number).into(),
        Value::Float(number) => Tree::Number(serde_json::Number::from_f64(*number)?),
        Value::String(text) => Tree::String(text.to_string()),
        Value::Bytes(bytes) => Tree::String(String::from_utf8_lossy(bytes).into_owned()),
        Value::List(list) => Tree::Array(list.iter().map(to_tree).collect::<Option<_>>()?),
        Value::Map(map) => {
            let mut members: Vec<(String, Tree)> = Vec::with_capacity(map.map.len());
            for (key, value) in map.map.iter() {
                members.push((key.to_string(), to_tree(value)?));
            }
            members.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
            Tree::Object(members.into_iter().collect())
        }
        _ => return None,
    })
}
