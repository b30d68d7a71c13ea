//! Headers: the layer that changes header fields: those of a request on its way down, and those of its response on its way up,
//! also where that is made of an error in the end. Responses that are at hand are changed where they stand: in the lines that
//! are about to go out.
//!
//! What is at hand is found by the request as the client sent it, so a layer that changes requests lets nothing be at hand
//! behind it: the cache is asked on the longer way, with the request as it is then.

use std::cell::RefCell;
use std::sync::Arc;

use expression::Context;
use http::header::VARY;
use http::{HeaderMap, HeaderName, HeaderValue};
use message::{
    Ask, FieldEdit, FieldPattern, HeadFields, Request, RequestView, Response, ResponseView, Result, Trip,
};
use plan::{Field, FieldEdits, FieldText};
use rules::alike;
use rules::vary::Vary;

use crate::stack::around::{Arrival, Held};
use crate::stack::at_hand::Fresh;

/// See the module. One for each place and core.
#[derive(Clone, Debug)]
pub struct HeadersLayer {
    /// What is changed.
    pub headers: Arc<plan::Headers>,
    /// What the route calls the segments of its path.
    pub names: Arc<[Option<Box<str>>]>,
}

/// What is kept for the response while a call is under way.
pub(crate) struct HeldHeaders {
    layer: HeadersLayer,
    /// The request as it came, where values of the response read it.
    request: Option<Request>,
    /// Whether a client gets the response, and no step.
    is_clients: bool,
}

impl HeadersLayer {
    /// Whether requests are changed.
    pub(crate) fn changes_requests(&self) -> bool {
        !self.headers.request.is_empty()
    }

    /// Changes the request.
    pub(crate) fn arrive<Q: Ask>(&self, ask: &mut Q) -> Arrival<Q::Answer> {
        let Some(request) = ask.request_mut() else { return Arrival::Pass };
        let plan::Headers { request: down, response: up, .. } = &*self.headers;
        let is_clients = request.on_behalf.is_none();
        let is_read_later = up.made().any(expression::Template::reads_request);
        let kept = is_read_later.then(|| request.head_only());
        let edits = bound(down, &Context::of_request(&request.view(), self.names(is_clients)));
        edit_request(&edits, request);
        if up.is_empty() && down.made().next().is_none() {
            return Arrival::Pass;
        }
        let held = HeldHeaders { layer: self.clone(), request: kept, is_clients };
        Arrival::Hold(Held::Headers(Box::new(held)))
    }

    /// A step's request is its own: equal calls of several clients are made once.
    fn names(&self, is_clients: bool) -> &[Option<Box<str>>] {
        if is_clients { &self.names } else { &[] }
    }

    /// Changes the lines of a response that is at hand, from `start` on. Values are written into `scratch` first, since they may
    /// read what is taken out.
    pub(crate) fn edit_lines(
        &self,
        request: &RequestView<'_>,
        fresh: &Fresh,
        start: usize,
        scratch: &RefCell<Vec<u8>>,
        out: &mut Vec<u8>,
    ) {
        let edits = &self.headers.response;
        let mut added = scratch.borrow_mut();
        added.clear();
        let fields = HeadFields::Lines(&out[start..]);
        let response = ResponseView { status: fresh.status, fields, cache: fresh.cache };
        let context = Context { response: Some(&response), ..Context::of_request(request, &self.names) };
        edits.fields().for_each(|field| write_line(field, &context, &mut added));
        let is_set = |name: &[u8]| {
            edits.set.iter().any(|field| name.eq_ignore_ascii_case(field.name.as_str().as_bytes()))
        };
        remove_lines(start, out, |name| edits.remove.iter().any(|it| it.matches(name)) || is_set(name));
        out.extend_from_slice(&added);
    }
}

