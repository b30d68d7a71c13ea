//! Sheet: where rows are written as they arrive, as JSON. In: names of columns, then cells, each written by whoever knows
//! the database. Out: an answer, or rows with the keys by which they are handed back.

use std::ops::Range;

use bytes::Bytes;
use plan::Rows;

use crate::trouble::Trouble;
use crate::{json, trouble};

/// An answer is no larger than this.
pub(crate) const LARGEST: usize = 8 << 20;

/// See the module.
pub(crate) struct Sheet {
    form: Rows,
    /// What stands before each cell of a row.
    before: Vec<Vec<u8>>,
    out: Vec<u8>,
    rows: usize,
    keys: Option<Keys>,
}

/// For rows that are handed back by key.
struct Keys {
    column: String,
    /// Which that is, once the columns are known; no column of that name: none.
    index: Option<usize>,
    rows: Vec<(i64, Range<usize>)>,
    /// A key was no whole number: nobody can say whose row that is.
    unclear: bool,
    scratch: Vec<u8>,
}

/// Rows with their keys: JSON that is not put together yet.
pub(crate) struct Keyed {
    pub(crate) json: Vec<u8>,
    pub(crate) rows: Vec<(i64, Range<usize>)>,
}

impl Sheet {
    /// For one answer of this form.
    pub(crate) fn new(form: Rows) -> Self {
        Sheet { form, before: Vec::new(), out: Vec::new(), rows: 0, keys: None }
    }

    /// For rows that are handed back by what is in this column.
    pub(crate) fn keyed(form: Rows, column: &str) -> Self {
        let keys = Keys {
            column: column.to_owned(),
            index: None,
            rows: Vec::new(),
            unclear: false,
            scratch: Vec::new(),
        };
        Sheet { keys: Some(keys), ..Self::new(form) }
    }

    /// The same sheet with nothing on it.
    pub(crate) fn clear(&mut self) {
        self.before.clear();
        self.out.clear();
        self.rows = 0;
        if let Some(keys) = &mut self.keys {
            keys.rows.clear();
            keys.unclear = false;
            keys.index = None;
        }
    }

    /// The columns of the rows that follow.
    pub(crate) fn columns<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        let whole = matches!(self.form, Rows::All | Rows::First);
        self.before.clear();
        for (index, name) in names.enumerate() {
            if let Some(keys) = &mut self.keys
                && keys.column == name
            {
                // Of two that are called so, nobody can say which is the key.
                keys.unclear |= keys.index.is_some();
                keys.index = Some(index);
            }
            if whole {
                let mut before = vec![if index == 0 { b'{' } else { b',' }];
                json::string(name, &mut before);
                before.push(b':');
                self.before.push(before);
            }
        }
        if !whole {
            self.before.push(Vec::new());
        }
        if let Some(keys) = &mut self.keys {
            keys.unclear |= keys.index.is_none();
        }
    }

    /// Whether it is more than may be answered.
    pub(crate) fn is_too_large(&self) -> bool {
        self.out.len() > LARGEST
    }

    /// Whether the rows that are still to come change nothing.
    pub(crate) fn is_complete(&self) -> bool {
        self.keys.is_none() && self.rows > 0 && matches!(self.form, Rows::First | Rows::Value)
    }

    /// A row, whose cells `write` writes.
    pub(crate) fn row(
        &mut self,
        source: &str,
        mut write: impl FnMut(usize, &mut Vec<u8>) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        if self.is_complete() {
            return Ok(());
        }
        if self.keys.is_none() {
            self.out.push(if self.rows == 0 { b'[' } else { b',' });
        }
        let start = self.out.len();
        for (index, before) in self.before.iter().enumerate() {
            self.out.extend_from_slice(before);
            write(index, &mut self.out)?;
        }
        if matches!(self.form, Rows::All | Rows::First) {
            self.out.push(b'}');
        }
        self.rows += 1;
        if let Some(keys) = &mut self.keys {
            keys.scratch.clear();
            if let Some(index) = keys.index {
                write(index, &mut keys.scratch)?;
            }
            match std::str::from_utf8(&keys.scratch).ok().and_then(|digits| digits.parse().ok()) {
                Some(key) => keys.rows.push((key, start..self.out.len())),
                None => keys.unclear = true,
            }
        }
        if self.is_too_large() { Err(trouble::too_much(source, LARGEST)) } else { Ok(()) }
    }

    /// The answer.
    pub(crate) fn finish(mut self) -> Bytes {
        match (self.form, self.rows) {
            (Rows::All | Rows::Column, 0) => Bytes::from_static(b"[]"),
            (Rows::First | Rows::Value, 0) => Bytes::from_static(b"null"),
            (Rows::All | Rows::Column, _) => {
                self.out.push(b']');
                self.out.into()
            }
            (Rows::First | Rows::Value, _) => Bytes::from(self.out).slice(1..),
        }
    }

    /// The rows with their keys; nothing, if a key is no whole number.
    pub(crate) fn into_keyed(self) -> Option<Keyed> {
        let keys = self.keys.filter(|keys| !keys.unclear)?;
        Some(Keyed { json: self.out, rows: keys.rows })
    }
}

