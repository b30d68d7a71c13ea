//! Prepare: a request on its way to the origin through the cache: it gets what the key holds and nothing more of the
//! parameters, cookies and preferences that the policy leaves out, so that nothing outside the key can change the answer.

use http::HeaderValue;
use http::header::{ACCEPT_ENCODING, ACCEPT_LANGUAGE, COOKIE, HeaderMap, IF_RANGE, RANGE};
use message::{Fields, Request};
use plan::CachePolicy;

/// Changes the request's target and fields. To be called after its key was made.
pub(crate) fn prepare(request: &mut Request, policy: &CachePolicy) {
    let key = &policy.key;
    let mut kept = String::new();
    let target = key.query.target(&request.target, &mut kept);
    if *target != *request.target {
        request.parts_mut().target = target.into();
    }
    if let Some(names) = &key.cookies {
        keep_cookies(&mut request.parts_mut().fields, names);
    }
    if policy.compress.is_some() {
        let fields = &mut request.parts_mut().fields;
        fields.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        drop_dated_range(fields);
    } else if key.fold_encodings {
        let folded = rules::encoding::fold(Fields::Map(&request.fields)).clone();
        request.parts_mut().fields.insert(ACCEPT_ENCODING, folded);
    }
    if let Some(known) = &key.fold_languages
        && let Some(language) = rules::language::fold(Fields::Map(&request.fields), known).cloned()
    {
        request.parts_mut().fields.insert(ACCEPT_LANGUAGE, language);
    }
}

/// Entity tags of compressed forms are ours: the origin knows its own only.
pub(crate) fn restore_tags(request: &mut Request, policy: &CachePolicy) {
    if policy.compress.is_some() {
        rules::etag::forward_without_encoding(&mut request.parts_mut().fields);
    }
}

/// Has it ask for all of the answer, whatever the client has: what is shared is not copied for nothing.
pub(crate) fn remove_conditions(request: &mut Request) {
    if rules::validate::has_conditions(&request.fields) {
        rules::validate::remove_conditions(&mut request.parts_mut().fields);
    }
}

/// A date does not tell compressed content from plain, so a range that depends on one gets the whole (RFC 9110 §13.1.5).
fn drop_dated_range(fields: &mut HeaderMap) {
    let is_tag =
        |line: &HeaderValue| line.as_bytes().starts_with(b"\"") || line.as_bytes().starts_with(b"W/");
    if fields.get(IF_RANGE).is_some_and(|line| !is_tag(line)) {
        fields.remove(IF_RANGE);
        fields.remove(RANGE);
    }
}

/// Of each cookie the first, as the key has it.
fn keep_cookies(fields: &mut HeaderMap, names: &[String]) {
    if !fields.contains_key(COOKIE) {
        return;
    }
    let mut line = Vec::new();
    for name in names {
        if let Some(value) = crate::key::keying::cookie(Fields::Map(fields), name) {
            if !line.is_empty() {
                line.extend_from_slice(b"; ");
            }
            line.extend([name.as_bytes(), b"=", value].concat());
        }
    }
    fields.remove(COOKIE);
    if !line.is_empty() {
        let line = HeaderValue::from_bytes(&line).expect("a part of a field value is a field value");
        fields.insert(COOKIE, line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_keyed_cookies_go_on() {
        for (line, expected) in [
            ("a=1; b=2; c=3", Some("c=3; a=1")),
            ("b=2", None),
            ("a=1;a=2", Some("a=1")),
            ("c; a=", Some("a=")),
            ("", None),
        ] {
            let mut fields = HeaderMap::new();
            fields.insert(COOKIE, HeaderValue::from_static(line));
            keep_cookies(&mut fields, &["c".to_owned(), "a".to_owned()]);
            assert_eq!(fields.get(COOKIE).map(|line| line.to_str().unwrap()), expected, "{line}");
        }
    }
}
