//! Composed: what a route with many calls would do, and what it did when it was run once: its steps, what each waits
//! for, and which of them decide how long all take.

use compose::{Outcome, ShownStep, Took, critical_path, shown};
use http::StatusCode;
use message::{Request, RequestView, Response, Result};
use plan::{Layer, Layers, Run, Wrapping};
use policy::Question;
use serde::Serialize;

use crate::explain::controls::Control;
use crate::walk::composed::Composed;

/// The steps of a route.
#[derive(Clone, Debug, Serialize)]
pub struct ComposedAnswer {
    /// How many run at once: `parallel`, `serial` or `pool(10, 20)`.
    pub run: String,
    /// In the order of the file.
    pub steps: Vec<StepAnswer>,
    /// The steps that decide how long all take: the longest chain, by time where they were run, else by number.
    pub critical_path: Vec<String>,
    /// What each did, where they were run, in the order in which they began.
    pub waterfall: Vec<Bar>,
    /// Milliseconds that all of them took, where they were run.
    pub took: Option<f64>,
    /// The status of the answer, where they were run.
    pub status: Option<u16>,
}

/// One step.
#[derive(Clone, Debug, Serialize)]
pub struct StepAnswer {
    /// What it is called; inside of another step with that one's name before it.
    pub name: String,
    /// What it asks, as written.
    pub asks: String,
    /// The steps that it waits for.
    pub needs: Vec<String>,
    /// What wraps its call, outermost first.
    pub stack: Vec<&'static str>,
    /// How those of them stand now whose word depends on what has happened before.
    pub states: Vec<Control>,
}

/// One step that was run.
#[derive(Clone, Debug, Serialize)]
pub struct Bar {
    /// What it is called.
    pub name: String,
    /// Milliseconds from the beginning of the request to that of the step.
    pub start: f64,
    /// Milliseconds that it took.
    pub took: f64,
    /// How it ended: `given`, `left out`, `stale`, or why it failed.
    pub outcome: String,
}

impl ComposedAnswer {
    pub(super) fn of(composed: &Composed, wrappings: &[Wrapping], request: &RequestView<'_>) -> Self {
        let plan = &composed.composition.plan;
        let mut steps = Vec::new();
        let states = |number: usize, layers: &Layers| {
            let mut question = Question { request, names: &composed.composition.names, within: None };
            let told = |(meant, layer): (&Layer, &policy::Layer)| {
                let told = layer.state(question);
                question = question.inside(layer);
                let told = told?;
                Some(Control::new(meant.word(), told.effect))
            };
            layers.iter().zip(composed.layers_of_step(number)).filter_map(told).collect()
        };
        flatten("", shown(&plan.graph), wrappings, &states, &mut steps);
        ComposedAnswer {
            run: match plan.run {
                Run::Parallel => "parallel".to_owned(),
                Run::Serial => "serial".to_owned(),
                Run::Pool { places, queue } => format!("pool({places}, {queue})"),
            },
            steps,
            critical_path: critical_path(&plan.graph, |_| 1.0),
            waterfall: Vec::new(),
            took: None,
            status: None,
        }
    }

    /// Runs the steps once. Says what came of it.
    pub(super) async fn run(&mut self, composed: &Composed, request: Request) -> String {
        let began = std::time::Instant::now();
        let (outcome, mut took) = composed.serve(request).await;
        self.took = Some(millis(began.elapsed()));
        took.sort_by_key(|took| took.started);
        let cost =
            |name: &str| took.iter().find(|took| &*took.name == name).map_or(0.0, |took| millis(took.took));
        self.critical_path = critical_path(&composed.composition.plan.graph, cost);
        self.waterfall = took.iter().map(Bar::of).collect();
        self.concluded(outcome)
    }

    fn concluded(&mut self, outcome: Result<Response>) -> String {
        match outcome {
            Ok(response) => {
                self.status = Some(response.status.as_u16());
                let failed = self.waterfall.iter().filter(|bar| !bar.is_whole()).count();
                match failed {
                    0 => format!("{}: every step gave what it should", response.status.as_u16()),
                    failed => format!(
                        "{}, not complete: {failed} of the steps failed, and something stands in",
                        response.status.as_u16()
                    ),
                }
            }
            Err(error) => {
                let status: StatusCode = response::status_of(error.kind());
                self.status = Some(status.as_u16());
                format!("{}: {error}", status.as_u16())
            }
        }
    }
}

impl Bar {
    fn of(took: &Took) -> Self {
        Bar {
            name: took.name.to_string(),
            start: millis(took.started),
            took: millis(took.took),
            outcome: match &took.outcome {
                Outcome::Given => "given".to_owned(),
                Outcome::LeftOut => "left out".to_owned(),
                Outcome::Stale => "stale".to_owned(),
                Outcome::Failed(error) => format!("failed: {error}"),
            },
        }
    }

    fn is_whole(&self) -> bool {
        matches!(self.outcome.as_str(), "given" | "left out")
    }
}

fn flatten(
    within: &str,
    steps: Vec<ShownStep>,
    wrappings: &[Wrapping],
    states: &impl Fn(usize, &Layers) -> Vec<Control>,
    out: &mut Vec<StepAnswer>,
) {
    for step in steps {
        let name = if within.is_empty() { step.name } else { format!("{within}/{}", step.name) };
        let layers = step.wrapping.map(|number| (number, &wrappings[number].layers));
        out.push(StepAnswer {
            name: name.clone(),
            asks: step.asks,
            needs: step.needs,
            stack: layers.iter().flat_map(|(_, layers)| layers.iter().map(Layer::word)).collect(),
            states: layers.map(|(number, layers)| states(number, layers)).unwrap_or_default(),
        });
        flatten(&name, step.inside, wrappings, states, out);
    }
}

fn millis(duration: std::time::Duration) -> f64 {
    (duration.as_secs_f64() * 1e5).round() / 100.0
}