impl Keyed {
    /// What one caller gets: the rows with its keys, in the order they came, as it would have got them alone.
    pub(crate) fn answer(&self, form: Rows, wanted: impl Fn(i64) -> bool) -> Bytes {
        let mut rows =
            self.rows.iter().filter(|(key, _)| wanted(*key)).map(|(_, range)| &self.json[range.clone()]);
        match form {
            Rows::First | Rows::Value => match rows.next() {
                Some(row) => Bytes::copy_from_slice(row),
                None => Bytes::from_static(b"null"),
            },
            Rows::All | Rows::Column => {
                let mut out = vec![b'['];
                for (index, row) in rows.enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    out.extend_from_slice(row);
                }
                out.push(b']');
                out.into()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(mut sheet: Sheet, rows: &[[i64; 2]]) -> Sheet {
        sheet.columns(["id", "a \"b\""].into_iter());
        for row in rows {
            sheet
                .row("s", |column, out| {
                    json::integer(row[column], out);
                    Ok(())
                })
                .unwrap();
        }
        sheet
    }

    #[test]
    fn each_form_is_written_as_it_is_described() {
        for (form, none, one, two) in [
            (Rows::All, "[]", r#"[{"id":1,"a \"b\"":2}]"#, r#"[{"id":1,"a \"b\"":2},{"id":3,"a \"b\"":4}]"#),
            (Rows::First, "null", r#"{"id":1,"a \"b\"":2}"#, r#"{"id":1,"a \"b\"":2}"#),
            (Rows::Value, "null", "1", "1"),
            (Rows::Column, "[]", "[1]", "[1,3]"),
        ] {
            for (rows, json) in [(&[][..], none), (&[[1, 2]], one), (&[[1, 2], [3, 4]], two)] {
                assert_eq!(filled(Sheet::new(form), rows).finish(), json);
                let keyed = filled(Sheet::keyed(form, "id"), rows).into_keyed().unwrap();
                assert_eq!(keyed.answer(form, |_| true), json, "{form:?}");
            }
        }
    }

    #[test]
    fn a_missing_key_column_makes_no_batch() {
        assert!(filled(Sheet::keyed(Rows::All, "ID"), &[[1, 2]]).into_keyed().is_none());
    }

    #[test]
    fn too_much_is_refused() {
        let mut sheet = Sheet::new(Rows::Value);
        sheet.columns(std::iter::once("a"));
        let row = sheet.row("s", |_, out| {
            json::string(&"x".repeat(LARGEST), out);
            Ok(())
        });
        assert!(matches!(row, Err(Trouble::Unwanted(_))));
    }
}
