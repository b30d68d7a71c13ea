//! Graph: the steps of one `compose` → what each needs, or why they have no order. Called by `compose`, and by `step` for
//! steps with steps of their own.

use expression::{Content, Named, Output, Parts, ValueKind};

use super::content::{content, string};
use super::each::{Each, each};
use super::scope::{FAILED, Scope, check_name};
use super::step::{self, step};
use crate::known::Known;
use crate::meant::{Gather, Graph, OnError, Step, Task};
use crate::yaml::fault::{Report, quoted};
use crate::yaml::section;
use crate::yaml::tree::{Node, Shape};

/// Steps of one compose, those that `each` makes counted.
const MOST: usize = 1024;
/// Steps of one file: what stands inside of others multiplies.
const MOST_IN_FILE: usize = 16 * 1024;

/// An entry of `compose` before it is read.
struct Entry<'t> {
    node: Node<'t>,
    each: Option<Each>,
}

/// Reads steps and the response. `outer` is what is known around them.
pub(super) fn graph(
    node: Node<'_>,
    respond: Option<Node<'_>>,
    outer: &Scope<'_>,
    known: &Known<'_>,
    report: &mut Report,
) -> Option<Graph> {
    let faults = report.count();
    let mut entries = Vec::new();
    for node in section::entries(node, "compose: { user: { api: GET /user } }", report) {
        if check_name(node, report) {
            entries.push(Entry { node, each: word(node, "each").and_then(|node| each(node, report)) });
        }
    }
    let count: usize = entries.iter().map(Entry::count).sum();
    let in_file = known.steps.get().saturating_add(count);
    known.steps.set(in_file);
    if count > MOST || in_file > MOST_IN_FILE {
        let (steps, most) = if count > MOST {
            (count, format!("{MOST}"))
        } else {
            (in_file, format!("{MOST_IN_FILE} in a file"))
        };
        if !known.is_too_long.replace(true) {
            report.at_key(node, format!("there are {steps} steps"), format!("write at most {most}"));
        }
        return None;
    }
    let mut scope = outer.clone();
    let before = scope.len();
    for entry in &entries {
        announce(entry, &mut scope);
    }
    let mut steps = Vec::with_capacity(count);
    for entry in &entries {
        read(entry, before, &scope, known, &mut steps, report);
    }
    let scope =
        if before == 1 { scope.with(Named { kind: ValueKind::List, ..Named::any(FAILED) }) } else { scope };
    let respond = match respond {
        Some(node) => content(node, &scope, report),
        None => Some(by_name(&entries, &scope)),
    };
    if report.count() > faults {
        return None;
    }
    let respond = respond?;
    for step in &mut steps {
        // Behind the steps is the item of a list, which waits for nobody.
        let indexes = step::reads(step).into_iter().filter_map(|place| place.checked_sub(before));
        step.needs.extend(indexes.filter(|index| *index < count));
        step.needs.sort_unstable();
        step.needs.dedup();
    }
    for index in 0..steps.len() {
        for need in steps[index].needs.clone() {
            steps[need].then.push(index);
        }
    }
    gather_what_is_read(&mut steps, &respond, before);
    if let Some(cycle) = cycle(&steps) {
        let names: Vec<_> = cycle.iter().map(|index| quoted(&steps[*index].name)).collect();
        let entry = entries.iter().find(|entry| is_of(&steps[cycle[0]], entry.node));
        report.at_key(
            entry.map_or(node, |entry| entry.node),
            format!(
                "steps wait for one another: {}",
                names.join(", which waits for ").replacen(", which", "", 1)
            ),
            "let one of them do without the other",
        );
        return None;
    }
    Some(Graph { before, steps, respond })
}

impl Entry<'_> {
    /// Steps that it becomes: one more than `each` makes gathers them.
    fn count(&self) -> usize {
        self.each.as_ref().map_or(1, |each| each.items.len() + 1)
    }
}

/// Whether an entry of `compose` became this step, alone or with others.
pub(super) fn is_of(step: &Step, entry: Node<'_>) -> bool {
    let rest = step.name.strip_prefix(entry.key());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']))
}

