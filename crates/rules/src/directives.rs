//! Directives: what `Cache-Control` says in requests and answers (RFC 9111 §5.2), and `Pragma` (§5.4).
//!
//! `cache` reads a request's directives before every reuse, [`Terms::of`](crate::Terms::of) an answer's before storing.

use http::header::{CACHE_CONTROL, HeaderMap, HeaderName, PRAGMA};
use message::Fields;

use crate::cache_control::{self, Argument, Directive};
use crate::{list, targeted};

/// What a request says about caching (RFC 9111 §5.2.1).
#[allow(clippy::struct_excessive_bools)] // each is a directive of its own and any may stand beside any
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestDirectives {
    /// `max-age`, seconds: nothing older. Unreadable values count as 0; of several the smallest counts.
    pub max_age: Option<u32>,
    /// `max-stale`, seconds past freshness that are fine; `u32::MAX`: any number. Unreadable values are ignored; of
    /// several the smallest counts.
    pub max_stale: Option<u32>,
    /// `min-fresh`, seconds of freshness that must be left. Unreadable values are ignored; of several the largest counts.
    pub min_fresh: Option<u32>,
    /// `stale-if-error`, seconds (RFC 5861 §4 allows it in requests too); of several the smallest counts.
    pub stale_if_error: Option<u32>,
    /// `no-cache`, or `Pragma: no-cache` where there is no `Cache-Control`.
    pub no_cache: bool,
    /// `no-store`.
    pub no_store: bool,
    /// `no-transform`.
    pub no_transform: bool,
    /// `only-if-cached`.
    pub only_if_cached: bool,
}

impl RequestDirectives {
    /// Reads a request's fields. One pass over the names and no allocation: this is on the path of every hit.
    pub fn of(fields: Fields<'_>) -> Self {
        let mut directives = RequestDirectives::default();
        let mut has_cache_control = false;
        let mut has_pragma_no_cache = false;
        match fields {
            Fields::Wire(lines) => {
                for line in lines {
                    match line.name.len() {
                        13 if line.name.eq_ignore_ascii_case("cache-control") => {
                            has_cache_control = true;
                            directives.read(line.value);
                        }
                        6 if line.name.eq_ignore_ascii_case("pragma") => {
                            has_pragma_no_cache |= says_no_cache(line.value);
                        }
                        _ => {}
                    }
                }
            }
            Fields::Map(map) => {
                for line in map.get_all(CACHE_CONTROL) {
                    has_cache_control = true;
                    directives.read(line.as_bytes());
                }
                has_pragma_no_cache = map.get_all(PRAGMA).iter().any(|line| says_no_cache(line.as_bytes()));
            }
        }
        directives.no_cache |= has_pragma_no_cache && !has_cache_control;
        directives
    }

    /// Whether nothing at all was said.
    pub fn is_default(&self) -> bool {
        *self == RequestDirectives::default()
    }

    fn read(&mut self, line: &[u8]) {
        for Directive { name, argument, .. } in cache_control::directives(line) {
            let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
            if is("max-age") {
                self.max_age = least(self.max_age, Some(argument.seconds().unwrap_or(0)));
            } else if is("max-stale") {
                let limit = if argument == Argument::None { Some(u32::MAX) } else { argument.seconds() };
                self.max_stale = least(self.max_stale, limit);
            } else if is("min-fresh") {
                self.min_fresh = self.min_fresh.max(argument.seconds());
            } else if is("stale-if-error") {
                self.stale_if_error = least(self.stale_if_error, argument.seconds());
            } else if is("no-cache") {
                self.no_cache = true;
            } else if is("no-store") {
                self.no_store = true;
            } else if is("no-transform") {
                self.no_transform = true;
            } else if is("only-if-cached") {
                self.only_if_cached = true;
            }
        }
    }
}

fn says_no_cache(line: &[u8]) -> bool {
    list::members(line).any(|member| member.eq_ignore_ascii_case(b"no-cache"))
}

fn least(one: Option<u32>, other: Option<u32>) -> Option<u32> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Which fields `private` or `no-cache` is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldList {
    /// The whole answer; also when the list could not be read.
    All,
    /// These fields only: the rest may be stored without them.
    Names(Vec<HeaderName>),
}

impl FieldList {
    /// Reads the argument of `private` or `no-cache`: field names, separated by commas.
    pub(crate) fn parse(names: &[u8]) -> Self {
        let names: Result<Vec<_>, _> = list::members(names).map(HeaderName::from_bytes).collect();
        match names {
            Ok(names) if !names.is_empty() => FieldList::Names(names),
            _ => FieldList::All,
        }
    }

    /// Both together.
    pub(crate) fn add(known: Option<FieldList>, more: FieldList) -> Self {
        match (known, more) {
            (None, more) => more,
            (Some(FieldList::Names(mut names)), FieldList::Names(more)) => {
                names.extend(more);
                FieldList::Names(names)
            }
            _ => FieldList::All,
        }
    }

    /// The names, when it is about some fields only.
    pub fn names(&self) -> &[HeaderName] {
        match self {
            FieldList::All => &[],
            FieldList::Names(names) => names,
        }
    }
}

