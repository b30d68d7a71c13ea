//! Trouble: why a statement gave no rows, and what that means for its connection. Made by those who speak to databases;
//! it decides whether a connection is kept, cleaned or thrown away.

use std::time::Duration;

use expression::Scalar;
use message::{Error, Kind, Misfit, Retry, open_files};

use crate::text::Bound;

/// Of what a database says, this many bytes at most are shown.
const SHOWN: usize = 300;

/// What came instead of rows.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The statement was refused, by the database or before it was sent: the connection is in order.
    Refused(Error),
    /// What comes cannot be used, and more may come: the connection has to be cleaned.
    Unwanted(Error),
    /// The connection is broken. `sent` says whether the database may have begun with the statement.
    Broken {
        /// What is told.
        error: Error,
        /// See above.
        sent: bool,
    },
}

impl Trouble {
    pub(crate) fn error(self) -> Error {
        match self {
            Trouble::Refused(error) | Trouble::Unwanted(error) | Trouble::Broken { error, .. } => error,
        }
    }
}

/// What a database said of a statement, for our log.
#[derive(Debug)]
struct Said(String);

impl std::fmt::Display for Said {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Said {}

/// What it said, cut where it is long, without control characters.
fn said(text: &str) -> Said {
    let text = text.chars().filter(|character| !character.is_control()).scan(0, |length, character| {
        *length += character.len_utf8();
        (*length <= SHOWN).then_some(character)
    });
    Said(text.collect())
}

/// The database answered with an error. Some repeat values; they are taken out.
pub(crate) fn refused(source: &str, code: &str, text: &str, values: &[Bound<'_>]) -> Trouble {
    let detail = format!("source {source}: the database refuses the statement ({code})");
    Trouble::Refused(Error::new(Kind::UnusableReply, detail).caused_by(said(&without(text, values))))
}

/// The text without what is, or may be, a value of these: databases put them between quotes, cut them where they are
/// long, and join several (`Duplicate entry '7-abc' for key …`).
fn without(text: &str, values: &[Bound<'_>]) -> String {
    let values: Vec<String> = values.iter().filter_map(|bound| shown(bound.value)).collect();
    let mut text = text.to_owned();
    for value in values.iter().filter(|value| value.len() > 2) {
        text = text.replace(value, "…");
    }
    let is_one = |part: &str| {
        values.iter().any(|value| part.contains(value.as_str()) || (part.len() > 2 && value.contains(part)))
    };
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(open) = rest.find(['\'', '"']) {
        let (before, quoted) = rest.split_at(open + 1);
        out.push_str(before);
        let quote = before.chars().next_back().unwrap_or_default();
        let Some(close) = quoted.find(quote) else {
            rest = quoted;
            break;
        };
        out.push_str(if is_one(&quoted[..close]) { "…" } else { &quoted[..close] });
        out.push(quote);
        rest = &quoted[close + 1..];
    }
    out + rest
}

fn shown(value: &Scalar) -> Option<String> {
    let text = match value {
        Scalar::Null | Scalar::Truth(_) => return None,
        Scalar::Int(int) => int.to_string(),
        Scalar::Uint(uint) => uint.to_string(),
        Scalar::Double(double) => double.to_string(),
        Scalar::Text(text) | Scalar::Decimal(text) => text.clone(),
        Scalar::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
    };
    (!text.is_empty()).then_some(text)
}

/// The statement cannot be sent as it is written.
pub(crate) fn unusable(source: &str, what: &str) -> Error {
    Error::new(Kind::UnusableReply, format!("source {source}: {what}"))
}

/// A parameter does not fit what its placeholder stands for; `placeholder` counts from 0.
pub(crate) fn unfit(source: &str, placeholder: usize, takes: &str) -> Error {
    let number = placeholder + 1;
    Error::new(Kind::MalformedRequest, format!("source {source}: placeholder {number} takes {takes}"))
        .of_misfit(Misfit { argument: Some(placeholder), takes: takes.to_owned() })
}

/// Whether a state (of five characters, SQL 2016 §24) says that a value does not fit: a data exception. Not a division by
/// zero, which is mostly one of columns.
pub(crate) fn is_of_data(state: &str) -> bool {
    state.starts_with("22") && state != "22012"
}

/// The database took the statement and found that a value of these does not fit its column. Which it is shows the value
/// where it is repeated.
pub(crate) fn unfit_data(source: &str, code: &str, text: &str, values: &[Bound<'_>]) -> Trouble {
    let is_quoted =
        |value: String| text.contains(&format!("'{value}'")) || text.contains(&format!("\"{value}\""));
    let is_shown = |bound: &&Bound<'_>| shown(bound.value).is_some_and(is_quoted);
    let mut repeated = values.iter().filter(is_shown).map(|bound| bound.placeholder);
    let argument = match values {
        [only] => Some(only.placeholder),
        _ => repeated.next().filter(|first| repeated.all(|other| other == *first)),
    };
    let detail = format!("source {source}: a value does not fit its column ({code})");
    let error = Error::new(Kind::MalformedRequest, detail).caused_by(said(&without(text, values)));
    Trouble::Refused(error.of_misfit(Misfit { argument, takes: "what its column holds".to_owned() }))
}

/// More than may be answered.
pub(crate) fn too_much(source: &str, limit: usize) -> Trouble {
    let limit = limit >> 20;
    Trouble::Unwanted(unusable(source, &format!("the answer is larger than {limit} MiB")))
}

/// The connection broke.
pub(crate) fn broken(source: &str, sent: bool, cause: &dyn std::error::Error) -> Trouble {
    let error = Error::new(Kind::BrokeOff, format!("source {source}: the database broke the connection off"))
        .caused_by(said(&cause.to_string()))
        .retry(if sent { Retry::IfIdempotent } else { Retry::Always });
    Trouble::Broken { error, sent }
}

/// No connection came about. Where we have too much open already, it is not the database that is to be blamed.
pub(crate) fn unconnected(source: &str, address: &str, cause: &(dyn std::error::Error + 'static)) -> Error {
    if open_files::are_exhausted_beneath(cause) {
        let detail = format!("source {source}: nothing is left here to make a connection to {address} of");
        return Error::new(Kind::Overloaded, detail).caused_by(said(&cause.to_string()));
    }
    let mut text = cause.to_string();
    let mut beneath = cause.source();
    while let Some(cause) = beneath {
        let below = cause.to_string();
        if !text.contains(&below) {
            text = format!("{text}: {below}");
        }
        beneath = cause.source();
    }
    Error::new(Kind::Connect, format!("source {source}: no connection to {address}"))
        .caused_by(said(&text))
        .retry(Retry::Always)
}

/// It took too long.
pub(crate) fn late_connection(source: &str, address: &str) -> Error {
    Error::new(Kind::ConnectTimeout, format!("source {source}: no connection to {address} in time"))
        .retry(Retry::Always)
}

/// The statement took too long.
pub(crate) fn late(source: &str, limit: Duration) -> Error {
    Error::new(Kind::SourceTimeout, format!("source {source}: no answer within {limit:?}"))
        .retry(Retry::IfIdempotent)
}

/// Too many wait already.
pub(crate) fn full(source: &str, queue: usize) -> Error {
    Error::new(
        Kind::Overloaded,
        format!("source {source}: all connections are taken, and {queue} queries wait already"),
    )
    .retry(Retry::Always)
}

/// It waited in vain.
pub(crate) fn unserved(source: &str, wait: Duration) -> Error {
    Error::new(Kind::Overloaded, format!("source {source}: no connection became free in time ({wait:?})"))
        .retry(Retry::Always)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_a_database_repeats_are_not_shown() {
        let texts = ["hunter2", "it's 5", "7"].map(|text| Scalar::Text(text.to_owned()));
        let values: Vec<_> = texts.iter().map(|value| Bound { value, placeholder: 0 }).collect();
        for (said, shown) in [
            ("Duplicate entry '7-hunter2' for key 'PRIMARY'", "Duplicate entry '…' for key 'PRIMARY'"),
            ("Incorrect integer value: 'hunt' for column", "Incorrect integer value: '…' for column"),
            ("bad input: \"it's 5\"", "bad input: \"…\""),
            ("relation \"users\" does not exist", "relation \"users\" does not exist"),
            ("near 'FROM", "near 'FROM"),
        ] {
            assert_eq!(without(said, &values), shown);
        }
    }

    #[test]
    fn a_long_message_is_cut() {
        assert!(said(&"ä".repeat(1000)).0.len() <= SHOWN);
    }
}
