//! Computed: an expression that needs the interpreter, run for a request.
//!
//! Made by `compile` from a checked tree in which every access to the request has become a variable `@0`, `@1`, …; those
//! are looked up when the interpreter reaches them, so that what is not needed is not read. Values go in as values:
//! nothing a client sends is ever parsed as part of an expression.

use std::sync::{Arc, LazyLock, OnceLock};

use cel::common::ast::operators::{CONDITIONAL, LOGICAL_AND, LOGICAL_OR};
use cel::common::ast::{Expr, IdedExpr};
use cel::common::types::CelNull;
use cel::common::value::{CowVal, Val};
use cel::context::VariableResolver;
use cel::objects::Key;
use cel::{Env, Value};
use regex::Regex;

use crate::Context;
use crate::slot::Slot;
use crate::unable::{Cause, Failure};

/// Bytes of a computed text; a longer one counts as missing.
const LONGEST: usize = 64 * 1024;

/// The function that `matches` becomes: a text and the place of its pattern.
pub(crate) const MATCHES: &str = "@matches";

/// The function that a part of what an expression itself names becomes: what it is part of, and its name.
pub(crate) const PART: &str = "@part";

/// The same for `has`.
pub(crate) const HAS: &str = "@has";

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
    /// Its value for a request.
    ///
    /// # Errors
    /// Something that it reads is not there where it has to be, cannot be computed with, or does not fit: a text where a
    /// number is needed.
    pub(crate) fn value(&self, context: &Context<'_>) -> Result<Value, Failure> {
        self.run(Some(context))
    }

    /// Its value where it reads nothing of a request.
    pub(crate) fn constant(&self) -> Option<Value> {
        self.run(None).ok()
    }

    /// The values beside the request that it reads, as places.
    pub(crate) fn values(&self) -> impl Iterator<Item = usize> {
        self.slots.iter().filter_map(Slot::place)
    }

    fn run(&self, context: Option<&Context<'_>>) -> Result<Value, Failure> {
        let variables = Variables::new(&self.slots, context);
        let resolved = Value::resolve(&self.tree, &self.scope(&variables));
        // Whatever came of what could not be read is no value.
        if let Some(cause) = variables.unable.into_inner() {
            return Err(Failure::Unable(cause));
        }
        match resolved {
            Ok(value) if !is_finite(&value) => Err(Failure::Unable(Cause {
                why: "a number in it is infinite, or none at all".to_owned(),
                values: self.values().collect(),
            })),
            Ok(value) => Ok(value),
            Err(_) => Err(self.blamed(context)),
        }
    }

    /// Why nothing came of it, and which values are to blame: of the innermost part that cannot be worked out, those that
    /// are not there, or else all that it reads. In `a[int(query.i)]` that is the request, where `int(query.i)` cannot be.
    fn blamed(&self, context: Option<&Context<'_>>) -> Failure {
        let mut part = &self.tree;
        loop {
            let variables = Variables::new(&self.slots, context);
            let scope = self.scope(&variables);
            match operands(part).into_iter().find(|part| Value::resolve(part, &scope).is_err()) {
                Some(inner) => part = inner,
                None => break,
            }
        }
        let variables = Variables::new(&self.slots, context);
        drop(Value::resolve(part, &self.scope(&variables)));
        let missing: Vec<_> = variables.read_slots(Option::is_none).collect();
        if missing.is_empty() {
            let values = variables.read_slots(|_| true).filter_map(Slot::place).collect();
            return Failure::Unable(Cause { why: "what it reads does not fit".to_owned(), values });
        }
        Failure::Missing(missing.into_iter().filter_map(Slot::place).collect())
    }

    /// What may be called and named.
    fn scope<'v>(&self, variables: &'v Variables<'_>) -> cel::Context<'v, 'v> {
        let mut scope = cel::Context::with_env(Arc::clone(&FUNCTIONS));
        scope.set_variable_resolver(variables);
        if !self.patterns.is_empty() {
            let patterns = Arc::clone(&self.patterns);
            let matches = move |text: Arc<String>, at: i64| {
                usize::try_from(at).ok().and_then(|at| patterns.get(at)).is_some_and(|it| it.is_match(&text))
            };
            scope.add_function(MATCHES, matches).expect(UNNAMED);
        }
        let part_or_null = |whole: Value, name: Arc<String>| part(&whole, &name).unwrap_or(Value::Null);
        scope.add_function(PART, part_or_null).expect(UNNAMED);
        let has_part = |whole: Value, name: Arc<String>| part(&whole, &name).is_some();
        scope.add_function(HAS, has_part).expect(UNNAMED);
        scope
    }
}

