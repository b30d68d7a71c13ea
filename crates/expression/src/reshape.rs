//! Reshape: what may be done to a value on its way into a response: `users.pick('id', 'name')`. In comes a parsed tree,
//! out go its reshapings and the tree that is left. Called by `output`.
//!
//! They are no functions of CEL: its maps keep neither the order of their keys nor how numbers were written, and what
//! only passes through is not to be parsed.

use cel::common::ast::{CallExpr, EntryExpr, Expr, IdedExpr, LiteralValue};
use json::Shape;

use crate::Context;
use crate::compile::Known;
use crate::fault::{Fault, quoted};
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

/// Items of a list that are reshaped, and of each list that is joined: what takes longer keeps the core from everybody
/// else.
const MOST_ITEMS: usize = 50_000;
const MOST_MERGED: usize = 10_000;

fn is_long(json: &str, most: usize) -> bool {
    json::items(json).is_some_and(|mut items| items.nth(most).is_some())
}

fn too_many(most: usize) -> String {
    format!("a list has more than {most} items, and no more are reshaped")
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
) -> Result<(IdedExpr, Vec<Reshaping>), Fault> {
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

fn reshaping(name: &str, args: Vec<IdedExpr>, text: &str, known: &Known<'_>) -> Result<Reshaping, Fault> {
    let wrong = || {
        let written =
            RESHAPINGS.iter().find(|(known, _)| *known == name).map_or(name, |(_, written)| written);
        Fault::new(format!("{} is not used so", quoted(name)), format!("write it as in `{written}`"))
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
            Reshaping::Shape(_) if is_long(json, MOST_ITEMS) => return Ok(Err(too_many(MOST_ITEMS))),
            Reshaping::Shape(shape) => json::reshape(json, shape, out),
            Reshaping::Merge(merge) => {
                let (other, name) = (merge.other.text_of(context)?, merge.name.as_deref());
                if is_long(json, MOST_MERGED) || is_long(&other, MOST_MERGED) {
                    return Ok(Err(too_many(MOST_MERGED)));
                }
                let merged = json::merge(json, &other, &merge.key, &merge.other_key, name, LARGEST, out);
                return Ok(merged.map_err(|error| error.to_string()));
            }
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
