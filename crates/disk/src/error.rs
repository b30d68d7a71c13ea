//! Error: why the disk tier could not do what it was asked. Failures while serving are counted and end as a miss;
//! these reach whoever opens the tier, keeps a purge in its journal, or streams a large body.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The result of what may fail here.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong.
#[derive(Debug)]
pub enum Error {
    /// Another process has the folder open.
    Locked(PathBuf),
    /// The folder holds something that is not ours; nothing was touched.
    Foreign(PathBuf),
    /// The folder is not the one any more that was opened.
    Lost(PathBuf),
    /// The size is below [`crate::Settings::LEAST`].
    TooSmall(u64),
    /// The journal would grow over its bound: [`crate::Journal::rewrite`] it with fewer entries.
    JournalFull,
    /// A piece of a body does not match its checksum; the record is gone from the index.
    Damaged,
    /// The record was evicted while it was read, and more such reads were open than the bound allows.
    Evicted,
    /// The tier was closed.
    Closed,
    /// The operating system refused.
    Io {
        /// What was attempted, on what.
        what: String,
        /// What it said.
        source: io::Error,
    },
}

impl Error {
    /// For `map_err`: says what was attempted on which path.
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::Io { what: format!("{what} {}", path.display()), source }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Locked(folder) => {
                write!(f, "the folder {} is in use by another process", folder.display())
            }
            Error::Foreign(path) => write!(
                f,
                "{} is not ours: give the disk tier a folder of its own, empty at first",
                path.display()
            ),
            Error::Lost(folder) => write!(f, "the folder {} was taken away", folder.display()),
            Error::TooSmall(bytes) => {
                write!(f, "{bytes} bytes are too few for the disk tier: {} at least", crate::Settings::LEAST)
            }
            Error::JournalFull => f.write_str("the journal is full"),
            Error::Damaged => f.write_str("a stored body does not match its checksum"),
            Error::Evicted => f.write_str("a stored body was evicted while it was read"),
            Error::Closed => f.write_str("the disk tier is closed"),
            Error::Io { what, source } => write!(f, "cannot {what}: {source}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
