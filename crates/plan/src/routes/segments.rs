//! Segments: names of segments that policies read, and that no route gives. In come all routes with the place of their `match`;
//! called by `routes`. A policy may be used by routes that have a name and by others that do not; one whose name none of them has can
//! never do what it says.

use crate::known::Known;
use crate::meant::{Asker, Graph, Layer, Layers, Route, RouteEnd, Task};
use crate::yaml::fault::{Report, quoted};
use crate::yaml::tree::Node;

/// A name that a policy reads on some route.
struct Read<'t> {
    policy: String,
    name: String,
    at: Node<'t>,
    is_given: bool,
}

/// Notes a fault for each name that a policy reads in vain.
pub(crate) fn segments(routes: &[(Node<'_>, Route)], known: &Known<'_>, report: &mut Report) {
    let mut reads: Vec<Read<'_>> = Vec::new();
    for (node, route) in routes {
        let names = route.pattern.names();
        let mut note = |layer: &Layer, asker: Asker| {
            for reading in layer.readings() {
                for name in reading.reads.segments() {
                    // A step's own request has a path that nobody names.
                    let is_given = layer.reads_client_of(asker) && names.contains(&name);
                    let is_it = |read: &&mut Read<'_>| read.policy == layer.policy() && read.name == name;
                    if let Some(read) = reads.iter_mut().find(is_it) {
                        read.is_given |= is_given;
                    } else {
                        let (policy, name) = (layer.policy().to_owned(), name.to_owned());
                        reads.push(Read { policy, name, at: *node, is_given });
                    }
                }
            }
        };
        route.layers.iter().for_each(|layer| note(layer, Asker::Client));
        if let RouteEnd::Compose(compose) = &route.end {
            of_steps(&compose.graph, known, &mut |layer| note(layer, Asker::Step));
        }
    }
    for Read { policy, name, at, .. } in reads.iter().filter(|read| !read.is_given) {
        report.at(
            *at,
            format!(
                "{} reads `path.{name}`, and no route that uses it calls a segment of its path so",
                quoted(policy)
            ),
            format!("write `{{{name}}}` for a segment here, or a name that is here into the policy"),
        );
    }
}

/// Hands on what wraps calls of steps.
fn of_steps(graph: &Graph, known: &Known<'_>, note: &mut dyn FnMut(&Layer)) {
    for step in &graph.steps {
        known.wrappings.of(step).iter().flat_map(Layers::iter).for_each(&mut *note);
        if let Task::Compose(inner) = &step.task {
            of_steps(inner, known, note);
        }
    }
}
