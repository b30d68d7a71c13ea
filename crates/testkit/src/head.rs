//! Head: a start line and fields, taken apart strictly. Used for what clients send and what origins send.

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
        let text = latin1(bytes);
        let mut lines = text.split("\r\n");
        let start = lines.next().unwrap_or_default().to_owned();
        let fields = lines.filter(|line| !line.is_empty()).map(|line| field(line, &text)).collect();
        Head { start, fields }
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

    /// The one `Content-Length`. Panics on a second one, or one that is not a number.
    pub fn content_length(&self) -> Option<usize> {
        let values: Vec<&str> = self.all("Content-Length").collect();
        assert!(values.len() < 2, "two Content-Length in {self:?}");
        values.first().map(|value| value.parse().unwrap_or_else(|_| panic!("bad Content-Length in {self:?}")))
    }
}

fn field(line: &str, head: &str) -> (String, String) {
    assert!(!line.contains(['\r', '\n', '\0']), "stray CR, LF or NUL in {head:?}");
    let (name, value) = line.split_once(':').unwrap_or_else(|| panic!("no colon in {line:?} of {head:?}"));
    assert!(!name.is_empty() && !name.contains([' ', '\t']), "bad field name {name:?} in {head:?}");
    (name.to_owned(), value.trim_matches([' ', '\t']).to_owned())
}

/// Bytes as text, one character each.
pub(crate) fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

/// Where the head ends (behind the empty line), if it has arrived whole.
pub(crate) fn end_of_head(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4)
}
