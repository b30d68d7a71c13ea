//! Wrappings: what wraps the calls of steps, each once for the whole file, by number. Filled by `routes::compose`.

use std::cell::RefCell;

use crate::meant::{Graph, Layers, Step, Task, Wrapping};

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Wrappings(RefCell<Vec<Wrapping>>);

impl Wrappings {
    /// The number of the one that is equal to this, or of this one as the next.
    pub(crate) fn number(&self, wrapping: Wrapping) -> usize {
        let mut known = self.0.borrow_mut();
        known.iter().position(|known| *known == wrapping).unwrap_or_else(|| {
            known.push(wrapping);
            known.len() - 1
        })
    }

    /// The name of a policy that makes calls again by this word, around a step of a graph.
    pub(crate) fn repeating_within(&self, graph: &Graph, word: &str) -> Option<String> {
        let known = self.0.borrow();
        graph.steps.iter().find_map(|step| {
            let own = step.wrapping.and_then(|number| known[number].layers.repeating_by(word));
            own.map(str::to_owned).or_else(|| match &step.task {
                Task::Compose(inner) => self.repeating_within(inner, word),
                Task::Call(_) | Task::Gather(_) => None,
            })
        })
    }

    /// Those of a step's own call.
    pub(crate) fn of(&self, step: &Step) -> Option<Layers> {
        step.wrapping.map(|number| self.0.borrow()[number].layers.clone())
    }

    /// All of them, by their numbers.
    pub(crate) fn take(&self) -> Vec<Wrapping> {
        self.0.take()
    }
}
