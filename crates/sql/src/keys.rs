//! Keys: whether look-ups of several callers may become one, and which keys they ask for. Pure. Called for each query
//! of a statement that has a `batch`.

use expression::{Parameter, Scalar};
use plan::{Batch, Statement};

/// The keys of a look-up that may become one with others. Only whole numbers, written in the one way that there is:
/// collations make texts equal that are not.
pub(crate) fn mergeable(batch: &Batch, parameters: &[Parameter]) -> Option<Vec<i64>> {
    match parameters.get(batch.parameter)? {
        Parameter::One(value) => Some(vec![whole(value)?]),
        Parameter::List(values) if values.is_empty() => None,
        Parameter::List(values) => values.iter().map(whole).collect(),
    }
}

fn whole(value: &Scalar) -> Option<i64> {
    match value {
        Scalar::Int(int) => Some(*int),
        Scalar::Text(text) => {
            let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
            let is_canonical = match digits {
                [b'0'] => digits.len() == text.len(),
                [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
                _ => false,
            };
            if is_canonical { text.parse().ok() } else { None }
        }
        _ => None,
    }
}

/// The same parameters with these keys.
pub(crate) fn with_keys(batch: &Batch, parameters: &[Parameter], keys: &[i64]) -> Vec<Parameter> {
    let mut parameters = parameters.to_vec();
    if let Some(parameter) = parameters.get_mut(batch.parameter) {
        *parameter = Parameter::List(keys.iter().copied().map(Scalar::Int).collect());
    }
    parameters
}

/// What two look-ups have to have in common to become one: everything but the keys. Written behind what is there.
pub(crate) fn common(statement: &Statement, batch: &Batch, parameters: &[Parameter], out: &mut Vec<u8>) {
    out.push(statement.rows as u8);
    out.extend_from_slice(&batch.parameter.to_le_bytes());
    for piece in statement.pieces.iter().chain([&batch.column]) {
        counted(piece.as_bytes(), out);
    }
    for (index, parameter) in parameters.iter().enumerate() {
        match parameter {
            _ if index == batch.parameter => {}
            Parameter::One(value) => scalar(value, out),
            Parameter::List(values) => {
                out.push(b'[');
                out.extend_from_slice(&values.len().to_le_bytes());
                for value in values {
                    scalar(value, out);
                }
            }
        }
    }
}

fn scalar(value: &Scalar, out: &mut Vec<u8>) {
    match value {
        Scalar::Null => out.push(b'n'),
        Scalar::Truth(truth) => out.extend_from_slice(&[b't', u8::from(*truth)]),
        Scalar::Int(int) => {
            out.push(b'i');
            out.extend_from_slice(&int.to_le_bytes());
        }
        Scalar::Uint(uint) => {
            out.push(b'u');
            out.extend_from_slice(&uint.to_le_bytes());
        }
        Scalar::Double(double) => {
            out.push(b'd');
            out.extend_from_slice(&double.to_bits().to_le_bytes());
        }
        Scalar::Text(text) => {
            out.push(b's');
            counted(text.as_bytes(), out);
        }
        Scalar::Decimal(digits) => {
            out.push(b'm');
            counted(digits.as_bytes(), out);
        }
        Scalar::Bytes(bytes) => {
            out.push(b'b');
            counted(bytes, out);
        }
    }
}

/// With its length before it, so that no two ways of cutting give the same bytes.
fn counted(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&bytes.len().to_le_bytes());
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use plan::Rows;

    use super::*;

    const BATCH: Batch = Batch { parameter: 0, column: String::new() };

    fn text(text: &str) -> Scalar {
        Scalar::Text(text.to_owned())
    }

    fn of(value: Scalar) -> Option<Vec<i64>> {
        mergeable(&BATCH, &[Parameter::One(value)])
    }

    #[test]
    fn only_whole_numbers_in_their_one_form_are_merged() {
        for (key, number) in [("0", 0), ("7", 7), ("-7", -7), ("9223372036854775807", i64::MAX)] {
            assert_eq!(of(text(key)), Some(vec![number]));
        }
        for key in [
            "",
            "-",
            "-0",
            "007",
            "+7",
            "7.0",
            " 7",
            "7 ",
            "1e3",
            "٧",
            "9223372036854775808",
            "1 OR 1=1",
            "7\0",
        ] {
            assert_eq!(of(text(key)), None, "{key}");
        }
        for other in [Scalar::Null, Scalar::Truth(true), Scalar::Uint(u64::MAX), Scalar::Double(7.0)] {
            assert_eq!(of(other), None);
        }
    }

    #[test]
    fn a_list_is_merged_as_a_whole_or_not() {
        let list = |values: &[Scalar]| mergeable(&BATCH, &[Parameter::List(values.to_vec())]);
        assert_eq!(list(&[text("7"), Scalar::Int(8)]), Some(vec![7, 8]));
        assert_eq!(list(&[text("7"), text("08")]), None);
        assert_eq!(list(&[]), None);
    }

    #[test]
    fn what_differs_is_not_taken_for_the_same() {
        let statement = |pieces: &[&str]| Statement {
            pieces: pieces.iter().map(|piece| (*piece).to_owned()).collect(),
            reads: true,
            rows: Rows::All,
            batch: None,
        };
        let of = |pieces: &[&str], others: &[Parameter]| {
            let mut parameters = vec![Parameter::One(Scalar::Int(1))];
            parameters.extend_from_slice(others);
            let mut out = Vec::new();
            common(&statement(pieces), &BATCH, &parameters, &mut out);
            out
        };
        let all = [
            of(&["ab", ""], &[]),
            of(&["a", "b"], &[]),
            of(&["a", "b"], &[Parameter::One(text("1"))]),
            of(&["a", "b"], &[Parameter::One(Scalar::Int(1))]),
            of(&["a", "b"], &[Parameter::List(vec![Scalar::Int(1)])]),
            of(&["a", "b"], &[Parameter::One(text("a")), Parameter::One(text("b"))]),
            of(&["a", "b"], &[Parameter::One(text("as")), Parameter::One(text("b"))]),
        ];
        for (index, one) in all.iter().enumerate() {
            assert!(all[..index].iter().all(|other| other != one), "{index}");
        }
    }
}
