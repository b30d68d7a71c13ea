//! Template: text with expressions in it. Parsed by `plan`, written by `cache` and `server` for requests.

use std::fmt;
use std::sync::Arc;

use http::HeaderName;

use crate::Context;
use crate::compile::{Form, Known, compile};
use crate::computed::{self, Computed};
use crate::fault::{Fault, quoted};
use crate::kind::Kind;
use crate::scan::{Piece, pieces};
use crate::slot::Slot;

/// Text with expressions in it: `user-${path.id}`. `$${` stands for `${` itself. Equal when written the same and, where
/// it reads the environment, when that holds the same.
#[derive(Clone)]
pub struct Template {
    text: Arc<str>,
    parts: Arc<[Part]>,
    environment: Vec<(Box<str>, Box<str>)>,
}

/// A part of a template.
enum Part {
    Literal(String),
    Slot(Slot),
    Computed(Arc<Computed>),
}

impl Template {
    /// Parses a text with `${…}` in it, also with none. `names` are the segment names of the route that `path.…` may
    /// use; `None` where no route is known, so that any name will do.
    pub fn parse(text: &str, names: Option<&[&str]>) -> Result<Self, Fault> {
        Self::parse_with(text, &Known::new(names))
    }

    pub(crate) fn parse_with(text: &str, known: &Known<'_>) -> Result<Self, Fault> {
        let mut parts = Vec::new();
        let mut environment = Vec::new();
        for piece in pieces(text)? {
            match piece {
                Piece::Literal(literal) => push_literal(&mut parts, literal),
                Piece::Expression(inner) => {
                    let compiled = compile(inner, known)?;
                    environment.extend(compiled.environment);
                    match compiled.form {
                        _ if matches!(compiled.kind, Kind::List | Kind::Map | Kind::Null) => {
                            return Err(no_text(inner, compiled.kind.name()));
                        }
                        Form::Constant(value) => push_literal(&mut parts, &constant(inner, &value)?),
                        Form::Slot(slot) => parts.push(Part::Slot(slot)),
                        Form::Computed(computed) => parts.push(Part::Computed(computed)),
                    }
                }
            }
        }
        Ok(Template { text: text.into(), parts: parts.into(), environment })
    }

    /// Whether it reads what a credential claims. Unverified: whoever keys by it has to key by the credential as well.
    pub fn reads_claims(&self) -> bool {
        self.text().contains("claim(")
    }

    /// Appends the text for a request. False, and nothing appended, when a value in it is missing.
    ///
    /// Values come as they are, whatever bytes they hold: whoever puts several next to one another writes their lengths
    /// too.
    pub fn write(&self, context: &Context<'_>, out: &mut Vec<u8>) -> bool {
        let before = out.len();
        let there = self.parts.iter().all(|part| match part {
            Part::Literal(literal) => {
                out.extend_from_slice(literal.as_bytes());
                true
            }
            Part::Slot(slot) => slot.write(context, out),
            Part::Computed(computed) => {
                computed.value(context).is_some_and(|value| computed::write(&value, out))
            }
        });
        if !there {
            out.truncate(before);
        }
        there
    }

    /// What a request lacks for [`Template::write`], in words; `None`: nothing.
    pub fn missing(&self, context: &Context<'_>) -> Option<String> {
        let mut out = Vec::new();
        self.parts.iter().find_map(|part| match part {
            Part::Literal(_) => None,
            Part::Slot(slot) => (!slot.write(context, &mut out)).then(|| slot.noun()),
            Part::Computed(computed) => {
                let value = computed.value(context);
                let there = value.is_some_and(|value| computed::write(&value, &mut out));
                (!there).then(|| format!("a value for {}", quoted(&self.text)))
            }
        })
    }

    /// The fields of a request that it reads, for `Vary`.
    pub fn fields(&self) -> impl Iterator<Item = HeaderName> {
        self.parts
            .iter()
            .flat_map(|part| match part {
                Part::Literal(_) => &[][..],
                Part::Slot(slot) => std::slice::from_ref(slot),
                Part::Computed(computed) => &computed.slots,
            })
            .filter_map(Slot::field)
    }

    /// The text as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The whole text, where nothing in it depends on a request: `${env.TOKEN}`.
    pub fn constant(&self) -> Option<&str> {
        match &*self.parts {
            [] => Some(""),
            [Part::Literal(literal)] => Some(literal),
            _ => None,
        }
    }
}

/// Joins it to the literal before it, so that a constant is one part.
fn push_literal(parts: &mut Vec<Part>, literal: &str) {
    match parts.last_mut() {
        Some(Part::Literal(before)) => before.push_str(literal),
        _ => parts.push(Part::Literal(literal.to_owned())),
    }
}

fn constant(inner: &str, value: &cel::Value) -> Result<String, Fault> {
    let mut out = Vec::new();
    let written = computed::write(value, &mut out).then_some(out).and_then(|out| String::from_utf8(out).ok());
    written.ok_or_else(|| no_text(inner, "no text"))
}

fn no_text(inner: &str, is: &str) -> Fault {
    Fault::new(
        format!("{} is {is}, which cannot be written", quoted(inner.trim())),
        "write one that gives a text, a number, or true or false",
    )
}

impl PartialEq for Template {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.environment == other.environment
    }
}

impl Eq for Template {}

/// Without the values of the environment, which may be secrets.
impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Template").field(&self.text).finish()
    }
}
