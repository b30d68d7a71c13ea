//! Quota: what is left of a limit after a request has counted against it. Written by whoever limits; told to the client.

use std::sync::Arc;

/// See the module. Times in whole seconds, rounded up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quota {
    /// The policy that limits.
    pub policy: Arc<str>,
    /// Requests that may come in a window.
    pub amount: u64,
    /// How long a window is.
    pub window: u64,
    /// How many of them may still come now.
    pub remaining: u64,
    /// Until all of them may come again.
    pub reset: u64,
}
