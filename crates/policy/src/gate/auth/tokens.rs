//! Tokens: whether a bearer token is good, by the rules and keys of one policy; and which were good before.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use jwt::{KeySet, Refusal, Rules, Token, Validity};
use message::Result;
use plan::Jwks;

use super::Now;
use super::fingerprint::Fingerprints;
use super::known::Known;
use super::refused::Refused;
use super::remote::RemoteKeys;

/// See the module.
pub(super) struct Tokens {
    rules: Rules,
    set: Option<Set>,
    secret: Option<KeySet>,
    fingerprints: Fingerprints,
    known: Known,
    /// Signatures that were checked.
    checked: AtomicU64,
}

enum Set {
    File(Arc<KeySet>),
    Remote(Arc<RemoteKeys>),
}

/// What came of a token.
pub(super) enum Check {
    Good,
    Refused(Refused),
    /// There are no keys, or not the one that it names: newer ones may have it.
    NeedsKeys,
}

impl Tokens {
    /// `before`: the provider of this policy so far.
    ///
    /// # Errors
    /// `Internal`: authorities cannot be read, or the system has no entropy.
    pub(super) fn new(policy: &str, plan: &plan::JwtAuth, before: Option<&Arc<RemoteKeys>>) -> Result<Self> {
        let set = match &plan.set {
            None => None,
            Some(Jwks::File(keys)) => Some(Set::File(Arc::clone(keys))),
            Some(Jwks::Remote(remote)) => {
                let algorithms = &plan.rules.algorithms;
                let kept = before.filter(|before| before.is_of(remote, algorithms)).cloned();
                Some(Set::Remote(match kept {
                    Some(kept) => kept,
                    None => RemoteKeys::new(policy, Arc::clone(remote), algorithms.clone())?,
                }))
            }
        };
        Ok(Tokens {
            rules: plan.rules.clone(),
            set,
            secret: plan.secret.as_ref().map(|secret| KeySet::secret(secret.secret().as_bytes())),
            fingerprints: Fingerprints::new()?,
            known: Known::new(),
            checked: AtomicU64::new(0),
        })
    }

    pub(super) fn remote(&self) -> Option<&Arc<RemoteKeys>> {
        match &self.set {
            Some(Set::Remote(remote)) => Some(remote),
            Some(Set::File(_)) | None => None,
        }
    }

    /// How many signatures were checked.
    pub(super) fn checked(&self) -> u64 {
        self.checked.load(Relaxed)
    }

    /// Whether it was good before and still is, by keys that are still in use.
    pub(super) fn knows(&self, token: &[u8], now: Now) -> bool {
        let current = || self.remote()?.current(now.moment).map(|current| current.number);
        self.known.has(&self.fingerprints.of(token), current, now.date)
    }

    /// Checks its signature and its claims, and remembers a good one.
    pub(super) fn check(&self, bytes: &[u8], now: Now) -> Check {
        let token = match Token::read(bytes, &self.rules) {
            Ok(token) => token,
            Err(why) => return Check::Refused(Refused::Token(why)),
        };
        let (outcome, number) = match (&self.secret, &self.set) {
            (Some(secret), _) if token.algorithm().is_symmetric() => (self.verify(&token, secret, now), None),
            (_, Some(Set::File(keys))) => (self.verify(&token, keys, now), None),
            (_, Some(Set::Remote(remote))) => {
                let Some(current) = remote.current(now.moment) else { return Check::NeedsKeys };
                let outcome = self.verify(&token, &current.keys, now);
                if outcome == Err(Refusal::UnknownKey) {
                    return Check::NeedsKeys;
                }
                (outcome, Some(current.number))
            }
            // The plan has keys for each algorithm that it names.
            (_, None) => (Err(Refusal::UnknownKey), None),
        };
        match outcome {
            Ok(validity) => {
                self.known.remember(self.fingerprints.of(bytes), validity, number);
                Check::Good
            }
            Err(why) => Check::Refused(Refused::Token(why)),
        }
    }

    fn verify(&self, token: &Token<'_>, keys: &KeySet, now: Now) -> std::result::Result<Validity, Refusal> {
        self.checked.fetch_add(1, Relaxed);
        token.verify(keys, &self.rules, now.date)
    }
}
