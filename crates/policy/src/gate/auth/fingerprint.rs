//! Fingerprint: what a credential is known by, so that the credential itself is not kept: an HMAC keyed anew in each process.
//! Nobody outside can work one out, so that nothing is learnt from how long it takes to compare two of them.

use std::fmt;

use aws_lc_rs::hmac;
use aws_lc_rs::rand::SystemRandom;
use message::Result;

use super::no_entropy;

/// See the module.
pub(super) type Fingerprint = [u8; 32];

/// Makes them.
pub(super) struct Fingerprints(Box<hmac::Key>);

impl Fingerprints {
    /// With a key of its own.
    ///
    /// # Errors
    /// `Internal`: the system has no entropy.
    pub(super) fn new() -> Result<Self> {
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new()).map_err(no_entropy)?;
        Ok(Fingerprints(Box::new(key)))
    }

    /// Of this credential.
    pub(super) fn of(&self, credential: &[u8]) -> Fingerprint {
        let tag = hmac::sign(&self.0, credential);
        tag.as_ref().try_into().expect("HMAC-SHA256 gives 32 bytes")
    }
}

/// Never the key.
impl fmt::Debug for Fingerprints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fingerprints")
    }
}
