//! Failure: why there is no figure, in a sentence.

use std::fmt;

/// The sentence.
#[derive(Debug)]
pub(crate) struct Failure(pub(crate) String);

/// The result of anything here.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure(error.to_string())
    }
}

/// An error with this sentence.
pub(crate) fn fail<T>(sentence: impl Into<String>) -> Result<T> {
    Err(Failure(sentence.into()))
}
