//! Shown: the steps of a route as people see them: what each waits for, and the longest chain. Called by `explain`.

use plan::{Graph, StepCall, Task};

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownStep {
    /// What it is called.
    pub name: String,
    /// What it asks, as written.
    pub asks: String,
    /// The names of the steps that it waits for.
    pub needs: Vec<String>,
    /// Steps before it on the longest way to it.
    pub depth: usize,
    /// What wraps its call, as [`Step::wrapping`](plan::Step::wrapping) says.
    pub wrapping: Option<usize>,
    /// Steps inside of it.
    pub inside: Vec<ShownStep>,
}

/// The steps of a graph, in the order of the file; what only puts others together is left out.
pub fn shown(graph: &Graph) -> Vec<ShownStep> {
    let depths = depths(graph);
    let name = |index: &usize| graph.steps[*index].name.to_string();
    let one = |(index, step): (usize, &plan::Step)| {
        let inside = match &step.task {
            Task::Compose(inner) => shown(inner),
            Task::Call(_) | Task::Gather(_) => Vec::new(),
        };
        ShownStep {
            name: step.name.to_string(),
            asks: asks(step),
            needs: step.needs.iter().map(name).collect(),
            depth: depths[index],
            wrapping: step.wrapping,
            inside,
        }
    };
    let is_work = |(_, step): &(usize, &plan::Step)| !matches!(step.task, Task::Gather(_));
    graph.steps.iter().enumerate().filter(is_work).map(one).collect()
}

/// The steps that decide how long all take, first to last: the longest chain by what each costs.
pub fn critical_path(graph: &Graph, cost: impl Fn(&str) -> f64) -> Vec<String> {
    let mut ends: Vec<Option<(f64, Option<usize>)>> = vec![None; graph.steps.len()];
    for index in in_order(graph) {
        let step = &graph.steps[index];
        let before = step.needs.iter().filter_map(|need| Some((ends[*need]?.0, Some(*need))));
        let (start, from) = before.max_by(|one, other| one.0.total_cmp(&other.0)).unwrap_or((0.0, None));
        let own = if matches!(step.task, Task::Gather(_)) { 0.0 } else { cost(&step.name) };
        ends[index] = Some((start + own, from));
    }
    let last = (0..ends.len()).max_by(|one, other| {
        let end = |index: usize| ends[index].map_or(0.0, |(end, _)| end);
        end(*one).total_cmp(&end(*other)).then(other.cmp(one))
    });
    let mut way = Vec::new();
    let mut at = last;
    while let Some(index) = at {
        if !matches!(graph.steps[index].task, Task::Gather(_)) {
            way.push(graph.steps[index].name.to_string());
        }
        at = ends[index].and_then(|(_, from)| from);
    }
    way.reverse();
    way
}

fn depths(graph: &Graph) -> Vec<usize> {
    let mut depths = vec![0; graph.steps.len()];
    for index in in_order(graph) {
        let step = &graph.steps[index];
        let deepest = step.needs.iter().map(|need| {
            let is_work = !matches!(graph.steps[*need].task, Task::Gather(_));
            depths[*need] + usize::from(is_work)
        });
        depths[index] = deepest.max().unwrap_or(0);
    }
    depths
}

/// Indexes, each behind all that it needs.
fn in_order(graph: &Graph) -> Vec<usize> {
    let mut left: Vec<usize> = graph.steps.iter().map(|step| step.needs.len()).collect();
    let mut order: Vec<usize> = (0..left.len()).filter(|index| left[*index] == 0).collect();
    let mut at = 0;
    while at < order.len() {
        for then in &graph.steps[order[at]].then {
            left[*then] -= 1;
            if left[*then] == 0 {
                order.push(*then);
            }
        }
        at += 1;
    }
    order
}

fn asks(step: &plan::Step) -> String {
    let what = match &step.task {
        Task::Call(StepCall::Http(call)) => format!("{} {}", call.method, call.target.text()),
        Task::Call(StepCall::Read(read)) => {
            let words = read.arguments.iter().map(expression::Argument::text);
            std::iter::once(read.command.word().to_owned()).chain(words).collect::<Vec<_>>().join(" ")
        }
        Task::Call(StepCall::Sql(call)) => {
            call.statement.text().split_whitespace().collect::<Vec<_>>().join(" ")
        }
        Task::Call(StepCall::Wasm(call)) => format!("{}()", call.function),
        Task::Compose(_) => "steps of its own".to_owned(),
        Task::Gather(_) => String::new(),
    };
    match &step.over {
        Some(over) => format!("{what} for each of {}", over.list.text()),
        None => what,
    }
}
