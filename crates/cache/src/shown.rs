//! Shown: what the cache would make of a request, for people: its key, and what is stored under it. Nothing is counted
//! or refreshed by looking; what a purge concerns is put away, as on any use. Called by `server` to explain.

use std::sync::Arc;

use message::Timestamp;

use crate::entry::Entry;
use crate::key::KeyView;
use crate::key::keying::{Look, Scratch};
use crate::request::interest::Interest;
use crate::store::Store;

/// See the module.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Scheme, host and target as keyed.
    pub key: String,
    /// What else is in the key: a name and a value each. Credentials are not shown.
    pub also: Vec<String>,
    /// Whether the key names a user.
    pub personal: bool,
    /// Why nothing stored may answer, in a word.
    pub bypass: Option<&'static str>,
    /// What is stored for this request, fresh or not.
    pub chosen: Option<Arc<Entry>>,
    /// How many variants are stored under the key.
    pub variants: usize,
    /// Whether answers under this key were not for sharing lately, so that nobody waits for anybody's.
    pub unshared: bool,
}

/// Whether a piece of a key of this name holds what opens doors: a credential, or cookies.
pub fn is_secret(piece: &str) -> bool {
    let name = piece.to_ascii_lowercase();
    ["authorization", "cookie", "token", "claim("].iter().any(|word| name.contains(word))
}

impl Store {
    /// What the cache would make of a request without content.
    pub fn shown(&self, look: &Look<'_>, now: Timestamp) -> Shown {
        let mut scratch = Scratch::default();
        let keyed = look.key(&self.learned, None, &mut scratch);
        let resource = self.memory.get(&keyed.key);
        let chosen = resource.as_ref().and_then(|resource| resource.select(look.request.fields));
        let shown = |(name, value): (&str, Option<&str>)| {
            let secret = is_secret(name);
            let value = if secret && value.is_some() { "…" } else { value.unwrap_or("-") };
            format!("{name}: {value}")
        };
        Shown {
            key: KeyView { also: "", ..keyed.key }.to_string(),
            also: keyed.key.pieces().map(shown).collect(),
            personal: keyed.personal,
            bypass: Interest::of(look).bypass(),
            chosen: chosen.and_then(|entry| self.standing(&keyed.key, Arc::clone(entry))),
            variants: resource.as_ref().map_or(0, crate::Resource::variants),
            unshared: resource.is_some_and(|resource| resource.is_unshared(now)),
        }
    }
}
