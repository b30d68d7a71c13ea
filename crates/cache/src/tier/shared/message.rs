//! Message: one purge as the stream of purges tells it, and one heartbeat: names and values, readable with `XRANGE`. Written
//! by one instance, read by all of them.

use redis_link::Value;

use super::positions::Position;
use crate::purge::{Purge, Scope};

/// A purge on its way to the other instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// Which instance purges: a number drawn at its start.
    pub(crate) from: u64,
    /// The purge's epoch there.
    pub(crate) epoch: u64,
    pub(crate) purge: Purge,
}

/// One entry of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) position: Position,
    pub(crate) generation: u64,
    /// `None`: the stream's first entry, which only begins it.
    pub(crate) message: Option<Message>,
}

/// Its sender has told all it purged before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Beat {
    pub(crate) position: Position,
    pub(crate) from: u64,
    /// It is leaving.
    pub(crate) is_last: bool,
}

impl Message {
    /// As names and values, the generation aside.
    pub(crate) fn to_fields(&self) -> Vec<(&'static str, String)> {
        let mut fields = vec![
            ("from", self.from.to_string()),
            ("epoch", self.epoch.to_string()),
            ("soft", u8::from(self.purge.soft).to_string()),
        ];
        let (what, host, text) = match &self.purge.scope {
            Scope::Everything => ("everything", None, None),
            Scope::Host(host) => ("host", Some(host), None),
            Scope::Prefix { authority, path } => ("prefix", authority.as_ref(), Some(path)),
            Scope::Path { authority, path } => ("path", Some(authority), Some(path)),
            Scope::Target { authority, target } => ("url", Some(authority), Some(target)),
            Scope::Tag(tag) => ("tag", None, Some(tag)),
        };
        fields.push(("what", what.to_owned()));
        fields.extend(host.map(|host| ("host", host.to_string())));
        fields.extend(text.map(|text| ("text", text.to_string())));
        fields
    }

    /// A purge that cannot be read, of a later version for one, is taken for one of everything.
    fn of(fields: &[(String, String)]) -> Self {
        let field =
            |name: &str| fields.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str());
        let text = || field("text").map(Box::from);
        let host = || field("host").map(Box::from);
        let scope = match field("what") {
            Some("host") => host().map(Scope::Host),
            Some("prefix") => text().map(|path| Scope::Prefix { authority: host(), path }),
            Some("path") => host().zip(text()).map(|(authority, path)| Scope::Path { authority, path }),
            Some("url") => host().zip(text()).map(|(authority, target)| Scope::Target { authority, target }),
            Some("tag") => text().map(Scope::Tag),
            _ => None,
        };
        let soft = scope.is_some() && field("soft") == Some("1");
        Message {
            from: number(fields, "from").unwrap_or(0),
            epoch: number(fields, "epoch").unwrap_or(0),
            purge: Purge { scope: scope.unwrap_or(Scope::Everything), soft },
        }
    }
}

/// The streams in the reply of `XREAD`, by name, each with its entries; `None` where it is no such reply.
pub(crate) fn streams(reply: Value) -> Option<Vec<(String, Value)>> {
    match reply {
        Value::Nil => Some(Vec::new()),
        Value::Map(streams) => {
            streams.into_iter().map(|(name, entries)| Some((text(&name)?, entries))).collect()
        }
        // RESP2 has a list where RESP3 has a map.
        Value::Array(streams) => streams
            .into_iter()
            .map(|stream| {
                let Value::Array(pair) = stream else { return None };
                let [name, entries] = <[Value; 2]>::try_from(pair).ok()?;
                Some((text(&name)?, entries))
            })
            .collect(),
        _ => None,
    }
}

/// The purges among a stream's entries; `None` where these are no entries.
pub(crate) fn told(entries: &Value) -> Option<Vec<Told>> {
    each(entries, |position, fields| Told {
        position,
        generation: number(&fields, "generation").unwrap_or(0),
        message: (fields.len() > 1).then(|| Message::of(&fields)),
    })
}

/// The heartbeats among a stream's entries. What is none is nobody's.
pub(crate) fn beats(entries: &Value) -> Option<Vec<Beat>> {
    each(entries, |position, fields| Beat {
        position,
        from: number(&fields, "from").unwrap_or(0),
        is_last: number(&fields, "last") == Some(1),
    })
}

fn number(fields: &[(String, String)], name: &str) -> Option<u64> {
    fields.iter().find(|(other, _)| other == name)?.1.parse().ok()
}

