//! Shared link: what all cores share of one Redis: the plan, certificate authorities, breakers, figures. Made by control for
//! each source; a reload that leaves the plan of the source as it was keeps it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use guard::{BreakerRule, Opens, SharedBreaker};
use message::{Error, Result};
use plan::{RedisServer, RedisSource, Topology};
use redis::TlsCertificates;

use crate::denials::Denials;
use crate::failure;
use crate::figures::{LinkCounters, LinkFigures};
use crate::tls;

/// See the module.
pub struct SharedLink {
    plan: Arc<RedisSource>,
    topology: Topology,
    certificates: Option<TlsCertificates>,
    counters: LinkCounters,
    breakers: Breakers,
    denials: Denials,
}

/// A breaker for each server that may fail on its own.
enum Breakers {
    One(Arc<SharedBreaker>),
    Nodes(Mutex<HashMap<String, Arc<SharedBreaker>>>),
}

impl SharedLink {
    /// Reads the certificate authorities; nothing is connected yet. `Kind::Internal` says which file is at fault.
    pub fn new(plan: Arc<RedisSource>) -> Result<Arc<SharedLink>> {
        let topology = plan.topology.clone();
        Self::at(plan, topology)
    }

    /// One server of the same: same login, TLS settings and timeouts, with a breaker and figures of its own. For a
    /// replica nearby, or for one node of a cluster.
    pub fn replica(plan: Arc<RedisSource>, server: RedisServer) -> Result<Arc<SharedLink>> {
        Self::at(plan, Topology::Standalone(server))
    }

    fn at(plan: Arc<RedisSource>, topology: Topology) -> Result<Arc<SharedLink>> {
        let certificates = tls::certificates(&plan, topology.servers())?;
        let breakers = match topology {
            Topology::Standalone(_) | Topology::Sentinel { .. } => {
                Breakers::One(SharedBreaker::new(breaker_rule(plan.rest)))
            }
            Topology::Cluster(_) => Breakers::Nodes(Mutex::default()),
        };
        let (counters, denials) = (LinkCounters::default(), Denials::default());
        Ok(Arc::new(SharedLink { plan, topology, certificates, counters, breakers, denials }))
    }

    /// What the configuration says.
    pub fn plan(&self) -> &RedisSource {
        &self.plan
    }

    /// Whether it is taken for well: its breaker is closed. Of a cluster: that of any node.
    pub fn is_up(&self) -> bool {
        match &self.breakers {
            Breakers::One(breaker) => breaker.is_closed(),
            Breakers::Nodes(nodes) => {
                let nodes = lock(nodes);
                nodes.is_empty() || nodes.values().any(|breaker| breaker.is_closed())
            }
        }
    }

    /// What has been asked of it, by all cores together.
    pub fn figures(&self) -> LinkFigures {
        self.counters.figures()
    }

    pub(crate) fn topology(&self) -> &Topology {
        &self.topology
    }

    pub(crate) fn certificates(&self) -> Option<&TlsCertificates> {
        self.certificates.as_ref()
    }

    pub(crate) fn counters(&self) -> &LinkCounters {
        &self.counters
    }

    /// An error reply: where it denies us a right, that is counted and told.
    pub(crate) fn replied(&self, error: &Error) {
        if failure::is_denied(error) {
            self.counters.denied();
            self.denials.tell(error, Instant::now());
        }
    }

    /// The breaker of the server at this address.
    pub(crate) fn breaker(&self, address: &str) -> Arc<SharedBreaker> {
        match &self.breakers {
            Breakers::One(breaker) => Arc::clone(breaker),
            Breakers::Nodes(nodes) => {
                let mut nodes = lock(nodes);
                let new = || SharedBreaker::new(breaker_rule(self.plan.rest));
                Arc::clone(nodes.entry(address.to_owned()).or_insert_with(new))
            }
        }
    }

    /// Forgets the breakers of nodes that have left the cluster.
    pub(crate) fn keep_breakers(&self, known: impl Fn(&str) -> bool) {
        if let Breakers::Nodes(nodes) = &self.breakers {
            lock(nodes).retain(|address, _| known(address));
        }
    }
}

/// Five failures in a row are enough, after a second the first may try, and one that gets its reply is enough again.
pub(crate) fn breaker_rule(longest_rest: Duration) -> BreakerRule {
    BreakerRule { opens: Opens::InARow(5), first_rest: Duration::from_secs(1), longest_rest, probes: 1 }
}

/// No code that can panic runs under the lock, so a poisoned one is as good as another.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
