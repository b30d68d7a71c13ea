//! Shared origin: what all cores share of one origin. Made when a plan starts; read by each core's `HttpSource`.

use std::sync::Arc;

use message::{Result, Scheme};

use super::health::Health;
use super::name::Name;
use super::tls::Tls;

/// What all cores share of one source: names resolved, health of the targets, TLS settings.
/// Survives a reload when the [`plan::HttpSource`] is equal.
pub struct SharedOrigin {
    pub(super) plan: Arc<plan::HttpSource>,
    pub(super) targets: Vec<Target>,
    /// There when some target needs it.
    pub(super) tls: Option<Tls>,
}

/// One server of the source.
pub(super) struct Target {
    pub(super) plan: plan::Target,
    /// As in `Host`.
    pub(super) authority: String,
    /// `scheme://host:port`, for messages and logs.
    pub(super) name: Arc<str>,
    pub(super) addresses: Arc<Name>,
    pub(super) health: Health,
}

impl SharedOrigin {
    /// Reads the certificate authorities, if any target speaks TLS; the error (`Internal`) says which file or store
    /// was at fault.
    pub fn new(plan: Arc<plan::HttpSource>) -> Result<Arc<SharedOrigin>> {
        let secure = plan.targets.iter().any(|target| target.scheme == Scheme::Https);
        let tls = if secure { Some(Tls::new(&plan)?) } else { None };
        let targets = plan.targets.iter().map(Target::new).collect();
        Ok(Arc::new(SharedOrigin { plan, targets, tls }))
    }

    /// What the plan says of it.
    pub fn plan(&self) -> &plan::HttpSource {
        &self.plan
    }

    /// Each target as `scheme://host:port`.
    pub fn targets(&self) -> Vec<String> {
        self.targets.iter().map(|target| target.name.to_string()).collect()
    }

    /// Each target as `scheme://host:port`, and whether it is up: not taken out by health checks, nor resting after
    /// failed connects.
    pub fn health(&self) -> Vec<(String, bool)> {
        let now = message::Clock::now();
        let is_up = |target: &Target| target.health.is_up() && !target.health.is_resting(|| now);
        self.targets.iter().map(|target| (target.name.to_string(), is_up(target))).collect()
    }
}

impl Target {
    fn new(plan: &plan::Target) -> Self {
        let authority = plan.authority();
        let host = if plan.host.contains(':') { format!("[{}]", plan.host) } else { plan.host.clone() };
        Target {
            name: format!("{}://{host}:{}", plan.scheme.as_str(), plan.port).into(),
            addresses: Name::new(&plan.host),
            health: Health::default(),
            plan: plan.clone(),
            authority,
        }
    }
}
