//! File: YAML → a [`Tree`]. All that is YAML stays in here and in `syntax`, which explains its errors.
//!
//! In comes a text, out goes a tree of mappings, lists and words, and faults for what the language does not use: aliases, anchors, merge keys, tags, several documents. Values stay as they were written (`off`, `10.0`, `5s`); what
//! they mean is for the checks to say. The parser's events are read instead of deserializing with serde: only they tell
//! `off` from `false` and `*` from an alias, and with no alias ever followed there is nothing to blow up.

use std::collections::HashMap;

use serde_saphyr::granit_parser::{Event, Parser, ScalarStyle, Span, Tag, options};

use crate::yaml::fault::{Place, Reason, Report, quoted};
use crate::yaml::syntax;
use crate::yaml::tree::{Step, Tree, Value};

/// Longer files are refused before they are read: a thousand routes are a tenth of it.
pub(crate) const LARGEST: usize = 1024 * 1024;

/// Mappings and lists inside one another; the language needs six.
const DEEPEST: usize = 24;

/// Reads a text. `None`, and a fault, when it is not YAML at all.
pub(crate) fn read(text: &str, report: &mut Report) -> Option<Tree> {
    if text.len() > LARGEST {
        let cause = format!("the file has {} bytes", text.len());
        report.fault(Place::default(), String::new(), cause, "write at most 1 MiB");
        return None;
    }
    if tabs(text, report) {
        return None;
    }
    let options = options! {
        emit_unresolved_aliases: true,
        emit_anchor_events: true,
        flow_nesting_limit: DEEPEST,
        block_nesting_limit: DEEPEST,
    };
    let mut builder = Builder { tree: Tree::default(), open: Vec::new(), documents: 0, report };
    for event in Parser::new_from_str_with_options(text, options) {
        match event {
            Ok((event, span)) => builder.take(event, span),
            Err(error) => {
                let (number, column) = (error.marker().line(), error.marker().col());
                let line = lines(text).nth(number.saturating_sub(1)).unwrap_or("");
                let Reason { cause, remedy } = syntax::explain(error.kind(), &error.info(), line, column);
                let place = Place { line: number, column: column + 1, length: 1 };
                builder.report.fault(place, String::new(), cause, remedy);
                return None;
            }
        }
    }
    Some(builder.tree)
}

/// The lines of a text as YAML counts them: LF, CRLF, and CR alone.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
}

/// Notes every line that is indented with tabs. YAML forbids them in most places, and where it allows them, they look
/// like an indentation that is not there.
fn tabs(text: &str, report: &mut Report) -> bool {
    let mut found = false;
    for (index, line) in lines(text).enumerate() {
        let indentation = line.len() - line.trim_start_matches([' ', '\t']).len();
        let Some(tab) = line[..indentation].find('\t') else { continue };
        if indentation == line.len() || line[indentation..].starts_with('#') {
            continue;
        }
        let place = Place { line: index + 1, column: tab + 1, length: indentation - tab };
        report.fault(
            place,
            String::new(),
            "the line is indented with a tab",
            "write spaces instead, two for each level",
        );
        found = true;
    }
    found
}

/// Builds the tree from the parser's events, without recursion.
struct Builder<'r> {
    tree: Tree,
    open: Vec<Open>,
    documents: usize,
    report: &'r mut Report,
}

/// A mapping or list whose end has not come yet.
struct Open {
    node: usize,
    /// Whether it stands where a key should; then it is dropped at its end.
    as_key: bool,
    within: Within,
}

enum Within {
    List { items: usize },
    Map { keys: HashMap<String, Place>, next: Next },
}

/// What a mapping waits for.
enum Next {
    Key,
    Value(String, Place),
    /// The value of a key that was refused.
    Dropped,
}

/// Where the next value goes.
enum Slot {
    Root,
    Item { parent: usize, index: usize },
    Value { parent: usize, key: String, place: Place },
    Key,
    Dropped,
}

