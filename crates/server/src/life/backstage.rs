//! Backstage: what the admin port has the cores do. Each errand goes to the next core in turn.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use admin::{Doing, Errand, Fetched, Inquiry, KeyedUrl};
use cache::Store;
use message::Clock;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::explain::ExplainRequest;
use crate::life::control::current;
use crate::life::core::CoreOrder;
use crate::walk::invalidating::keyed_target;
use crate::walk::recent::Recent;
use crate::walk::running::Running;

/// See the module.
pub(crate) struct Backstage {
    pub(crate) running: Arc<Mutex<Arc<Running>>>,
    pub(crate) store: Arc<Store>,
    pub(crate) recent: Arc<Recent>,
    pub(crate) cores: Box<[mpsc::UnboundedSender<CoreOrder>]>,
    pub(crate) next: AtomicUsize,
}

/// Said where a core no longer takes orders.
const STOPPING: &str = "fleetfoot is shutting down";

impl Backstage {
    /// Bounded by the admin port: so many rounds of so many errands each, and one question per connection.
    fn order(&self, order: CoreOrder) {
        let core = self.next.fetch_add(1, Ordering::Relaxed) % self.cores.len();
        // A core that has ended drops the order, and with it the place for the answer.
        drop(self.cores[core].send(order));
    }
}

impl admin::Backstage for Backstage {
    fn keyed_target(&self, place: &KeyedUrl) -> Box<str> {
        keyed_target(&current(&self.running), &self.store, place.scheme, &place.authority, &place.target)
    }

    fn fetch(&self, errand: Errand) -> Doing<Fetched> {
        let url = errand.place.url();
        let (reply, answered) = oneshot::channel();
        self.order(CoreOrder::Fetch(Box::new(errand), reply));
        Box::pin(async move {
            answered.await.unwrap_or_else(|_| Fetched {
                url,
                status: None,
                cache: telemetry::CacheResult::None.word(),
                stored: false,
                bytes: 0,
                error: Some(STOPPING.to_owned()),
            })
        })
    }

    fn explain(&self, inquiry: Inquiry) -> Doing<Result<Value, String>> {
        let Inquiry { method, place, fields, ask, live } = inquiry;
        let question = ExplainRequest {
            method,
            scheme: place.scheme,
            authority: place.authority.into(),
            target: place.target.into(),
            fields,
            ask,
            live,
        };
        let (reply, answered) = oneshot::channel();
        self.order(CoreOrder::Explain(Box::new(question), reply));
        Box::pin(async move {
            let explanation = answered.await.map_err(|_| STOPPING.to_owned())?;
            serde_json::to_value(explanation).map_err(|error| error.to_string())
        })
    }

    fn recall(&self, id: &str) -> Option<Value> {
        self.recent.find(id, Clock::now()).and_then(|told| serde_json::to_value(told).ok())
    }

    fn remembers(&self) -> String {
        self.recent.describe()
    }
}
