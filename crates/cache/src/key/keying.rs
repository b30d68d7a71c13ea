//! Keying: a request and its policy → the key its answer is stored under.
//!
//! Called for every request of a cached route, also on the way of a fresh hit: a policy that names nothing costs a few
//! branches, and one that does writes into a [`Scratch`] that its core keeps.
//!
//! What is not scheme, authority or target stands behind them as pieces, each with its name and the lengths of both, so
//! that after a reload a value of one field cannot be taken for that of another.

use std::fmt::Write;

use expression::Context;
use http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, COOKIE, HeaderName};
use message::{Fields, RequestView, Scheme};
use plan::{CachePolicy, KeyPolicy};
use rules::NoVarySearch;

use crate::key::KeyView;
use crate::key::learned::Learned;

/// What a core makes keys in. Kept between requests, so that it need not grow again.
#[derive(Debug, Default)]
pub struct Scratch {
    target: String,
    searched: String,
    also: String,
    value: Vec<u8>,
}

/// A request on a cached route.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// The request.
    pub request: &'a RequestView<'a>,
    /// The route's policy.
    pub policy: &'a CachePolicy,
    /// What the route calls the segments of its path.
    pub names: &'a [Option<Box<str>>],
    /// The name of the route's source.
    pub source: &'a str,
}

/// A request's key, and whether it names the user.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keyed<'s> {
    pub(crate) key: KeyView<'s>,
    /// Its answers are for one user alone.
    pub(crate) personal: bool,
}

/// The name of the piece that holds what `per` says.
pub(crate) const USER: &str = "user";

impl<'a> Look<'a> {
    /// What expressions may ask about.
    pub(crate) fn context(&self) -> Context<'a> {
        Context::of_request(self.request, self.names)
    }

    /// The key. `content`: the request's, where it is part of the key.
    pub(crate) fn key<'s>(
        &self,
        learned: &Learned,
        content: Option<&[u8]>,
        scratch: &'s mut Scratch,
    ) -> Keyed<'s>
    where
        'a: 's,
    {
        let policy = &self.policy.key;
        let Scratch { target: kept, searched, also, value } = scratch;
        also.clear();
        let mut target = self.request.target;
        if !policy.query.keeps_all() {
            target = policy.query.target(target, kept);
        }
        if policy.no_vary_search
            && let Some(rule) = learned.find(self.request.authority, target)
        {
            also.push_str(&rule.piece);
            target = rule.rule.target(target, searched);
        }
        if !policy.host {
            // Hosts do not matter among those that one source answers for.
            push_piece(also, ["source", ""], Some(self.source.as_bytes()));
        }
        self.push_named(policy, also, value);
        let personal = self.push_user(also, value);
        if let Some(content) = content {
            self.push_content(content, also, value);
        }
        let key = KeyView {
            scheme: if policy.scheme { self.request.scheme } else { Scheme::Http },
            authority: if policy.host { self.request.authority } else { "" },
            target,
            also,
        };
        Keyed { key, personal }
    }

    /// Fields, cookies and classes that count.
    fn push_named(&self, policy: &KeyPolicy, also: &mut String, value: &mut Vec<u8>) {
        let fields = self.request.fields;
        if policy.is_step {
            push_piece(also, ["step", ""], Some(self.source.as_bytes()));
        }
        if policy.is_of_source {
            push_piece(also, ["of source", ""], Some(self.source.as_bytes()));
        }
        for name in &policy.headers {
            push_field(also, fields, name, value);
        }
        if let Some(names) = &policy.cookies {
            // Also where none counts: with another policy all cookies might have reached the origin.
            push_piece(also, ["cookies", ""], None);
            for name in names {
                push_piece(also, ["cookie ", name], cookie(fields, name));
            }
        }
        if let Some(template) = &policy.by {
            value.clear();
            let there = template.write(&self.context(), value);
            push_piece(also, ["by ", template.text()], there.then_some(value));
            // Whoever only claims what somebody else is has a credential of their own.
            if template.reads_claims() && self.policy.per.is_none() {
                push_field(also, fields, &AUTHORIZATION, value);
            }
        }
        // Compressed answers are made here, from one that is asked for without any coding.
        if policy.fold_encodings && self.policy.compress.is_none() {
            push_piece(also, ["accept-encoding", ""], Some(rules::encoding::fold(fields).as_bytes()));
        }
        if let Some(known) = &policy.fold_languages {
            let language = rules::language::fold(fields, known).map(http::HeaderValue::as_bytes);
            push_piece(also, ["accept-language", ""], language);
        }
    }

    /// Who it is for. The credential is part of the key beside the name it claims: whoever only claims another's name
    /// has another key.
    fn push_user(&self, also: &mut String, value: &mut Vec<u8>) -> bool {
        let Some(per) = &self.policy.per else { return false };
        value.clear();
        // An empty name is nobody's.
        if !per.write(&self.context(), value) || value.is_empty() {
            return false;
        }
        push_piece(also, [USER, ""], Some(value));
        push_piece(also, ["per ", per.text()], Some(b""));
        if self.request.fields.has(&AUTHORIZATION) {
            push_field(also, self.request.fields, &AUTHORIZATION, value);
        }
        true
    }

    fn push_content(&self, content: &[u8], also: &mut String, value: &mut Vec<u8>) {
        push_piece(also, ["method", ""], Some(self.request.method.as_str().as_bytes()));
        for name in [&CONTENT_TYPE, &CONTENT_ENCODING] {
            push_field(also, self.request.fields, name, value);
        }
        push_piece(also, ["content", ""], Some(content));
    }
}

