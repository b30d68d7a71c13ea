//! Step: one entry of `compose` → [`Step`]. Called by `graph`, for each item of `each` anew.

use std::sync::Arc;

use expression::{Content, nearest};

use super::call;
use super::content::content;
use super::graph::graph;
use super::scope::Scope;
use crate::known::Known;
use crate::meant::{
    Asker, CachePolicy, Graph, HttpForm, Layer, Layers, OnError, Otherwise, Over, Step, StepCall, Task,
    Wrapping,
};
use crate::uses::{of_values, onto, uses, without_credentials};
use crate::yaml::fault::{Report, quoted};
use crate::yaml::section::Section;
use crate::yaml::tree::{Node, Shape};
use crate::yaml::value;
use crate::{default, schema};

/// Reads a step.
pub(super) fn step(
    node: Node<'_>,
    name: &str,
    scope: &Scope<'_>,
    known: &Known<'_>,
    report: &mut Report,
) -> Option<Step> {
    let Shape::Map(entries) = node.shape() else {
        Section::open(node, &schema::STEP, report);
        return None;
    };
    let is_source =
        |entry: &&Node<'_>| known.source(entry.key()).is_some() && schema::STEP.word(entry.key()).is_none();
    let asked: Vec<Node<'_>> = entries.iter().filter(is_source).copied().collect();
    let section = Section::open_but(node, &schema::STEP, known.sources.order(), report)?;
    let over = section.get("for").and_then(|node| over(node, &section, scope, report));
    let is_list = section.get("for").is_some();
    if !is_list {
        for node in ["width", "most"].iter().filter_map(|word| section.get(word)) {
            report.at_key(
                node,
                format!("{} is for `for`", quoted(node.key())),
                "write `for`, or take it out",
            );
        }
    }
    // The item has a place behind everything else.
    let inside = if is_list { &scope.with_item(over.as_ref().map(|over| &over.list)) } else { scope };
    let task = match (asked.as_slice(), section.get("compose")) {
        ([source], None) => call::call(*source, &section, inside, known, report).map(Task::Call),
        ([], Some(node)) => graph(node, section.get("respond"), inside, known, report)
            .map(|graph| Task::Compose(Box::new(graph))),
        _ => {
            wrong_task(node, &section, &asked, known, report);
            None
        }
    };
    if let (Some(node), None) = (section.get("respond"), section.get("compose")) {
        report.at_key(
            node,
            "`respond` is for a step with `compose`",
            "take it out; what the call gives is the value",
        );
    }
    let mut step = Step {
        name: name.into(),
        task: task?,
        needs: Vec::new(),
        then: Vec::new(),
        when: section.get("when").and_then(|node| scope.condition(node, report)),
        over,
        timeout: None,
        on_error: OnError::default(),
        wrapping: None,
        is_shared: true,
    };
    section.set("timeout", &mut step.timeout, report, |node, report| value::timeout(node, report).map(Some));
    section.set("on_error", &mut step.on_error, report, |node, report| on_error(node, scope, report));
    let wrapping = wrapping(node, &step, &section, known, report);
    step.is_shared = !wrapping.as_ref().is_some_and(|wrapping| wrapping.layers.keep_apart());
    step.wrapping = wrapping.map(|wrapping| known.wrappings.number(wrapping));
    Some(step)
}

/// The places of the values that a step reads from around it.
pub(super) fn reads(step: &Step) -> Vec<usize> {
    let mut places: Vec<usize> = step.when.iter().flat_map(expression::Expression::values).collect();
    places.extend(step.over.iter().flat_map(|over| over.list.values()));
    match &step.task {
        Task::Call(call) => places.extend(call::values(call)),
        Task::Compose(inner) => places.extend(inner_reads(inner)),
        Task::Gather(_) => {}
    }
    places
}

/// What steps inside read from outside. The item of `for` is not outside of the step that has it; its place is that of
/// no step.
fn inner_reads(graph: &Graph) -> Vec<usize> {
    let mut places = graph.respond.values();
    places.extend(graph.steps.iter().flat_map(reads));
    places.retain(|place| *place < graph.before);
    places
}

