//! Compose: what a route that joins many calls into one response means: a graph of steps, and what is made of it.
//!
//! Expressions in here read values by their places: the content of the request first, then what each step gave, in
//! order. Inside a step with `for` the item comes next; inside a nested compose, its own steps behind all of those.

use std::sync::Arc;
use std::time::Duration;

use expression::{Content, Expression, Output, Template};
use http::{HeaderName, HeaderValue, Method};

use super::{Layers, Read, SourceId, Statement};

/// The place of the request's content among the values.
pub const BODY: usize = 0;

/// A route that joins many calls.
#[derive(Clone, Debug, PartialEq)]
pub struct Compose {
    /// The calls and their order.
    pub graph: Graph,
    /// How many of them run at once.
    pub run: Run,
    /// From the request's arrival to the whole response; what is not done by then is cancelled.
    pub timeout: Duration,
    /// What is done once instead of several times.
    pub save: Save,
    /// Whether responses say in `Server-Timing` how long each step took.
    pub server_timing: bool,
    /// Whether the request's content is read, which must be JSON then.
    pub reads_body: bool,
    /// The fields of a request that a response depends on, as `Vary` says them.
    pub vary: Option<HeaderValue>,
}

/// Steps and what is made of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    /// Values that are known before the first step; its place is this.
    pub before: usize,
    /// In the order of the file; what `each` makes of one stands before what gathers it.
    pub steps: Vec<Step>,
    /// The response, or what a nested compose gives.
    pub respond: Content,
}

/// One step.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// `user`; one of several is `tests[0]`, or `tests.a`.
    pub name: Box<str>,
    /// What it does.
    pub task: Task,
    /// Steps that must have ended before, as indexes.
    pub needs: Vec<usize>,
    /// Steps that wait for it, as indexes.
    pub then: Vec<usize>,
    /// It is left out where this does not hold.
    pub when: Option<Expression>,
    /// It is done for each item of a list.
    pub over: Option<Over>,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// What there is in its place when it fails.
    pub on_error: OnError,
    /// What wraps its call: an index into [`Plan::wrappings`](crate::Plan::wrappings). `None`: it makes none itself.
    pub wrapping: Option<usize>,
    /// Whether other requests may share its call: not where a policy goes by who asks.
    pub is_shared: bool,
}

/// What wraps the calls of steps, and where they end. Steps that say the same have the same one, so that equal calls of
/// theirs are known for the same, whichever steps and routes they are of.
#[derive(Clone, Debug, PartialEq)]
pub struct Wrapping {
    /// Whom they ask.
    pub source: SourceId,
    /// How an origin's content is read.
    pub form: HttpForm,
    /// What wraps the call, that of its source included.
    pub layers: Layers,
    /// Whether what was given last stands in when a call fails: then nothing that fails may take its place.
    pub stands_in: bool,
}

/// A list that a step is done for.
#[derive(Clone, Debug, PartialEq)]
pub struct Over {
    /// The list.
    pub list: Output,
    /// Items at once.
    pub width: usize,
    /// Items at most; a longer list fails the step.
    pub most: usize,
}

/// What there is in the place of a step that fails.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OnError {
    /// What it gave last for the same arguments comes first.
    pub stale: bool,
    /// Then this.
    pub then: Otherwise,
}

/// See [`OnError`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Otherwise {
    /// The request fails.
    #[default]
    Fail,
    /// It is as if the step were not there.
    Omit,
    /// This JSON.
    Value(String),
}

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// One call.
    Call(StepCall),
    /// Steps of its own.
    Compose(Box<Graph>),
    /// Puts together what `each` made of one step.
    Gather(Gather),
}

/// See [`Task::Gather`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gather {
    /// The first of them, as an index among the steps.
    pub first: usize,
    /// How many there are.
    pub count: usize,
    /// What they are called: a map; `None`: a list.
    pub names: Option<Vec<String>>,
    /// Whether anything reads it as a whole.
    pub is_read: bool,
}

/// One call of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum StepCall {
    /// To an origin.
    Http(HttpCall),
    /// A read of a Redis or a store; the status of what is missing has no meaning here: it is null.
    Read(Arc<Read>),
    /// A statement.
    Sql(SqlCall),
    /// A function of a module.
    Wasm(WasmCall),
}

/// A request to an origin.
#[derive(Clone, Debug, PartialEq)]
pub struct HttpCall {
    /// The origin.
    pub source: SourceId,
    /// The method.
    pub method: Method,
    /// Path and query; what expressions give is percent-encoded.
    pub target: Template,
    /// Fields. Nothing of the client's request goes along by itself.
    pub fields: Vec<(HeaderName, Template)>,
    /// Content, as JSON.
    pub body: Option<Content>,
    /// How the answer's content is read.
    pub form: HttpForm,
}

/// How the content of an answer is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HttpForm {
    /// As JSON; what is none fails the step.
    #[default]
    Json,
    /// As text, which becomes a string.
    Text,
}

/// A statement and its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct SqlCall {
    /// The database.
    pub source: SourceId,
    /// Taken apart at its placeholders.
    pub statement: Arc<Statement>,
    /// One for each placeholder. Bound, never spliced.
    pub arguments: Vec<Content>,
}

/// A function and its input.
#[derive(Clone, Debug, PartialEq)]
pub struct WasmCall {
    /// The module.
    pub source: SourceId,
    /// What it is called.
    pub function: String,
    /// What it gets.
    pub input: Content,
}

/// How many steps of a route run at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Run {
    /// One after the other, in the order of the file: what the seed calls v1.
    Serial,
    /// As many as a pool has places, over all requests of the route: v2.
    Pool {
        /// Places.
        places: usize,
        /// Steps that may wait for a place; above: 503 at once.
        queue: usize,
    },
    /// All that need not wait for one another: v3.
    #[default]
    Parallel,
}

/// What is done once instead of several times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Save {
    /// Equal calls of one request.
    pub dedupe: bool,
    /// Equal calls of requests at the same time.
    pub coalesce: bool,
    /// Reads of one Redis by one request: one way there and back.
    pub pipeline: bool,
}

impl Default for Save {
    fn default() -> Self {
        Save { dedupe: true, coalesce: true, pipeline: true }
    }
}

impl Graph {
    /// The place of a step's value.
    pub fn place(&self, step: usize) -> usize {
        self.before + step
    }

    /// Whether a step of it may change something.
    pub fn writes(&self) -> bool {
        self.steps.iter().any(|step| match &step.task {
            Task::Call(StepCall::Http(call)) => !call.method.is_safe(),
            Task::Call(StepCall::Sql(call)) => !call.statement.reads,
            Task::Compose(inner) => inner.writes(),
            Task::Call(StepCall::Read(_) | StepCall::Wasm(_)) | Task::Gather(_) => false,
        })
    }

    /// How many values there are once every step has ended.
    pub fn values(&self) -> usize {
        self.before + self.steps.len()
    }
}