const RULE: &str = "no-vary-search";

/// Which rule of an answer made the target what it is: the first piece.
pub(crate) fn rule_piece(rule: &NoVarySearch) -> String {
    let mut piece = String::new();
    push_piece(&mut piece, [RULE, ""], Some(format!("{:x}", rule.fingerprint()).as_bytes()));
    piece
}

/// The pieces without that one.
pub(crate) fn without_rule(also: &str) -> &str {
    let mut pieces = Pieces(also);
    match pieces.next() {
        Some((RULE, _)) => pieces.0,
        _ => also,
    }
}

/// All lines of a field, each with its length, since two lines are not one line with a comma.
fn push_field(also: &mut String, fields: Fields<'_>, name: &HeaderName, value: &mut Vec<u8>) {
    let mut lines = fields.all(name);
    match (lines.next(), lines.next()) {
        (line, None) => push_piece(also, ["header ", name.as_str()], line),
        (Some(first), Some(second)) => {
            value.clear();
            for line in [first, second].into_iter().chain(lines) {
                // Writing to a Vec cannot fail.
                let _ = std::io::Write::write_fmt(value, format_args!("{}:", line.len()));
                value.extend_from_slice(line);
            }
            push_piece(also, ["lines of ", name.as_str()], Some(value));
        }
        (None, Some(_)) => {}
    }
}

/// The value of a cookie, where there is one of that name; of several the first, as most servers read it.
pub(crate) fn cookie<'a>(fields: Fields<'a>, name: &str) -> Option<&'a [u8]> {
    fields
        .all(&COOKIE)
        .flat_map(|line| line.split(|byte| *byte == b';'))
        .find_map(|pair| pair.trim_ascii().strip_prefix(name.as_bytes())?.strip_prefix(b"="))
}

/// Name and value with their lengths, a missing value as `-`. Bytes above 127 become the characters of Latin-1, so that
/// keys are text and no two values become one.
fn push_piece(also: &mut String, [kind, name]: [&str; 2], value: Option<&[u8]>) {
    // Writing to a String cannot fail.
    let _ = write!(also, "{}:{kind}{name}", kind.len() + name.len());
    let Some(value) = value else { return also.push('-') };
    let length = value.len() + value.iter().filter(|byte| !byte.is_ascii()).count();
    let _ = write!(also, "{length}:");
    match std::str::from_utf8(value) {
        Ok(text) if text.is_ascii() => also.push_str(text),
        _ => also.extend(value.iter().copied().map(char::from)),
    }
}

