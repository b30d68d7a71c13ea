//! Text: a statement as a database gets it, and the values for its placeholders. In: pieces and parameters. Out: the
//! text with as many placeholders as there are values, each list of `IN (?)` padded to a power of two, so that lists of
//! many lengths need few different statements. Called for each query.

use expression::{Parameter, Scalar};
use message::Result;

use crate::trouble::unfit;

/// Of one list.
const MOST_VALUES: usize = 1_000;

/// How placeholders are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placeholders {
    /// `?`
    Marks,
    /// `$1`, `$2` …
    Numbers,
}

/// A statement, ready to be sent.
#[derive(Debug)]
pub(crate) struct Text<'a> {
    pub(crate) sql: String,
    pub(crate) values: Vec<Bound<'a>>,
}

/// A value for one placeholder of the text. Its `Debug` does not show it: libraries may log parameters.
#[derive(Clone, Copy)]
pub(crate) struct Bound<'a> {
    pub(crate) value: &'a Scalar,
    /// Of the statement as it is written, from 0.
    pub(crate) placeholder: usize,
}

impl std::fmt::Debug for Bound<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "?{}", self.placeholder + 1)
    }
}

/// What an empty list becomes: `IN (NULL)` finds nothing.
const NOTHING: &Scalar = &Scalar::Null;

impl<'a> Text<'a> {
    /// `MalformedRequest` where a list is too long.
    pub(crate) fn new(
        source: &str,
        pieces: &[String],
        parameters: &'a [Parameter],
        placeholders: Placeholders,
    ) -> Result<Self> {
        let length = pieces.iter().map(String::len).sum::<usize>() + 4 * parameters.len();
        let mut text =
            Text { sql: String::with_capacity(length), values: Vec::with_capacity(parameters.len()) };
        let mut parameters = parameters.iter().enumerate();
        for piece in pieces {
            text.sql.push_str(piece);
            let Some((placeholder, parameter)) = parameters.next() else { continue };
            match parameter {
                Parameter::One(value) => text.push(placeholders, Bound { value, placeholder }),
                Parameter::List(list) if list.len() > MOST_VALUES => {
                    return Err(unfit(
                        source,
                        placeholder,
                        &format!("a list of at most {MOST_VALUES} values"),
                    ));
                }
                Parameter::List(_) if !is_set(piece) => {
                    // How many values stand there is for whoever wrote the statement to say.
                    return Err(unfit(source, placeholder, "one value: lists fill `IN (?)` alone"));
                }
                Parameter::List(list) if list.is_empty() && is_negated(piece) => {
                    return Err(unfit(source, placeholder, "at least one value behind `NOT IN`"));
                }
                Parameter::List(list) => {
                    let last = list.last().unwrap_or(NOTHING);
                    for index in 0..list.len().next_power_of_two() {
                        if index > 0 {
                            text.sql.push(',');
                        }
                        let value = list.get(index).unwrap_or(last);
                        text.push(placeholders, Bound { value, placeholder });
                    }
                }
            }
        }
        Ok(text)
    }

    fn push(&mut self, placeholders: Placeholders, bound: Bound<'a>) {
        self.values.push(bound);
        match placeholders {
            Placeholders::Marks => self.sql.push('?'),
            Placeholders::Numbers => {
                self.sql.push('$');
                self.sql.push_str(itoa::Buffer::new().format(self.values.len()));
            }
        }
    }
}

/// Whether a list may stand behind this: `IN (`. It does not matter there how often a value stands in it.
fn is_set(before: &str) -> bool {
    last_words(before).is_some_and(|(_, word)| word.eq_ignore_ascii_case("in"))
}

/// Whether it is `NOT IN (`, which an empty list cannot be written behind: `NOT IN (NULL)` never holds.
fn is_negated(before: &str) -> bool {
    let is_not = |before: &str| {
        let word = before.trim_end().rsplit(|c: char| !c.is_alphanumeric() && c != '_').next();
        word.is_some_and(|word| word.eq_ignore_ascii_case("not"))
    };
    last_words(before).is_some_and(|(before, _)| is_not(before))
}

