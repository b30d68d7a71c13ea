//! Section: one mapping of the file, its keys checked against the schema. In comes a node, out go its values by key.
//! Opened by the check of each section.

use crate::schema;
use crate::yaml::fault::{Reason, Report, quoted};
use crate::yaml::tree::{Node, Shape};
use expression::nearest;

/// A mapping whose unknown keys have been noted.
#[derive(Debug)]
pub(crate) struct Section<'t> {
    node: Node<'t>,
    schema: &'static schema::Section,
    entries: Vec<Node<'t>>,
}

impl<'t> Section<'t> {
    /// Opens a mapping. `None`, and a fault, when it is none.
    pub(crate) fn open(
        node: Node<'t>,
        schema: &'static schema::Section,
        report: &mut Report,
    ) -> Option<Self> {
        Self::open_but(node, schema, &[], report)
    }

    /// The same, where one key may be a name that the schema cannot know.
    pub(crate) fn open_but(
        node: Node<'t>,
        schema: &'static schema::Section,
        names: &[&str],
        report: &mut Report,
    ) -> Option<Self> {
        let entries = match node.shape() {
            Shape::Map(entries) => entries,
            shape => {
                not_a_mapping(node, &shape, schema.example, report);
                return None;
            }
        };
        let is_named = entries.iter().any(|entry| names.contains(&entry.key()));
        let missing = if is_named { &[] } else { names };
        for entry in &entries {
            if let Some(word) = glued_secret(schema, entry.key()) {
                // Neither the key nor its path may be shown: the secret is part of them.
                let cause = format!("there is no space behind `{word}:`");
                report.fault(entry.key_place(), node.path(), cause, format!("write `{word}: …`"));
            } else if entry.key().contains(' ') && matches!(entry.shape(), Shape::Nothing) {
                // `{ db: SELECT id, title FROM books }`
                let cause =
                    format!("{} stands behind a comma, which ends the value before it", quoted(entry.key()));
                report.at_key(*entry, cause, "put the whole value into quotes");
            } else if schema.word(entry.key()).is_none() && !names.contains(&entry.key()) && !report.is_full()
            {
                let Reason { cause, remedy } = schema.unknown(entry.key(), missing);
                report.at_key(*entry, cause, remedy);
            }
        }
        Some(Section { node, schema, entries })
    }

    /// Whether there is no key at all, known or not.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether there is a key that was refused, so that what is missing may be what it was meant for.
    pub(crate) fn has_unknown(&self) -> bool {
        self.entries.iter().any(|entry| self.schema.word(entry.key()).is_none())
    }

    /// The value of a key; `None` when it is not there.
    pub(crate) fn get(&self, key: &str) -> Option<Node<'t>> {
        debug_assert!(self.schema.word(key).is_some(), "{key} is missing in the schema");
        self.entries.iter().copied().find(|entry| entry.key() == key)
    }

    /// The value of a key that must be there.
    pub(crate) fn need(&self, key: &str, report: &mut Report) -> Option<Node<'t>> {
        let value = self.get(key);
        // What is written with words of a later version has been refused for them; it lacks nothing else.
        let is_later = self.entries.iter().any(|entry| self.schema.later.contains(&entry.key()));
        if value.is_none() && !is_later && !self.is_misspelt(key) {
            let cause = format!("{} is missing", quoted(key));
            report.at(self.node, cause, format!("add it: `{}`", self.schema.example));
        }
        value
    }

    /// Whether a key that was refused was probably meant to be this one.
    fn is_misspelt(&self, key: &str) -> bool {
        let words = || self.schema.words.iter().map(|word| word.name);
        self.entries.iter().any(|entry| {
            self.schema.word(entry.key()).is_none() && nearest(entry.key(), words()) == Some(key)
        })
    }

    /// Reads a key into its place; leaves the default there when the key is missing or wrong.
    pub(crate) fn set<T>(
        &self,
        key: &str,
        place: &mut T,
        report: &mut Report,
        read: impl FnOnce(Node<'t>, &mut Report) -> Option<T>,
    ) {
        if let Some(value) = self.get(key).and_then(|node| read(node, report)) {
            *place = value;
        }
    }
}

/// The word of `admin_token:abc`, a key because the space is missing.
fn glued_secret(schema: &schema::Section, key: &str) -> Option<&'static str> {
    let word = schema.word(key.split_once(':')?.0)?;
    (word.form == schema::SECRET_FORM).then_some(word.name)
}

/// The entries of a mapping whose keys are names somebody chose: sources, policies.
pub(crate) fn named<'t>(node: Node<'t>, example: &str, report: &mut Report) -> Vec<Node<'t>> {
    let entries = entries(node, example, report);
    for entry in &entries {
        let name = entry.key();
        if !is_name(name) {
            report.at_key(*entry, format!("{} is not a name", quoted(name)), NAMES);
        }
    }
    entries
}

/// The entries of a mapping that must have some.
pub(crate) fn entries<'t>(node: Node<'t>, example: &str, report: &mut Report) -> Vec<Node<'t>> {
    match node.shape() {
        Shape::Map(entries) if entries.is_empty() => {
            report.at(
                node,
                format!("{} has nothing in it", quoted(node.key())),
                format!("write it like `{example}`"),
            );
            entries
        }
        Shape::Map(entries) => entries,
        shape => {
            not_a_mapping(node, &shape, example, report);
            Vec::new()
        }
    }
}

/// How names are to be written.
pub(crate) const NAMES: &str = "write a letter, then letters, digits, `_` and `-`, at most 64";

/// Whether it is written so.
pub(crate) fn is_name(name: &str) -> bool {
    name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.len() <= 64
}

fn not_a_mapping(node: Node<'_>, shape: &Shape<'_>, example: &str, report: &mut Report) {
    let subject = if node.key().is_empty() { "this".to_owned() } else { quoted(node.key()) };
    let example = format!("write it like `{example}`");
    match shape {
        Shape::Nothing => report.at(node, format!("{subject} has nothing under it"), example),
        Shape::Text(_) | Shape::List(_) => {
            report.at(node, format!("{subject} must be a mapping, `key: value`"), example);
        }
        Shape::Map(_) | Shape::Broken => {}
    }
}
