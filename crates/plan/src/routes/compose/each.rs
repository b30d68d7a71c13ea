//! Each: what a step is made for when the file is loaded: items of a list, or names and their values.

use crate::yaml::fault::{Report, quoted};
use crate::yaml::section::{NAMES, is_name};
use crate::yaml::tree::{Node, Shape};
use crate::yaml::value;

/// Steps that one entry may become.
const MOST: usize = 256;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Each {
    /// What `{each}` stands for in each.
    pub(super) items: Vec<String>,
    /// What the results are called; `None`: they are a list.
    pub(super) names: Option<Vec<String>>,
}

/// Reads `each`.
pub(super) fn each(node: Node<'_>, report: &mut Report) -> Option<Each> {
    let (entries, named) = match node.shape() {
        Shape::List(items) if !items.is_empty() => (items, false),
        Shape::Map(entries) if !entries.is_empty() => (entries, true),
        Shape::Broken => return None,
        _ => {
            report.at(node, "`each` names nothing", "write a list, like `each: [1, 2, 3]`");
            return None;
        }
    };
    if entries.len() > MOST {
        report.at(node, format!("`each` makes {} steps", entries.len()), format!("write at most {MOST}"));
        return None;
    }
    if named {
        let wrong: Vec<_> = entries.iter().filter(|entry| !is_name(entry.key())).collect();
        for entry in &wrong {
            report.at_key(**entry, format!("{} is not a name", quoted(entry.key())), NAMES);
        }
        if !wrong.is_empty() {
            return None;
        }
    }
    let names = named.then(|| entries.iter().map(|entry| entry.key().to_owned()).collect());
    let items = entries.into_iter().map(|entry| value::text(entry, report).map(str::to_owned));
    Some(Each { items: items.collect::<Option<_>>()?, names })
}

impl Each {
    /// What the step made for the item at `index` is called.
    pub(super) fn shown(&self, step: &str, index: usize) -> String {
        match &self.names {
            Some(names) => format!("{step}.{}", names[index]),
            None => format!("{step}[{index}]"),
        }
    }
}
