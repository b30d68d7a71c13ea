//! Unable: an expression has everything that it reads, and still gives no value: a list is too long to compute with, a
//! text is no number. It is never taken for null: null says that there is nothing.

use crate::fault::quoted;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unable {
    /// Why, with the expression.
    pub detail: String,
    /// The values beside the request that are to blame, as places in [`Names::values`](crate::Names::values); none: the
    /// request is.
    pub values: Vec<usize>,
}

/// Why nothing was computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Something that is read is not there: which values, as in [`Unable`].
    Missing(Vec<usize>),
    /// It is, and cannot be computed with.
    Unable(Cause),
}

/// Why something cannot be computed with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cause {
    pub(crate) why: String,
    /// As in [`Unable`].
    pub(crate) values: Vec<usize>,
}

impl Unable {
    /// Something is not there.
    pub(crate) fn missing(noun: &str, values: impl Iterator<Item = usize>) -> Self {
        Unable { detail: format!("{noun} is missing"), values: values.collect() }
    }

    /// Of the expression that is written so.
    pub(crate) fn of(text: &str, Cause { why, values }: Cause) -> Self {
        Unable { detail: format!("{} cannot be worked out: {why}", quoted(text.trim())), values }
    }
}
