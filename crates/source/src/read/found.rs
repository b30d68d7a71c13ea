//! Found: what a command found, whoever was asked: a Redis (`redis::reply`) or a file (`store`). Written by `form`.

use bytes::Bytes;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// There is no such key, or nothing at that place in it.
    Nothing,
    One(Bytes),
    /// `None`: that one is not there.
    Several(Vec<Option<Bytes>>),
    /// Fields and their values, in order.
    Fields(Vec<(Bytes, Bytes)>),
    /// Members and their scores, as [`number`] writes them.
    Scored(Vec<(Bytes, Bytes)>),
    /// As [`number`] writes it.
    Number(Bytes),
    /// What was checked is so.
    Holds,
}

/// A score as text: `3`, `0.5`, `inf`. The shortest that reads back as the same, as Redis writes it.
pub(crate) fn number(score: f64) -> Bytes {
    const EXACT: f64 = 1e17;
    if score.fract() == 0.0 && score.abs() < EXACT {
        return Bytes::from(itoa::Buffer::new().format(score as i64).to_owned());
    }
    if score.is_infinite() {
        return Bytes::from_static(if score > 0.0 { b"inf" } else { b"-inf" });
    }
    // Debug writes what is very large or small with an exponent, and is as short as Display.
    Bytes::from(format!("{score:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_short_and_exact() {
        for (score, text) in [
            (3.0, "3"),
            (-3.0, "-3"),
            (0.5, "0.5"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1e300, "1e300"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (9_007_199_254_740_993.0, "9007199254740992"),
        ] {
            assert_eq!(number(score), text);
        }
    }
}
