//! Read: what a route that answers by itself means: one command that reads, and how its reply becomes an answer.

use std::path::PathBuf;

use expression::Argument;
use http::{HeaderValue, StatusCode};

/// An answer from one read.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// Whom it asks.
    pub from: ReadFrom,
    /// Which of the commands that only read.
    pub command: ReadCommand,
    /// What stands behind the command, in order. Bound, never spliced.
    pub arguments: Vec<Argument>,
    /// How the reply is written.
    pub form: ReadForm,
    /// What it is called, where that is not what the form is called.
    pub content_type: Option<HeaderValue>,
    /// The status where there is nothing.
    pub missing: StatusCode,
}

/// Whom a read asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadFrom {
    /// Index into [`Plan::redis`](crate::Plan::redis).
    Redis(usize),
    /// Index into [`Plan::stores`](crate::Plan::stores).
    Store(usize),
}

/// Commands that only read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is the command of that name")]
pub enum ReadCommand {
    Get,
    Mget,
    Hget,
    Hmget,
    Hgetall,
    Exists,
    Lrange,
    Lindex,
    Llen,
    Zrange,
    Zrevrange,
    Zscore,
    Zcard,
    Smembers,
    Sismember,
    Scard,
}

/// How a reply is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadForm {
    /// As JSON. A value that is JSON stays as it is, any other becomes a string.
    #[default]
    Json,
    /// As text: one value a line.
    Text,
    /// The bytes of one value.
    Raw,
}

/// Keys and values in a file, for one machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreSource {
    /// Its name in the file.
    pub name: String,
    /// A JSON object: keys and values.
    pub file: PathBuf,
    /// Whether requests may name any key.
    pub public: bool,
}

/// What a command takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Arguments that must be there.
    pub least: usize,
    /// Arguments that may be there.
    pub most: usize,
    /// How it is written.
    pub example: &'static str,
}

impl ReadCommand {
    /// All of them.
    pub const ALL: [ReadCommand; 16] = [
        ReadCommand::Get,
        ReadCommand::Mget,
        ReadCommand::Hget,
        ReadCommand::Hmget,
        ReadCommand::Hgetall,
        ReadCommand::Exists,
        ReadCommand::Lrange,
        ReadCommand::Lindex,
        ReadCommand::Llen,
        ReadCommand::Zrange,
        ReadCommand::Zrevrange,
        ReadCommand::Zscore,
        ReadCommand::Zcard,
        ReadCommand::Smembers,
        ReadCommand::Sismember,
        ReadCommand::Scard,
    ];

    /// As it is written and sent.
    pub fn word(self) -> &'static str {
        match self {
            ReadCommand::Get => "GET",
            ReadCommand::Mget => "MGET",
            ReadCommand::Hget => "HGET",
            ReadCommand::Hmget => "HMGET",
            ReadCommand::Hgetall => "HGETALL",
            ReadCommand::Exists => "EXISTS",
            ReadCommand::Lrange => "LRANGE",
            ReadCommand::Lindex => "LINDEX",
            ReadCommand::Llen => "LLEN",
            ReadCommand::Zrange => "ZRANGE",
            ReadCommand::Zrevrange => "ZREVRANGE",
            ReadCommand::Zscore => "ZSCORE",
            ReadCommand::Zcard => "ZCARD",
            ReadCommand::Smembers => "SMEMBERS",
            ReadCommand::Sismember => "SISMEMBER",
            ReadCommand::Scard => "SCARD",
        }
    }

    /// What it takes behind its name.
    pub fn takes(self) -> Taken {
        const MANY: usize = 1000;
        let (least, most, example) = match self {
            ReadCommand::Get => (1, 1, "GET user:${path.id}"),
            ReadCommand::Mget => (1, MANY, "MGET user:${query.all('id')}"),
            ReadCommand::Hget => (2, 2, "HGET user:${path.id} name"),
            ReadCommand::Hmget => (2, MANY, "HMGET user:${path.id} name email"),
            ReadCommand::Hgetall => (1, 1, "HGETALL user:${path.id}"),
            ReadCommand::Exists => (1, 1, "EXISTS token:${path.token}"),
            ReadCommand::Lrange => (3, 3, "LRANGE news 0 9"),
            ReadCommand::Lindex => (2, 2, "LINDEX news 0"),
            ReadCommand::Llen => (1, 1, "LLEN news"),
            ReadCommand::Zrange => (3, 8, "ZRANGE scores 0 9 REV WITHSCORES"),
            ReadCommand::Zrevrange => (3, 4, "ZREVRANGE scores 0 9 WITHSCORES"),
            ReadCommand::Zscore => (2, 2, "ZSCORE scores ${path.player}"),
            ReadCommand::Zcard => (1, 1, "ZCARD scores"),
            ReadCommand::Smembers => (1, 1, "SMEMBERS tags:${path.id}"),
            ReadCommand::Sismember => (2, 2, "SISMEMBER admins ${path.user}"),
            ReadCommand::Scard => (1, 1, "SCARD admins"),
        };
        Taken { least, most, example }
    }

    /// How many of so many arguments are keys: the first ones.
    pub fn keys(self, arguments: usize) -> usize {
        if self == ReadCommand::Mget { arguments } else { arguments.min(1) }
    }

    /// Whether its reply is one value at most.
    pub fn gives_one(self) -> bool {
        !matches!(
            self,
            ReadCommand::Mget
                | ReadCommand::Hmget
                | ReadCommand::Hgetall
                | ReadCommand::Lrange
                | ReadCommand::Zrange
                | ReadCommand::Zrevrange
                | ReadCommand::Smembers
        )
    }
}
