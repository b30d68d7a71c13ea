//! Caching: what a cache policy means.

use expression::{Expression, Template};
use http::header::{HeaderName, HeaderValue};
use rules::{Encoding, QueryKey};

/// How the cache treats the answers of a route.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "switches of the language that have nothing to do with each other"
)]
pub struct CachePolicy {
    /// The policy's name in the file, for logs.
    pub name: String,
    /// What may be stored and reused, for how long.
    pub rules: rules::Policy,
    /// What a stored answer is found by.
    pub key: KeyPolicy,
    /// Requests that go past the cache: nothing is read, nothing stored.
    pub bypass: Conditions,
    /// Requests of somebody who is logged in: nothing is read, nothing stored.
    pub skip_for: Conditions,
    /// Who an answer is for: part of the key, and `user:` and this are the entry's tag. Answers that are for one user
    /// alone may then be stored.
    pub per: Option<Template>,
    /// The share of a lifetime, from 0 to 1, taken off at random, so that what was stored together does not go stale
    /// together.
    pub jitter: Option<f64>,
    /// The last share of a lifetime, from 0 to 1, in which a hot entry is refreshed before it goes stale.
    pub early: Option<f64>,
    /// Requests with content that are answered from the cache.
    pub body_keys: BodyKeys,
    /// Answers are stored once and compressed for those who accept it.
    pub compress: Option<Compress>,
    /// The answer's fields that hold its tags, besides `Cache-Groups`. They are not sent to clients.
    pub tags: Vec<HeaderName>,
    /// How `Cache-Status` is written.
    pub status_form: StatusForm,
    /// Bytes of an answer's content; longer ones stream past the cache.
    pub max_body: u64,
    /// Variants kept per key; one more pushes the oldest out.
    pub max_variants: usize,
    /// Whether answers are shared with other instances through [`Plan::tier`](crate::Plan::tier).
    pub shared: bool,
    /// Whether simultaneous misses of one key share one fetch.
    pub coalesce: bool,
    /// What of all this is looked up by name in a request.
    pub counted: Counted,
    /// Whether the tags of a response go no further than here. Not where another cache stands around this one, which wants
    /// to know them too.
    pub strips_tags: bool,
    /// Whether the route lets only some requests in, so that not all who know a URL may have its answer.
    pub is_gated: bool,
}

/// Names in a request by which a policy finds its answer, or that make the answer another one: a request that has one of
/// them in a spelling which only some servers read must get neither past the policy nor into what others share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    fields: Vec<HeaderName>,
    /// Bit `n`: a name of `n` bytes is among them, so that most fields of a request need no comparison.
    lengths: u64,
    cookies: Vec<String>,
}

impl Counted {
    /// Those of a policy. Names in `bypass` and `skip_for` themselves are not among them: there it is enough that
    /// something alike is there.
    pub fn of(policy: &CachePolicy) -> Self {
        let key = &policy.key;
        let mut fields = key.headers.clone();
        if key.fold_encodings || policy.compress.is_some() {
            fields.push(http::header::ACCEPT_ENCODING);
        }
        if key.fold_languages.is_some() {
            fields.push(http::header::ACCEPT_LANGUAGE);
        }
        let mut cookies = Vec::new();
        for template in key.by.iter().chain(&policy.per) {
            fields.extend(template.fields());
            cookies.extend(template.cookies().map(str::to_owned));
        }
        for condition in policy.bypass.all().iter().chain(policy.skip_for.all()) {
            if let Condition::Holds(expression) = condition {
                fields.extend(expression.fields());
                cookies.extend(expression.cookies().map(str::to_owned));
            }
        }
        let lengths = fields.iter().fold(0, |lengths, name| lengths | 1 << name.as_str().len().min(63));
        Counted { fields, lengths, cookies }
    }

    /// Whether a field of this name is none of them and may be taken for one. Most names cost one shift.
    pub fn is_taken_for_one(&self, field: &[u8]) -> bool {
        self.lengths >> field.len().min(63) & 1 == 1
            && self.fields.iter().any(|name| {
                let name = name.as_str();
                rules::alike::field(field, name) && !field.eq_ignore_ascii_case(name.as_bytes())
            })
    }

    /// Cookies, by name.
    pub fn cookies(&self) -> &[String] {
        &self.cookies
    }
}

impl Default for CachePolicy {
    fn default() -> Self {
        CachePolicy {
            name: "default".to_owned(),
            rules: rules::Policy::default(),
            key: KeyPolicy::default(),
            bypass: Conditions::default(),
            skip_for: Conditions::default(),
            per: None,
            jitter: None,
            early: None,
            body_keys: BodyKeys::default(),
            compress: None,
            tags: vec![HeaderName::from_static("cache-tag"), HeaderName::from_static("surrogate-key")],
            status_form: StatusForm::default(),
            max_body: 8 * 1024 * 1024,
            max_variants: 16,
            shared: false,
            coalesce: true,
            counted: Counted::default(),
            strips_tags: true,
            is_gated: false,
        }
    }
}

