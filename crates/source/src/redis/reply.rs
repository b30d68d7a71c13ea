//! Reply: what Redis replied → what was found. Replies are those of RESP3: a hash is a map, a score a double.

use bytes::Bytes;
use message::{Error, Kind, Result};
use plan::ReadCommand;
use redis_link::Value;

use crate::read::{Found, number};

/// Reads the reply to a command. `is_there`: whether its key is, as asking for its lifetime told behind it: what is empty
/// because a range of it is differs from what does not exist, and what has ended in between is not there any more.
pub(super) fn found(command: ReadCommand, reply: Value, is_there: bool) -> Result<Found> {
    use ReadCommand as Of;
    Ok(match command {
        Of::Mget => several(list(reply)?)?,
        _ if !is_there => Found::Nothing,
        Of::Get | Of::Hget | Of::Lindex => value(reply)?.map_or(Found::Nothing, Found::One),
        Of::Hgetall => Found::Fields(pairs(reply)?),
        Of::Hmget | Of::Lrange | Of::Smembers => several(list(reply)?)?,
        Of::Zrange | Of::Zrevrange => members(list(reply)?)?,
        Of::Zscore => value(reply)?.map_or(Found::Nothing, Found::Number),
        Of::Exists | Of::Sismember => match whole(&reply)? {
            0 => Found::Nothing,
            _ => Found::Holds,
        },
        // Redis keeps nothing empty: what has no element does not exist.
        Of::Llen | Of::Zcard | Of::Scard => match whole(&reply)? {
            0 => Found::Nothing,
            length => Found::Number(itoa::Buffer::new().format(length).to_owned().into()),
        },
    })
}

fn several(values: Vec<Value>) -> Result<Found> {
    Ok(Found::Several(values.into_iter().map(value).collect::<Result<_>>()?))
}

/// Members alone, or each with its score.
fn members(values: Vec<Value>) -> Result<Found> {
    if !matches!(values.first(), Some(Value::Array(_))) {
        return several(values);
    }
    let scored = |pair| match <[Value; 2]>::try_from(list(pair)?) {
        Ok([member, score]) => Ok((there(member)?, there(score)?)),
        Err(_) => Err(strange()),
    };
    Ok(Found::Scored(values.into_iter().map(scored).collect::<Result<_>>()?))
}

fn pairs(reply: Value) -> Result<Vec<(Bytes, Bytes)>> {
    let Value::Map(pairs) = reply else { return Err(strange()) };
    pairs.into_iter().map(|(name, value)| Ok((there(name)?, there(value)?))).collect()
}

fn list(reply: Value) -> Result<Vec<Value>> {
    match reply {
        Value::Array(values) | Value::Set(values) => Ok(values),
        _ => Err(strange()),
    }
}

fn there(reply: Value) -> Result<Bytes> {
    value(reply)?.ok_or_else(strange)
}

fn value(reply: Value) -> Result<Option<Bytes>> {
    match reply {
        Value::Nil => Ok(None),
        Value::BulkString(bytes) => Ok(Some(bytes.into())),
        Value::SimpleString(text) => Ok(Some(text.into())),
        Value::Double(score) => Ok(Some(number(score))),
        Value::Int(number) => Ok(Some(itoa::Buffer::new().format(number).to_owned().into())),
        _ => Err(strange()),
    }
}

fn whole(reply: &Value) -> Result<i64> {
    match reply {
        Value::Int(number) => Ok(*number),
        _ => Err(strange()),
    }
}

/// Milliseconds that a key has left, of the reply to `PTTL`.
pub(super) enum Left {
    Nothing,
    Forever,
    Millis(u64),
}

impl Left {
    pub(super) fn of(reply: &Value) -> Result<Left> {
        Ok(match whole(reply)? {
            -2 => Left::Nothing,
            -1 => Left::Forever,
            millis => Left::Millis(u64::try_from(millis).unwrap_or_default()),
        })
    }
}

fn strange() -> Error {
    Error::new(Kind::UnusableReply, "Redis replied with something else than the command gives")
}
