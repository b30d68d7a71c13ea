//! Failures: what the `redis` crate tells of one becomes a `message::Error`, and what it means for the connection and
//! for the breaker. Called wherever a reply or an attempt to connect has come to an end.

use std::error::Error as _;
use std::fmt;
use std::sync::Arc;

use message::{Error, Kind, Retry, open_files};
use redis::{ErrorKind, RedisError, ServerError, Value};

/// Of the text of an error reply, this many bytes at most are shown.
const SHOWN: usize = 200;

/// An error reply: its code and its text, without anything of the command.
#[derive(Debug)]
struct Reply {
    code: String,
    text: String,
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.text.is_empty() { f.write_str(&self.code) } else { write!(f, "{} {}", self.code, self.text) }
    }
}

impl std::error::Error for Reply {}

impl Reply {
    /// Redis repeats the arguments of a command that it does not know; they may be anything.
    fn new(error: &ServerError) -> Self {
        let text = error.details().unwrap_or_default();
        let text = text.split(", with args beginning with").next().unwrap_or_default();
        let text = text.chars().filter(|character| !character.is_control()).scan(0, |length, character| {
            *length += character.len_utf8();
            (*length <= SHOWN).then_some(character)
        });
        Reply { code: error.code().to_owned(), text: text.collect() }
    }
}

/// The code of the error reply behind an error, such as `NOSCRIPT`; `None` if it was no reply that failed.
pub fn code(error: &Error) -> Option<&str> {
    reply(error).map(|reply| reply.code.as_str())
}

/// The rest of that reply.
pub(crate) fn text(error: &Error) -> Option<&str> {
    reply(error).map(|reply| reply.text.as_str())
}

fn reply(error: &Error) -> Option<&Reply> {
    error.source()?.downcast_ref()
}

/// Whether the server said that it cannot do its work now, whatever it is asked: it is loading, kept busy by a script, or
/// cut off from its master or its cluster.
pub fn is_unable(error: &Error) -> bool {
    let unable = |code| matches!(code, "LOADING" | "BUSY" | "MASTERDOWN" | "CLUSTERDOWN" | "TRYAGAIN");
    code(error).is_some_and(unable)
}

/// Whether the server said that we may not do this: by itself, or within a script.
pub(crate) fn is_denied(error: &Error) -> bool {
    const IN_A_SCRIPT: [&str; 2] = ["The user executing the script can't", "ACL failure in script"];
    matches!(code(error), Some("NOPERM" | "NOAUTH" | "WRONGPASS"))
        || text(error).is_some_and(|text| IN_A_SCRIPT.iter().any(|words| text.contains(words)))
}

/// Whether it said that it is a replica: it reads, and whoever writes is wrong here.
pub(crate) fn is_read_only(error: &Error) -> bool {
    code(error) == Some("READONLY")
}

/// What came instead of a value.
pub(crate) enum Failure {
    /// An error reply: the connection is in order.
    Refusal(Error),
    /// The connection is not.
    Broken(Error),
}

impl Failure {
    /// For whom the difference does not matter.
    pub(crate) fn into_error(self) -> Error {
        match self {
            Failure::Refusal(error) | Failure::Broken(error) => error,
        }
    }
}

/// A reply, told apart from an error reply.
pub(crate) fn checked(source: &str, reply: redis::RedisResult<Value>) -> Result<Value, Failure> {
    match reply {
        Ok(Value::ServerError(error)) => Err(Failure::Refusal(refused(source, &error))),
        Ok(value) => Ok(value),
        Err(error) => Err(match first_refusal(&error) {
            Some(refusal) => Failure::Refusal(refused(source, &refusal)),
            None => Failure::Broken(
                Error::new(Kind::BrokeOff, format!("source {source}: Redis broke the connection off"))
                    .caused_by(error)
                    .retry(Retry::IfIdempotent),
            ),
        }),
    }
}

fn refused(source: &str, error: &ServerError) -> Error {
    Error::new(Kind::MalformedResponse, format!("source {source}: Redis answers with an error"))
        .caused_by(Reply::new(error))
}

/// Of a pipeline, the first.
fn first_refusal(error: &RedisError) -> Option<ServerError> {
    error.clone().into_server_errors()?.first().map(|(_, error)| error.clone())
}

