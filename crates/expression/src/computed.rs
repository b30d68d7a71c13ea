//! Computed: an expression that needs the interpreter, run for a request.
//!
//! Made by `compile` from a checked tree in which every access to the request has become a variable `@0`, `@1`, …; those
//! are looked up when the interpreter reaches them, so that what is not needed is not read. Values go in as values:
//! nothing a client sends is ever parsed as part of an expression.

use std::sync::{Arc, LazyLock, OnceLock};

use cel::common::ast::IdedExpr;
use cel::common::value::{CowVal, Val};
use cel::context::VariableResolver;
use cel::{Env, Value};
use regex::Regex;

use crate::Context;
use crate::slot::Slot;

/// Bytes of a computed text; a longer one counts as missing.
const LONGEST: usize = 64 * 1024;

/// The function that `matches` becomes: a text and the place of its pattern.
pub(crate) const MATCHES: &str = "@matches";

/// The standard functions of CEL and those on strings. `functions` says which of them may be called.
static FUNCTIONS: LazyLock<Arc<Env>> = LazyLock::new(|| {
    let mut environment = Env::stdlib();
    cel::extensions::strings(&mut environment).expect("a new environment has no other functions on strings");
    Arc::new(environment)
});

/// A checked tree and what it refers to.
#[derive(Debug)]
pub(crate) struct Computed {
    pub(crate) tree: IdedExpr,
    /// What `@0`, `@1`, … stand for.
    pub(crate) slots: Vec<Slot>,
    /// The patterns of `matches`, compiled once.
    pub(crate) patterns: Arc<[Regex]>,
}

impl Computed {
    /// Its value for a request. `None` when it fails: a text where a number is needed, or null where there is a text.
    pub(crate) fn value(&self, context: &Context<'_>) -> Option<Value> {
        self.run(Some(context))
    }

    /// Its value where it reads nothing of a request.
    pub(crate) fn constant(&self) -> Option<Value> {
        self.run(None)
    }

    fn run(&self, context: Option<&Context<'_>>) -> Option<Value> {
        let read = self.slots.iter().map(|_| OnceLock::new()).collect();
        let variables = Variables { slots: &self.slots, context, read };
        let mut scope = cel::Context::with_env(Arc::clone(&FUNCTIONS));
        scope.set_variable_resolver(&variables);
        if !self.patterns.is_empty() {
            let patterns = Arc::clone(&self.patterns);
            let matches = move |text: Arc<String>, at: i64| {
                usize::try_from(at).ok().and_then(|at| patterns.get(at)).is_some_and(|it| it.is_match(&text))
            };
            scope.add_function(MATCHES, matches).ok()?;
        }
        Value::resolve(&self.tree, &scope).ok()
    }
}

/// A value of the interpreter, once it was asked for.
type Read = OnceLock<Option<Box<dyn Val>>>;

/// Looks variables up in the request: each once, since a loop asks for them in every round.
struct Variables<'a> {
    slots: &'a [Slot],
    context: Option<&'a Context<'a>>,
    read: Box<[Read]>,
}

impl VariableResolver for Variables<'_> {
    fn resolve<'b>(&'b self, variable: &str) -> Option<CowVal<'b, 'b>> {
        let at: usize = variable.strip_prefix('@')?.parse().ok()?;
        let (slot, context) = (self.slots.get(at)?, self.context?);
        let value = self.read.get(at)?.get_or_init(|| slot.value(context).try_into().ok());
        Some(CowVal::Borrowed(value.as_deref()?))
    }
}

/// Appends the text of a value. False, and nothing appended, for null, lists and maps, and for texts over the bound.
pub(crate) fn write(value: &Value, out: &mut Vec<u8>) -> bool {
    match value {
        Value::String(text) if text.len() <= LONGEST => out.extend_from_slice(text.as_bytes()),
        Value::Bytes(bytes) if bytes.len() <= LONGEST => out.extend_from_slice(bytes),
        Value::Int(number) => out.extend_from_slice(number.to_string().as_bytes()),
        Value::UInt(number) => out.extend_from_slice(number.to_string().as_bytes()),
        Value::Float(number) if number.is_finite() => out.extend_from_slice(number.to_string().as_bytes()),
        Value::Bool(truth) => out.extend_from_slice(truth.to_string().as_bytes()),
        _ => return false,
    }
    true
}

/// Whether a value holds: `true`, or a text that is not empty.
pub(crate) fn holds(value: &Value) -> bool {
    match value {
        Value::Bool(truth) => *truth,
        Value::String(text) => !text.is_empty(),
        Value::Bytes(bytes) => !bytes.is_empty(),
        _ => false,
    }
}
