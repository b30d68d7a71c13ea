//! Head: a start line and fields, taken apart strictly. Used for what clients send and what origins send.

use std::io;

/// A start line with its fields, names and values as they stood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Without its CRLF.
    pub start: String,
    /// In order. Values are read as Latin-1, so that no byte is lost.
    pub fields: Vec<(String, String)>,
}

impl Head {
    /// Takes apart what stands before the empty line. Panics where a line does not end in CRLF or has no colon.
    pub fn parse(bytes: &[u8]) -> Head {
        Self::try_parse(bytes).unwrap_or_else(|malformed| panic!("{malformed}"))
    }

    /// The same with an error instead of a panic.
    pub(crate) fn try_parse(bytes: &[u8]) -> io::Result<Head> {
        let text = latin1(bytes);
        let mut lines = text.split("\r\n");
        let start = lines.next().unwrap_or_default().to_owned();
        let fields = lines.filter(|line| !line.is_empty()).map(|line| field(line, &text));
        Ok(Head { start, fields: fields.collect::<io::Result<_>>()? })
    }

    /// The first value of this field.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// All values of this field, in order.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.fields.iter().filter(move |(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Whether the last coding of `Transfer-Encoding` is chunked.
    pub fn is_chunked(&self) -> bool {
        self.all("Transfer-Encoding").last().is_some_and(|value| {
            value.rsplit(',').next().is_some_and(|coding| coding.trim().eq_ignore_ascii_case("chunked"))
        })
    }

    /// The one `Content-Length`. An error where there is a second one, or one that is not a number.
    pub(crate) fn content_length(&self) -> io::Result<Option<usize>> {
        let mut values = self.all("Content-Length");
        let Some(value) = values.next() else { return Ok(None) };
        if values.next().is_some() {
            return Err(malformed(format!("two Content-Length in {self:?}")));
        }
        value.parse().map(Some).map_err(|_| malformed(format!("bad Content-Length in {self:?}")))
    }
}

fn field(line: &str, head: &str) -> io::Result<(String, String)> {
    if line.contains(['\r', '\n', '\0']) {
        return Err(malformed(format!("stray CR, LF or NUL in {head:?}")));
    }
    let Some((name, value)) = line.split_once(':') else {
        return Err(malformed(format!("no colon in {line:?} of {head:?}")));
    };
    if name.is_empty() || name.contains([' ', '\t']) {
        return Err(malformed(format!("bad field name {name:?} in {head:?}")));
    }
    Ok((name.to_owned(), value.trim_matches([' ', '\t']).to_owned()))
}

/// An error that says this of a message.
pub(crate) fn malformed(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// At most so many bytes are shown where something goes wrong.
const SHOWN: usize = 1000;

/// Bytes as whoever reads of a failure gets to see them.
pub(crate) fn shown(bytes: &[u8]) -> String {
    match bytes.get(..SHOWN) {
        Some(first) if bytes.len() > SHOWN => {
            format!("{:?} and {} more bytes", latin1(first), bytes.len() - SHOWN)
        }
        _ => format!("{:?}", latin1(bytes)),
    }
}

/// Bytes as text, one character each.
pub(crate) fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

/// Where the head ends (behind the empty line), if it has arrived whole.
pub(crate) fn end_of_head(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4)
}