/// The pieces behind a key's target: names and values.
#[derive(Clone, Debug)]
pub struct Pieces<'a>(&'a str);

impl<'a> Pieces<'a> {
    pub(crate) fn of(also: &'a str) -> Self {
        Pieces(also)
    }

    fn counted(&mut self) -> Option<&'a str> {
        let (length, rest) = self.0.split_once(':')?;
        let (text, rest) = rest.split_at_checked(length.parse().ok()?)?;
        self.0 = rest;
        Some(text)
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = (&'a str, Option<&'a str>);

    fn next(&mut self) -> Option<Self::Item> {
        let name = self.counted()?;
        match self.0.strip_prefix('-') {
            Some(rest) => {
                self.0 = rest;
                Some((name, None))
            }
            None => Some((name, Some(self.counted()?))),
        }
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue, Method};
    use proptest::prelude::*;

    use super::*;

    fn key_of(policy: &CachePolicy, target: &str, lines: &[(&'static str, Vec<u8>)]) -> crate::Key {
        let mut fields = HeaderMap::new();
        for (name, value) in lines {
            fields.append(*name, HeaderValue::from_bytes(value).expect("no control bytes"));
        }
        let request = RequestView {
            method: &Method::GET,
            scheme: Scheme::Https,
            authority: "a.example",
            target,
            fields: Fields::Map(&fields),
            client: None,
        };
        let look = Look { request: &request, policy, names: &[], source: "api" };
        look.key(&Learned::new(), None, &mut Scratch::default()).key.to_key()
    }

    fn by_fields() -> CachePolicy {
        let key = KeyPolicy {
            headers: vec![HeaderName::from_static("x-a"), HeaderName::from_static("x-b")],
            cookies: Some(vec!["c".to_owned()]),
            ..KeyPolicy::default()
        };
        CachePolicy { key, ..CachePolicy::default() }
    }

    #[test]
    fn a_plain_policy_keys_on_the_url_alone() {
        let key = key_of(&CachePolicy::default(), "/x?b=1&a=2", &[("x-a", b"1".to_vec())]);
        assert_eq!(key.view().to_string(), "https://a.example/x?b=1&a=2");
        assert!(key.view().also.is_empty());
    }

    #[test]
    fn scheme_and_host_may_be_left_out() {
        let key = KeyPolicy { scheme: false, host: false, ..KeyPolicy::default() };
        let key = key_of(&CachePolicy { key, ..CachePolicy::default() }, "/x", &[]);
        assert_eq!(key.view().to_string(), "http://*/x source=api");
    }

    #[test]
    fn pieces_can_be_read_again() {
        let lines = [("x-a", b"1:2".to_vec()), ("cookie", b"d=1; c=\xff; c=3".to_vec())];
        let key = key_of(&by_fields(), "/", &lines);
        let pieces: Vec<_> = key.view().pieces().collect();
        assert_eq!(
            pieces,
            [
                ("header x-a", Some("1:2")),
                ("header x-b", None),
                ("cookies", None),
                ("cookie c", Some("\u{ff}"))
            ]
        );
    }

    fn lines() -> impl Strategy<Value = Vec<(&'static str, Vec<u8>)>> {
        let value = prop::collection::vec(prop::sample::select(b"0123:-=ax\xc3\xbf".to_vec()), 0..6);
        prop::collection::vec((prop::sample::select(vec!["x-a", "x-b"]), value), 0..4)
    }

    proptest! {
        /// Whatever values hold: other values, other key.
        #[test]
        fn no_value_looks_like_another(one in lines(), other in lines()) {
            let values = |lines: &[(&'static str, Vec<u8>)], name: &str| {
                lines.iter().filter(|line| line.0 == name).map(|line| line.1.clone()).collect::<Vec<_>>()
            };
            let same = ["x-a", "x-b"].into_iter().all(|name| values(&one, name) == values(&other, name));
            let policy = by_fields();
            prop_assert_eq!(key_of(&policy, "/", &one) == key_of(&policy, "/", &other), same);
        }
    }
}