fn over(node: Node<'_>, section: &Section<'_>, scope: &Scope<'_>, report: &mut Report) -> Option<Over> {
    let list = scope.output(node, report)?;
    let kind = list.kind();
    if !matches!(kind, expression::ValueKind::Any | expression::ValueKind::List) {
        report.at(node, format!("`for` needs a list and gets {}", kind.name()), "write one, like `${users}`");
    }
    let mut over = Over { list, width: default::WIDTH, most: default::MOST };
    section.set("width", &mut over.width, report, |node, report| {
        Some(value::number(node, 1..=1024, report)? as usize)
    });
    section.set("most", &mut over.most, report, |node, report| {
        Some(value::number(node, 1..=10_000, report)? as usize)
    });
    Some(over)
}

/// `fail`, `null`, `omit`, `stale`, `[stale, null]`, or any other value.
fn on_error(node: Node<'_>, scope: &Scope<'_>, report: &mut Report) -> Option<OnError> {
    let is_plain =
        |node: Node<'_>, word: &str| !node.is_quoted() && value::is_word(node, |text| text == word);
    if is_plain(node, "stale") {
        return Some(OnError { stale: true, then: Otherwise::Fail });
    }
    if let Shape::List(items) = node.shape()
        && let [first, rest @ ..] = items.as_slice()
        && is_plain(*first, "stale")
    {
        let [second] = rest else {
            report.at(node, "behind `stale` stands one thing", "write it like `[stale, null]`");
            return None;
        };
        if is_plain(*second, "stale") {
            report.at(*second, "`stale` stands here twice", "write it like `[stale, null]`");
            return None;
        }
        return Some(OnError { stale: true, then: otherwise(*second, scope, report)? });
    }
    if let Shape::List(items) = node.shape()
        && items.iter().any(|item| is_plain(*item, "stale"))
    {
        report.at(
            node,
            "`stale` comes first: what follows stands in where there is nothing",
            "write it like `[stale, null]`",
        );
        return None;
    }
    Some(OnError { stale: false, then: otherwise(node, scope, report)? })
}

/// Words of `on_error`.
const WORDS: [&str; 4] = ["fail", "null", "omit", "stale"];

fn otherwise(node: Node<'_>, scope: &Scope<'_>, report: &mut Report) -> Option<Otherwise> {
    if let Shape::Text(text) = node.shape()
        && !node.is_quoted()
    {
        match text {
            "fail" => return Some(Otherwise::Fail),
            "omit" => return Some(Otherwise::Omit),
            _ => {}
        }
        // A text between quotes is a value; a word that is none of these is a slip.
        if !matches!(text, "true" | "false") && !text.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            let meant = match nearest(text, WORDS) {
                Some(meant) => format!("`{meant}`"),
                None => "one of `fail`, `null`, `omit`, `stale`".to_owned(),
            };
            let remedy = format!("write {meant}, or {} for the text itself", quoted(&format!("\"{text}\"")));
            report.at(node, format!("{} is not known here", quoted(text)), remedy);
            return None;
        }
    }
    if let Content::Literal(json) = content(node, scope, report)? {
        return Some(Otherwise::Value(json));
    }
    report.at(node, "an expression cannot stand here", "write the value itself");
    None
}

/// What is written around the call of a step.
fn used(node: Node<'_>, task: &Task, known: &Known<'_>, report: &mut Report) -> Layers {
    let used = uses(node, known, report);
    if used.signed.is_some() {
        report.at(node, "a step cannot be signed: clients ask for routes", "use that policy on the route");
    }
    if !used.auth.is_empty() {
        report.at(node, "a step lets nobody in: clients ask for routes", "use that policy on the route");
    }
    let writes = match task {
        Task::Call(StepCall::Http(call)) => !call.method.is_safe(),
        Task::Call(StepCall::Sql(call)) => !call.statement.reads,
        _ => false,
    };
    if matches!(task, Task::Compose(_)) {
        let remedy = "take `use` out; put it on the steps inside";
        report.at(node, "a policy wraps a call, and this step has steps of its own", remedy);
    } else if writes && used.layers.cache().is_some() {
        report.at(node, "a call that writes is not cached", "take `use` out; put it on the calls that read");
    }
    if let Some(cors) = used.layers.cors() {
        let cause = format!("{} is for browsers, which ask for routes", quoted(&cors.name));
        report.at(node, cause, "use that policy on the route");
    }
    if matches!(task, Task::Call(call) if !matches!(call, StepCall::Http(_))) {
        of_values(&used.layers, node, report);
    }
    used.layers
}

