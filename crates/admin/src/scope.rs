//! Scope: the words of a call, `url`, `prefix`, `host`, `tag`, `tags`, `everything`, as what the cache knows.

use cache::Scope;
use message::Scheme;
use rules::tags::LONGEST;
use serde::Serialize;

use crate::backstage::Backstage;
use crate::keyed_url::{KeyedUrl, authority_of};
use crate::refusal::AdminRefusal;

/// Tags of one call at most.
const MOST_TAGS: usize = 1_000;

/// What a call is about, as written. One of them, no more.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words {
    pub(crate) url: Option<String>,
    pub(crate) exact: bool,
    pub(crate) prefix: Option<String>,
    pub(crate) host: Option<String>,
    pub(crate) tags: Option<Vec<String>>,
    pub(crate) everything: bool,
}

/// What a call is about, as understood; told in its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Understood {
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<Box<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prefix: Option<Box<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<Box<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<Box<str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<Box<str>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    everything: bool,
}

impl Words {
    /// How many of them were said.
    fn said(&self) -> usize {
        let optional = [self.url.is_some(), self.prefix.is_some(), self.host.is_some(), self.tags.is_some()];
        optional.into_iter().filter(|said| *said).count() + usize::from(self.everything)
    }

    /// Whether none of them was.
    pub(crate) fn said_nothing(&self) -> bool {
        self.said() == 0
    }

    /// The scopes they mean: one, or one for each tag.
    pub(crate) fn scopes(self, backstage: &dyn Backstage) -> Result<Vec<Scope>, AdminRefusal> {
        if self.said() != 1 {
            return Err(AdminRefusal::request(
                "say exactly one of `url`, `prefix`, `host`, `tag`, `tags` and `everything`",
            ));
        }
        if self.exact && self.url.is_none() {
            return Err(AdminRefusal::request("`exact` goes with `url` only"));
        }
        if let Some(url) = self.url {
            return Ok(vec![url_scope(&url, self.exact, backstage)?]);
        }
        if let Some(prefix) = self.prefix {
            return Ok(vec![prefix_scope(&prefix)?]);
        }
        if let Some(host) = self.host {
            let authority = authority_of(&host, Scheme::Http).ok_or_else(|| {
                AdminRefusal::request(format!(
                    "`{host}` is not a host; write it as in example.com or localhost:8080"
                ))
            })?;
            return Ok(vec![Scope::Host(authority)]);
        }
        match self.tags {
            Some(tags) => tag_scopes(tags),
            None => Ok(vec![Scope::Everything]),
        }
    }
}

fn url_scope(url: &str, exact: bool, backstage: &dyn Backstage) -> Result<Scope, AdminRefusal> {
    refuse_star(url)?;
    let place = KeyedUrl::of(url).map_err(AdminRefusal::request)?;
    if exact {
        let target = backstage.keyed_target(&place);
        return Ok(Scope::Target { authority: place.authority, target });
    }
    let path = place.path().into();
    Ok(Scope::Path { authority: place.authority, path })
}

/// What other systems write for a prefix would be a character like any other here, and concern nothing.
fn refuse_star(text: &str) -> Result<(), AdminRefusal> {
    match text.find('*') {
        None => Ok(()),
        Some(star) => Err(AdminRefusal::request(format!(
            "`*` is only a character here; write `prefix` and what stands before it, `{}`",
            &text[..star]
        ))),
    }
}

fn prefix_scope(prefix: &str) -> Result<Scope, AdminRefusal> {
    refuse_star(prefix)?;
    if prefix.contains('?') {
        return Err(AdminRefusal::request("`prefix` is of paths: write it without a query"));
    }
    if prefix.starts_with('/') {
        return Ok(Scope::Prefix { authority: None, path: rules::path::normalized(prefix).into() });
    }
    let place = KeyedUrl::of(prefix).map_err(|_| {
        AdminRefusal::request(format!(
            "`{prefix}` is not a prefix; write it as in /news/ or http://example.com/news/"
        ))
    })?;
    Ok(Scope::Prefix { authority: Some(place.authority), path: place.target })
}

fn tag_scopes(tags: Vec<String>) -> Result<Vec<Scope>, AdminRefusal> {
    if tags.is_empty() || tags.len() > MOST_TAGS {
        return Err(AdminRefusal::request(format!("`tags` is a list of 1 to {MOST_TAGS} tags")));
    }
    let wrong = |tag: &str| {
        tag.is_empty()
            || tag.len() > LONGEST
            || tag.contains(|char: char| char.is_whitespace() || char.is_control() || char == ',')
    };
    if let Some(tag) = tags.iter().find(|tag| wrong(tag)) {
        let shown: String = tag.chars().take(40).flat_map(char::escape_default).collect();
        return Err(AdminRefusal::request(format!(
            "`{shown}` is not a tag: 1 to {LONGEST} bytes without white space and commas"
        )));
    }
    Ok(tags.into_iter().map(|tag| Scope::Tag(tag.into())).collect())
}

/// What these scopes are, for the answer.
pub(crate) fn understood(scopes: &[Scope]) -> Understood {
    let mut understood = Understood::default();
    for scope in scopes.iter().cloned() {
        match scope {
            Scope::Everything => understood.everything = true,
            Scope::Host(authority) => understood.host = Some(authority),
            Scope::Prefix { authority, path } => {
                (understood.host, understood.prefix) = (authority, Some(path));
            }
            Scope::Path { authority, path } => {
                (understood.host, understood.path) = (Some(authority), Some(path));
            }
            Scope::Target { authority, target } => {
                (understood.host, understood.target) = (Some(authority), Some(target));
            }
            Scope::Tag(tag) => understood.tags.push(tag),
        }
    }
    understood
}

/// The word for metrics.
pub fn kind_of(scope: &Scope) -> telemetry::PurgeKind {
    match scope {
        Scope::Everything => telemetry::PurgeKind::Everything,
        Scope::Host(_) => telemetry::PurgeKind::Host,
        Scope::Prefix { .. } => telemetry::PurgeKind::Prefix,
        Scope::Path { .. } | Scope::Target { .. } => telemetry::PurgeKind::Url,
        Scope::Tag(_) => telemetry::PurgeKind::Tag,
    }
}
