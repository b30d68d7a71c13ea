//! Slots of a cluster: which a key belongs to, and which server has it. Pure. In: commands, and the reply to
//! `CLUSTER SLOTS`. Used by `cluster`.

use plan::RedisServer;
use redis::{Arg, Cmd, Value};

/// How many there are (Redis Cluster Specification, "Key distribution model").
const SLOTS: u16 = 16384;

/// The slot of the command's first key; `None` for a command without one. A key that is mistaken costs a redirection,
/// nothing else: the server knows better.
pub(crate) fn of_command(command: &Cmd) -> Option<u16> {
    let mut arguments = command.args_iter().map(|argument| match argument {
        Arg::Simple(bytes) => bytes,
        _ => b"0",
    });
    let name = arguments.next()?.to_ascii_uppercase();
    let key = match name.as_slice() {
        b"EVAL" | b"EVALSHA" | b"EVAL_RO" | b"EVALSHA_RO" | b"FCALL" | b"FCALL_RO" => {
            let keys = arguments.nth(1)?;
            if keys == b"0" { None } else { arguments.next() }
        }
        b"XREAD" | b"XREADGROUP" => {
            arguments.find(|argument| argument.eq_ignore_ascii_case(b"STREAMS"))?;
            arguments.next()
        }
        b"XINFO" | b"XGROUP" | b"OBJECT" => arguments.nth(1),
        b"MEMORY" | b"PING" | b"ECHO" | b"INFO" | b"ROLE" | b"TIME" | b"SCRIPT" | b"FUNCTION" | b"CLIENT"
        | b"CLUSTER" | b"CONFIG" | b"COMMAND" | b"ACL" | b"DBSIZE" | b"SCAN" | b"PUBLISH" | b"WAIT" => None,
        _ => arguments.next(),
    };
    key.map(of_key)
}

/// The slot of a key: of what stands between its first braces, if that is anything.
pub(crate) fn of_key(key: &[u8]) -> u16 {
    crc16(tag(key).unwrap_or(key)) % SLOTS
}

fn tag(key: &[u8]) -> Option<&[u8]> {
    let open = key.iter().position(|byte| *byte == b'{')?;
    let rest = &key[open + 1..];
    let close = rest.iter().position(|byte| *byte == b'}')?;
    (close > 0).then_some(&rest[..close])
}

/// CRC-16/XMODEM, which the `redis` crate computes too, but keeps to itself.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| (crc << 8) ^ TABLE[usize::from((crc >> 8) as u8 ^ byte)])
}

const TABLE: [u16; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut crc = (index as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 };
            bit += 1;
        }
        table[index] = crc;
        index += 1;
    }
    table
};

/// Which server has which slots.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Owners(Vec<Range>);

#[derive(Debug, PartialEq, Eq)]
struct Range {
    first: u16,
    last: u16,
    owner: RedisServer,
}

impl Owners {
    /// From the reply to `CLUSTER SLOTS`: ranges, each with its master and then its replicas. A node that does not know
    /// its own address leaves it empty: it is the one that was `asked`. What cannot be understood is left out.
    pub(crate) fn parse(reply: &Value, asked: &RedisServer) -> Self {
        let Value::Array(ranges) = reply else {
            return Owners::default();
        };
        let mut ranges: Vec<Range> = ranges.iter().filter_map(|range| Range::parse(range, asked)).collect();
        ranges.sort_unstable_by_key(|range| range.first);
        Owners(ranges)
    }

    /// Who has this slot.
    pub(crate) fn of(&self, slot: u16) -> Option<&RedisServer> {
        let after = self.0.partition_point(|range| range.first <= slot);
        let range = self.0.get(after.checked_sub(1)?)?;
        (slot <= range.last).then_some(&range.owner)
    }

