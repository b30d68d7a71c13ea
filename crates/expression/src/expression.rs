//! Expression: one `${…}` that is asked whether it holds. Parsed by `plan`, asked by `cache` for requests.

use std::fmt;
use std::sync::Arc;

use http::HeaderName;

use crate::Context;
use crate::compile::{Compiled, Form, Known, compile};
use crate::computed;
use crate::fault::{ExpressionFault, quoted};
use crate::kind::ValueKind;
use crate::names::Names;
use crate::reads::Reads;
use crate::scan::{Piece, pieces};
use crate::slot::Slot;
use crate::unable::{Failure, Unable};

/// One expression, as it stands between `${` and `}`. Equal when written the same and, where it reads the environment,
/// when that holds the same.
#[derive(Clone)]
pub struct Expression {
    text: Arc<str>,
    compiled: Compiled,
}

impl Expression {
    /// Parses what stands between `${` and `}`. `names` are the segment names of the route that `path.…` may use;
    /// `None` where no route is known, so that any name will do.
    pub fn parse(text: &str, names: Option<&[&str]>) -> Result<Self, ExpressionFault> {
        Self::parse_in(text, &Names::of_segments(names))
    }

    /// The same, where more is known than the request.
    pub fn parse_in(text: &str, names: &Names<'_>) -> Result<Self, ExpressionFault> {
        Self::parse_with(text, &Known::new(*names))
    }

    /// Parses a text that is one `${…}` and nothing else.
    pub fn parse_braced(text: &str, names: &Names<'_>) -> Result<Self, ExpressionFault> {
        Self::parse_in(braced(text)?, names)
    }

    pub(crate) fn parse_with(text: &str, known: &Known<'_>) -> Result<Self, ExpressionFault> {
        let compiled = compile(text, known)?;
        match compiled.kind {
            ValueKind::Text | ValueKind::Truth | ValueKind::Any => {
                Ok(Expression { text: text.trim().into(), compiled })
            }
            kind => Err(ExpressionFault::new(
                format!("{} is {}, and neither holds nor does not", quoted(text.trim()), kind.name()),
                "compare it, as in `size(url) > 100`",
            )),
        }
    }

    /// Whether it holds: `true`, or a text that is not empty. What is missing or fails does not hold.
    pub fn holds(&self, context: &Context<'_>) -> bool {
        self.decide(context).unwrap_or(false)
    }

    /// The same for whoever must not take what cannot be worked out for what does not hold.
    ///
    /// # Errors
    /// All that it reads is there, and nobody can say whether it holds.
    pub fn decide(&self, context: &Context<'_>) -> Result<bool, Unable> {
        match &self.compiled.form {
            Form::Constant(value) => Ok(computed::holds(value)),
            Form::Slot(slot) => Ok(slot.holds(context)),
            Form::Computed(computed) => match computed.value(context) {
                Ok(value) => Ok(computed::holds(&value)),
                Err(Failure::Missing(_)) => Ok(false),
                Err(Failure::Unable(cause)) => Err(Unable::of(&self.text, cause)),
            },
        }
    }

    /// The values beside the request that it reads, as places in [`Names::values`].
    pub fn values(&self) -> impl Iterator<Item = usize> {
        self.compiled.form.slots().iter().filter_map(Slot::place)
    }

    /// The fields of a request that it reads, for `Vary`.
    pub fn fields(&self) -> impl Iterator<Item = HeaderName> {
        self.compiled.form.slots().iter().filter_map(Slot::field)
    }

    /// The cookies of a request that it reads.
    pub fn cookies(&self) -> impl Iterator<Item = &str> {
        self.compiled.form.slots().iter().filter_map(Slot::cookie)
    }

    /// All that it reads of a request.
    pub fn reads(&self) -> Reads<'_> {
        Reads::of(self.compiled.form.slots().iter())
    }

    /// The expression as written, without `${` and `}`.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// What stands between the braces of a text that is one `${…}` and nothing else.
pub(crate) fn braced(text: &str) -> Result<&str, ExpressionFault> {
    match pieces(text)?.as_slice() {
        [Piece::Expression(inner)] => Ok(inner),
        [Piece::Literal(literal)] if !literal.trim().is_empty() => Err(ExpressionFault::new(
            format!("{} is a text and no expression", quoted(text)),
            format!("write {}", quoted(&format!("\"${{{}}}\"", literal.trim()))),
        )),
        _ => Err(ExpressionFault::new(
            format!("{} is not one expression", quoted(text)),
            "write one `${…}` and nothing before or behind it",
        )),
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.compiled.environment == other.compiled.environment
    }
}

impl Eq for Expression {}

/// Without the values of the environment, which may be secrets.
impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Expression").field(&self.text).finish()
    }
}
