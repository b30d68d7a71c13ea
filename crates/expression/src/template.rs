//! Template: text with expressions in it. Parsed by `plan`, written by `cache` and `server` for requests.

use std::fmt;
use std::sync::Arc;

use http::HeaderName;

use crate::Context;
use crate::compile::{Form, Known, compile};
use crate::computed::{self, Computed};
use crate::fault::{ExpressionFault, quoted};
use crate::kind::ValueKind;
use crate::names::Names;
use crate::reads::Reads;
use crate::scan::{Piece, pieces};
use crate::slot::Slot;
use crate::unable::{Cause, Failure, Unable};

/// Text with expressions in it: `user-${path.id}`. `$${` stands for `${` itself. Equal when written the same and, where
/// it reads the environment, when that holds the same.
#[derive(Clone)]
pub struct Template {
    text: Arc<str>,
    parts: Arc<[Part]>,
    environment: Vec<(Box<str>, Box<str>)>,
}

/// Why there is no URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unwritten {
    /// A value is missing.
    Missing,
    /// A value cannot be a segment of a path.
    Segment {
        /// Which, in words.
        noun: String,
        /// Whether it is the request's alone.
        from_request: bool,
    },
}

/// A part of a template.
enum Part {
    Literal(String),
    Slot(Slot),
    Computed(Arc<Computed>),
}