impl Builder<'_> {
    fn take(&mut self, event: Event<'_>, span: Span) {
        let place = place(span);
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents == 2 {
                    self.fault(
                        place,
                        "a second document begins",
                        "take out this line: a file is one document",
                    );
                }
            }
            // Only the first document counts; the second has been noted.
            _ if self.documents > 1 => {}
            Event::Scalar(text, style, _, tag) => {
                self.refuse_tag(tag.as_deref(), place);
                self.scalar(&text, style, place);
            }
            Event::SequenceStart(_, _, tag) => {
                self.refuse_tag(tag.as_deref(), place);
                self.start(Value::List(Vec::new()), Within::List { items: 0 }, place);
            }
            Event::MappingStart(_, _, tag) => {
                self.refuse_tag(tag.as_deref(), place);
                self.start(
                    Value::Map(Vec::new()),
                    Within::Map { keys: HashMap::new(), next: Next::Key },
                    place,
                );
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::UnresolvedAlias(name) => {
                let written = format!("\"*{name}\"");
                self.alias(
                    "a value that begins with `*` is read as an alias",
                    format!("put it into quotes: {}", quoted(&written)),
                    place,
                );
            }
            Event::Alias(_) => {
                self.alias(
                    "aliases are not part of the language",
                    "write the value itself".to_owned(),
                    place,
                );
            }
            Event::Anchor(..) => {
                // Comes behind the value it stands before, so where it is in the tree has passed already.
                self.report.fault(
                    place,
                    String::new(),
                    "anchors are not part of the language",
                    "take it out, and write the value wherever it is needed",
                );
            }
            // Start and end of the stream and of the document, and whatever a later parser may add beside values.
            _ => {}
        }
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, place: Place) {
        match self.slot() {
            Slot::Key => self.key(text, place),
            slot => {
                let nothing = style == ScalarStyle::Plain && matches!(text, "" | "~" | "null");
                let quoted = style != ScalarStyle::Plain;
                let value = if nothing { Value::Nothing } else { Value::Text(text.to_owned(), quoted) };
                self.add(slot, value, place);
            }
        }
    }

    fn key(&mut self, key: &str, place: Place) {
        let Some(Open { within: Within::Map { keys, next }, .. }) = self.open.last_mut() else { return };
        let reason = if let Some(first) = keys.get(key) {
            let cause = format!("{} stands here twice, first in line {}", quoted(key), first.line);
            Some(Reason::new(cause, "keep one of them"))
        } else if key == "<<" {
            Some(Reason::new("merge keys are not part of the language", "write the keys themselves"))
        } else {
            keys.insert(key.to_owned(), place);
            None
        };
        *next = if reason.is_none() { Next::Value(key.to_owned(), place) } else { Next::Dropped };
        if let Some(Reason { cause, remedy }) = reason {
            self.fault(place, cause, remedy);
        }
    }

    fn alias(&mut self, cause: &str, remedy: String, place: Place) {
        self.fault(place, cause, remedy);
        match self.slot() {
            Slot::Key => self.drop_value(),
            slot => {
                self.add(slot, Value::Broken, place);
            }
        }
    }

    fn start(&mut self, value: Value, within: Within, place: Place) {
        let slot = self.slot();
        let as_key = matches!(slot, Slot::Key);
        if as_key {
            self.fault(
                place,
                "a key is a mapping or a list",
                "write a word as the key; braces in a key need quotes",
            );
        }
        let node = self.add(slot, value, place);
        self.open.push(Open { node, as_key, within });
    }

    fn end(&mut self) {
        if self.open.pop().is_some_and(|open| open.as_key) {
            self.drop_value();
        }
    }

    /// The value that comes next has no key.
    fn drop_value(&mut self) {
        if let Some(Open { within: Within::Map { next, .. }, .. }) = self.open.last_mut() {
            *next = Next::Dropped;
        }
    }

    /// Takes the place where the next value goes.
    fn slot(&mut self) -> Slot {
        match self.open.last_mut() {
            None => Slot::Root,
            Some(Open { node, within: Within::List { items }, .. }) => {
                *items += 1;
                Slot::Item { parent: *node, index: *items - 1 }
            }
            Some(Open { node, within: Within::Map { next, .. }, .. }) => {
                match std::mem::replace(next, Next::Key) {
                    Next::Key => Slot::Key,
                    Next::Value(key, place) => Slot::Value { parent: *node, key, place },
                    Next::Dropped => Slot::Dropped,
                }
            }
        }
    }

    /// Adds a value; one without a slot stays outside the tree.
    fn add(&mut self, slot: Slot, value: Value, place: Place) -> usize {
        let (parent, step) = match slot {
            Slot::Item { parent, index } => (Some(parent), Step::Item(index)),
            Slot::Value { parent, key, place } => (Some(parent), Step::Key(key, place)),
            Slot::Root | Slot::Key | Slot::Dropped => (None, Step::Root),
        };
        self.tree.add(parent, step, value, place)
    }

    /// Notes a fault of what comes next in the innermost mapping or list.
    fn fault(&mut self, place: Place, cause: impl Into<String>, remedy: impl Into<String>) {
        let path = match self.open.last() {
            Some(open) if !self.report.is_full() => {
                let parent = self.tree.node(open.node);
                match &open.within {
                    Within::List { items } => parent.path_of(&Step::Item(*items)),
                    Within::Map { next: Next::Value(key, place), .. } => {
                        parent.path_of(&Step::Key(key.clone(), *place))
                    }
                    Within::Map { .. } => parent.path(),
                }
            }
            _ => String::new(),
        };
        self.report.fault(Place { length: place.length.max(1), ..place }, path, cause, remedy);
    }

    fn refuse_tag(&mut self, tag: Option<&Tag>, place: Place) {
        if let Some(tag) = tag {
            let cause = format!("the tag {} is not part of the language", quoted(&tag.original()));
            self.fault(place, cause, "take the tag out");
        }
    }
}

fn place(span: Span) -> Place {
    // A text over several lines is marked up to the end of its first.
    const TO_THE_END: usize = 10_000;
    let (start, end) = (span.start, span.end);
    let length = if start.line() == end.line() { end.col().saturating_sub(start.col()) } else { TO_THE_END };
    Place { line: start.line(), column: start.col() + 1, length }
}
