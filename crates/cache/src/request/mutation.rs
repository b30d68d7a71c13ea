//! Mutation: a POST that the policy takes for one that reads, and that is no query of GraphQL beyond doubt → whether a
//! mutation may be in it all the same. Called by `answer`, for `body_keys: { methods: [POST] }`.
//!
//! The other side of `graphql`: there a doubt goes past the cache, here everything is looked up but what may be a
//! mutation, in any of the forms that origins take it in: alone, in a list, beside members that nobody knows, as a form, in
//! the URL, by its hash.

use std::borrow::Cow;

use message::RequestView;

use crate::request::graphql::{Extended, extended, operations};

/// One of these is in each document that does more than read.
const WORDS: [&str; 2] = ["mutation", "subscription"];

pub(crate) fn may_change(request: &RequestView<'_>, content: &[u8]) -> bool {
    let in_url = |query: &str| query.split(['&', ';']).any(in_pair);
    request.query().is_some_and(in_url)
        || match json::check(content) {
            Some(json) => json::items(json).map_or_else(|| in_map(json), |mut items| items.any(in_map)),
            None => in_text(content),
        }
}

fn in_map(map: &str) -> bool {
    json::members_as_written(map).into_iter().flatten().any(|(name, value)| {
        let is_query = name.eq_ignore_ascii_case("query");
        let is_extended = name.eq_ignore_ascii_case("extensions") && value != "null";
        is_query && json::text(value).is_some_and(|text| changes(&text))
            || is_extended && !matches!(extended(value), Extended::Otherwise)
    })
}

/// `query=mutation%7B…`
fn in_pair(pair: &str) -> bool {
    let (name, value) = pair.split_once('=').unwrap_or_default();
    unescaped(name.as_bytes()).eq_ignore_ascii_case(b"query")
        && changes(&String::from_utf8_lossy(&unescaped(value.as_bytes())))
}

/// A document alone, a form, parts of one, JSON in another encoding: all that is known of it is its words.
fn in_text(content: &[u8]) -> bool {
    let mut text = unescaped(content).into_owned();
    // Every second byte of UTF-16.
    text.retain(|byte| *byte != 0);
    let text = String::from_utf8_lossy(&text);
    WORDS.iter().any(|word| text.contains(word))
}

/// Whether one of its operations is no query. What does not parse may be anything.
fn changes(document: &str) -> bool {
    WORDS.iter().any(|word| document.contains(word))
        && operations(document).is_none_or(|operations| operations.iter().any(|(_, is_query)| !is_query))
}

/// Of a form, and of a URL.
fn unescaped(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.contains(&b'%') {
        return text.into();
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind.get(..2).filter(|_| *first == b'%').and_then(|two| std::str::from_utf8(two).ok());
        if let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            out.push(byte);
            rest = &behind[2..];
        } else {
            out.push(*first);
            rest = behind;
        }
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, Method};
    use message::{Fields, Scheme};

    use super::*;

    fn of(target: &str, content: &[u8]) -> bool {
        let fields = HeaderMap::new();
        let request = RequestView {
            method: &Method::POST,
            scheme: Scheme::Https,
            authority: "a.example",
            target,
            fields: Fields::Map(&fields),
            client: None,
        };
        may_change(&request, content)
    }

    #[test]
    fn a_mutation_is_found_in_each_form() {
        for content in [
            r#"{"query":"mutation { a }"}"#,
            r#"{"query":"\u006dutation { a }","id":1}"#,
            r#"[{"query":"{ a }"},{"Query":"mutation { a }"}]"#,
            r#"{"query":"query A { a } mutation B { b }"}"#,
            r#"{"query":"mutation { no GraphQL"}"#,
            r#"{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"00"}}}"#,
            "mutation { a }",
            "query=%6dutation%7Ba%7D",
            "--x\r\nContent-Disposition: form-data; name=\"operations\"\r\n\r\n{\"query\":\"mutation { a }\"}\r\n--x--",
            "m\0u\0t\0a\0t\0i\0o\0n\0 \0{\0a\0}\0",
        ] {
            assert!(of("/graphql", content.as_bytes()), "{content}");
        }
        assert!(of("/graphql?a=1&quer%79=mutation%7Ba%7D", b"{}"));
    }

    #[test]
    fn a_search_is_none() {
        for content in [
            "",
            "null",
            "shoes",
            "q=shoes&size=%zz",
            r#"{"q":"mutation"}"#,
            r#"{"query":"shoes","extensions":null}"#,
            r#"{"query":"query A { mutation }"}"#,
            r#"[{"query":"{ a }"},7]"#,
        ] {
            assert!(!of("/search?q=mutation&query=shoes", content.as_bytes()), "{content}");
        }
    }
}