/// The word before the bracket that a text ends with, and what stands before that word.
fn last_words(before: &str) -> Option<(&str, &str)> {
    let before = before.trim_end().strip_suffix('(')?.trim_end();
    let start = before.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
    before.is_char_boundary(start).then(|| before.split_at(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<String> {
        text.split('?').map(str::to_owned).collect()
    }

    fn numbers(count: i64) -> Parameter {
        Parameter::List((0..count).map(Scalar::Int).collect())
    }

    #[test]
    fn placeholders_are_written_as_the_database_wants_them() {
        let parameters = [Parameter::One(Scalar::Int(1)), Parameter::One(Scalar::Null)];
        let pieces = pieces("SELECT ? WHERE a = ? AND b");
        let marks = Text::new("s", &pieces, &parameters, Placeholders::Marks).unwrap();
        assert_eq!(marks.sql, "SELECT ? WHERE a = ? AND b");
        let numbers = Text::new("s", &pieces, &parameters, Placeholders::Numbers).unwrap();
        assert_eq!(numbers.sql, "SELECT $1 WHERE a = $2 AND b");
    }

    #[test]
    fn lists_are_padded_with_their_last_value() {
        for (count, placeholders) in [(1, 1), (2, 2), (3, 4), (4, 4), (5, 8), (1000, 1024)] {
            let parameters = [numbers(count)];
            let text = Text::new("s", &pieces("a IN (?)"), &parameters, Placeholders::Marks).unwrap();
            assert_eq!((text.values.len(), text.sql.matches('?').count()), (placeholders, placeholders));
            assert!(text.values[count as usize..].iter().all(|bound| *bound.value == Scalar::Int(count - 1)));
        }
    }

    #[test]
    fn a_list_stands_behind_in_alone() {
        let one = |text: &str, count| {
            let parameters = [numbers(count)];
            let text = Text::new("s", &pieces(text), &parameters, Placeholders::Marks);
            text.map(|text| text.values.len()).map_err(|error| (error.kind(), error.detail().to_owned()))
        };
        assert_eq!(one("a NOT in\n( ?)", 3), Ok(4));
        assert_eq!(one("a.\"In\" IN(?)", 0), Ok(1));
        for text in ["INSERT INTO a VALUES (?)", "SELECT concat(?)", "LIMIT ?", "ARRAY[?]", "main(?)", "(?)"]
        {
            let (kind, detail) = one(text, 3).unwrap_err();
            assert_eq!(kind, message::Kind::MalformedRequest);
            assert!(detail.contains("one value: lists fill `IN (?)` alone"), "{text}: {detail}");
        }
        let (_, detail) = one("a not IN (?)", 0).unwrap_err();
        assert!(detail.contains("at least one value behind `NOT IN`"), "{detail}");
    }

    #[test]
    fn an_empty_list_is_one_null() {
        let parameters = [numbers(0), Parameter::One(Scalar::Int(7))];
        let text = Text::new("s", &pieces("a IN (?) AND b = ?"), &parameters, Placeholders::Numbers).unwrap();
        assert_eq!(text.sql, "a IN ($1) AND b = $2");
        assert_eq!(*text.values[0].value, Scalar::Null);
    }

    #[test]
    fn longer_lists_are_refused_by_the_number_of_their_placeholder() {
        let parameters = [Parameter::One(Scalar::Null), numbers(1001)];
        let error = Text::new("s", &pieces("? IN (?)"), &parameters, Placeholders::Marks).unwrap_err();
        assert_eq!(error.kind(), message::Kind::MalformedRequest);
        assert!(error.detail().contains("placeholder 2"), "{error}");
    }

    #[test]
    fn a_logged_value_is_not_shown() {
        let parameters = [Parameter::One(Scalar::Text("hunter2".to_owned()))];
        let text = Text::new("s", &pieces("?"), &parameters, Placeholders::Marks).unwrap();
        assert_eq!(format!("{:?}", text.values), "[?1]");
    }
}
