//! Reply: what a Redis answered, in RESP2, as the client reads it from a connection.

use std::io::{self, BufRead};

/// One reply. <https://redis.io/docs/latest/develop/reference/protocol-spec/>
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// No value: `$-1` or `*-1`.
    Nil,
    /// `+OK`, without the plus.
    Simple(String),
    /// `-ERR …`, without the minus.
    Error(String),
    /// `:1`.
    Int(i64),
    /// A value's bytes.
    Bulk(Vec<u8>),
    /// Replies in a row.
    Array(Vec<Reply>),
}

impl Reply {
    /// Anything but an array, as text; nothing is the empty text. Panics at arrays.
    pub fn text(&self) -> String {
        match self {
            Reply::Nil => String::new(),
            Reply::Simple(text) | Reply::Error(text) => text.clone(),
            Reply::Int(number) => number.to_string(),
            Reply::Bulk(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Reply::Array(_) => panic!("no text but {self:?}"),
        }
    }

    /// The number; panics at anything else.
    pub fn int(&self) -> i64 {
        match self {
            Reply::Int(number) => *number,
            _ => panic!("no number but {self:?}"),
        }
    }

    /// The replies of an array; panics at anything else.
    pub fn array(&self) -> &[Reply] {
        match self {
            Reply::Array(replies) => replies,
            _ => panic!("no array but {self:?}"),
        }
    }

    /// The texts of an array; panics at anything else.
    pub fn texts(&self) -> Vec<String> {
        self.array().iter().map(Reply::text).collect()
    }

    /// Whether there is no value.
    pub fn is_nil(&self) -> bool {
        *self == Reply::Nil
    }

    /// The error's text, if it is one.
    pub fn error(&self) -> Option<&str> {
        match self {
            Reply::Error(text) => Some(text),
            _ => None,
        }
    }

    /// The reply itself; panics at errors.
    #[must_use]
    pub fn or_panic(self) -> Self {
        assert!(self.error().is_none(), "{self:?}");
        self
    }

    /// Reads one. What is no RESP2 is `InvalidData`.
    pub(crate) fn read(stream: &mut impl BufRead) -> io::Result<Self> {
        let mut line = Vec::new();
        stream.read_until(b'\n', &mut line)?;
        let line = String::from_utf8(line).map_err(|_| io::ErrorKind::InvalidData)?;
        if line.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let invalid = || io::Error::new(io::ErrorKind::InvalidData, line.clone());
        let rest = line.get(1..).and_then(|rest| rest.strip_suffix("\r\n")).ok_or_else(invalid)?;
        let number = || rest.parse::<i64>().map_err(|_| invalid());
        match line.as_bytes()[0] {
            b'+' => Ok(Reply::Simple(rest.to_owned())),
            b'-' => Ok(Reply::Error(rest.to_owned())),
            b':' => number().map(Reply::Int),
            b'$' => usize::try_from(number()?).map_or(Ok(Reply::Nil), |length| bulk(stream, length)),
            b'*' => usize::try_from(number()?).map_or(Ok(Reply::Nil), |count| {
                (0..count).map(|_| Self::read(stream)).collect::<io::Result<_>>().map(Reply::Array)
            }),
            _ => Err(invalid()),
        }
    }
}

fn bulk(stream: &mut impl BufRead, length: usize) -> io::Result<Reply> {
    let mut bytes = vec![0; length + 2];
    stream.read_exact(&mut bytes)?;
    bytes.truncate(length);
    Ok(Reply::Bulk(bytes))
}

#[cfg(test)]
mod tests {
    use super::Reply;

    #[test]
    fn reads_every_kind() {
        let mut bytes: &[u8] = b"*5\r\n+OK\r\n:-2\r\n$3\r\na\r\n\r\n$-1\r\n*1\r\n-ERR no\r\n";
        let reply = Reply::read(&mut bytes).unwrap();
        assert_eq!(
            reply.array(),
            [
                Reply::Simple("OK".to_owned()),
                Reply::Int(-2),
                Reply::Bulk(b"a\r\n".to_vec()),
                Reply::Nil,
                Reply::Array(vec![Reply::Error("ERR no".to_owned())]),
            ]
        );
        assert!(bytes.is_empty());
    }

    #[test]
    fn refuses_what_is_no_reply_and_what_breaks_off() {
        for mut bytes in [&b"?\r\n"[..], b":x\r\n", b"+OK", b"$4\r\nab", b"", b"\xc3\xa9\r\n"] {
            assert!(Reply::read(&mut bytes).is_err());
        }
    }
}
