//! Scope: what expressions of a step may name, and where its value is. Made by `graph` before any step is read, since
//! steps may name those behind them.

use std::borrow::Cow;

use expression::{Expression, Named, Names, Output, Template};

use crate::meant::BODY;
use crate::yaml::fault::{Report, quoted};
use crate::yaml::tree::Node;
use crate::yaml::value;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Scope<'s> {
    segments: Option<&'s [&'s str]>,
    values: Vec<Named>,
    /// Places of those that come with the request: its content, and items of lists that are its own.
    sent: Vec<usize>,
    /// What `{each}` stands for.
    each: Option<String>,
}

/// What the content of the request is called.
pub(crate) const CONTENT: &str = "body";
/// What the item of `for` is called.
pub(super) const ITEM: &str = "item";
/// What the list of failed steps is called.
pub(super) const FAILED: &str = "failed";

const EACH: &str = "{each}";

impl<'s> Scope<'s> {
    /// Where nothing is known but the request and its content.
    pub(super) fn outermost(segments: Option<&'s [&'s str]>) -> Self {
        Scope { segments, values: vec![Named::any(CONTENT)], sent: vec![BODY], each: None }
    }

    /// How many values there are: the place of the next.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// The same with another value behind the others.
    pub(super) fn with(&self, named: Named) -> Self {
        let mut scope = self.clone();
        scope.add(named);
        scope
    }

    /// The same with the item of a list behind the others.
    pub(super) fn with_item(&self, list: Option<&Output>) -> Self {
        let mut scope = self.with(Named::any(ITEM));
        if list.is_some_and(|list| list.reads_sent(&|place| self.is_sent(place))) {
            scope.sent.push(self.len());
        }
        scope
    }

    /// Whether the value at a place came with the request.
    pub(super) fn is_sent(&self, place: usize) -> bool {
        self.sent.contains(&place)
    }

    /// Adds a value behind the others.
    pub(super) fn add(&mut self, named: Named) {
        self.values.push(named);
    }

    /// The same inside a step for one of `each`.
    pub(super) fn each(&self, item: &str) -> Self {
        Scope { each: Some(item.to_owned()), ..self.clone() }
    }

    pub(super) fn names(&self) -> Names<'_> {
        Names { segments: self.segments, values: &self.values, joins_lists: true, ..Names::default() }
    }

    /// A word as it is written, with what `{each}` stands for.
    pub(super) fn written<'t>(&self, node: Node<'t>, report: &mut Report) -> Option<Cow<'t, str>> {
        let text = value::written(node, report)?;
        if self.each.is_some() && text.contains("${each}") {
            report.at(node, "`each` is put in before expressions are read", "write `{each}`, without `$`");
            return None;
        }
        Some(match &self.each {
            Some(item) if text.contains(EACH) => text.replace(EACH, item).into(),
            _ => text.into(),
        })
    }

    /// A word without expressions.
    pub(super) fn plain<'t>(&self, node: Node<'t>, report: &mut Report) -> Option<Cow<'t, str>> {
        value::text(node, report)?;
        self.written(node, report)
    }

    pub(super) fn template(&self, node: Node<'_>, report: &mut Report) -> Option<Template> {
        let text = self.written(node, report)?;
        Template::parse_in(&text, &self.names()).map_err(|fault| report.because(node, fault.into())).ok()
    }

    pub(super) fn condition(&self, node: Node<'_>, report: &mut Report) -> Option<Expression> {
        let text = self.written(node, report)?;
        Expression::parse_braced(&text, &self.names())
            .map_err(|fault| report.because(node, fault.into()))
            .ok()
    }

    pub(super) fn output(&self, node: Node<'_>, report: &mut Report) -> Option<Output> {
        let text = self.written(node, report)?;
        Output::parse_braced(&text, &self.names()).map_err(|fault| report.because(node, fault.into())).ok()
    }
}

/// Whether a step may be called so: like a variable of an expression.
pub(super) fn check_name(node: Node<'_>, report: &mut Report) -> bool {
    const WORDS: [&str; 5] = ["in", "true", "false", "null", "each"];
    let name = node.key();
    let is_variable = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.len() <= 64;
    if !is_variable {
        report.at_key(
            node,
            format!("{} is no name of a step", quoted(name)),
            "write a letter, then letters, digits and `_`, at most 64: expressions name it",
        );
    } else if WORDS.contains(&name) || [CONTENT, ITEM, FAILED].contains(&name) || expression::is_root(name) {
        let cause = format!("{} already means something in expressions", quoted(name));
        report.at_key(node, cause, "write another name");
    } else {
        return true;
    }
    false
}
