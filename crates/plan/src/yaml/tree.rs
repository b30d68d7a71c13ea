//! Tree: what a file says, in which every value knows its line, its column and its path. Built by `file` from YAML; read
//! by the checks of every section. Nothing in here knows YAML.

use crate::yaml::fault::{Place, Reason, Report};

/// What a file says.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    nodes: Vec<Stored>,
}

#[derive(Debug)]
struct Stored {
    parent: Option<usize>,
    step: Step,
    place: Place,
    value: Value,
}

/// How one gets from the parent to here.
#[derive(Debug)]
pub(crate) enum Step {
    /// There is none: the outermost value.
    Root,
    /// By a key, which stands there.
    Key(String, Place),
    /// By the index of a list.
    Item(usize),
}

/// A value as it is stored; [`Shape`] is how it is read.
#[derive(Debug)]
pub(crate) enum Value {
    /// See [`Shape::Nothing`].
    Nothing,
    /// See [`Shape::Text`]; and whether it stood between quotes.
    Text(String, bool),
    /// Indexes of the items.
    List(Vec<usize>),
    /// Indexes of the values.
    Map(Vec<usize>),
    /// See [`Shape::Broken`].
    Broken,
}

/// One value of the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node<'t> {
    tree: &'t Tree,
    index: usize,
}

/// What a value looks like.
#[derive(Debug)]
pub(crate) enum Shape<'t> {
    /// A key without a value, `~` or `null`.
    Nothing,
    /// A word, as written, without its quotes.
    Text(&'t str),
    /// `[a, b]`, or lines that begin with a dash.
    List(Vec<Node<'t>>),
    /// Keys and values; each value knows its key.
    Map(Vec<Node<'t>>),
    /// Something whose fault has been noted already.
    Broken,
}

impl<'t> Node<'t> {
    fn stored(&self) -> &'t Stored {
        &self.tree.nodes[self.index]
    }

    fn node(&self, index: usize) -> Node<'t> {
        Node { tree: self.tree, index }
    }

    /// What it looks like.
    pub(crate) fn shape(&self) -> Shape<'t> {
        match &self.stored().value {
            Value::Nothing => Shape::Nothing,
            Value::Text(text, _) => Shape::Text(text),
            Value::List(items) => Shape::List(items.iter().map(|index| self.node(*index)).collect()),
            Value::Map(entries) => Shape::Map(entries.iter().map(|index| self.node(*index)).collect()),
            Value::Broken => Shape::Broken,
        }
    }

    /// Whether it is a word between quotes: `"1"` is a text and `1` a number, where that makes a difference.
    pub(crate) fn is_quoted(&self) -> bool {
        matches!(self.stored().value, Value::Text(_, true))
    }

    /// The key it stands behind; empty for the items of a list.
    pub(crate) fn key(&self) -> &'t str {
        match &self.stored().step {
            Step::Key(key, _) => key,
            Step::Root | Step::Item(_) => "",
        }
    }

    /// Where it stands; for a value that is not there, where its key stands.
    pub(crate) fn place(&self) -> Place {
        let stored = self.stored();
        if stored.place.length == 0 { self.key_place() } else { stored.place }
    }

    /// Where its key stands.
    pub(crate) fn key_place(&self) -> Place {
        let stored = self.stored();
        match &stored.step {
            Step::Key(_, place) => *place,
            Step::Root | Step::Item(_) => stored.place,
        }
    }

    /// `policies.live.cache.ttl`, `routes[2].match`.
    pub(crate) fn path(&self) -> String {
        let mut steps = Vec::new();
        let mut current = Some(self.index);
        while let Some(index) = current {
            let stored = &self.tree.nodes[index];
            steps.push(&stored.step);
            current = stored.parent;
        }
        let mut path = String::new();
        for step in steps.into_iter().rev() {
            step.append_to(&mut path);
        }
        path
    }

    /// The path of a value in here that is not there yet.
    pub(crate) fn path_of(&self, step: &Step) -> String {
        let mut path = self.path();
        step.append_to(&mut path);
        path
    }
}

impl Step {
    fn append_to(&self, path: &mut String) {
        match self {
            Step::Root => {}
            Step::Item(index) => path.extend(["[", &index.to_string(), "]"]),
            Step::Key(key, _) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.extend(key.chars().take(80).map(|c| if c.is_control() { '\u{fffd}' } else { c }));
            }
        }
    }
}

impl Tree {
    /// The outermost value; `None` when the file has none.
    pub(crate) fn root(&self) -> Option<Node<'_>> {
        if self.nodes.is_empty() { None } else { Some(Node { tree: self, index: 0 }) }
    }

    /// Adds a value; the first is the outermost one. One without a parent stays outside, so that the inside of what was
    /// refused can be read over.
    pub(crate) fn add(&mut self, parent: Option<usize>, step: Step, value: Value, place: Place) -> usize {
        let index = self.nodes.len();
        if let Some(parent) = parent
            && let Value::List(children) | Value::Map(children) = &mut self.nodes[parent].value
        {
            children.push(index);
        }
        self.nodes.push(Stored { parent, step, place, value });
        index
    }

    /// The value of an index that `add` gave.
    pub(crate) fn node(&self, index: usize) -> Node<'_> {
        Node { tree: self, index }
    }
}

impl Report {
    /// A fault of a value.
    pub(crate) fn at(&mut self, node: Node<'_>, cause: impl Into<String>, remedy: impl Into<String>) {
        self.fault(node.place(), node.path(), cause, remedy);
    }

    /// A fault of a key.
    pub(crate) fn at_key(&mut self, node: Node<'_>, cause: impl Into<String>, remedy: impl Into<String>) {
        self.fault(node.key_place(), node.path(), cause, remedy);
    }

    /// A hint at a key.
    pub(crate) fn hint_at_key(
        &mut self,
        node: Node<'_>,
        cause: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.hint(node.key_place(), node.path(), cause, remedy);
    }

    /// A fault of a value, from the reason why it was refused.
    pub(crate) fn because(&mut self, node: Node<'_>, reason: Reason) {
        self.at(node, reason.cause, reason.remedy);
    }
}
