//! File: a store's file → its values. In: a path. Out: all of it, or what is wrong with it, where, and what to do.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::value::Value;

/// Bytes of a file.
const LARGEST: u64 = 64 * 1024 * 1024;

/// All keys, and what stands under them.
pub(super) type Values = HashMap<Bytes, Value, foldhash::fast::RandomState>;

/// What differs between two states of a file, links followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State([i64; 5]);

impl State {
    /// `None`: it is not there.
    pub(super) fn of(path: &Path) -> Option<State> {
        let found = std::fs::metadata(path).ok()?;
        let numbers = [found.dev(), found.ino(), found.size()].map(u64::cast_signed);
        let [device, number, length] = numbers;
        Some(State([device, number, length, found.mtime(), found.mtime_nsec()]))
    }
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreError {
    /// Which file.
    pub file: PathBuf,
    /// From 1 on, where a place can be named.
    pub line: Option<usize>,
    /// What is wrong.
    pub cause: String,
    /// What to do.
    pub remedy: &'static str,
}

impl StoreError {
    /// `file:line: what is wrong`.
    pub fn place_and_cause(&self) -> String {
        let line = self.line.map_or_else(String::new, |line| format!(":{line}"));
        format!("{}{line}: {}", self.file.display(), self.cause)
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.place_and_cause(), self.remedy)
    }
}

impl std::error::Error for StoreError {}

/// Reads a file. Blocks.
pub(super) fn read(path: &Path) -> Result<Values, StoreError> {
    let fault = |line, cause: String, remedy| StoreError { file: path.to_owned(), line, cause, remedy };
    let unread = |error: std::io::Error| {
        fault(None, format!("it cannot be read: {error}"), "write a JSON object of keys and values there")
    };
    let mut text = Vec::new();
    File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut text)).map_err(unread)?;
    if text.len() as u64 > LARGEST {
        let cause = format!("it is larger than {} MiB", LARGEST / 1024 / 1024);
        return Err(fault(None, cause, "put that much into a Redis"));
    }
    match serde_json::from_slice::<Entries>(&text) {
        Ok(entries) => Ok(entries.0),
        Err(error) => {
            let line = (error.line() > 0).then(|| error.line());
            let cause = error.to_string();
            // The line is told already, and the column of a whole value says little.
            let cause = cause.split(" at line ").next().unwrap_or_default().to_owned();
            Err(fault(line, cause, "write one JSON object: `{ \"key\": \"value\" }`"))
        }
    }
}

struct Entries(Values);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Whole)
    }
}

struct Whole;

impl<'de> Visitor<'de> for Whole {
    type Value = Entries;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of keys and values")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
        let mut values = Values::default();
        while let Some(key) = map.next_key::<String>()? {
            let value = map.next_value::<&RawValue>()?;
            let value = Value::new(value).map_err(|error| A::Error::custom(format!("`{key}`: {error}")))?;
            if values.insert(key.clone().into(), value).is_some() {
                return Err(A::Error::custom(format!("`{key}` stands there twice")));
            }
        }
        Ok(Entries(values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> StoreError {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.json");
        std::fs::write(&path, text).unwrap();
        read(&path).err().unwrap()
    }

    #[test]
    fn a_fault_is_told_with_its_line() {
        for (text, line, cause) in [
            ("{\n \"a\": 1,\n \"b\" 2 }", 3, "expected `:`"),
            ("{\n \"a\": 1,\n \"a\": 2 }", 3, "`a` stands there twice"),
            ("{ \"h\": { \"f\": 1, \"f\": 2 } }", 1, "`h`: `f` stands there twice"),
            ("[1]", 1, "invalid type: sequence, expected an object of keys and values"),
            ("{ \"a\": 1 } x", 1, "trailing characters"),
            ("", 1, "EOF while parsing a value"),
        ] {
            let error = error(text);
            assert_eq!((error.line, error.cause.as_str()), (Some(line), cause), "{text}");
        }
    }

    #[test]
    fn a_file_that_is_not_there_says_so() {
        let error = read(Path::new("/nowhere/tokens.json")).err().unwrap();
        assert!(error.to_string().starts_with("/nowhere/tokens.json: it cannot be read: "), "{error}");
    }
}
