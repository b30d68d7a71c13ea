//! Names: what counts are called in Redis.
//!
//! ```text
//! <prefix>:limit:{<part>}                                   the marker: this part still has what it was told
//! <prefix>:limit:{<part>}:<policy>:<form>:<digest>          the count of one value of `per`
//! <prefix>:limit:{<policy>}:instances                       who counts against this policy
//! ```
//!
//! `form` holds all numbers of the rule, so that a rule that is changed does not read what another one has counted. A value goes by
//! its SHA-256, cut to 128 bits: the same on all instances, and nobody can find another one's. What stands in braces chooses
//! the slot of a cluster, so a count lies with a marker, and a node that comes back empty has lost its markers too. 64 parts
//! spread over as many nodes.

use aws_lc_rs::digest::{SHA256, digest};
use plan::{Algorithm, Limit, SharedLimit};

use super::script::hex;

/// How many slots of a cluster are used.
pub(super) const PARTS: usize = 64;

/// See the module.
#[derive(Debug)]
pub(super) struct Names {
    prefix: String,
    policy: String,
    form: String,
}

/// Those of one value.
pub(super) struct Counted {
    pub(super) part: usize,
    pub(super) count: String,
    pub(super) marker: String,
}

impl Names {
    pub(super) fn of(limit: &Limit, shared: &SharedLimit) -> Self {
        let (amount, per) = (limit.amount, limit.per.as_nanos());
        let form = match limit.algorithm {
            Algorithm::Gcra => format!("gcra-{amount}-{per}-{}", limit.burst),
            Algorithm::Fixed => format!("fixed-{amount}-{per}"),
            Algorithm::Sliding => format!("sliding-{amount}-{per}"),
        };
        Names { prefix: shared.prefix.clone(), policy: limit.name.clone(), form }
    }

    pub(super) fn counted(&self, value: &[u8]) -> Counted {
        let Names { prefix, policy, form } = self;
        let digest = digest(&SHA256, value);
        let (name, spread) = digest.as_ref().split_at(16);
        let part = usize::from(spread[0]) % PARTS;
        let marker = format!("{prefix}:limit:{{{part}}}");
        Counted { part, count: format!("{marker}:{policy}:{form}:{}", hex(name)), marker }
    }

    pub(super) fn instances(&self) -> String {
        format!("{}:limit:{{{}}}:instances", self.prefix, self.policy)
    }
}
