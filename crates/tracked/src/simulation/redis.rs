//! A Redis made of numbers: each key has versions, one after the other; what a read answers is which one it saw.

/// Keys there are.
pub(super) const KEYS: usize = 8;

/// Where no version has ended, and no key expires.
pub(super) const NEVER: u64 = u64::MAX;

#[derive(Clone, Copy)]
pub(super) struct Version {
    /// When it was replaced.
    pub(super) end: u64,
    /// When it expires. Reads see it gone from then on, though it is announced later.
    pub(super) expires: u64,
}

/// See the module.
pub(super) struct Redis {
    versions: [Vec<Version>; KEYS],
    /// Expired and still to be announced: key and the version that nothing is.
    pub(super) expired: Vec<(usize, usize)>,
}

impl Redis {
    pub(super) fn new() -> Self {
        let first = || vec![Version { end: NEVER, expires: NEVER }];
        Redis { versions: std::array::from_fn(|_| first()), expired: Vec::new() }
    }

    /// Writes or deletes; the new version.
    pub(super) fn write(&mut self, key: usize, now: u64, expires: u64) -> usize {
        let versions = &mut self.versions[key];
        versions.last_mut().expect("there always is one").end = now;
        versions.push(Version { end: NEVER, expires });
        versions.len() - 1
    }

    /// What expired by now, is gone.
    pub(super) fn expire(&mut self, now: u64) {
        for key in 0..KEYS {
            let expires = self.version(key, self.newest(key)).expires;
            if expires <= now {
                let version = self.write(key, expires, NEVER);
                self.expired.push((key, version));
            }
        }
    }

    pub(super) fn newest(&self, key: usize) -> usize {
        self.versions[key].len() - 1
    }

    pub(super) fn version(&self, key: usize, version: usize) -> Version {
        self.versions[key][version]
    }
}
