//! Compose: `compose` of a route and the words beside it → [`Compose`]. Called by `routes`.
//!
//! - `scope`: what expressions in a step may name, and at which place it is.
//! - `step`: one step; `call` is what it asks, `each` makes several of it, `wrappings` are what is around calls.
//! - `graph`: steps → their order, or why there is none.
//! - `content`: literal JSON with expressions in it.

mod call;
mod content;
mod each;
mod graph;
mod scope;
mod step;

use std::collections::BTreeSet;
use std::time::Duration;

use http::{HeaderName, HeaderValue, Method};

use crate::known::Known;
use crate::meant::{Asker, BODY, Compose, Decides, Graph, Layers, Pattern, Run, Save, Step, StepCall, Task};
use crate::yaml::fault::{Reason, Report, quoted};
use crate::yaml::section::Section;
use crate::yaml::tree::{Node, Shape};
use crate::yaml::unit;
use crate::yaml::value;
use crate::{default, schema};
pub(crate) use content::constant;
pub(crate) use scope::CONTENT;
use scope::Scope;

/// Reads the compose of a route. `pattern` is missing where it has a fault of its own.
pub(crate) fn compose(
    section: &Section<'_>,
    node: Node<'_>,
    pattern: Option<&Pattern>,
    known: &Known<'_>,
    report: &mut Report,
) -> Option<Compose> {
    if let Some(respond) = section.get("respond")
        && matches!(respond.shape(), Shape::Nothing)
    {
        report.at_key(respond, "`respond` has no value", "write what the response is, or take the line out");
    }
    let segments = pattern.map(Pattern::names);
    let scope = Scope::outermost(segments.as_deref());
    let graph = graph::graph(node, section.get("respond"), &scope, known, report)?;
    let mut compose = Compose {
        run: Run::default(),
        timeout: default::COMPOSE,
        save: Save::default(),
        server_timing: true,
        reads_body: reads(&graph).contains(&BODY),
        vary: vary(&graph, known),
        graph,
    };
    section.set("run", &mut compose.run, report, |node, report| value::parsed(node, report, run));
    section.set("timeout", &mut compose.timeout, report, value::timeout);
    section.set("server_timing", &mut compose.server_timing, report, value::switch);
    if let Some(node) = section.get("save") {
        save(node, &mut compose.save, report);
    }
    late_steps(node, &compose.graph, compose.timeout, report);
    let method = pattern.map(|pattern| pattern.method.as_ref());
    if matches!(method, Some(None | Some(&(Method::GET | Method::HEAD)))) {
        only_reads(node, &compose.graph, report);
    }
    if compose.reads_body && matches!(method, Some(Some(&(Method::GET | Method::HEAD)))) {
        report.at_key(
            node,
            "`body` is read, and GET has no content that counts",
            "write `match: POST …`, or `query.NAME` in its place",
        );
    }
    Some(compose)
}

/// `parallel`, `serial`, or `pool(10, 20)`.
fn run(text: &str) -> Result<Run, Reason> {
    let wrong = || {
        Reason::new(
            format!("{} is not known here", quoted(text)),
            "write `parallel`, `serial`, or `pool(10, 20)`: ten at once, and twenty that wait",
        )
    };
    match text {
        "parallel" => return Ok(Run::Parallel),
        "serial" => return Ok(Run::Serial),
        _ => {}
    }
    let inner =
        text.strip_prefix("pool").map(str::trim).and_then(|rest| rest.strip_prefix('(')?.strip_suffix(')'));
    let (places, queue) = inner.ok_or_else(wrong)?.split_once(',').ok_or_else(wrong)?;
    let number = |text: &str| unit::number(text.trim()).filter(|number| *number <= 100_000);
    match (number(places), number(queue)) {
        (Some(0), _) => Err(Reason::new(
            format!("{} has no place", quoted(text)),
            "write one place at least, as in `pool(10, 20)`: ten at once, and twenty that wait",
        )),
        (Some(places @ 1..), Some(queue)) => Ok(Run::Pool { places: places as usize, queue: queue as usize }),
        _ => Err(wrong()),
    }
}

fn save(node: Node<'_>, save: &mut Save, report: &mut Report) {
    let Some(section) = Section::open(node, &schema::SAVE, report) else { return };
    section.set("dedupe", &mut save.dedupe, report, value::switch);
    section.set("coalesce", &mut save.coalesce, report, value::switch);
    section.set("pipeline", &mut save.pipeline, report, value::switch);
}

