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

use expression::Reads;
use http::{HeaderValue, Method};

use crate::known::Known;
use crate::meant::{Asker, BODY, Compose, Decides, Graph, Pattern, Run, Save, Step, StepCall, Task};
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

/// The fields of a request that a response depends on; `*`: on who the client is, too, which no field says.
fn vary(graph: &Graph, known: &Known<'_>) -> Option<HeaderValue> {
    let (mut names, mut is_for_one) = (BTreeSet::new(), false);
    of_request(graph, known, &mut |reads| {
        names.extend(reads.fields().map(|name| name.as_str().to_owned()));
        is_for_one |= reads.client();
    });
    if is_for_one {
        return Some(HeaderValue::from_static("*"));
    }
    let list = names.into_iter().collect::<Vec<_>>().join(", ");
    (!list.is_empty()).then(|| HeaderValue::try_from(list).expect("names of fields are a field value"))
}

/// Hands on all that a response is made of by expressions over the client's request: those of steps, and of what wraps their calls.
pub(crate) fn of_request(graph: &Graph, known: &Known<'_>, each: &mut dyn FnMut(&Reads<'_>)) {
    each(&graph.respond.reads());
    for step in &graph.steps {
        step.when.iter().for_each(|when| each(&when.reads()));
        step.over.iter().for_each(|over| each(&over.list.reads()));
        match &step.task {
            Task::Call(call) => each(&call::reads(call)),
            Task::Compose(inner) => of_request(inner, known, each),
            Task::Gather(_) => {}
        }
        let around = known.wrappings.of(step).unwrap_or_default();
        for layer in around.iter().filter(|layer| layer.reads_client_of(Asker::Step)) {
            let answers = layer.readings().into_iter().filter(|reading| reading.decides == Decides::Answer);
            answers.for_each(|reading| each(&reading.reads));
        }
    }
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
