//! Graph: steps in their order. In: what is known before the first of them. Out: what each gave. Called by `run`, and by
//! `step` for steps with steps of their own.

use std::collections::VecDeque;
use std::pin::Pin;

use expression::{Given, Json};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use message::Result;
use plan::{Gather, Graph, Run as Mode, Task};

use crate::run::{Calls, Running};
use crate::step;

/// Runs steps until all have ended. `within` is what names of steps begin with, inside of others.
pub(crate) fn run<'r, C: Calls>(
    running: &'r Running<'r, C>,
    graph: &'r Graph,
    before: Vec<Given>,
    within: &'r str,
) -> Pin<Box<dyn Future<Output = Result<Vec<Given>>> + 'r>> {
    Box::pin(async move {
        let mut values = before;
        values.resize(graph.values(), Given::Nothing);
        let mut left: Vec<usize> = graph.steps.iter().map(|step| step.needs.len()).collect();
        let mut ready: VecDeque<usize> = (0..left.len()).filter(|index| left[*index] == 0).collect();
        let mut under_way = FuturesUnordered::new();
        let is_serial = running.compose().run == Mode::Serial;
        loop {
            while let Some(index) = next(&mut ready, is_serial, !under_way.is_empty()) {
                let step = &graph.steps[index];
                match &step.task {
                    Task::Gather(gather) => {
                        values[graph.place(index)] = gathered(gather, graph, &values);
                        settle(graph, index, &mut left, &mut ready);
                    }
                    Task::Call(_) | Task::Compose(_) => match step::begin(running, step, &values, within)? {
                        Some(begun) => under_way.push(async move { (index, begun.await) }),
                        None => settle(graph, index, &mut left, &mut ready),
                    },
                }
            }
            let Some((index, outcome)) = under_way.next().await else { return Ok(values) };
            // Returning drops, and thereby cancels, whatever else is under way.
            values[graph.place(index)] = outcome?;
            settle(graph, index, &mut left, &mut ready);
        }
    })
}

/// The step to begin now. One after the other goes by the order of the file as far as what they need allows.
fn next(ready: &mut VecDeque<usize>, is_serial: bool, is_busy: bool) -> Option<usize> {
    if !is_serial {
        return ready.pop_front();
    }
    if is_busy {
        return None;
    }
    let first = ready.iter().enumerate().min_by_key(|(_, index)| **index)?.0;
    ready.remove(first)
}

/// A step has ended: those that only waited for it are ready.
fn settle(graph: &Graph, index: usize, left: &mut [usize], ready: &mut VecDeque<usize>) {
    for then in &graph.steps[index].then {
        left[*then] -= 1;
        if left[*then] == 0 {
            ready.push_back(*then);
        }
    }
}

/// What `each` made of one step, together. What is not there is left out.
fn gathered(gather: &Gather, graph: &Graph, values: &[Given]) -> Given {
    if !gather.is_read {
        return Given::Nothing;
    }
    let first = graph.place(gather.first);
    let parts = &values[first..first + gather.count];
    let length: usize = parts.iter().filter_map(Given::json).map(|json| json.as_str().len() + 1).sum();
    let mut out = String::with_capacity(length + 2);
    out.push(if gather.names.is_some() { '{' } else { '[' });
    for (index, json) in parts.iter().enumerate().filter_map(|(index, part)| Some((index, part.json()?))) {
        if out.len() > 1 {
            out.push(',');
        }
        if let Some(names) = &gather.names {
            let mut name = Vec::new();
            json::write_string(&names[index], &mut name);
            out.push_str(&String::from_utf8_lossy(&name));
            out.push(':');
        }
        out.push_str(json.as_str());
    }
    out.push(if gather.names.is_some() { '}' } else { ']' });
    Given::Json(Json::written(out))
}
