//! Section: one mapping of the file, its keys checked against the schema. In comes a node, out go its values by key.
//! Opened by the check of each section.

use crate::fault::{Reason, Report, quoted};
use crate::schema;
use crate::tree::{Node, Shape};

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
        let entries = match node.shape() {
            Shape::Map(entries) => entries,
            shape => {
                not_a_mapping(node, &shape, schema.example, report);
                return None;
            }
        };
        for entry in &entries {
            if schema.word(entry.key()).is_none() && !report.is_full() {
                let Reason { cause, remedy } = schema.unknown(entry.key());
                report.at_key(*entry, cause, remedy);
            }
        }
        Some(Section { node, schema, entries })
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
        if value.is_none() && !is_later {
            let cause = format!("{} is missing", quoted(key));
            report.at(self.node, cause, format!("add it: `{}`", self.schema.example));
        }
        value
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

/// The entries of a mapping whose keys are names somebody chose: sources, policies.
pub(crate) fn named<'t>(node: Node<'t>, example: &str, report: &mut Report) -> Vec<Node<'t>> {
    let entries = match node.shape() {
        Shape::Map(entries) if entries.is_empty() => {
            report.at(
                node,
                format!("{} has nothing in it", quoted(node.key())),
                format!("write it like `{example}`"),
            );
            return entries;
        }
        Shape::Map(entries) => entries,
        shape => {
            not_a_mapping(node, &shape, example, report);
            return Vec::new();
        }
    };
    for entry in &entries {
        let name = entry.key();
        let fits = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
            && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.len() <= 64;
        if !fits {
            let remedy = "write a letter, then letters, digits, `_` and `-`, at most 64";
            report.at_key(*entry, format!("{} is not a name", quoted(name)), remedy);
        }
    }
    entries
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
