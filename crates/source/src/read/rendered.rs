//! Rendered: an answer as it goes out, but for the fields that change from one use to the next: made once of what was
//! found, used as often as it is held. Where nothing was found it is empty, and `nothing` is what the route answers.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, VARY};
use http::{HeaderMap, HeaderValue, StatusCode};
use message::{Result, Timestamp};
use plan::{Read, ReadCommand};
use twox_hash::XxHash3_128;

use super::form;
use super::found::Found;

/// See the module.
#[derive(Debug)]
pub(crate) struct Rendered {
    /// Status line and fields, each ended by CRLF; empty where there is nothing.
    head: Box<[u8]>,
    body: Bytes,
    /// What names the content; `None` where there is nothing.
    tag: Option<HeaderValue>,
    content_type: HeaderValue,
    vary: Option<HeaderValue>,
    /// It says whether something holds, a token for one: nobody may go by it without asking again.
    is_check: bool,
}

impl Rendered {
    /// As the route says. Fails where what was found has no such form.
    pub(crate) fn new(found: Found, read: &Read) -> Result<Self> {
        let content_type = read.content_type();
        let is_check = matches!(read.command, ReadCommand::Exists | ReadCommand::Sismember);
        let Some(body) = form::write(found, read.form)? else {
            let (head, body) = (Box::default(), Bytes::new());
            return Ok(Rendered { head, body, tag: None, content_type, vary: None, is_check });
        };
        let tag = format!("\"{:032x}\"", XxHash3_128::oneshot(&body));
        let tag = HeaderValue::try_from(tag).expect("quoted digits are a field value");
        let vary = read.vary().cloned();
        let mut fields = HeaderMap::with_capacity(4);
        fields.insert(CONTENT_TYPE, content_type.clone());
        fields.insert(ETAG, tag.clone());
        if let Some(vary) = &vary {
            fields.insert(VARY, vary.clone());
        }
        fields.insert(CONTENT_LENGTH, body.len().into());
        let mut head = Vec::with_capacity(256);
        http1::write_status_line(&mut head, StatusCode::OK);
        http1::write_fields(&mut head, &fields);
        Ok(Rendered { head: head.into(), body, tag: Some(tag), content_type, vary, is_check })
    }

    pub(crate) fn body(&self) -> &Bytes {
        &self.body
    }

    /// Bytes it takes.
    pub(crate) fn cost(&self) -> usize {
        size_of::<Self>()
            + self.head.len()
            + self.body.len()
            + 2 * self.tag.as_ref().map_or(0, HeaderValue::len)
    }

    /// Whether this value of `If-None-Match` names it alone, and nothing else: what almost every client sends.
    pub(crate) fn is_named_by(&self, condition: &[u8]) -> bool {
        self.tag.as_ref().is_some_and(|tag| tag.as_bytes() == condition)
    }

    /// Appends the head of the whole answer, each line ended by CRLF, without the empty one.
    pub(crate) fn write_head(&self, until: Option<Timestamp>, now: Timestamp, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.head);
        write_lifetime(self.told(until), now, out);
    }

    /// Appends the head of a 304.
    pub(crate) fn write_not_modified(&self, until: Option<Timestamp>, now: Timestamp, out: &mut Vec<u8>) {
        http1::write_status_line(out, StatusCode::NOT_MODIFIED);
        if let Some(tag) = &self.tag {
            http1::write_field(out, &ETAG, tag);
        }
        if let Some(vary) = &self.vary {
            http1::write_field(out, &VARY, vary);
        }
        write_lifetime(self.told(until), now, out);
    }

    /// Until when clients are told that it is so.
    fn told(&self, until: Option<Timestamp>) -> Option<Timestamp> {
        until.filter(|_| !self.is_check)
    }

    /// The fields of the whole answer; `None`: there is nothing.
    pub(crate) fn fields(&self, until: Option<Timestamp>, now: Timestamp) -> Option<HeaderMap> {
        let tag = self.tag.as_ref()?;
        let mut fields = HeaderMap::with_capacity(6);
        fields.insert(CONTENT_TYPE, self.content_type.clone());
        fields.insert(ETAG, tag.clone());
        if let Some(vary) = &self.vary {
            fields.insert(VARY, vary.clone());
        }
        let lifetime = match self.told(until) {
            None => HeaderValue::from_static("no-cache"),
            Some(until) => HeaderValue::try_from(format!("max-age={}", until.since(now).as_secs()))
                .expect("a word and digits are a field value"),
        };
        fields.insert(CACHE_CONTROL, lifetime);
        Some(fields)
    }

    /// Whether there was anything.
    pub(crate) fn is_there(&self) -> bool {
        self.tag.is_some()
    }
}

/// As long as the key has left in Redis; without an end it may change at any time.
fn write_lifetime(until: Option<Timestamp>, now: Timestamp, out: &mut Vec<u8>) {
    match until {
        None => out.extend_from_slice(b"cache-control: no-cache\r\n"),
        Some(until) => {
            out.extend_from_slice(b"cache-control: max-age=");
            out.extend_from_slice(itoa::Buffer::new().format(until.since(now).as_secs()).as_bytes());
            out.extend_from_slice(b"\r\n");
        }
    }
}
