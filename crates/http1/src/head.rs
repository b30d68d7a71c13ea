//! Head: what request and response heads have in common: limits, line ends, fields into a map.

use std::mem::MaybeUninit;

use bytes::Bytes;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use message::{Error, Kind, Result};

/// Upper bound of the number of fields in a head, whatever the limits say.
pub const MAX_LINES: usize = 256;

/// Room for the fields of one head, on the caller's stack and not initialised, see [`new_lines`].
pub type Lines<'a> = [MaybeUninit<httparse::Header<'a>>; MAX_LINES];

/// Room for the fields of one head.
pub const fn new_lines<'a>() -> Lines<'a> {
    [const { MaybeUninit::uninit() }; MAX_LINES]
}

/// How large a head may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeadLimits {
    /// Bytes of the whole head, its last empty line included.
    pub head_size: usize,
    /// Bytes of the request target; of no meaning for responses.
    pub target_size: usize,
    /// Fields; never more than [`MAX_LINES`].
    pub header_count: usize,
}

impl HeadLimits {
    /// The part of `lines` that may be used.
    pub(crate) fn lines<'h, 'b>(
        &self,
        lines: &'h mut Lines<'b>,
    ) -> &'h mut [MaybeUninit<httparse::Header<'b>>] {
        &mut lines[..self.header_count.min(MAX_LINES)]
    }
}

/// Whether the end of a head may lie in `buffer` behind the first `seen` bytes, which were already found to hold none.
///
/// Parsing starts at the beginning each time, so a head that drips in byte by byte would cost the square of its
/// length; asking this first makes it linear. A bare LF counts as a line end here, so that it is refused, not awaited.
pub fn head_may_be_complete(buffer: &[u8], seen: usize) -> bool {
    let from = seen.saturating_sub(3).min(buffer.len());
    memchr::memchr_iter(b'\n', &buffer[from..]).any(|at| {
        let rest = &buffer[from + at + 1..];
        rest.starts_with(b"\n") || rest.starts_with(b"\r\n")
    })
}

/// Refuses a line that ends in LF alone: httparse takes it for a line end, other readers do not.
pub(crate) fn refuse_bare_line_feed(head: &[u8], fault: Kind) -> Result<()> {
    for at in memchr::memchr_iter(b'\n', head) {
        if at == 0 || head[at - 1] != b'\r' {
            return Err(Error::new(fault, "a line of the head ends in a bare line feed"));
        }
    }
    Ok(())
}

/// True for the names that an origin might take for the framing fields after turning `_` into `-`, as CGI does.
pub(crate) fn imitates_framing(name: &str) -> bool {
    (name.len() == 14 && name.eq_ignore_ascii_case("content_length"))
        || (name.len() == 17 && name.as_bytes()[8] == b'_' && name.eq_ignore_ascii_case("transfer_encoding"))
}

/// The fields as an owned map, those named in `except` left out.
///
/// All values share one copy of the lines, so a head costs two allocations and not one for each field.
pub fn to_header_map(
    lines: &[httparse::Header<'_>],
    except: Option<&HeaderName>,
    fault: Kind,
) -> Result<HeaderMap> {
    let mut fields = HeaderMap::with_capacity(lines.len());
    let total = lines.iter().map(|line| line.value.len()).sum();
    let mut values = Vec::with_capacity(total);
    for line in lines {
        values.extend_from_slice(line.value);
    }
    let values = Bytes::from(values);
    let mut start = 0;
    for line in lines {
        let end = start + line.value.len();
        let name = HeaderName::from_bytes(line.name.as_bytes())
            .map_err(|_| Error::new(fault, "a field name is not a token"))?;
        if except != Some(&name) {
            let value = HeaderValue::from_maybe_shared(values.slice(start..end))
                .map_err(|_| Error::new(fault, "a field value contains a control character"))?;
            fields
                .try_append(name, value)
                .map_err(|_| Error::new(fault, "the head holds too many fields"))?;
        }
        start = end;
    }
    Ok(fields)
}

/// The members of a comma-separated list, without the white space around them and without empty ones.
pub(crate) fn members(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).filter(|member| !member.is_empty())
}

/// What `Connection` fields say about keeping the connection.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct ConnectionOptions {
    pub(crate) close: bool,
    pub(crate) keep_alive: bool,
    pub(crate) upgrade: bool,
}

impl ConnectionOptions {
    pub(crate) fn add(&mut self, value: &[u8]) {
        for member in members(value) {
            self.close |= member.eq_ignore_ascii_case(b"close");
            self.keep_alive |= member.eq_ignore_ascii_case(b"keep-alive");
            self.upgrade |= member.eq_ignore_ascii_case(b"upgrade");
        }
    }

    /// RFC 9112 §9.3; `minor` is that of the version.
    pub(crate) fn keeps(self, minor: u8) -> bool {
        !self.close && (minor == 1 || self.keep_alive)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_head_is_found_across_reads() {
        let head = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n";
        for seen in 0..head.len() {
            assert!(head_may_be_complete(head, seen), "{seen}");
            assert!(!head_may_be_complete(&head[..seen], 0), "{seen}");
        }
        assert!(head_may_be_complete(b"GET / HTTP/1.1\n\n", 0));
    }

    #[test]
    fn a_map_holds_every_line_but_the_excepted() {
        let lines = [
            httparse::Header { name: "Host", value: b"a" },
            httparse::Header { name: "X-One", value: b"1" },
            httparse::Header { name: "x-one", value: b"" },
        ];
        let map = to_header_map(&lines, Some(&http::header::HOST), Kind::MalformedRequest).unwrap();
        assert_eq!(map.len(), 2);
        assert_eq!(map.get_all("x-one").iter().collect::<Vec<_>>(), ["1", ""]);
    }
}