/// What an answer says about caching (RFC 9111 §5.2.2).
#[allow(clippy::struct_excessive_bools)] // each is a directive of its own and any may stand beside any
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseDirectives {
    /// `public`.
    pub public: bool,
    /// `private`, with the fields it is about.
    pub private: Option<FieldList>,
    /// `no-cache`, with the fields it is about.
    pub no_cache: Option<FieldList>,
    /// `no-store`.
    pub no_store: bool,
    /// `no-transform`.
    pub no_transform: bool,
    /// `must-revalidate`.
    pub must_revalidate: bool,
    /// `proxy-revalidate`.
    pub proxy_revalidate: bool,
    /// `must-understand`.
    pub must_understand: bool,
    /// `immutable` (RFC 8246). A hint for clients: we still honour a client's reload of such an answer.
    pub immutable: bool,
    /// `max-age`, seconds. 0 when unreadable or stated twice with different values (RFC 9111 §4.2.1).
    pub max_age: Option<u32>,
    /// `s-maxage`, seconds, read like `max-age`.
    pub s_maxage: Option<u32>,
    /// `stale-while-revalidate`, seconds (RFC 5861 §3), read like `max-age`.
    pub stale_while_revalidate: Option<u32>,
    /// `stale-if-error`, seconds (RFC 5861 §4), read like `max-age`.
    pub stale_if_error: Option<u32>,
    /// These come from a targeted field, so `Cache-Control` and `Expires` do not count (RFC 9213 §2.2).
    pub targeted: bool,
}

impl ResponseDirectives {
    /// Reads an answer's fields: the first of the targeted ones that is valid and not empty, else `Cache-Control`.
    pub fn of(fields: &HeaderMap, targeted: &[HeaderName]) -> Self {
        if let Some(directives) = targeted.iter().find_map(|name| targeted::read(fields, name)) {
            return directives;
        }
        let mut directives = ResponseDirectives::default();
        for line in fields.get_all(CACHE_CONTROL) {
            directives.read(line.as_bytes());
        }
        directives
    }

    /// Whether the answer as a whole must be validated before each use.
    pub fn always_validate(&self) -> bool {
        self.no_cache == Some(FieldList::All)
    }

    /// Whether the answer as a whole is for one user.
    pub fn all_private(&self) -> bool {
        self.private == Some(FieldList::All)
    }

    /// The fields a shared cache must not reuse, though it may store the rest (RFC 9111 §5.2.2.4, §5.2.2.7).
    pub fn unshared_fields(&self) -> impl Iterator<Item = &HeaderName> {
        [&self.private, &self.no_cache].into_iter().flatten().flat_map(FieldList::names)
    }

    fn read(&mut self, line: &[u8]) {
        for Directive { name, argument, member } in cache_control::directives(line) {
            let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
            if is("max-age") {
                agree(&mut self.max_age, argument);
            } else if is("s-maxage") {
                agree(&mut self.s_maxage, argument);
            } else if is("stale-while-revalidate") {
                agree(&mut self.stale_while_revalidate, argument);
            } else if is("stale-if-error") {
                agree(&mut self.stale_if_error, argument);
            } else if is("private") {
                self.private = Some(FieldList::add(self.private.take(), argument.fields()));
            } else if is("no-cache") {
                self.no_cache = Some(FieldList::add(self.no_cache.take(), argument.fields()));
            } else {
                self.set(name);
            }
            if argument == Argument::Malformed {
                self.restrict(member);
            }
        }
    }

    /// Takes from something unreadable, such as `public; no-store`, at least the words that forbid.
    fn restrict(&mut self, member: &[u8]) {
        for word in member.split(|&byte| !cache_control::is_token_byte(byte)) {
            let is = |known: &str| word.eq_ignore_ascii_case(known.as_bytes());
            if is("no-store") || is("must-revalidate") || is("proxy-revalidate") {
                self.set(word);
            } else if is("private") {
                self.private = Some(FieldList::All);
            } else if is("no-cache") {
                self.no_cache = Some(FieldList::All);
            }
        }
    }

    /// Sets the directive of this name, if it is one without an argument.
    pub(crate) fn set(&mut self, name: &[u8]) {
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        if is("public") {
            self.public = true;
        } else if is("no-store") {
            self.no_store = true;
        } else if is("no-transform") {
            self.no_transform = true;
        } else if is("must-revalidate") {
            self.must_revalidate = true;
        } else if is("proxy-revalidate") {
            self.proxy_revalidate = true;
        } else if is("must-understand") {
            self.must_understand = true;
        } else if is("immutable") {
            self.immutable = true;
        }
    }
}

/// Takes one more value of a directive in seconds. Values that differ, or cannot be read, make 0: RFC 9111 §4.2.1
/// lets us use the first one or consider the answer stale, and stale is the mistake that harms nobody.
fn agree(known: &mut Option<u32>, argument: Argument<'_>) {
    let value = argument.seconds().unwrap_or(0);
    *known = Some(if known.is_none_or(|known| known == value) { value } else { 0 });
}
