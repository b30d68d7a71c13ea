//! Lines: one core's ways to everything that may be asked, and what wraps the calls of steps. Made by `local` for each plan; lent
//! to whoever composes.

use compose::SingleFlight;
use plan::{HttpForm, Plan, Wrapping};
use policy::{AskedFor, Stack};
use source::{ContentSource, LocalSource, ValueSource};

use crate::walk::composition::Names;
use crate::walk::layers::{Kit, Place};
use crate::walk::running::Running;

/// See the module.
pub(crate) struct Lines {
    /// In the order of [`Plan::sources`].
    pub(crate) sources: Vec<LocalSource>,
    /// What wraps calls of steps, in the order of [`Plan::wrappings`].
    pub(crate) steps: Vec<StepStack>,
    /// Equal calls of requests on this core.
    pub(crate) flights: SingleFlight,
}

/// What wraps calls of steps on one core, and where they end. Clones are the same.
#[derive(Clone)]
pub(crate) enum StepStack {
    /// At an origin, which is asked as clients ask it.
    Http(Stack<ContentSource>, HttpForm),
    /// Where there are values.
    Value(Stack<ValueSource>),
}

impl Lines {
    /// For a plan; the pools of sources that stayed are kept.
    pub(crate) fn new(running: &Running, before: Option<(&Running, &Lines)>, kit: &Kit<'_>) -> Self {
        let local = |source| {
            let kept = before.and_then(|(running, lines)| {
                let place = running.sources.iter().position(|old| old.is(source))?;
                Some(lines.sources[place].clone())
            });
            kept.unwrap_or_else(|| LocalSource::new(source))
        };
        let sources: Vec<LocalSource> = running.sources.iter().map(local).collect();
        let steps = running.plan.wrappings.iter();
        let steps = steps.map(|wrapping| StepStack::new(wrapping, &running.plan, &sources, kit)).collect();
        Lines { sources, steps, flights: SingleFlight::default() }
    }
}

impl StepStack {
    pub(crate) fn new(wrapping: &Wrapping, plan: &Plan, sources: &[LocalSource], kit: &Kit<'_>) -> Self {
        let source = plan.source(wrapping.source).name();
        // Steps that ask the same in the same way share what wraps them, whatever their routes.
        let route = &format!("(steps of {source})");
        let end = &sources[wrapping.source.place()];
        let asked = AskedFor { by_path: true, for_json: wrapping.form == HttpForm::Json };
        let (names, targets, hosts) = (&Names::default(), &end.targets(), &end.hosts());
        let stands_in = wrapping.stands_in;
        let place = Place { route, names, source, targets, hosts, stands_in, asked };
        let layers = kit.layers(&wrapping.layers, &place);
        match end {
            LocalSource::Http(origin) => {
                let form = wrapping.form;
                StepStack::Http(Stack::around(layers, ContentSource { origin: origin.clone(), form }), form)
            }
            values => StepStack::Value(Stack::around(layers, ValueSource::new(values.clone()))),
        }
    }
}