impl HeldHeaders {
    /// Changes the response, or what will become one.
    pub(crate) fn end<Q: Ask>(self, outcome: &mut Result<Q::Answer>, trip: &Trip) {
        match outcome {
            Ok(answer) => {
                if let Some(response) = Q::response_mut(answer) {
                    self.layer.vary(&mut response.fields);
                    self.bound(response, trip).iter().for_each(|edit| edit.apply(&mut response.fields));
                }
            }
            Err(error) if self.is_clients => {
                let response = response::failure(error, response::Form::Plain);
                error.edit(self.bound(&response, trip));
            }
            Err(_) => {}
        }
    }

    fn bound(&self, response: &Response, trip: &Trip) -> Vec<FieldEdit> {
        let fields = HeadFields::Map(&response.fields);
        let view = ResponseView { status: response.status, fields, cache: trip.cache };
        let (edits, response) = (&self.layer.headers.response, Some(&view));
        let names = self.layer.names(self.is_clients);
        match &self.request {
            Some(request) => {
                bound(edits, &Context { response, ..Context::of_request(&request.view(), names) })
            }
            // No value reads it.
            None => bound(edits, &Context { response, ..Context::of_request(&NOTHING, names) }),
        }
    }
}

impl HeadersLayer {
    /// A response that varies by a field which is made of others varies by those.
    fn vary(&self, fields: &mut HeaderMap) {
        let vary = Vary::of(fields);
        let made = self.headers.request.fields().filter(|field| vary.names().contains(&field.name));
        for value in made.filter_map(|field| field.value.made()) {
            if value.reads_client() {
                fields.append(VARY, HeaderValue::from_static("*"));
            }
            for name in value.fields() {
                fields.append(VARY, name.into());
            }
        }
    }
}

/// A request that no value reads.
const NOTHING: RequestView<'static> = RequestView {
    method: &http::Method::GET,
    scheme: message::Scheme::Http,
    authority: "",
    target: "/",
    fields: message::Fields::Wire(&[]),
    client: None,
};

/// The changes, with their values made.
fn bound(edits: &FieldEdits, context: &Context<'_>) -> Vec<FieldEdit> {
    let removed = edits.remove.iter().cloned().map(FieldEdit::Remove);
    let replaced = edits.set.iter().map(|field| FieldEdit::Remove(FieldPattern::Name(field.name.clone())));
    let added = edits.fields().filter_map(|field| {
        let value = value(&field.value, context)?;
        Some(FieldEdit::Add(field.name.clone(), value))
    });
    removed.chain(replaced).chain(added).collect()
}

/// The value of a field; `None`: there is none, or none that a field may have (RFC 9110 §5.5).
pub(crate) fn value(text: &FieldText, context: &Context<'_>) -> Option<HeaderValue> {
    match text {
        FieldText::Constant(value) => Some(value.clone()),
        FieldText::Made(template) => {
            let mut value = Vec::new();
            template.write(context, &mut value).then(|| HeaderValue::from_bytes(&value).ok()).flatten()
        }
    }
}

/// Appends a field as a whole line; nothing where it has no value.
fn write_line(field: &Field, context: &Context<'_>, out: &mut Vec<u8>) {
    let before = out.len();
    out.extend_from_slice(field.name.as_str().as_bytes());
    out.extend_from_slice(b": ");
    let start = out.len();
    let is_there = match &field.value {
        FieldText::Constant(value) => {
            out.extend_from_slice(value.as_bytes());
            true
        }
        FieldText::Made(template) => template.write(context, out) && is_value(&out[start..]),
    };
    if is_there {
        out.extend_from_slice(b"\r\n");
    } else {
        out.truncate(before);
    }
}

/// As [`HeaderValue::from_bytes`] says it.
fn is_value(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == b'\t' || (byte >= b' ' && byte != 0x7f))
}

/// Takes the lines from `start` on out whose names are meant. The status line is none.
pub(crate) fn remove_lines(start: usize, out: &mut Vec<u8>, is_meant: impl Fn(&[u8]) -> bool) {
    let (mut kept, mut at) = (start, start);
    while at < out.len() {
        let end =
            out[at..].iter().position(|byte| *byte == b'\n').map_or(out.len(), |length| at + length + 1);
        let name = out[at..end].iter().position(|byte| *byte == b':').map(|colon| &out[at..at + colon]);
        if !name.is_some_and(&is_meant) {
            out.copy_within(at..end, kept);
            kept += end - at;
        }
        at = end;
    }
    out.truncate(kept);
}