/// What wraps the call of a step, as this step needs it. `None`: it makes none itself.
fn wrapping(
    node: Node<'_>,
    step: &Step,
    section: &Section<'_>,
    known: &Known<'_>,
    report: &mut Report,
) -> Option<Wrapping> {
    let stands_in = step.on_error.stale;
    let written = section.get("use").map(|node| used(node, &step.task, known, report));
    let Task::Call(call) = &step.task else {
        if stands_in && let Some(node) = section.get("on_error") {
            report.at(node, "`stale` is for a call", "write it on the steps inside");
        }
        return None;
    };
    let mut layers = written.unwrap_or_default();
    if stands_in && layers.cache().is_none() {
        // Keeps what was given, where nothing else is cached.
        let policy = CachePolicy {
            name: default::STALE.to_owned(),
            rules: rules::Policy { default_ttl: Some(std::time::Duration::ZERO), ..rules::Policy::default() },
            ..CachePolicy::default()
        };
        layers.wrap(Layer::Cache(Arc::new(policy)));
    }
    let layers = layers.with_caches(|policy| {
        if stands_in {
            policy.rules.stale_if_error = policy.rules.stale_if_error.max(Some(default::STEP_STALE));
        }
    });
    if !matches!(call, StepCall::Http(_)) {
        let node = section.get("use").unwrap_or(node);
        without_credentials(&layers, "a call for a value", node, report);
    }
    let (source, form) = match call {
        StepCall::Http(call) => (call.source, call.form),
        StepCall::Read(read) => (read.from, HttpForm::default()),
        StepCall::Sql(call) => (call.source, HttpForm::default()),
        StepCall::Wasm(call) => (call.source, HttpForm::default()),
    };
    let mut around = layers;
    let place = section.get("use").unwrap_or(node);
    onto(&mut around, known.around(source), Asker::Step, place, report);
    let redirect =
        around.iter().position(|layer| matches!(layer, Layer::Respond(respond) if respond.to.is_some()));
    if let Some(redirect) = redirect.and_then(|at| around.iter().nth(at)) {
        let cause =
            format!("{} sends clients elsewhere, and a step follows nobody", quoted(redirect.policy()));
        report.at(place, cause, "use that policy on the route; `respond` gives the step a value");
    }
    let layers = around.with_caches(|policy| {
        // What is kept of a step is for the same call only: its fields may say who asks.
        policy.key.is_step = true;
        if let StepCall::Http(call) = call {
            policy.key.headers.extend(call.fields.iter().map(|(name, _)| name.clone()));
        }
    });
    Some(Wrapping { source, form, layers, stands_in })
}

/// No source is named, or several are.
fn wrong_task(
    node: Node<'_>,
    section: &Section<'_>,
    asked: &[Node<'_>],
    known: &Known<'_>,
    report: &mut Report,
) {
    if let [_, second, ..] = asked {
        return report.at_key(*second, "two sources are asked in one step", "write a step for each");
    }
    if let ([source], Some(_)) = (asked, section.get("compose")) {
        return report.at_key(
            *source,
            "the step asks a source and has steps of its own",
            "write a step for each",
        );
    }
    if !section.has_unknown() {
        let remedy = match known.sources.order() {
            [] => "add a source first".to_owned(),
            [first, ..] => format!("write the name of a source, like `{first}: …`"),
        };
        report.at(node, "it is not said what the step asks", remedy);
    }
}
