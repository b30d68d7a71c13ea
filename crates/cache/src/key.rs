//! Key: what identifies a stored answer: scheme, authority and target (RFC 9111 §2), and what else the policy names.
//!
//! Made from a request by `keying`. The parts are kept apart by lengths, not separators: no value of one can look like
//! the beginning of another. The whole key is compared on a hit, never only its hash.

pub(crate) mod keyed_fields;
pub(crate) mod keying;
pub(crate) mod learned;

use std::hash::{Hash, Hasher};

use bytes::{BufMut, Bytes, BytesMut};
use message::Scheme;
use quick_cache::Equivalent;
use rules::NoVarySearch;

use crate::key::keying::Pieces;

/// A key as looked up: borrowed from the request, so that a hit allocates nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyView<'a> {
    /// The client's scheme; `http` where the policy says that schemes do not matter.
    pub scheme: Scheme,
    /// Host and port, normalised; empty where the policy says that hosts do not matter.
    pub authority: &'a str,
    /// Path and query: as sent, or what of them counts.
    pub target: &'a str,
    /// What else counts, as `keying` writes it; empty for most.
    pub also: &'a str,
}

/// A key as stored: one allocation.
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    /// Length of the authority, and in the lowest bit whether the scheme is `https`: both fit the table's hash as they are.
    authority: u32,
    /// Where the target ends.
    target: u32,
    /// Authority, target and the rest.
    text: Box<str>,
}

impl<'a> KeyView<'a> {
    /// An owned copy.
    pub fn to_key(self) -> Key {
        let mut text = String::with_capacity(self.authority.len() + self.target.len() + self.also.len());
        text.push_str(self.authority);
        text.push_str(self.target);
        let target = text.len() as u32;
        text.push_str(self.also);
        Key { authority: self.first_word(), target, text: text.into_boxed_str() }
    }

    /// The key as one piece of bytes, for tiers outside this process: parts behind their lengths.
    pub(crate) fn to_name(self) -> Bytes {
        let mut name =
            BytesMut::with_capacity(self.authority.len() + self.target.len() + self.also.len() + 9);
        name.put_u8(u8::from(self.scheme == Scheme::Https));
        for part in [self.authority, self.target] {
            name.put_u32(part.len() as u32);
            name.put_slice(part.as_bytes());
        }
        name.put_slice(self.also.as_bytes());
        name.freeze()
    }

    /// The path, without the query.
    pub fn path(&self) -> &'a str {
        self.target.split_once('?').map_or(self.target, |(path, _)| path)
    }

    /// What else counts, for people: a name and a value each.
    pub fn pieces(&self) -> Pieces<'a> {
        Pieces::of(self.also)
    }

    /// The tag of the user it names: control bytes, which would end it, as `%0A`.
    pub(crate) fn user_tag(&self) -> Option<String> {
        let (_, value) = self.pieces().find(|(name, _)| *name == keying::USER)?;
        // Pieces hold the bytes of values as the characters of Latin-1.
        let bytes: Vec<u8> = value?.chars().map(|character| character as u8).collect();
        let mut tag = String::from("user:");
        for character in String::from_utf8_lossy(&bytes).chars() {
            match character {
                control if control.is_control() => tag.extend(["%", &format!("{:02X}", u32::from(control))]),
                other => tag.push(other),
            }
        }
        Some(tag)
    }

    /// Whether its target is what a `No-Vary-Search` left of the one that was sent.
    pub(crate) fn has_rule(&self) -> bool {
        keying::without_rule(self.also).len() < self.also.len()
    }

    /// The same key for a target (as sent to the origin) whose answer has such a rule.
    pub(crate) fn with_rule(&self, target: &str, rule: Option<&NoVarySearch>) -> Key {
        let mut also = rule.map_or_else(String::new, keying::rule_piece);
        also.push_str(keying::without_rule(self.also));
        let mut kept = String::new();
        let target = rule.map_or(target, |rule| rule.target(target, &mut kept));
        KeyView { target, also: &also, ..*self }.to_key()
    }

    fn first_word(&self) -> u32 {
        (self.authority.len() as u32) << 1 | u32::from(self.scheme == Scheme::Https)
    }
}

impl Key {
    /// The parts again.
    pub fn view(&self) -> KeyView<'_> {
        let (url, also) = self.text.split_at(self.target as usize);
        let (authority, target) = url.split_at((self.authority >> 1) as usize);
        let scheme = if self.authority & 1 == 1 { Scheme::Https } else { Scheme::Http };
        KeyView { scheme, authority, target, also }
    }

    /// Bytes it occupies beyond its own size.
    pub fn heap_bytes(&self) -> usize {
        self.text.len()
    }
}

impl Hash for KeyView<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u32(self.first_word());
        state.write(self.authority.as_bytes());
        state.write(self.target.as_bytes());
        if !self.also.is_empty() {
            state.write(self.also.as_bytes());
        }
    }
}

/// The same as its view's: a map of keys is searched by views.
impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.view().hash(state);
    }
}

impl Equivalent<Key> for KeyView<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        *self == key.view()
    }
}

impl std::fmt::Display for KeyView<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let host = if self.authority.is_empty() { "*" } else { self.authority };
        write!(f, "{}://{host}{}", self.scheme.as_str(), self.target)?;
        self.pieces().try_for_each(|(name, value)| write!(f, " {name}={}", value.unwrap_or("-")))
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.view())
    }
}

#[cfg(test)]
mod tests {
    use std::hash::BuildHasher;

    use super::*;

    #[test]
    fn a_view_finds_its_key_and_no_other() {
        let hasher = foldhash::fast::FixedState::default();
        let view = |scheme, authority, target, also| KeyView { scheme, authority, target, also };
        let views = [
            view(Scheme::Http, "a.example", "/x", ""),
            view(Scheme::Https, "a.example", "/x", ""),
            view(Scheme::Http, "a.example/", "x", ""),
            view(Scheme::Http, "a.example", "/x?", ""),
            view(Scheme::Http, "a.example", "/", "x"),
            view(Scheme::Http, "", "a.example/x", ""),
        ];
        for (i, one) in views.iter().enumerate() {
            assert_eq!(hasher.hash_one(one), hasher.hash_one(one.to_key()));
            for (j, other) in views.iter().enumerate() {
                assert_eq!(one.equivalent(&other.to_key()), i == j, "{one} against {other}");
            }
        }
    }

    #[test]
    fn a_key_is_small() {
        assert_eq!(size_of::<Key>(), 24);
    }
}