/// Changes the fields of a request so that its client can neither have one taken off again, by naming it in `Connection`, nor get round one by
/// another spelling.
pub(crate) fn edit_request(edits: &[FieldEdit], request: &mut Request) {
    for edit in edits {
        let fields = &mut request.parts_mut().fields;
        match edit {
            FieldEdit::Remove(pattern) => remove_alike(pattern, fields),
            FieldEdit::Add(name, _) => rules::hop_by_hop::keep(fields, name),
        }
        edit.apply(fields);
    }
}

/// Sets a field of a request in place of all of this name and of all that some servers take for it. Its client cannot have it
/// taken off again.
pub(crate) fn set_field(fields: &mut HeaderMap, name: &HeaderName, value: HeaderValue) {
    rules::hop_by_hop::keep(fields, name);
    remove_alike(&FieldPattern::Name(name.clone()), fields);
    fields.insert(name, value);
}

/// Takes out what some servers take for the fields that are meant (`X_Tenant` for `X-Tenant`): nobody gets round what is
/// written here by another spelling.
fn remove_alike(pattern: &FieldPattern, fields: &mut HeaderMap) {
    let wanted = match pattern {
        FieldPattern::Name(name) => name.as_str(),
        FieldPattern::Prefix(prefix) => prefix,
    };
    let is_meant = |name: &&HeaderName| {
        // Beside `content_*` stands what frames the message.
        if message::is_framing(name.as_str()) {
            return false;
        }
        let name = name.as_str().as_bytes();
        let begins = match pattern {
            FieldPattern::Name(_) => Some(name),
            FieldPattern::Prefix(_) => name.get(..wanted.len()),
        };
        begins.is_some_and(|begins| {
            alike::field(begins, wanted) && !begins.eq_ignore_ascii_case(wanted.as_bytes())
        })
    };
    let found: Vec<HeaderName> = fields.keys().filter(is_meant).cloned().collect();
    for name in found {
        fields.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_out_where_they_stand() {
        let mut out = b"before: 1\r\nHTTP/1.1 200 OK\r\na: 1\r\nB: 2\r\nb:3\r\nbc: 4\r\n".to_vec();
        remove_lines(11, &mut out, |name| name.eq_ignore_ascii_case(b"b") || name == b"before");
        assert_eq!(str::from_utf8(&out).unwrap(), "before: 1\r\nHTTP/1.1 200 OK\r\na: 1\r\nbc: 4\r\n");
        remove_lines(11, &mut out, |_| true);
        assert_eq!(str::from_utf8(&out).unwrap(), "before: 1\r\nHTTP/1.1 200 OK\r\n");
    }

    #[test]
    fn a_value_is_one_by_both_ways() {
        for byte in 0..=255_u8 {
            let bytes = [b'a', byte];
            assert_eq!(is_value(&bytes), HeaderValue::from_bytes(&bytes).is_ok(), "{byte}");
        }
    }

    #[test]
    fn other_spellings_of_what_is_taken_out_go_too() {
        let mut fields = HeaderMap::new();
        for name in ["x_tenant", "x-tenant", "x-tenant-b", "x_tenant_c", "x-tenan"] {
            fields.append(name, HeaderValue::from_static("1"));
        }
        remove_alike(&FieldPattern::Name(HeaderName::from_static("x-tenant")), &mut fields);
        assert!(!fields.contains_key("x_tenant") && fields.len() == 4);
        remove_alike(&FieldPattern::Prefix("x-tenant-".into()), &mut fields);
        assert!(!fields.contains_key("x_tenant_c") && fields.len() == 3);
        fields.insert("content-length", HeaderValue::from_static("1"));
        remove_alike(&FieldPattern::Prefix("content_".into()), &mut fields);
        assert_eq!(fields.len(), 4, "it frames the message");
    }
}
