//! Read: what a route that answers by itself means, or a step: one command that reads, and how its reply becomes an answer.

use std::collections::BTreeSet;
use std::path::PathBuf;

use expression::{Argument, Arguments, Reads};
use http::{HeaderValue, StatusCode};

use super::{Graph, Plan, RouteEnd, SourceId, StepCall, Task};

/// An answer from one read.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// The Redis or store that it asks.
    pub from: SourceId,
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
    /// What the keys of its answers begin with: all that shapes them besides the arguments.
    shape: Box<[u8]>,
    /// The fields of a request that choose the answer; `None`: it is chosen by the URL alone.
    vary: Option<HeaderValue>,
}

impl Read {
    /// A read of this source.
    pub fn new(
        from: SourceId,
        (command, arguments): (ReadCommand, Vec<Argument>),
        form: ReadForm,
        content_type: Option<HeaderValue>,
        missing: StatusCode,
    ) -> Self {
        let vary = vary(&arguments);
        let mut shape = vec![command as u8, form as u8];
        shape.extend_from_slice(&missing.as_u16().to_be_bytes());
        for part in [&content_type, &vary] {
            write_part(part.as_ref().map_or(&b""[..], HeaderValue::as_bytes), &mut shape);
        }
        Read { from, command, arguments, form, content_type, missing, shape: shape.into(), vary }
    }

    /// What it asks, for people: `GET user:${path.id}`.
    pub fn text(&self) -> String {
        let mut text = self.command.word().to_owned();
        for argument in &self.arguments {
            text.push(' ');
            text.push_str(&argument.text());
        }
        text
    }

    /// Which answer these arguments have: reads of one source with the same command, form and statuses share it.
    pub fn key(&self, arguments: &Arguments, key: &mut Vec<u8>) {
        key.clear();
        key.extend_from_slice(&self.shape);
        arguments.iter().for_each(|argument| write_part(argument, key));
    }

    /// The arguments that are keys.
    pub fn keys<'a>(&self, arguments: &'a Arguments) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        arguments.iter().take(self.command.keys(arguments.len()))
    }

    /// What its answers are called.
    pub fn content_type(&self) -> HeaderValue {
        self.content_type.clone().unwrap_or(match self.form {
            ReadForm::Json => HeaderValue::from_static("application/json"),
            ReadForm::Text => HeaderValue::from_static("text/plain; charset=utf-8"),
            ReadForm::Raw => HeaderValue::from_static("application/octet-stream"),
        })
    }

    /// What caches must compare besides the URL (RFC 9110 §12.5.5).
    pub fn vary(&self) -> Option<&HeaderValue> {
        self.vary.as_ref()
    }
}

fn vary(arguments: &[Argument]) -> Option<HeaderValue> {
    let reads = Reads::of_all(arguments.iter().map(Argument::reads));
    let names: BTreeSet<String> = reads.fields().map(|name| name.as_str().to_owned()).collect();
    let list = names.into_iter().collect::<Vec<_>>().join(", ");
    (!list.is_empty()).then(|| HeaderValue::try_from(list).expect("names of fields are a field value"))
}

/// With its length, so that no two lists of parts are the same bytes. An argument has 64 KiB at most.
fn write_part(part: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(part.len() as u32).to_be_bytes());
    out.extend_from_slice(part);
}

impl Plan {
    /// Every read of a route or of a step.
    pub fn reads(&self) -> Vec<&Read> {
        self.routes.iter().flat_map(|route| reads(&route.end)).collect()
    }
}

fn reads(end: &RouteEnd) -> Vec<&Read> {
    match end {
        RouteEnd::Proxy(_) | RouteEnd::Respond => Vec::new(),
        RouteEnd::Read(read) => vec![read],
        RouteEnd::Compose(compose) => within(&compose.graph),
    }
}

fn within(graph: &Graph) -> Vec<&Read> {
    graph.steps.iter().flat_map(|step| asked(&step.task)).collect()
}

fn asked(task: &Task) -> Vec<&Read> {
    match task {
        Task::Call(StepCall::Read(read)) => vec![read],
        Task::Compose(graph) => within(graph),
        Task::Call(_) | Task::Gather(_) => Vec::new(),
    }
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