/// What a stored answer is found by, besides its path.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "switches of the language that have nothing to do with each other"
)]
pub struct KeyPolicy {
    /// Whether `http` and `https` have answers of their own.
    pub scheme: bool,
    /// Whether each host has answers of its own.
    pub host: bool,
    /// Which parameters count. The others are not sent to the origin either.
    pub query: QueryKey,
    /// Whether `No-Vary-Search` in answers is obeyed.
    pub no_vary_search: bool,
    /// Whether fields that an answer repeats without naming them in `Vary` are taken for named.
    pub reflected: bool,
    /// Request fields that count.
    pub headers: Vec<HeaderName>,
    /// Cookies that count; the others are not sent to the origin. `None`: none count and all are sent.
    pub cookies: Option<Vec<String>>,
    /// Whatever else counts.
    pub by: Option<Template>,
    /// Whether `Accept-Encoding` is folded into the eight classes of `rules::encoding::fold`.
    pub fold_encodings: bool,
    /// The languages that `Accept-Language` is folded into, the first for those who ask for none of them.
    pub fold_languages: Option<Vec<HeaderValue>>,
    /// Whether it is for calls of a compose: nothing that clients ask for themselves may have the same key, whatever
    /// host and path they name; nor a call of another source.
    pub is_step: bool,
    /// Whether it stands on a source: whatever else is cached on the way there has keys of its own.
    pub is_of_source: bool,
}

impl Default for KeyPolicy {
    fn default() -> Self {
        KeyPolicy {
            scheme: true,
            host: true,
            query: QueryKey::default(),
            no_vary_search: true,
            reflected: true,
            headers: Vec::new(),
            cookies: None,
            by: None,
            fold_encodings: false,
            fold_languages: None,
            is_step: false,
            is_of_source: false,
        }
    }
}

/// What is looked for in a request; one of them is enough.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditions {
    any: Vec<Condition>,
    /// Bit `n`: a field name of `n` bytes is among them, so that most fields of a request need no comparison.
    lengths: u64,
    has_cookies: bool,
    has_expressions: bool,
    reads_content: bool,
}

/// One of [`Conditions`].
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// The field is there, whatever its value.
    Header(HeaderName),
    /// The cookie is there, whatever its value.
    Cookie(String),
    /// The expression holds.
    Holds(Expression),
}

impl Condition {
    /// Whether it asks about the content of a request, which is the only value beside it here.
    pub fn reads_content(&self) -> bool {
        matches!(self, Condition::Holds(expression) if expression.values().next().is_some())
    }
}

impl Conditions {
    /// Any of these.
    pub fn new(any: Vec<Condition>) -> Self {
        let lengths = any.iter().fold(0, |lengths, condition| match condition {
            Condition::Header(name) => lengths | 1 << name.as_str().len().min(63),
            Condition::Cookie(_) | Condition::Holds(_) => lengths,
        });
        let has_cookies = any.iter().any(|condition| matches!(condition, Condition::Cookie(_)));
        let has_expressions = any.iter().any(|condition| matches!(condition, Condition::Holds(_)));
        let reads_content = any.iter().any(Condition::reads_content);
        Conditions { any, lengths, has_cookies, has_expressions, reads_content }
    }

    /// All of them.
    pub fn all(&self) -> &[Condition] {
        &self.any
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.any.is_empty()
    }

    /// Whether a field of this name is among them, or may be taken for one that is. Most names cost one shift.
    pub fn names(&self, field: &[u8]) -> bool {
        self.lengths >> field.len().min(63) & 1 == 1
            && self.any.iter().any(|condition| {
                matches!(condition, Condition::Header(name) if rules::alike::field(field, name.as_str()))
            })
    }

    /// Whether `Cookie` has to be looked into.
    pub fn has_cookies(&self) -> bool {
        self.has_cookies
    }

    /// Whether one of them asks about the content of a request.
    pub fn reads_content(&self) -> bool {
        self.reads_content
    }

    /// Whether expressions have to be evaluated.
    pub fn has_expressions(&self) -> bool {
        self.has_expressions
    }
}

/// Requests with content that are answered from the cache, by method, target, content type and the whole content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyKeys {
    /// `QUERY`, which only reads (RFC 10008).
    pub query: bool,
    /// `POST`, for APIs whose POST on this route only reads.
    pub post: bool,
    /// `POST` whose content is a GraphQL query, and no other.
    pub graphql: bool,
    /// Bytes of content; requests with more go past the cache.
    pub max: u64,
}

impl Default for BodyKeys {
    fn default() -> Self {
        BodyKeys { query: true, post: false, graphql: false, max: 16 * 1024 }
    }
}

/// What is compressed, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compress {
    /// By preference, where a client likes several alike.
    pub encodings: Vec<Encoding>,
    /// Content types, `text/*` for all of one kind; lower case, without parameters.
    pub types: Vec<String>,
    /// Bytes from which on it is worth it.
    pub least: u64,
}

/// How `Cache-Status` is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StatusForm {
    /// The structured field of RFC 9211.
    #[default]
    Field,
    /// One word, as Cloud CDN writes it: `hit`, `miss`, `stale`, `revalidated`, `uncacheable`; and `Cache-ID`.
    Word,
    /// Not at all.
    Off,
}