/// The value of a word of a step, whatever else is in it.
pub(super) fn word<'t>(node: Node<'t>, word: &str) -> Option<Node<'t>> {
    match node.shape() {
        Shape::Map(entries) => entries.into_iter().find(|entry| entry.key() == word),
        _ => None,
    }
}

/// Makes the names of an entry known, and takes places for what it becomes.
fn announce(entry: &Entry<'_>, scope: &mut Scope<'_>) {
    let name = entry.node.key();
    let Some(each) = &entry.each else {
        let kind = if word(entry.node, "for").is_some() { ValueKind::List } else { ValueKind::Any };
        return scope.add(Named { kind, ..Named::any(name) });
    };
    let first = scope.len();
    for _ in &each.items {
        // Read by its place; no name leads to it.
        scope.add(Named::any(""));
    }
    let (kind, parts) = if let Some(names) = &each.names {
        let names = names.iter().map(|name| name.as_str().into()).collect();
        (ValueKind::Map, Parts::Members { first, names })
    } else {
        (ValueKind::List, Parts::Items { first, count: each.items.len() })
    };
    scope.add(Named { name: name.into(), kind, parts });
}

fn read(
    entry: &Entry<'_>,
    before: usize,
    scope: &Scope<'_>,
    known: &Known<'_>,
    steps: &mut Vec<Step>,
    report: &mut Report,
) {
    let Some(each) = &entry.each else {
        steps.extend(step(entry.node, entry.node.key(), scope, known, report));
        return;
    };
    let first = steps.len();
    debug_assert!(first + before <= scope.len(), "places were taken for all steps");
    for (index, item) in each.items.iter().enumerate() {
        let faults = report.count();
        let name = each.shown(entry.node.key(), index);
        steps.extend(step(entry.node, &name, &scope.each(item), known, report));
        if report.count() > faults {
            // The others would be told the same.
            return;
        }
    }
    let count = each.items.len();
    steps.push(Step {
        name: entry.node.key().into(),
        task: Task::Gather(Gather { first, count, names: each.names.clone(), is_read: false }),
        needs: (first..first + count).collect(),
        then: Vec::new(),
        when: None,
        over: None,
        timeout: None,
        on_error: OnError::default(),
        wrapping: None,
        is_shared: true,
    });
}

/// Every step under its name.
fn by_name(entries: &[Entry<'_>], scope: &Scope<'_>) -> Content {
    let member = |entry: &Entry<'_>| {
        let name = entry.node.key();
        let written = Output::parse_braced(&format!("${{{name}}}"), &scope.names());
        (name.to_owned(), written.map_or_else(|_| Content::Literal(string("")), Content::Value))
    };
    Content::Map(entries.iter().map(member).collect())
}

/// What is read only by its parts is not put together.
fn gather_what_is_read(steps: &mut [Step], respond: &Content, before: usize) {
    let mut read: Vec<usize> = respond.values();
    read.extend(steps.iter().flat_map(step::reads));
    for (index, step) in steps.iter_mut().enumerate() {
        if let Task::Gather(gather) = &mut step.task {
            gather.is_read = read.contains(&(before + index));
        }
    }
}

/// Steps that wait for one another, the first again at the end.
fn cycle(steps: &[Step]) -> Option<Vec<usize>> {
    let mut left: Vec<usize> = steps.iter().map(|step| step.needs.len()).collect();
    let mut ready: Vec<usize> = (0..steps.len()).filter(|index| left[*index] == 0).collect();
    while let Some(done) = ready.pop() {
        for (index, step) in steps.iter().enumerate() {
            if step.needs.contains(&done) {
                left[index] -= 1;
                if left[index] == 0 {
                    ready.push(index);
                }
            }
        }
    }
    let start = left.iter().position(|left| *left > 0)?;
    let mut way = vec![start];
    loop {
        let last = *way.last()?;
        let next = *steps[last].needs.iter().find(|need| left[**need] > 0)?;
        if let Some(at) = way.iter().position(|step| *step == next) {
            way.drain(..at);
            way.push(next);
            return Some(way);
        }
        way.push(next);
    }
}