/// The entries, of their places and fields.
fn each<T>(entries: &Value, of: impl Fn(Position, Vec<(String, String)>) -> T) -> Option<Vec<T>> {
    let Value::Array(entries) = entries else { return None };
    let one = |entry: &Value| {
        let Value::Array(parts) = entry else { return None };
        let [id, Value::Array(fields)] = parts.as_slice() else { return None };
        let pairs = fields.chunks_exact(2).map(|pair| Some((text(&pair[0])?, text(&pair[1])?)));
        Some(of(position(text(id)?.as_bytes())?, pairs.collect::<Option<_>>()?))
    };
    entries.iter().map(one).collect()
}

/// `1700000000000-0`.
pub(crate) fn position(id: &[u8]) -> Option<Position> {
    let (millis, sequence) = std::str::from_utf8(id).ok()?.split_once('-')?;
    Some(Position { millis: millis.parse().ok()?, sequence: sequence.parse().ok()? })
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.millis, self.sequence)
    }
}

/// A text of a reply, leniently: what is no UTF-8 matches nothing.
pub(crate) fn text(value: &Value) -> Option<String> {
    match value {
        Value::BulkString(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        Value::SimpleString(text) => Some(text.clone()),
        Value::Int(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bulk(text: &str) -> Value {
        Value::BulkString(text.as_bytes().to_vec())
    }

    fn reply(id: &str, fields: &[(&str, String)]) -> Value {
        let fields = fields.iter().flat_map(|(name, value)| [bulk(name), bulk(value)]).collect();
        Value::Array(vec![Value::Array(vec![bulk(id), Value::Array(fields)])])
    }

    #[test]
    fn a_purge_comes_back_as_it_was() {
        let (host, path) = (|| Box::from("a.example"), || Box::from("/x y\n"));
        for scope in [
            Scope::Everything,
            Scope::Host(host()),
            Scope::Prefix { authority: None, path: path() },
            Scope::Prefix { authority: Some(host()), path: path() },
            Scope::Path { authority: host(), path: path() },
            Scope::Target { authority: host(), target: "/x?y=1".into() },
            Scope::Tag("t".into()),
        ] {
            for soft in [false, true] {
                // One that cannot be read is the worst there is, and that is what everything is written as.
                let soft = soft && scope != Scope::Everything;
                let message = Message { from: 3, epoch: 4, purge: Purge { scope: scope.clone(), soft } };
                let mut fields = vec![("generation", "9".to_owned())];
                fields.extend(message.to_fields());
                let entries = reply("17-2", &fields);
                let expected = Told {
                    position: Position { millis: 17, sequence: 2 },
                    generation: 9,
                    message: Some(message),
                };
                assert_eq!(told(&entries), Some(vec![expected]));
                let named = Some(vec![("p:{purges}".to_owned(), entries.clone())]);
                assert_eq!(streams(Value::Map(vec![(bulk("p:{purges}"), entries.clone())])), named);
                let in_a_list = Value::Array(vec![Value::Array(vec![bulk("p:{purges}"), entries])]);
                assert_eq!(streams(in_a_list), named);
            }
        }
    }

    #[test]
    fn the_first_entry_tells_nothing_but_the_generation() {
        let first = told(&reply("1-0", &[("generation", "9".to_owned())])).unwrap();
        assert_eq!((first[0].generation, &first[0].message), (9, &None));
    }

    #[test]
    fn what_cannot_be_read_purges_everything() {
        let fields =
            [("generation", "9".to_owned()), ("what", "galaxy".to_owned()), ("soft", "1".to_owned())];
        let unknown = told(&reply("1-0", &fields)).unwrap();
        let purge = unknown[0].message.clone().unwrap().purge;
        assert_eq!(purge, Purge { scope: Scope::Everything, soft: false });
        assert_eq!(told(&Value::Okay), None);
        assert_eq!((streams(Value::Okay), streams(Value::Nil)), (None, Some(Vec::new())));
    }

    #[test]
    fn a_heartbeat_says_whose_it_is() {
        let beat = |last: &str| beats(&reply("5-1", &[("from", "9".to_owned()), ("last", last.to_owned())]));
        let position = Position { millis: 5, sequence: 1 };
        for (last, is_last) in [("0", false), ("1", true)] {
            assert_eq!(beat(last), Some(vec![Beat { position, from: 9, is_last }]));
        }
    }
}