    /// Who has any, each as often as it has ranges.
    pub(crate) fn servers(&self) -> impl Iterator<Item = &RedisServer> {
        self.0.iter().map(|range| &range.owner)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Range {
    fn parse(value: &Value, asked: &RedisServer) -> Option<Self> {
        let Value::Array(parts) = value else { return None };
        let [Value::Int(first), Value::Int(last), Value::Array(master), ..] = parts.as_slice() else {
            return None;
        };
        let [host, Value::Int(port), ..] = master.as_slice() else { return None };
        let RedisServer::Tcp { host: asked, tls, .. } = asked else { return None };
        let host = match host {
            Value::Nil => asked.clone(),
            Value::BulkString(host) if host.is_empty() => asked.clone(),
            // "?" says that the name is to be shown and is not known.
            Value::BulkString(host) if host != b"?" => String::from_utf8(host.clone()).ok()?,
            Value::SimpleString(host) => host.clone(),
            _ => return None,
        };
        let slot = |number: i64| u16::try_from(number).ok().filter(|slot| *slot < SLOTS);
        let owner = RedisServer::Tcp { host, port: u16::try_from(*port).ok()?, tls: *tls };
        Some(Range { first: slot(*first)?, last: slot(*last)?, owner })
    }
}

/// The server that `MOVED 3999 host:port` and `ASK …` name; `None` where they leave it to us to know.
pub(crate) fn redirection(text: &str, tls: bool) -> Option<RedisServer> {
    let (host, port) = text.split_ascii_whitespace().nth(1)?.rsplit_once(':')?;
    (!host.is_empty())
        .then_some(())
        .and_then(|()| Some(RedisServer::Tcp { host: host.to_owned(), port: port.parse().ok()?, tls }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(host: &str, port: u16) -> RedisServer {
        RedisServer::Tcp { host: host.to_owned(), port, tls: false }
    }

    #[test]
    fn keys_belong_to_the_slots_that_the_specification_says() {
        assert_eq!(crc16(b"123456789"), 0x31c3);
        assert_eq!(of_key(b"foo"), 12182);
        assert_eq!(of_key(b"{user1000}.following"), of_key(b"{user1000}.followers"));
        assert_eq!(of_key(b"foo{{bar}}zap"), of_key(b"{bar"));
        assert_ne!(of_key(b"foo{}{bar}"), of_key(b"bar"));
        assert_eq!(of_key(b"foo{bar}{zap}"), of_key(b"bar"));
    }

    #[test]
    fn the_key_of_a_command_is_where_the_command_has_it() {
        let foo = Some(of_key(b"foo"));
        assert_eq!(of_command(redis::cmd("get").arg("foo")), foo);
        assert_eq!(of_command(redis::cmd("EVALSHA").arg("0123").arg(1).arg("foo").arg("bar")), foo);
        assert_eq!(of_command(redis::cmd("EVAL").arg("return 1").arg(0).arg("foo")), None);
        let mut read = redis::cmd("XREAD");
        assert_eq!(of_command(read.arg("BLOCK").arg(0).arg("streams").arg("foo").arg("$")), foo);
        assert_eq!(of_command(&redis::cmd("PING")), None);
    }

    #[test]
    fn ranges_are_found_and_gaps_are_seen() {
        let reply = b"*2\r\n*3\r\n:5461\r\n:10922\r\n*2\r\n$1\r\nb\r\n:7001\r\n*3\r\n:0\r\n:5000\r\n*2\r\n$0\r\n\r\n:7000\r\n";
        let owners = Owners::parse(&redis::parse_redis_value(reply).unwrap(), &server("a", 1));
        assert_eq!(owners.of(0), Some(&server("a", 7000)));
        assert_eq!(owners.of(5000), Some(&server("a", 7000)));
        assert_eq!(owners.of(5001), None);
        assert_eq!(owners.of(10922), Some(&server("b", 7001)));
        assert_eq!(owners.of(16383), None);
    }

    #[test]
    fn what_is_no_answer_owns_nothing() {
        for reply in
            [&b"+OK\r\n"[..], b"*1\r\n*1\r\n:1\r\n", b"*1\r\n*3\r\n:-1\r\n:99999\r\n*2\r\n$1\r\nb\r\n:1\r\n"]
        {
            let value = redis::parse_redis_value(reply).unwrap();
            assert!(Owners::parse(&value, &server("a", 1)).is_empty());
        }
    }

    #[test]
    fn a_redirection_names_a_server() {
        assert_eq!(redirection("3999 127.0.0.1:6381", false), Some(server("127.0.0.1", 6381)));
        assert_eq!(redirection("3999 ::1:6381", false), Some(server("::1", 6381)));
        assert_eq!(redirection("3999 :6381", false), None);
        assert_eq!(redirection("", false), None);
    }
}