/// Nothing is known of who is to be asked.
pub(crate) fn nobody(source: &str, detail: &str) -> Error {
    Error::new(Kind::Connect, format!("source {source}: {detail}")).retry(Retry::Always)
}

/// No connection came about.
pub(crate) fn unconnected(source: &str, address: &str, error: RedisError) -> Error {
    if error.is_timeout() {
        return late_connection(source);
    }
    if is_exhaustion(&error) {
        let detail = format!("source {source}: nothing is left here to make a connection to {address} of");
        return Error::new(Kind::Overloaded, detail).caused_by(error);
    }
    let detail = match error.kind() {
        ErrorKind::RESP3NotSupported => {
            format!("source {source}: {address} does not speak RESP3; Redis 6 or newer is needed")
        }
        _ => format!("source {source}: no connection to {address}"),
    };
    let fault = Error::new(Kind::Connect, detail).retry(Retry::Always);
    match first_refusal(&error) {
        Some(refusal) => fault.caused_by(Reply::new(&refusal)),
        None => fault.caused_by(error),
    }
}

/// Whether it is we who have too much open. The library keeps what the system said in an `Arc`, which hides it.
fn is_exhaustion(error: &RedisError) -> bool {
    let beneath =
        error.source().and_then(|beneath| beneath.downcast_ref::<Arc<dyn std::error::Error + Send + Sync>>());
    beneath.is_some_and(|beneath| open_files::are_exhausted_beneath(&**beneath))
}

/// It took too long.
pub(crate) fn late_connection(source: &str) -> Error {
    Error::new(Kind::ConnectTimeout, format!("source {source}: no connection in time")).retry(Retry::Always)
}

/// None is made now, since others have failed just before.
pub(crate) fn paused(source: &str) -> Error {
    Error::new(Kind::Connect, format!("source {source}: no connection, and too soon for another attempt"))
        .retry(Retry::Always)
}

/// The breaker is open.
pub(crate) fn shut(source: &str) -> Error {
    Error::new(
        Kind::Connect,
        format!("source {source}: Redis keeps failing, so it is left alone for a while"),
    )
    .retry(Retry::Always)
}

/// The reply took too long.
pub(crate) fn late(source: &str, limit: std::time::Duration) -> Error {
    Error::new(Kind::SourceTimeout, format!("source {source}: no reply within {limit:?}"))
        .retry(Retry::IfIdempotent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(reply: &[u8]) -> Error {
        match checked("central", Ok(redis::parse_redis_value(reply).unwrap())) {
            Err(Failure::Refusal(error)) => error,
            _ => panic!("an error reply"),
        }
    }

    #[test]
    fn an_error_reply_keeps_its_code_and_text() {
        let error = error_of(b"-WRONGTYPE Operation against a key holding the wrong kind of value\r\n");
        assert_eq!(error.kind(), Kind::MalformedResponse);
        assert_eq!(code(&error), Some("WRONGTYPE"));
        assert!(error.to_string().contains("WRONGTYPE Operation against"), "{error}");
    }

    #[test]
    fn arguments_that_redis_repeats_are_not_shown() {
        let error = error_of(b"-ERR unknown command 'FOO', with args beginning with: 'hunter2' 'a'\r\n");
        assert!(!error.to_string().contains("hunter2"), "{error}");
        assert!(!format!("{error:?}").contains("hunter2"));
    }

    #[test]
    fn what_is_denied_is_known_for_it() {
        for (reply, denied) in [
            ("-NOPERM this user has no permissions to run the 'get' command", true),
            ("-ERR The user executing the script can't run this command or subcommand script: x", true),
            ("-WRONGTYPE Operation against a key holding the wrong kind of value", false),
            ("-OOM command not allowed when used memory > 'maxmemory'.", false),
        ] {
            let error = error_of(format!("{reply}\r\n").as_bytes());
            assert_eq!(is_denied(&error), denied, "{reply}");
        }
    }

    #[test]
    fn a_long_reply_is_cut() {
        let long = format!("-ERR {}\r\n", "ä".repeat(1000));
        assert!(error_of(long.as_bytes()).to_string().len() < 300);
    }
}
