//! Key: what identifies a stored answer: scheme, authority and target, byte for byte (RFC 9111 §2).
//!
//! Only GET is stored, so the method is not part of it. The parts are kept apart by lengths, not separators: no value
//! of one can look like the beginning of another. The whole key is compared on a hit, never only its hash.

use std::hash::{Hash, Hasher};

use message::{RequestView, Scheme};
use quick_cache::Equivalent;

/// A key as looked up: borrowed from the request, so that a hit allocates nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyView<'a> {
    /// The client's scheme.
    pub scheme: Scheme,
    /// Host and port, normalised.
    pub authority: &'a str,
    /// Path and query as sent.
    pub target: &'a str,
}

/// A key as stored: one allocation.
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    scheme: Scheme,
    /// Where the authority ends and the target begins.
    split: u32,
    text: Box<str>,
}

impl<'a> KeyView<'a> {
    /// The key of a request.
    pub fn of(request: &RequestView<'a>) -> Self {
        KeyView { scheme: request.scheme, authority: request.authority, target: request.target }
    }

    /// An owned copy.
    pub fn to_key(self) -> Key {
        let mut text = String::with_capacity(self.authority.len() + self.target.len());
        text.push_str(self.authority);
        text.push_str(self.target);
        Key { scheme: self.scheme, split: self.authority.len() as u32, text: text.into_boxed_str() }
    }
}

impl Key {
    /// The parts again.
    pub fn view(&self) -> KeyView<'_> {
        let (authority, target) = self.text.split_at(self.split as usize);
        KeyView { scheme: self.scheme, authority, target }
    }

    /// Bytes it occupies beyond its own size.
    pub fn heap_bytes(&self) -> usize {
        self.text.len()
    }
}

impl Hash for KeyView<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u32((self.authority.len() as u32) << 1 | u32::from(self.scheme == Scheme::Https));
        state.write(self.authority.as_bytes());
        state.write(self.target.as_bytes());
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
        write!(f, "{}://{}{}", self.scheme.as_str(), self.authority, self.target)
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
        let views = [
            KeyView { scheme: Scheme::Http, authority: "a.example", target: "/x" },
            KeyView { scheme: Scheme::Https, authority: "a.example", target: "/x" },
            KeyView { scheme: Scheme::Http, authority: "a.example/", target: "x" },
            KeyView { scheme: Scheme::Http, authority: "a.example", target: "/x?" },
        ];
        for (i, one) in views.iter().enumerate() {
            assert_eq!(hasher.hash_one(one), hasher.hash_one(one.to_key()));
            for (j, other) in views.iter().enumerate() {
                assert_eq!(one.equivalent(&other.to_key()), i == j, "{one} against {other}");
            }
        }
    }
}
