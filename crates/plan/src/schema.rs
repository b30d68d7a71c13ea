//! Schema: every word of the language, once. The checks find unknown keys with it, and the reference is written from it,
//! so that a word cannot be known to one and unknown to the other.
//!
//! A file below for each part of the language; [`schema`] has them all, from the outside in.

mod cache;
mod compose;
mod file;
mod key;
mod message;
mod policy;
mod redis;
mod route;
mod source;

pub(crate) use cache::{BODY_KEYS, CACHE, COMPRESS, CONDITION};
pub(crate) use compose::{SAVE, SOURCE_SQL, SOURCE_WASM, STEP};
pub(crate) use file::{DISK, FILE, LIMITS, LISTEN, LISTEN_TLS};
pub(crate) use key::{KEY, KEY_QUERY};
pub(crate) use message::{
    CORS, FAULTS, FAULTS_ABORT, FAULTS_CUT, FAULTS_DELAY, HEADERS, HEADERS_FIELDS, REDIRECT, RESPOND, REWRITE,
};
pub(crate) use policy::{
    ACCOUNT, ACCOUNTS, ADAPTIVE, AUTH, AUTH_JWKS, AUTH_JWT, AUTH_KEYS, BASIC_CREDENTIALS, BREAKER,
    CONCURRENCY, CREDENTIALS, HEDGE, LEARN, LIMIT, OAUTH2_CREDENTIALS, POLICY, QUEUE, RETRY, SECRET, SHARED,
    SHARES, SIGNED, TIMEOUT, WASM,
};
pub(crate) use redis::{SOURCE_REDIS, SOURCE_REDIS_TIER, SOURCE_STORE};
pub(crate) use route::{INVALIDATE, READ, ROUTE};
pub(crate) use source::{SOURCE, SOURCE_HEALTH, SOURCE_TIMEOUT, SOURCE_TLS};

/// The keys of one mapping.
#[derive(Debug)]
pub struct Section {
    /// Where it stands: `listen.tls`, `sources.<name>`; empty for the file itself.
    pub path: &'static str,
    /// What it is for.
    pub meaning: &'static str,
    /// A whole example.
    pub example: &'static str,
    /// Its keys.
    pub words: &'static [Word],
    /// Keys of later versions: refused with a word about it, not called unknown.
    pub later: &'static [&'static str],
}

/// One key.
#[derive(Debug)]
pub struct Word {
    /// As it is written.
    pub name: &'static str,
    /// What may stand behind it.
    pub form: &'static str,
    /// What holds when it is left out, as it would be written; `None`: nothing, or it must be there.
    pub default: Option<&'static str>,
    /// What it does.
    pub meaning: &'static str,
    /// More about it, for a control that needs more than a line.
    pub more: Option<More>,
}

/// What is told about a control below the table of its section.
#[derive(Debug)]
pub struct More {
    /// When to use it, what it does not do, what it is called elsewhere. Markdown.
    pub paragraph: &'static str,
    /// Keys of the word's section, the word among them.
    pub example: &'static str,
}

/// The form of a word that holds a secret.
pub(crate) const SECRET_FORM: &str = "secret";

/// Of each source, whatever it is.
const USE: Word = word(
    "use",
    "name of a policy, or list",
    None,
    "What wraps every call to this source, wherever it comes from.",
);

const fn word(
    name: &'static str,
    form: &'static str,
    default: Option<&'static str>,
    meaning: &'static str,
) -> Word {
    Word { name, form, default, meaning, more: None }
}

impl Word {
    /// The same with a paragraph and an example.
    const fn told(self, paragraph: &'static str, example: &'static str) -> Word {
        Word {
            name: self.name,
            form: self.form,
            default: self.default,
            meaning: self.meaning,
            more: Some(More { paragraph, example }),
        }
    }
}

static SECTIONS: &[&Section] = &[
    &FILE,
    &LISTEN,
    &LISTEN_TLS,
    &LIMITS,
    &DISK,
    &SOURCE,
    &SOURCE_HEALTH,
    &SOURCE_TLS,
    &SOURCE_TIMEOUT,
    &SOURCE_REDIS,
    &SOURCE_REDIS_TIER,
    &SOURCE_STORE,
    &SOURCE_SQL,
    &SOURCE_WASM,
    &POLICY,
    &CACHE,
    &KEY,
    &KEY_QUERY,
    &CONDITION,
    &BODY_KEYS,
    &COMPRESS,
    &SIGNED,
    &AUTH,
    &AUTH_JWT,
    &AUTH_JWKS,
    &AUTH_KEYS,
    &HEDGE,
    &RETRY,
    &BREAKER,
    &LIMIT,
    &QUEUE,
    &SHARES,
    &SHARED,
    &LEARN,
    &CONCURRENCY,
    &ADAPTIVE,
    &CREDENTIALS,
    &BASIC_CREDENTIALS,
    &OAUTH2_CREDENTIALS,
    &ACCOUNTS,
    &ACCOUNT,
    &TIMEOUT,
    &HEADERS,
    &HEADERS_FIELDS,
    &REWRITE,
    &WASM,
    &REDIRECT,
    &RESPOND,
    &CORS,
    &FAULTS,
    &FAULTS_DELAY,
    &FAULTS_ABORT,
    &FAULTS_CUT,
    &SECRET,
    &ROUTE,
    &READ,
    &STEP,
    &SAVE,
    &INVALIDATE,
];

/// Every section of the language, from the outside in.
pub fn schema() -> &'static [&'static Section] {
    SECTIONS
}

impl Section {
    /// The key of that name.
    pub(crate) fn word(&self, name: &str) -> Option<&'static Word> {
        self.words.iter().find(|word| word.name == name)
    }
}
