//! API keys: whose key a request shows. Keys are found by their fingerprints, none of which anybody outside knows, and which
//! are compared in constant time besides.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use aws_lc_rs::constant_time;
use http::HeaderName;
use message::{Fields, Result};

use super::fingerprint::{Fingerprint, Fingerprints};

/// See the module.
pub(super) struct ApiKeys {
    field: HeaderName,
    fingerprints: Fingerprints,
    numbers: HashMap<Fingerprint, usize, foldhash::fast::RandomState>,
    owners: Box<[Owner]>,
}

struct Owner {
    name: Box<str>,
    fingerprint: Fingerprint,
    /// Requests that were let in with the key.
    count: AtomicU64,
}

/// What a request shows.
pub(super) enum Shown {
    /// No key.
    None,
    /// That of the owner of this number.
    Key(usize),
    /// One that nobody has.
    Unknown,
    /// More than one.
    Several,
}

impl ApiKeys {
    /// # Errors
    /// `Internal`: the system has no entropy.
    pub(super) fn new(plan: &plan::ApiKeys) -> Result<Self> {
        let fingerprints = Fingerprints::new()?;
        let owner = |key: &plan::ApiKey| Owner {
            name: key.name.as_str().into(),
            fingerprint: fingerprints.of(key.secret.secret().as_bytes()),
            count: AtomicU64::new(0),
        };
        let owners: Box<[Owner]> = plan.keys.iter().map(owner).collect();
        let numbers = owners.iter().enumerate().map(|(number, owner)| (owner.fingerprint, number)).collect();
        Ok(ApiKeys { field: plan.field.clone(), fingerprints, numbers, owners })
    }

    pub(super) fn find(&self, fields: Fields<'_>) -> Shown {
        let mut lines = fields.all(&self.field);
        let Some(line) = lines.next() else { return Shown::None };
        if lines.next().is_some() {
            return Shown::Several;
        }
        let fingerprint = self.fingerprints.of(line.trim_ascii());
        match self.numbers.get(&fingerprint) {
            Some(number) if is_equal(&self.owners[*number].fingerprint, &fingerprint) => Shown::Key(*number),
            _ => Shown::Unknown,
        }
    }

    /// Whose it is.
    pub(super) fn name(&self, number: usize) -> &str {
        &self.owners[number].name
    }

    /// One more was let in with it.
    pub(super) fn count(&self, number: usize) {
        self.owners[number].count.fetch_add(1, Relaxed);
    }

    /// Whose, and how many.
    pub(super) fn figures(&self) -> impl Iterator<Item = (&str, u64)> {
        self.owners.iter().map(|owner| (&*owner.name, owner.count.load(Relaxed)))
    }
}

fn is_equal(one: &Fingerprint, other: &Fingerprint) -> bool {
    constant_time::verify_slices_are_equal(one, other).is_ok()
}
