//! Carry out: one command over the values of a store, with the outcome that Redis would have.

use bytes::Bytes;
use expression::Arguments;
use message::{Error, Kind, Result};
use plan::ReadCommand;

use super::file::Values;
use super::sorted::{Sorted, slice};
use super::value::{Hash, Shape, Value};
use crate::read::{Found, Range, number, whole};

/// See the module. The arguments are those that the command takes: the plan sees to that.
pub(super) fn carry_out(command: ReadCommand, arguments: &Arguments, values: &Values) -> Result<Found> {
    use ReadCommand as Of;
    let of = |place| arguments.iter().nth(place).unwrap_or_default();
    if command == Of::Mget {
        let text = |key| values.get(key).map(|value| value.text.clone());
        return Ok(Found::Several(arguments.iter().map(text).collect()));
    }
    let Some(value) = values.get(of(0)) else { return Ok(Found::Nothing) };
    let one = |value: Option<&Bytes>| value.map_or(Found::Nothing, |value| Found::One(value.clone()));
    let several = |values: &[Bytes]| Found::Several(values.iter().cloned().map(Some).collect());
    let count = |length: usize| Found::Number(itoa::Buffer::new().format(length).to_owned().into());
    let found = match command {
        Of::Get => one(Some(&value.text)),
        Of::Exists => return Ok(Found::Holds),
        Of::Hget => one(hash(value)?.get(of(1))),
        Of::Hmget => {
            let hash = hash(value)?;
            Found::Several(arguments.iter().skip(1).map(|field| hash.get(field).cloned()).collect())
        }
        Of::Hgetall => Found::Fields(hash(value)?.fields.clone()),
        Of::Lrange => match whole(of(1)).zip(whole(of(2))) {
            Some((first, last)) => several(slice(list(value)?, first, last)),
            None => Found::Nothing,
        },
        Of::Lindex => {
            let index = whole(of(1)).unwrap_or(i64::MAX);
            one(slice(list(value)?, index, index).first())
        }
        Of::Smembers => several(list(value)?),
        Of::Sismember if list(value)?.iter().any(|member| member == of(1)) => Found::Holds,
        Of::Sismember | Of::Mget => Found::Nothing,
        Of::Llen | Of::Scard => count(list(value)?.len()),
        Of::Zcard => count(sorted(value)?.len()),
        Of::Zscore => {
            sorted(value)?;
            // As it stands in the file.
            hash(value)?.get(of(1)).map_or(Found::Nothing, |score| Found::Number(score.clone()))
        }
        Of::Zrange | Of::Zrevrange => {
            let range = Range::parse(command, arguments)?;
            let members = sorted(value)?.range(&range).into_iter();
            if range.with_scores {
                Found::Scored(members.map(|(member, score)| (member.clone(), number(*score))).collect())
            } else {
                Found::Several(members.map(|(member, _)| Some(member.clone())).collect())
            }
        }
    };
    // In Redis nothing is empty: what has no element does not exist.
    Ok(if is_empty(value) && !matches!(command, Of::Get) { Found::Nothing } else { found })
}

fn is_empty(value: &Value) -> bool {
    match &value.shape {
        Shape::Single => false,
        Shape::List(items) => items.is_empty(),
        Shape::Hash(hash) => hash.fields.is_empty(),
    }
}

fn list(value: &Value) -> Result<&[Bytes]> {
    match &value.shape {
        Shape::List(items) => Ok(items),
        Shape::Single | Shape::Hash(_) => Err(wrong("a list")),
    }
}

fn hash(value: &Value) -> Result<&Hash> {
    match &value.shape {
        Shape::Hash(hash) => Ok(hash),
        Shape::Single | Shape::List(_) => Err(wrong("an object")),
    }
}

fn sorted(value: &Value) -> Result<&Sorted> {
    hash(value)?.sorted.as_ref().ok_or_else(|| wrong("an object of numbers"))
}

fn wrong(wanted: &str) -> Error {
    Error::new(Kind::UnusableReply, format!("the value is not {wanted}"))
}
