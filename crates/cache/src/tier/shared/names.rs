//! Names: what an answer, what belongs to it and the purges are called in Redis. Called by whoever asks or writes there.
//!
//! ```text
//! <prefix>:{<hash of the key>}             the answer for everybody
//! <prefix>:{<hash of the key>}:<variant>   the answer of one variant
//! <prefix>:{<hash of the key>}:vary        the names its variants are chosen by
//! <prefix>:{<hash of the key>}:lock        who asks the origin for it
//! <prefix>:{purges}                        the stream of purges
//! <prefix>:{purges}:generation             which life of that stream this is
//! <prefix>:{purges}:beats                  who has told everything, and when
//! ```
//!
//! What stands in braces chooses the slot of a cluster, so that all of one answer lies together. These hashes are no proof
//! of anything: each answer holds a digest of its whole key, which is compared.

use http::header::HeaderName;
use message::Fields;
use twox_hash::XxHash3_128;

use crate::entry::Variant;
use crate::key::KeyView;

/// The names of one key.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    base: String,
}

impl Names {
    pub(crate) fn of(prefix: &str, key: &KeyView<'_>) -> Self {
        Names { base: format!("{prefix}:{{{:032x}}}", XxHash3_128::oneshot(&key.to_name())) }
    }

    /// The answer for everybody, or of a variant.
    pub(crate) fn answer(&self, variant: Option<&Variant>) -> String {
        match variant {
            None => self.base.clone(),
            Some(variant) => {
                let mut hasher = XxHash3_128::new();
                for name in &variant.names {
                    hasher.write(name.as_str().as_bytes());
                    hasher.write(b"\n");
                }
                hasher.write(&variant.selecting);
                format!("{}:{:032x}", self.base, hasher.finish_128())
            }
        }
    }

    /// What a request with these fields would get of the variants chosen by `vary`.
    pub(crate) fn asked(&self, vary: &[HeaderName], request: Fields<'_>) -> String {
        self.answer(Some(&Variant::of(vary, request)))
    }

    pub(crate) fn vary(&self) -> String {
        format!("{}:vary", self.base)
    }

    pub(crate) fn lock(&self) -> String {
        format!("{}:lock", self.base)
    }
}

/// The stream of purges.
pub(crate) fn purges(prefix: &str) -> String {
    format!("{prefix}:{{purges}}")
}

/// Which life of the stream this is.
pub(crate) fn generation(prefix: &str) -> String {
    format!("{prefix}:{{purges}}:generation")
}

/// The stream of heartbeats.
pub(crate) fn beats(prefix: &str) -> String {
    format!("{prefix}:{{purges}}:beats")
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};
    use message::Scheme;

    use super::*;

    #[test]
    fn all_of_one_answer_lies_in_one_slot() {
        let key = KeyView { scheme: Scheme::Http, authority: "a.example", target: "/x", also: "" };
        let names = Names::of("shop", &key);
        let slot = |name: &str| name.split('}').next().unwrap().to_owned();
        let fields = HeaderMap::from_iter(
            [("accept", HeaderValue::from_static("x"))]
                .map(|(name, value)| (HeaderName::from_static(name), value)),
        );
        let asked = names.asked(&[http::header::ACCEPT], Fields::Map(&fields));
        let all = [names.answer(None), asked, names.vary(), names.lock()];
        assert!(all[0].starts_with("shop:{") && all[0].ends_with('}'), "{}", all[0]);
        for (index, name) in all.iter().enumerate() {
            assert_eq!(slot(name), slot(&all[0]));
            assert!(!all[..index].contains(name), "{name}");
        }
        let other = Names::of("shop", &KeyView { target: "/y", ..key });
        assert_ne!(other.answer(None), names.answer(None));
    }
}
