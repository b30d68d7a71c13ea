//! Concurrency: what a limit on calls under way means.

use super::Queue;

/// How many calls to a source may be under way at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Concurrency {
    /// The policy's name in the file.
    pub name: String,
    /// How many.
    pub most: guard::Concurrency,
    /// How others wait for them to end; `None`: they are refused.
    pub queue: Option<Queue>,
}
