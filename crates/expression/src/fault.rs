//! Fault: why a text is no expression. Made by every check of this crate; `plan` adds the line of the file.

use std::fmt;

/// Why a text is no expression, for the person who wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionFault {
    /// What is wrong.
    pub cause: String,
    /// What to write instead.
    pub remedy: String,
}

impl ExpressionFault {
    pub(crate) fn new(cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        ExpressionFault { cause: cause.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for ExpressionFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.cause, self.remedy)
    }
}

impl std::error::Error for ExpressionFault {}

/// What somebody wrote, as messages quote it: between backticks, on one line, not longer than 60 characters.
pub fn quoted(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut shown: String =
        text.chars().take(LONGEST).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}
