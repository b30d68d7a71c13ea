//! Inner: a value beside the request, or a part of it whose way is written out: `user`, `user.name`, `users[0].name`. In
//! comes a part of a parsed tree, out goes where it is read. Called by `bind`; read by `slot` for requests.

use cel::common::ast::{CallExpr, Expr, IdedExpr, LiteralValue, operators};
use json::Step;

use crate::Context;
use crate::fault::{ExpressionFault, quoted};
use crate::kind::ValueKind;
use crate::names::{Named, Names, Parts};
use crate::nearest::nearest;

/// See the module: its place in [`Context::values`], and the way down into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Inner {
    pub(crate) place: usize,
    path: Box<[Step]>,
    /// As it was written, for messages.
    pub(crate) written: Box<str>,
}

impl Inner {
    /// The JSON of the part; `None`: there is no such thing.
    pub(crate) fn json<'a>(&self, context: &Context<'a>) -> Option<&'a str> {
        let whole = context.values.get(self.place)?.json()?.as_str();
        json::find(whole, &self.path)
    }
}

/// What a part of a tree reads, and its kind. `None`: it is something else. `scope` are the variables of the loop
/// around it.
pub(crate) fn inner(
    part: &Expr,
    names: &Names<'_>,
    scope: &[String],
) -> Result<Option<(Inner, ValueKind)>, ExpressionFault> {
    let Some((root, mut path)) = way(part)? else { return Ok(None) };
    if scope.iter().any(|known| known == root) {
        return Ok(None);
    }
    let Some((mut place, named)) = names.value(root) else { return Ok(None) };
    let written = shown(root, &path);
    let mut kind = kind(named, path.first())?;
    if let Some(part) = part_of(named, path.first())? {
        place = part;
        path.remove(0);
        kind = ValueKind::Any;
    }
    Ok(Some((Inner { place, path: path.into(), written: written.into() }, kind)))
}

/// The first word of a chain of names and indexes that are written out, and the steps behind it.
fn way(part: &Expr) -> Result<Option<(&str, Vec<Step>)>, ExpressionFault> {
    let mut path = Vec::new();
    let mut at = part;
    loop {
        match at {
            Expr::Ident(name) => {
                path.reverse();
                return Ok(Some((name, path)));
            }
            Expr::Select(select) if !select.test => {
                path.push(Step::Field(select.field.as_str().into()));
                at = &select.operand.expr;
            }
            Expr::Call(CallExpr { func_name, target: None, args }) if func_name == operators::INDEX => {
                let [on, index] = args.as_slice() else { return Ok(None) };
                let Some(step) = index_of(index)? else { return Ok(None) };
                path.push(step);
                at = &on.expr;
            }
            _ => return Ok(None),
        }
    }
}

fn index_of(index: &IdedExpr) -> Result<Option<Step>, ExpressionFault> {
    match &index.expr {
        Expr::Literal(LiteralValue::Int(index)) => match usize::try_from(*index.inner()) {
            Ok(index) => Ok(Some(Step::Index(index))),
            Err(_) => Err(ExpressionFault::new("lists are counted from 0", "write `[0]` for the first")),
        },
        Expr::Literal(LiteralValue::String(name)) => Ok(Some(Step::Field(name.inner().into()))),
        _ => Ok(None),
    }
}

fn shown(root: &str, path: &[Step]) -> String {
    let mut written = root.to_owned();
    for step in path {
        match step {
            Step::Field(name) => written.extend([".", name]),
            Step::Index(index) => written.extend(["[", &index.to_string(), "]"]),
        }
    }
    written
}

/// The kind of a value, or of a part of it. A part that it cannot have is a fault.
fn kind(named: &Named, first: Option<&Step>) -> Result<ValueKind, ExpressionFault> {
    let name = &named.name;
    match (named.kind, first) {
        (kind, None) => Ok(kind),
        (ValueKind::List, Some(Step::Field(field))) => Err(ExpressionFault::new(
            format!("`{name}` is a list and has no part {}", quoted(field)),
            format!("write `{name}[0].{field}` for the first of them"),
        )),
        (ValueKind::Map, Some(Step::Index(index))) => Err(ExpressionFault::new(
            format!("`{name}` has parts with names, and none is `[{index}]`"),
            format!("write `{name}.NAME`"),
        )),
        (ValueKind::Any | ValueKind::List | ValueKind::Map, Some(_)) => Ok(ValueKind::Any),
        (kind, Some(_)) => Err(ExpressionFault::new(
            format!("`{name}` is {} and has no parts", kind.name()),
            format!("write `{name}`"),
        )),
    }
}

/// The place of a part that has one of its own.
fn part_of(named: &Named, first: Option<&Step>) -> Result<Option<usize>, ExpressionFault> {
    match (&named.parts, first) {
        (Parts::Items { first, count }, Some(Step::Index(index))) => {
            if index < count {
                return Ok(Some(first + index));
            }
            Err(ExpressionFault::new(
                format!("`{}` has {count} items, and none is `[{index}]`", named.name),
                format!("write an index from 0 to {}", count.saturating_sub(1)),
            ))
        }
        (Parts::Members { first, names }, Some(Step::Field(name))) => {
            if let Some(at) = names.iter().position(|known| known == name) {
                return Ok(Some(first + at));
            }
            let meant = nearest(name, names.iter().map(|name| &**name));
            Err(ExpressionFault::new(
                format!("`{}` has no part {}", named.name, quoted(name)),
                format!("write `{}.{}`", named.name, meant.unwrap_or(&names[0])),
            ))
        }
        _ => Ok(None),
    }
}
