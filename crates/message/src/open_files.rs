//! Open files: the last few of those this process may open are kept for its own needs: the admin port, the disk tier, a
//! reload. Asked by whoever opens a connection for somebody else.
//!
//! The system gives the lowest number that is free, so a high one says by itself that nearly all are taken. A count of our
//! own was rejected: it would have to know of every file that libraries open.

use std::error::Error;
use std::io;
use std::os::fd::{AsRawFd, RawFd};

use rustix::process::{Resource, getrlimit};

/// Whether this file, which was just opened, is one of those that are kept back: then it is to be closed again, as if the
/// system had refused it.
pub fn is_in_reserve(file: &impl AsRawFd) -> bool {
    getrlimit(Resource::Nofile).current.is_some_and(|most| is_among_last(file.as_raw_fd(), most))
}

fn is_among_last(file: RawFd, most: u64) -> bool {
    /// Enough for every connection of the admin port, and then some.
    const RESERVE: u64 = 96;
    u64::from(file.cast_unsigned()) >= most - (most / 8).min(RESERVE)
}

/// Whether the system refused something because we have too much open, files or ports, and not because of the other side.
pub fn are_exhausted(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let ours = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM, Errno::ADDRNOTAVAIL];
    error.raw_os_error().is_some_and(|number| ours.iter().any(|errno| errno.raw_os_error() == number))
}

/// The same of an error that a library gave, or of what is beneath it.
pub fn are_exhausted_beneath(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref().is_some_and(are_exhausted) || error.source().is_some_and(are_exhausted_beneath)
}

/// The error of whoever meets [`is_in_reserve`].
pub fn exhausted() -> io::Error {
    rustix::io::Errno::MFILE.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_many_and_an_eighth_of_few_are_kept() {
        for (most, first_kept) in [(64, 56), (1024, 928), (1_000_000, 999_904)] {
            assert!(!is_among_last(first_kept - 1, most) && is_among_last(first_kept, most), "{most}");
        }
    }

    #[test]
    fn who_refused_is_told_apart() {
        assert!(are_exhausted(&exhausted()));
        assert!(!are_exhausted(&io::ErrorKind::ConnectionRefused.into()));
        assert!(!are_exhausted(&rustix::io::Errno::CONNREFUSED.into()));
        assert!(are_exhausted_beneath(&exhausted()));
        assert!(!are_exhausted_beneath(&io::Error::other("no route")));
    }
}
