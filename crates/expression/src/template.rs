//! Template: text with expressions in it.

use std::sync::Arc;

use crate::Context;

/// Why a text is no expression, for the person who wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub cause: String,
    /// What to write instead.
    pub remedy: String,
}

/// One expression, as it stands between `${` and `}`. Equal when written the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    text: Arc<str>,
}

/// Text with expressions in it: `user-${path.id}`. Equal when written the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    text: Arc<str>,
}

impl Expression {
    /// Parses what stands between `${` and `}`. `names` are the segment names of the route that `path.…` may use;
    /// `None` where no route is known, so that any name will do.
    pub fn parse(text: &str, names: Option<&[&str]>) -> Result<Self, Fault> {
        let _ = names;
        Ok(Expression { text: text.into() })
    }

    /// Whether it holds: `true`, or a text that is not empty. What is missing or fails does not hold.
    pub fn holds(&self, context: &Context<'_>) -> bool {
        let _ = (context, &self.text);
        false
    }
}

impl Template {
    /// Parses a text with `${…}` in it, also with none.
    pub fn parse(text: &str, names: Option<&[&str]>) -> Result<Self, Fault> {
        let _ = names;
        Ok(Template { text: text.into() })
    }

    /// Appends the text for a request. False, and nothing appended, when a value in it is missing.
    pub fn write(&self, context: &Context<'_>, out: &mut Vec<u8>) -> bool {
        let _ = (context, out, &self.text);
        false
    }
}