/// Appends a byte of a value in a URL.
fn encode(byte: u8, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
        out.push(byte);
    } else {
        out.extend_from_slice(&[b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
}

/// Whether a segment stays one, where an expression gave a part of it: by the rule for paths that come in.
fn check_segment(context: &Context<'_>, segment: &[u8], given: Option<&Part>) -> Result<(), Unwritten> {
    let Some(given) = given else { return Ok(()) };
    if !segment.is_empty() && !rules::path::misleads(segment) {
        return Ok(());
    }
    let noun = match given {
        Part::Slot(slot) => slot.noun(),
        Part::Literal(_) | Part::Computed(_) => "a value".to_owned(),
    };
    let from_request =
        given.slots().iter().all(|slot| slot.place().is_none_or(|place| context.is_sent(place)));
    Err(Unwritten::Segment { noun, from_request })
}

impl Part {
    /// Appends its text. False, and perhaps something appended, when a value is missing.
    fn write(&self, context: &Context<'_>, out: &mut Vec<u8>) -> bool {
        match self {
            Part::Literal(literal) => {
                out.extend_from_slice(literal.as_bytes());
                true
            }
            Part::Slot(slot) => slot.write(context, out),
            Part::Computed(computed) => {
                computed.value(context).is_ok_and(|value| computed::write(&value, out))
            }
        }
    }

    fn slots(&self) -> &[Slot] {
        match self {
            Part::Literal(_) => &[],
            Part::Slot(slot) => std::slice::from_ref(slot),
            Part::Computed(computed) => &computed.slots,
        }
    }

    /// Why it is not written, where all that it reads is there.
    fn unable(&self, text: &str, context: &Context<'_>) -> Option<Unable> {
        let Part::Computed(computed) = self else { return None };
        let cause = match computed.value(context) {
            Err(Failure::Unable(cause)) => cause,
            Ok(value) if computed::is_too_long(&value) => {
                Cause { why: "the text is too long".to_owned(), values: computed.values().collect() }
            }
            Err(Failure::Missing(_)) | Ok(_) => return None,
        };
        Some(Unable::of(text, cause))
    }

    /// The values beside the request that are not there, or that are no text.
    fn missing(&self, context: &Context<'_>) -> Vec<usize> {
        if let Part::Computed(computed) = self
            && let Err(Failure::Missing(values)) = computed.value(context)
        {
            return values;
        }
        self.slots().iter().filter_map(Slot::place).collect()
    }

    /// How a message calls what it writes.
    fn noun(&self, text: &str) -> Option<String> {
        match self {
            Part::Literal(_) => None,
            Part::Slot(slot) => Some(slot.noun()),
            Part::Computed(_) => Some(format!("a value for {}", quoted(text))),
        }
    }
}

impl Template {
    /// Parses a text with `${…}` in it, also with none. `names` are the segment names of the route that `path.…` may
    /// use; `None` where no route is known, so that any name will do.
    pub fn parse(text: &str, names: Option<&[&str]>) -> Result<Self, ExpressionFault> {
        Self::parse_in(text, &Names::of_segments(names))
    }

    /// The same, where more is known than the request.
    pub fn parse_in(text: &str, names: &Names<'_>) -> Result<Self, ExpressionFault> {
        Self::parse_with(text, &Known::new(*names))
    }

    pub(crate) fn parse_with(text: &str, known: &Known<'_>) -> Result<Self, ExpressionFault> {
        Self::of_pieces(text, &pieces(text)?, known)
    }

    /// Of some of the pieces of a text.
    pub(crate) fn of_pieces(
        text: &str,
        pieces: &[Piece<'_>],
        known: &Known<'_>,
    ) -> Result<Self, ExpressionFault> {
        let mut parts = Vec::new();
        let mut environment = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Literal(literal) => push_literal(&mut parts, literal),
                Piece::Expression(inner) => {
                    let compiled = compile(inner, known)?;
                    environment.extend(compiled.environment);
                    match compiled.form {
                        Form::Slot(slot) if compiled.kind == ValueKind::List && known.names.joins_lists => {
                            parts.push(Part::Slot(slot));
                        }
                        _ if matches!(compiled.kind, ValueKind::List | ValueKind::Map | ValueKind::Null) => {
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
        let there = self.parts.iter().all(|part| part.write(context, out));
        if !there {
            out.truncate(before);
        }
        there
    }

    /// The same for path and query of a URL: the text as written, and every byte that an expression gives
    /// percent-encoded but for those that mean nothing anywhere in it (RFC 3986 §2.3).
    ///
    /// # Errors
    /// Where a value is missing, or would make a segment of the path empty, or one that no request may have: with a
    /// control character, or dots that lead out of it. Nothing is appended then. Dots cannot be encoded away: `%2e%2e`
    /// and `..%2F` climb as well (RFC 3986 §6.2.2.2), and an empty one asks for the list around what was meant.
    pub fn write_target(&self, context: &Context<'_>, out: &mut Vec<u8>) -> Result<(), Unwritten> {
        let before = out.len();
        let written = self.write_segments(context, out);
        if written.is_err() {
            out.truncate(before);
        }
        written
    }

    /// The same for a URL to which clients are sent: path and query of the request (`url`) go in as they are, and everything else
    /// that an expression gives percent-encoded. False, and nothing appended, when a value is missing. Where its host ends is for
    /// whoever calls to check.
    pub fn write_url(&self, context: &Context<'_>, out: &mut Vec<u8>) -> bool {
        let before = out.len();
        let mut value = Vec::new();
        let there = self.parts.iter().all(|part| {
            if matches!(part, Part::Literal(_) | Part::Slot(Slot::Url)) {
                return part.write(context, out);
            }
            value.clear();
            let there = part.write(context, &mut value);
            for byte in &value {
                encode(*byte, out);
            }
            there
        });
        if !there {
            out.truncate(before);
        }
        there
    }

    fn write_segments(&self, context: &Context<'_>, out: &mut Vec<u8>) -> Result<(), Unwritten> {
        let mut value = Vec::new();
        // Where the segment begins, and what has given a part of it.
        let (mut start, mut given, mut is_path) = (out.len(), None, true);
        for part in &*self.parts {
            if let Part::Literal(literal) = part {
                for byte in literal.bytes() {
                    if is_path && matches!(byte, b'/' | b'?') {
                        check_segment(context, &out[start..], given.take())?;
                        is_path = byte == b'/';
                        start = out.len() + 1;
                    }
                    out.push(byte);
                }
                continue;
            }
            value.clear();
            if !part.write(context, &mut value) {
                return Err(Unwritten::Missing);
            }
            for byte in &value {
                encode(*byte, out);
            }
            given = Some(part);
        }
        if is_path { check_segment(context, &out[start..], given) } else { Ok(()) }
    }

    /// What a request lacks for [`Template::write`], in words; `None`: nothing.
    pub fn missing(&self, context: &Context<'_>) -> Option<String> {
        self.lacking(context)?.noun(&self.text)
    }

    /// The first part that is not written.
    fn lacking(&self, context: &Context<'_>) -> Option<&Part> {
        self.parts.iter().find(|part| !part.write(context, &mut Vec::new()))
    }

    /// Why [`Template::write`] gives nothing, where all that is read is there; `None`: something is not.
    pub fn unable(&self, context: &Context<'_>) -> Option<Unable> {
        self.parts.iter().find_map(|part| part.unable(&self.text, context))
    }

    /// Why [`Template::write`] gives nothing, where it does, and which values are to blame.
    pub fn unwritten(&self, context: &Context<'_>) -> Option<Unable> {
        let part = self.lacking(context)?;
        part.unable(&self.text, context).or_else(|| {
            let noun = part.noun(&self.text)?;
            Some(Unable::missing(&noun, part.missing(context).into_iter()))
        })
    }

    /// The fields of a request that it reads, for `Vary`.
    pub fn fields(&self) -> impl Iterator<Item = HeaderName> {
        self.parts.iter().flat_map(Part::slots).filter_map(Slot::field)
    }

    /// Whether it reads anything of the request.
    pub fn reads_request(&self) -> bool {
        self.parts.iter().flat_map(Part::slots).any(Slot::is_of_request)
    }

    /// All that it reads of a request.
    pub fn reads(&self) -> Reads<'_> {
        Reads::of(self.parts.iter().flat_map(Part::slots))
    }

    /// Whether it reads who asks: `client.address`, `client.network`.
    pub fn reads_client(&self) -> bool {
        self.parts.iter().flat_map(Part::slots).any(Slot::is_of_client)
    }

    /// The cookies of a request that it reads.
    pub fn cookies(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().flat_map(Part::slots).filter_map(Slot::cookie)
    }

    /// The values beside the request that it reads, as places in [`Names::values`].
    pub fn values(&self) -> impl Iterator<Item = usize> {
        self.parts.iter().flat_map(Part::slots).filter_map(Slot::place)
    }

    /// Whether it reads what came with the request; `is_sent` tells it of the value at a place.
    pub(crate) fn reads_sent(&self, is_sent: &dyn Fn(usize) -> bool) -> bool {
        self.parts.iter().flat_map(Part::slots).any(|slot| slot.place().is_none_or(is_sent))
    }

    /// Whether some of it is written out.
    pub(crate) fn has_literal(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Literal(literal) if !literal.is_empty()))
    }

    /// Whether what it begins with came with the request.
    pub(crate) fn begins_with_sent(&self, is_sent: &dyn Fn(usize) -> bool) -> bool {
        let is_empty = |part: &&Part| matches!(part, Part::Literal(literal) if literal.is_empty());
        let first = self.parts.iter().find(|part| !is_empty(part));
        first.is_some_and(|part| part.slots().iter().any(|slot| slot.place().is_none_or(is_sent)))
    }

    /// What it begins with whatever the request is.
    pub fn beginning(&self) -> &str {
        match self.parts.first() {
            Some(Part::Literal(literal)) => literal,
            _ => "",
        }
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

fn constant(inner: &str, value: &cel::Value) -> Result<String, ExpressionFault> {
    let mut out = Vec::new();
    let written = computed::write(value, &mut out).then_some(out).and_then(|out| String::from_utf8(out).ok());
    written.ok_or_else(|| no_text(inner, "no text"))
}

fn no_text(inner: &str, is: &str) -> ExpressionFault {
    let remedy = if inner.trim().starts_with("query.all(") {
        format!("let `${{{inner}}}` stand alone, or write `query.NAME` for the first of them")
    } else {
        "write one that gives a text, a number, or true or false".to_owned()
    };
    ExpressionFault::new(format!("{} is {is}, which cannot be written", quoted(inner.trim())), remedy)
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