/// Why functions of our own can be added.
const UNNAMED: &str = "no function that can be written has a name with an @";

/// The parts that a tree always works out before itself.
fn operands(tree: &IdedExpr) -> Vec<&IdedExpr> {
    match &tree.expr {
        Expr::Call(call) if [CONDITIONAL, LOGICAL_AND, LOGICAL_OR].contains(&&*call.func_name) => Vec::new(),
        Expr::Call(call) => call.target.as_deref().into_iter().chain(&call.args).collect(),
        Expr::Select(select) => vec![&select.operand],
        Expr::List(list) => list.elements.iter().collect(),
        _ => Vec::new(),
    }
}

/// Whether all its numbers are some: neither JSON nor a statement has a word for what comes of a division by 0.0.
fn is_finite(value: &Value) -> bool {
    match value {
        Value::Float(number) => number.is_finite(),
        Value::List(list) => list.iter().all(is_finite),
        Value::Map(map) => map.map.values().all(is_finite),
        _ => true,
    }
}

/// The part of this name, where it is a map that has one.
fn part(whole: &Value, name: &Arc<String>) -> Option<Value> {
    let Value::Map(map) = whole else { return None };
    map.map.get(&Key::String(Arc::clone(name))).cloned()
}

/// A value of the interpreter, once it was asked for; `None`: there is none, which the interpreter sees as null.
type Read = OnceLock<Option<Box<dyn Val>>>;

static NULL: CelNull = CelNull;

/// Looks variables up in the request: each once, since a loop asks for them in every round.
struct Variables<'a> {
    slots: &'a [Slot],
    context: Option<&'a Context<'a>>,
    read: Box<[Read]>,
    /// Why something that was asked for cannot be computed with.
    unable: OnceLock<Cause>,
}

impl<'a> Variables<'a> {
    fn new(slots: &'a [Slot], context: Option<&'a Context<'a>>) -> Self {
        Variables {
            slots,
            context,
            read: slots.iter().map(|_| OnceLock::new()).collect(),
            unable: OnceLock::new(),
        }
    }

    /// What was asked for, and was so.
    fn read_slots(&self, is: impl Fn(&Option<Box<dyn Val>>) -> bool) -> impl Iterator<Item = &Slot> {
        let read = self.slots.iter().zip(&self.read);
        read.filter(move |(_, read)| read.get().is_some_and(&is)).map(|(slot, _)| slot)
    }
}

impl VariableResolver for Variables<'_> {
    fn resolve<'b>(&'b self, variable: &str) -> Option<CowVal<'b, 'b>> {
        let at: usize = variable.strip_prefix('@')?.parse().ok()?;
        let (slot, context) = (self.slots.get(at)?, self.context?);
        let read = || {
            let value = slot.value(context).unwrap_or_else(|why| {
                // The first is told.
                let _told = self.unable.set(Cause { why, values: slot.place().into_iter().collect() });
                Value::Null
            });
            (value != Value::Null).then(|| value.try_into().ok()).flatten()
        };
        let value = self.read.get(at)?.get_or_init(read);
        Some(CowVal::Borrowed(value.as_deref().unwrap_or(&NULL)))
    }
}

/// Whether it is a text over the bound, which is never written.
pub(crate) fn is_too_long(value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() > LONGEST,
        Value::Bytes(bytes) => bytes.len() > LONGEST,
        _ => false,
    }
}

/// Appends the text of a value. False, and nothing appended, for null, lists and maps, and for texts over the bound.
pub(crate) fn write(value: &Value, out: &mut Vec<u8>) -> bool {
    match value {
        Value::String(text) if text.len() <= LONGEST => out.extend_from_slice(text.as_bytes()),
        Value::Bytes(bytes) if bytes.len() <= LONGEST => out.extend_from_slice(bytes),
        Value::Int(number) => out.extend_from_slice(number.to_string().as_bytes()),
        Value::UInt(number) => out.extend_from_slice(number.to_string().as_bytes()),
        Value::Float(number) => out.extend_from_slice(number.to_string().as_bytes()),
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
