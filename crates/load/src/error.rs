//! Error: why a run could not begin. What goes wrong with single requests is not an error but counted.

use std::fmt;
use std::io;

/// Why there is no report.
#[derive(Debug)]
pub enum Error {
    /// The scenario asks for something that cannot be done; the sentence says what and what can.
    Scenario(String),
    /// Nothing listens where the requests should go.
    Unreachable {
        /// Host and port as in the URL.
        authority: String,
        /// What connecting said.
        cause: io::Error,
    },
    /// The system gave no thread, or no runtime for it.
    System(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Scenario(sentence) => f.write_str(sentence),
            Error::Unreachable { authority, cause } => write!(f, "cannot connect to {authority}: {cause}"),
            Error::System(cause) => write!(f, "cannot start the load: {cause}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Scenario(_) => None,
            Error::Unreachable { cause, .. } | Error::System(cause) => Some(cause),
        }
    }
}
