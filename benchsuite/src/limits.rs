//! Limits: open files, for ten thousand connections on either side. What is started later inherits them.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Enough for everything measured here.
const WANTED: u64 = 65_536;

/// Raises the limit of open files as far as we may, and says how far that was.
pub(crate) fn raise_open_files() -> u64 {
    let before = getrlimit(Resource::Nofile);
    let hard = before.maximum.unwrap_or(WANTED);
    // Above the hard limit only where we are privileged; else up to it.
    for limit in [WANTED.max(hard), hard] {
        if setrlimit(Resource::Nofile, Rlimit { current: Some(limit), maximum: Some(limit) }).is_ok() {
            return limit;
        }
    }
    before.current.unwrap_or(WANTED)
}