/// A step that may take longer than the whole never says that it was too slow.
fn late_steps(node: Node<'_>, graph: &Graph, whole: Duration, report: &mut Report) {
    for (entry, step) in written(node, graph) {
        if let (Some(own), Some(node)) = (step.timeout, graph::word(entry, "timeout"))
            && own > whole
        {
            report.at(
                node,
                format!(
                    "step {} may take {own:?}, and what is around it only {whole:?}",
                    quoted(entry.key())
                ),
                "write a shorter `timeout` here, or a longer one on the route",
            );
        }
        if let (Task::Compose(inner), Some(node)) = (&step.task, graph::word(entry, "compose")) {
            late_steps(node, inner, step.timeout.map_or(whole, |own| own.min(whole)), report);
        }
    }
}

/// The entries of `compose` with what they became; of several that `each` made, the first.
fn written<'t, 'g>(node: Node<'t>, graph: &'g Graph) -> Vec<(Node<'t>, &'g Step)> {
    let Shape::Map(entries) = node.shape() else { return Vec::new() };
    let became = |entry: &Node<'_>| graph.steps.iter().find(|step| graph::is_of(step, *entry));
    entries.into_iter().filter_map(|entry| became(&entry).map(|step| (entry, step))).collect()
}

/// A GET changes nothing (RFC 9110 §9.2.1): browsers and crawlers repeat it at will.
fn only_reads(node: Node<'_>, graph: &Graph, report: &mut Report) {
    for (entry, step) in written(node, graph) {
        let why = match &step.task {
            Task::Compose(inner) => {
                if let Some(node) = graph::word(entry, "compose") {
                    only_reads(node, inner, report);
                }
                continue;
            }
            Task::Call(StepCall::Sql(call)) if !call.statement.reads => "its statement writes".to_owned(),
            Task::Call(StepCall::Http(call)) if !call.method.is_safe() => {
                format!("it sends {}", call.method)
            }
            Task::Call(_) | Task::Gather(_) => continue,
        };
        report.at_key(
            entry,
            format!("step {} changes something, in a route that takes GET: {why}", quoted(entry.key())),
            "write another method into `match`, like `POST /path`",
        );
    }
}

/// The places of the values that anything in it reads.
fn reads(graph: &Graph) -> BTreeSet<usize> {
    let mut places: BTreeSet<usize> = graph.respond.values().into_iter().collect();
    for step in &graph.steps {
        places.extend(step::reads(step));
    }
    places
}

/// The fields of a request that a response depends on; `*`: on more than fields.
fn vary(graph: &Graph, known: &Known<'_>) -> Option<HeaderValue> {
    let mut fields = BTreeSet::new();
    let is_for_one = collect_fields(graph, known, &mut fields);
    if is_for_one {
        return Some(HeaderValue::from_static("*"));
    }
    let list = fields.into_iter().collect::<Vec<_>>().join(", ");
    (!list.is_empty()).then(|| HeaderValue::try_from(list).expect("names of fields are a field value"))
}

/// Collects their names. Given back: whether a response also depends on who the client is, which no field says.
fn collect_fields(graph: &Graph, known: &Known<'_>, fields: &mut BTreeSet<String>) -> bool {
    let mut is_for_one = false;
    let mut add = |names: Vec<HeaderName>| fields.extend(names.iter().map(|name| name.as_str().to_owned()));
    add(graph.respond.fields());
    for step in &graph.steps {
        add(step.when.iter().flat_map(expression::Expression::fields).collect());
        add(step.over.iter().flat_map(|over| over.list.fields()).collect());
        if let Task::Call(call) = &step.task {
            add(call::fields(call));
        }
        // What wraps a call may go by the client, too.
        for layer in known.wrappings.of(step).iter().flat_map(Layers::iter) {
            for reading in layer.readings() {
                if reading.decides == Decides::Answer && layer.reads_client_of(Asker::Step) {
                    add(reading.reads.fields().collect());
                    is_for_one |= reading.reads.client();
                }
            }
        }
    }
    let inner = graph.steps.iter().filter_map(|step| match &step.task {
        Task::Compose(inner) => Some(inner),
        Task::Call(_) | Task::Gather(_) => None,
    });
    inner.fold(is_for_one, |is_for_one, inner| collect_fields(inner, known, fields) || is_for_one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pools_are_written_with_their_places() {
        assert_eq!(run("parallel"), Ok(Run::Parallel));
        assert_eq!(run("pool(10, 20)"), Ok(Run::Pool { places: 10, queue: 20 }));
        assert_eq!(run("pool (1,0)"), Ok(Run::Pool { places: 1, queue: 0 }));
        for wrong in ["pool", "pool()", "pool(10)", "pool(0, 1)", "pool(a, b)", "parallell", "pool(1, 2, 3)"]
        {
            assert!(run(wrong).is_err(), "{wrong}");
        }
    }
}
