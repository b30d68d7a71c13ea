//! Command: a read and its arguments as one round trip: the command itself, and behind it how long each of its keys has
//! left. And what came back. Arguments stand between their lengths, so that none can become two.

use std::time::Duration;

use expression::Arguments;
use message::{Error, Kind, Result, Timestamp};
use plan::{Read, ReadCommand};
use redis_link::{Pipeline, Value, pipe};

use super::reply::{self, Left};
use crate::read::Found;

/// What a read found, and until when it is so at most.
pub(super) struct Carried {
    pub(super) found: Found,
    pub(super) until: Option<Timestamp>,
}

impl Carried {
    pub(super) const NOTHING: Carried = Carried { found: Found::Nothing, until: None };
}

/// The command, then `PTTL` of each key.
pub(super) fn pipeline(read: &Read, arguments: &Arguments) -> Pipeline {
    let mut pipeline = pipe();
    append(read, arguments, &mut pipeline);
    pipeline
}

/// Appends the same to others, and says how many replies it has.
pub(super) fn append(read: &Read, arguments: &Arguments, pipeline: &mut Pipeline) -> usize {
    let mut replies = 1;
    pipeline.cmd(read.command.word());
    for argument in arguments.iter() {
        pipeline.arg(argument);
    }
    for key in read.keys(arguments) {
        pipeline.cmd("PTTL").arg(key);
        replies += 1;
    }
    replies
}

/// Reads the replies to [`pipeline`], which was sent at `asked_at`.
pub(super) fn carried(command: ReadCommand, replies: Vec<Value>, asked_at: Timestamp) -> Result<Carried> {
    let mut replies = replies.into_iter();
    let reply = replies.next().ok_or_else(none)?;
    let mut is_there = false;
    let mut until: Option<Timestamp> = None;
    for left in replies {
        let end = match Left::of(&left)? {
            Left::Nothing => continue,
            Left::Forever => None,
            Left::Millis(millis) => Some(asked_at + Duration::from_millis(millis)),
        };
        is_there = true;
        until = match (until, end) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }
    Ok(Carried { found: reply::found(command, reply, is_there)?, until })
}

/// `MGET` in a cluster, whose keys lie anywhere: what was found for each key alone, put together.
pub(super) fn together(each: Vec<Carried>) -> Carried {
    let until = each.iter().filter_map(|carried| carried.until).min();
    let value = |carried: Carried| match carried.found {
        Found::One(value) => Some(value),
        _ => None,
    };
    Carried { found: Found::Several(each.into_iter().map(value).collect()), until }
}

fn none() -> Error {
    Error::new(Kind::UnusableReply, "Redis did not reply to the command")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        Value::BulkString(text.into())
    }

    #[test]
    fn what_ends_between_the_command_and_its_lifetime_is_not_there() {
        let asked_at = Timestamp::from_secs(1000);
        for (command, reply) in [
            (ReadCommand::Get, value("one")),
            (ReadCommand::Exists, Value::Int(1)),
            (ReadCommand::Llen, Value::Int(3)),
            (ReadCommand::Lrange, Value::Array(vec![value("a")])),
        ] {
            let carried = carried(command, vec![reply, Value::Int(-2)], asked_at).unwrap();
            assert_eq!((carried.found, carried.until), (Found::Nothing, None), "{command:?}");
        }
    }

    #[test]
    fn of_several_keys_the_first_end_counts() {
        let asked_at = Timestamp::from_secs(1000);
        let values = Value::Array(vec![value("a"), Value::Nil, value("c"), value("d")]);
        let lefts = [Value::Int(9000), Value::Int(-2), Value::Int(-1), Value::Int(5000)];
        let replies = std::iter::once(values).chain(lefts).collect();
        let carried = carried(ReadCommand::Mget, replies, asked_at).unwrap();
        assert_eq!(carried.until, Some(Timestamp::from_secs(1005)));
    }
}
