//! Cell: one value of a row of SQLite, as JSON. What a column is declared to be says what its texts are.

use rusqlite::types::ValueRef;

use crate::json;

/// What the texts of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Texts {
    Plain,
    /// Declared as JSON or JSONB.
    Json,
    /// Declared as DATETIME or TIMESTAMP.
    Times,
}

impl Texts {
    pub(super) fn declared(declaration: Option<&str>) -> Self {
        let word = declaration.unwrap_or_default().split('(').next().unwrap_or_default().trim();
        let is = |words: &[&str]| words.iter().any(|other| word.eq_ignore_ascii_case(other));
        if is(&["json", "jsonb"]) {
            Texts::Json
        } else if is(&["datetime", "timestamp", "timestamptz"]) {
            Texts::Times
        } else {
            Texts::Plain
        }
    }
}

/// Writes it.
pub(super) fn write(texts: Texts, value: ValueRef<'_>, out: &mut Vec<u8>) {
    match value {
        ValueRef::Null => json::null(out),
        ValueRef::Integer(integer) => json::integer(integer, out),
        ValueRef::Real(double) => json::double(double, out),
        ValueRef::Blob(bytes) => json::bytes(bytes, out),
        ValueRef::Text(text) => match texts {
            Texts::Plain => json::bytes(text, out),
            Texts::Json => json::spliced(text, out),
            Texts::Times => {
                let start = out.len();
                json::bytes(text, out);
                // `"2024-01-31 12:34:56`, as SQLite's own functions write it, has a T in ISO 8601.
                if let Some(space) = out.get_mut(start + 11)
                    && text.get(4) == Some(&b'-')
                    && text.get(13) == Some(&b':')
                    && *space == b' '
                {
                    *space = b'T';
                }
            }
        },
    }
}
