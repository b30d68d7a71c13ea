//! Limit: what a limit on how often calls are made means.

use std::sync::Arc;
use std::time::Duration;

use expression::Template;
pub use guard::Algorithm;
use guard::Allowance;

use super::{Queue, RedisSource};

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
    /// Where instances count together; `None`: each counts for itself.
    pub shared: Option<SharedLimit>,
}

impl Limit {
    /// As it is counted, of one value.
    pub fn allowance(&self) -> Allowance {
        let Limit { algorithm, amount, per, burst, .. } = *self;
        Allowance { algorithm, amount, per, burst }
    }
}

/// Where instances count together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedLimit {
    /// The Redis.
    pub redis: Arc<RedisSource>,
    /// What our keys there begin with: one for each deployment.
    pub prefix: String,
    /// What becomes of calls while it cannot be asked.
    pub when_gone: WhenGone,
}

/// What becomes of calls while nobody can be asked whether they may be made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenGone {
    /// Each instance lets its part of the limit pass.
    #[default]
    Local,
    /// They are refused.
    Refuse,
    /// They pass.
    Allow,
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
