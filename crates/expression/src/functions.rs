//! Functions: which ones an expression may call, on what, and what they give. Looked up by `bind` for every call.
//!
//! A list of what is allowed, not of what is forbidden: `replace`, `split`, `join` and `format` are left out because a
//! request could make them produce far more than it holds.

use crate::kind::ValueKind;

/// A function.
#[derive(Debug)]
pub(crate) struct Function {
    /// As it is written.
    pub(crate) name: &'static str,
    /// What it is called on: `on.name(…)`.
    pub(crate) on: Option<&'static [ValueKind]>,
    /// What goes between the brackets, in order.
    pub(crate) takes: &'static [&'static [ValueKind]],
    /// What comes out.
    pub(crate) gives: ValueKind,
    /// How it is used.
    pub(crate) example: &'static str,
}

const TEXT: &[ValueKind] = &[ValueKind::Text];
const INT: &[ValueKind] = &[ValueKind::Int];
const SCALAR: &[ValueKind] = &[ValueKind::Text, ValueKind::Int, ValueKind::Uint, ValueKind::Double];
const SIZED: &[ValueKind] = &[ValueKind::Text, ValueKind::List, ValueKind::Map];

/// All of them; `matches` is here too, though its pattern is compiled when the file is loaded.
pub(crate) const FUNCTIONS: &[Function] = &[
    Function { name: "size", on: None, takes: &[SIZED], gives: ValueKind::Int, example: "size(url) > 100" },
    Function {
        name: "size",
        on: Some(SIZED),
        takes: &[],
        gives: ValueKind::Int,
        example: "url.size() > 100",
    },
    Function {
        name: "int",
        on: None,
        takes: &[SCALAR],
        gives: ValueKind::Int,
        example: "int(query.page) > 3",
    },
    Function {
        name: "uint",
        on: None,
        takes: &[SCALAR],
        gives: ValueKind::Uint,
        example: "uint(query.page) > 3u",
    },
    Function {
        name: "double",
        on: None,
        takes: &[SCALAR],
        gives: ValueKind::Double,
        example: "double(query.scale) > 1.5",
    },
    Function {
        name: "string",
        on: None,
        takes: &[&[ValueKind::Text, ValueKind::Int, ValueKind::Uint, ValueKind::Double, ValueKind::Truth]],
        gives: ValueKind::Text,
        example: "string(size(url))",
    },
    Function {
        name: "startsWith",
        on: Some(TEXT),
        takes: &[TEXT],
        gives: ValueKind::Truth,
        example: "url.startsWith('/beta/')",
    },
    Function {
        name: "endsWith",
        on: Some(TEXT),
        takes: &[TEXT],
        gives: ValueKind::Truth,
        example: "host.endsWith('.example.com')",
    },
    Function {
        name: "contains",
        on: Some(TEXT),
        takes: &[TEXT],
        gives: ValueKind::Truth,
        example: "url.contains('/draft/')",
    },
    Function {
        name: "matches",
        on: Some(TEXT),
        takes: &[TEXT],
        gives: ValueKind::Truth,
        example: "url.matches('^/v[0-9]+/')",
    },
    Function {
        name: "matches",
        on: None,
        takes: &[TEXT, TEXT],
        gives: ValueKind::Truth,
        example: "matches(url, '^/v[0-9]+/')",
    },
    Function {
        name: "lowerAscii",
        on: Some(TEXT),
        takes: &[],
        gives: ValueKind::Text,
        example: "query.q.lowerAscii()",
    },
    Function {
        name: "upperAscii",
        on: Some(TEXT),
        takes: &[],
        gives: ValueKind::Text,
        example: "query.currency.upperAscii()",
    },
    Function { name: "trim", on: Some(TEXT), takes: &[], gives: ValueKind::Text, example: "query.q.trim()" },
    Function {
        name: "substring",
        on: Some(TEXT),
        takes: &[INT],
        gives: ValueKind::Text,
        example: "path.id.substring(2)",
    },
    Function {
        name: "substring",
        on: Some(TEXT),
        takes: &[INT, INT],
        gives: ValueKind::Text,
        example: "path.id.substring(0, 2)",
    },
];
