//! Head: a response → its head on the wire, with the fields that belong to this connection and not to the response:
//! framing, `Date`, `Connection` (RFC 9112 §6, §9).

use ::http1::{Framing, write_field, write_fields, write_status_line};
use http::header::{CONNECTION, CONTENT_LENGTH, DATE, TRANSFER_ENCODING, UPGRADE};
use http::{HeaderMap, StatusCode, Version};
use message::{InterimHead, Response};

use super::output::COPIED;

/// What of the request decides how its answer is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// Whether it was a HEAD: an answer without content.
    pub(super) is_head: bool,
    /// What the client speaks.
    pub(super) version: Version,
    /// Whether it keeps the connection.
    pub(super) keep_alive: bool,
    /// Whether it offered to switch protocols.
    pub(super) upgrade: bool,
}

impl Asked {
    /// How the content of this answer is framed.
    pub(super) fn framing(self, response: &Response) -> Framing {
        if self.is_head || has_no_content(response.status) {
            return Framing::Empty;
        }
        match response.body.exact_length() {
            Some(length) => Framing::Length(length),
            None if self.version == Version::HTTP_11 => Framing::Chunked,
            None => Framing::UntilClose,
        }
    }
}

/// RFC 9112 §6.3, first rule.
fn has_no_content(status: StatusCode) -> bool {
    matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) || status.is_informational()
}

/// Bytes of most heads.
const ROOM: usize = 1024;

/// The length of content that will be copied behind its head.
fn short_length(framing: Framing) -> usize {
    match framing {
        Framing::Length(length) if length <= COPIED as u64 => length as usize,
        _ => 0,
    }
}

/// Appends the head of a final response; its fields are used up.
pub(super) fn write_head(
    out: &mut Vec<u8>,
    response: &mut Response,
    framing: Framing,
    asked: Asked,
    closes: bool,
) {
    settle_fields(response, framing, asked);
    out.reserve(ROOM + short_length(framing));
    write_status_line(out, response.status);
    let mut is_dated = false;
    for (name, value) in &response.fields {
        // Left out rather than removed before: a look at a name costs less than to hash it.
        if name != CONNECTION && name != TRANSFER_ENCODING && name != UPGRADE {
            is_dated |= name == DATE;
            write_field(out, name, value);
        }
    }
    if !is_dated {
        out.extend_from_slice(b"date: ");
        crate::date::write(out);
        out.extend_from_slice(b"\r\n");
    }
    match framing {
        Framing::Length(length) => {
            out.extend_from_slice(b"content-length: ");
            out.extend_from_slice(itoa::Buffer::new().format(length).as_bytes());
            out.extend_from_slice(b"\r\n");
        }
        Framing::Chunked => out.extend_from_slice(b"transfer-encoding: chunked\r\n"),
        Framing::Empty | Framing::UntilClose => {}
    }
    end_head(out, asked.version, closes);
}

/// Settles `Content-Length`, which goes out as it stands in `fields` where the content is not sent: then it says
/// how long it would be (RFC 9110 §8.6).
fn settle_fields(response: &mut Response, framing: Framing, asked: Asked) {
    let Response { status, fields, body } = response;
    let stands_for_content = asked.is_head || *status == StatusCode::NOT_MODIFIED;
    if framing != Framing::Empty || *status == StatusCode::NO_CONTENT || !stands_for_content {
        fields.remove(CONTENT_LENGTH);
    } else if asked.is_head
        && !fields.contains_key(CONTENT_LENGTH)
        && let Some(length) = body.exact_length().filter(|_| !body.is_empty())
    {
        fields.insert(CONTENT_LENGTH, length.into());
    }
}

/// Appends `Connection` where the client would otherwise assume the contrary, and the empty line.
pub(super) fn end_head(out: &mut Vec<u8>, version: Version, closes: bool) {
    if closes {
        out.extend_from_slice(b"connection: close\r\n");
    } else if version == Version::HTTP_10 {
        out.extend_from_slice(b"connection: keep-alive\r\n");
    }
    out.extend_from_slice(b"\r\n");
}

/// Appends an informational head. A 101 is none: it would switch to something that nobody speaks.
pub(super) fn write_interim_head(out: &mut Vec<u8>, mut head: InterimHead) {
    if head.status.is_informational() && head.status != StatusCode::SWITCHING_PROTOCOLS {
        remove_framing(&mut head.fields);
        head.fields.remove(UPGRADE);
        write_status_line(out, head.status);
        write_fields(out, &head.fields);
        out.extend_from_slice(b"\r\n");
    }
}

/// Appends the head of a `101 Switching Protocols`; `Upgrade` stands in its fields.
pub(super) fn write_switching_head(out: &mut Vec<u8>, mut fields: HeaderMap) {
    remove_framing(&mut fields);
    write_status_line(out, StatusCode::SWITCHING_PROTOCOLS);
    write_fields(out, &fields);
    out.extend_from_slice(b"connection: upgrade\r\n\r\n");
}

fn remove_framing(fields: &mut HeaderMap) {
    for name in [CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING] {
        fields.remove(name);
    }
}
