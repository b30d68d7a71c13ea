//! Limit: what a limit on how often calls are made means.

use std::time::Duration;

use expression::Template;
pub use guard::Algorithm;

use super::Queue;

/// How often a call may be made.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// The policy's name in the file, which clients are told.
    pub name: String,
    /// How it is counted.
    pub algorithm: Algorithm,
    /// Calls.
    pub amount: u64,
    /// In how long.
    pub per: Duration,
    /// Calls at once, for [`Algorithm::Gcra`].
    pub burst: u64,
    /// What is counted apart.
    pub by: LimitBy,
    /// How many are told apart at once.
    pub keys: usize,
    /// How calls wait that come too often; `None`: they are refused.
    pub queue: Option<Queue>,
}

/// What is counted apart.
#[derive(Clone, Debug, PartialEq)]
pub enum LimitBy {
    /// Nothing: all calls count together.
    All,
    /// The calls to each source.
    Source,
    /// Groups of calls, all within the one limit: each is sure of its share, and may take what others leave.
    Shares(Shares),
    /// The calls for which this gives the same. Those for which it gives nothing count together.
    Value(Template),
}

impl LimitBy {
    /// Whether it looks into the bearer token.
    pub fn reads_claims(&self) -> bool {
        matches!(self, LimitBy::Value(value) if value.reads_claims())
    }
}

/// How a limit is shared by groups of calls.
#[derive(Clone, Debug, PartialEq)]
pub struct Shares {
    /// Gives the name of the group that a call belongs to.
    pub by: Template,
    /// Names of groups, and the share of each.
    pub of: Vec<(String, f64)>,
    /// The share of all that are in none of these.
    pub others: f64,
}
