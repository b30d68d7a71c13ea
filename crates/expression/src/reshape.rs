//! Reshape: what may be done to a value on its way into a response: `users.pick('id', 'name')`. In comes a parsed tree,
//! out go its reshapings and the tree that is left. Called by `output`.
//!
//! They are no functions of CEL: its maps keep neither the order of their keys nor how numbers were written, and what
//! only passes through is not to be parsed.

use cel::common::ast::{CallExpr, EntryExpr, Expr, IdedExpr, LiteralValue};
use json::Shape;

use crate::Context;
use crate::compile::Known;
use crate::fault::{ExpressionFault, quoted};
use crate::output::Output;
use crate::unable::Unable;

/// One of them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reshaping {
    /// By itself.
    Shape(Shape),
    /// With the maps of another list.
    Merge(Box<Merge>),
    /// With the items of another list behind its own.
    Concat(Box<Output>),
}

/// See [`json::merge`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Merge {
    other: Output,
    key: Box<str>,
    other_key: Box<str>,
    name: Option<Box<str>>,
}

/// Bytes that lists may come to have by being joined.
const LARGEST: usize = 8 * 1024 * 1024;

/// Values of what is reshaped, and of what is joined, where names are looked up: what takes longer keeps the core from
/// everybody else. Either takes some 40 ms at most. Items of the outermost list were counted once: a map, a list inside of
/// one, and ten thousand items of a hundred members each went by it.
const MOST_RESHAPED: usize = 250_000;
const MOST_JOINED: usize = 100_000;

fn within(json: &str, most: usize) -> Result<(), String> {
    if json::has_more_values(json, most) {
        return Err(format!("a value holds more than {most} others, and no more are reshaped so"));
    }
    Ok(())
}

/// Whether it looks each name up among all others: of inner maps, the members of a name that is there twice.
fn joins_names(shape: &Shape, json: &str) -> bool {
    *shape == Shape::Flatten && json::kind(json) == json::JsonKind::Map
}

/// How each is written.
pub(crate) const RESHAPINGS: [(&str, &str); 6] = [
    ("pick", "users.pick('id', 'name')"),
    ("drop", "users.drop('password')"),
    ("rename", "users.rename({'id': 'user_id'})"),
    ("flatten", "lists.flatten()"),
    ("merge", "users.merge(orders, 'id', 'user_id')"),
    ("concat", "first.concat(second)"),
];

/// Takes the reshapings off the end of an expression; the first to be done comes first.
pub(crate) fn take(
    mut tree: IdedExpr,
    text: &str,
    known: &Known<'_>,
) -> Result<(IdedExpr, Vec<Reshaping>), ExpressionFault> {
    let mut found = Vec::new();
    loop {
        let is_one = matches!(&tree.expr, Expr::Call(CallExpr { func_name, target: Some(_), .. })
            if RESHAPINGS.iter().any(|(name, _)| name == func_name));
        if !is_one {
            found.reverse();
            return Ok((tree, found));
        }
        let Expr::Call(CallExpr { func_name, target: Some(target), args }) = tree.expr else {
            unreachable!("it was looked at above")
        };
        found.push(reshaping(&func_name, args, text, known)?);
        tree = *target;
    }
}

fn reshaping(
    name: &str,
    args: Vec<IdedExpr>,
    text: &str,
    known: &Known<'_>,
) -> Result<Reshaping, ExpressionFault> {
    let wrong = || {
        let written =
            RESHAPINGS.iter().find(|(known, _)| *known == name).map_or(name, |(_, written)| written);
        ExpressionFault::new(
            format!("{} is not used so", quoted(name)),
            format!("write it as in `{written}`"),
        )
    };
    let other = |tree: Option<&IdedExpr>| Output::of_tree(text, tree.ok_or_else(wrong)?.clone(), known);
    let words = |args: &[IdedExpr]| args.iter().map(word).collect::<Option<Vec<_>>>().ok_or_else(wrong);
    Ok(match (name, args.as_slice()) {
        ("pick", [_, ..]) => Reshaping::Shape(Shape::Pick(words(&args)?)),
        ("drop", [_, ..]) => Reshaping::Shape(Shape::Drop(words(&args)?)),
        ("rename", [names]) => Reshaping::Shape(Shape::Rename(pairs(names).ok_or_else(wrong)?)),
        ("flatten", []) => Reshaping::Shape(Shape::Flatten),
        ("concat", [list]) => Reshaping::Concat(Box::new(other(Some(list))?)),
        ("merge", [list, rest @ ..]) => {
            let words = words(rest)?;
            let (key, other_key, name) = match words.as_slice() {
                [key] => (key, key, None),
                [key, other] => (key, other, None),
                [key, other, name] => (key, other, Some(name)),
                _ => return Err(wrong()),
            };
            Reshaping::Merge(Box::new(Merge {
                other: other(Some(list))?,
                key: key.clone(),
                other_key: other_key.clone(),
                name: name.cloned(),
            }))
        }
        _ => return Err(wrong()),
    })
}

fn word(part: &IdedExpr) -> Option<Box<str>> {
    match &part.expr {
        Expr::Literal(LiteralValue::String(text)) => Some(text.inner().into()),
        _ => None,
    }
}

fn pairs(part: &IdedExpr) -> Option<Vec<(Box<str>, Box<str>)>> {
    let Expr::Map(map) = &part.expr else { return None };
    let pair = |entry: &_| match entry {
        EntryExpr::MapEntry(entry) => Some((word(&entry.key)?, word(&entry.value)?)),
        EntryExpr::StructField(_) => None,
    };
    map.entries.iter().map(|entry| pair(&entry.expr)).collect()
}

impl Reshaping {
    /// Does it, and appends what comes of it. The inner error says why that is not possible.
    ///
    /// # Errors
    /// The other value that it reads cannot be worked out.
    pub(crate) fn apply(
        &self,
        json: &str,
        context: &Context<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Result<(), String>, Unable> {
        match self {
            Reshaping::Shape(shape) => {
                let most = if joins_names(shape, json) { MOST_JOINED } else { MOST_RESHAPED };
                return Ok(within(json, most).map(|()| json::reshape(json, shape, out)));
            }
            Reshaping::Merge(merge) => {
                let (other, name) = (merge.other.text_of(context)?, merge.name.as_deref());
                if let Err(why) = within(json, MOST_JOINED / 2).and(within(&other, MOST_JOINED / 2)) {
                    return Ok(Err(why));
                }
                let merged = json::merge(json, &other, &merge.key, &merge.other_key, name, LARGEST, out);
                return Ok(merged.map_err(|error| error.to_string()));
            }
            // Copies bytes, of which calls give 8 MiB each, and looks at none: 1 ms.
            Reshaping::Concat(other) => {
                let other = other.text_of(context)?;
                // What is not there is no item.
                json::concat([json, &other].into_iter().filter(|list| *list != "null"), out);
            }
        }
        Ok(Ok(()))
    }

    /// Another value that it reads.
    pub(crate) fn other(&self) -> Option<&Output> {
        match self {
            Reshaping::Shape(_) => None,
            Reshaping::Merge(merge) => Some(&merge.other),
            Reshaping::Concat(other) => Some(other),
        }
    }
}
