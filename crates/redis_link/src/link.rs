//! Link: one core's way to a Redis. In: commands. Out: replies, or an error in bounded time.

use std::rc::Rc;
use std::sync::Arc;

use message::{Error, Kind, Result};
use plan::Topology;
use redis::{Cmd, Pipeline, PushInfo, Value};

use crate::cluster::Cluster;
use crate::connect::OnPush;
use crate::dedicated::Dedicated;
use crate::node::{Commands, Node, Target};
use crate::shared_link::SharedLink;

/// See the module. Clones share the connections; none leaves its core.
///
/// Nothing is connected before the first question. A question takes no longer than the plan's `connect_timeout` and
/// `timeout` together; only redirections within a cluster may add to that.
#[derive(Clone)]
pub struct Link {
    shared: Arc<SharedLink>,
    way: Rc<Way>,
}

pub(crate) enum Way {
    One(Node),
    Cluster(Cluster),
}

impl Link {
    /// A way that is not used yet.
    pub fn new(shared: Arc<SharedLink>) -> Link {
        let node = |target| Way::One(Node::new(Arc::clone(&shared), target));
        let way = match shared.topology() {
            Topology::Standalone(server) => node(Target::Server(server.clone())),
            Topology::Sentinel { sentinels, master } => {
                node(Target::Master { sentinels: sentinels.clone(), master: master.clone() })
            }
            Topology::Cluster(seeds) => Way::Cluster(Cluster::new(Arc::clone(&shared), seeds.clone())),
        };
        Link { way: Rc::new(way), shared }
    }

    /// What it shares with those of other cores.
    pub fn shared(&self) -> &Arc<SharedLink> {
        &self.shared
    }

    /// One command, on the connection that all requests of this core share. An error reply is a
    /// `Kind::MalformedResponse`, whose code is [`code`](crate::code). In a cluster, all keys must be in one slot, and a
    /// command without a key goes to one server only.
    pub async fn ask(&self, command: &Cmd) -> Result<Value> {
        self.put(Commands::One(command)).await
    }

    /// Several in one round trip. In a cluster, all keys must be in one slot. The first error reply of any of them is
    /// the error of all, though the others have been carried out; a pipeline that ignores errors gets them as values.
    pub async fn ask_all(&self, pipeline: &Pipeline) -> Result<Vec<Value>> {
        self.put(Commands::Several(pipeline)).await.map(listed)
    }

    /// A connection of one's own, for what blocks. Neither the breaker nor the plan's `timeout` matters to it.
    pub async fn dedicated(&self) -> Result<Dedicated> {
        Dedicated::open(self.clone(), None).await
    }

    /// The same, with whatever the server pushes handed to `on_push`, in the order of the wire and before any reply that
    /// came later, by the task that reads the connection: it must not block. The end of the connection is the last
    /// push, `PushKind::Disconnection`, unless it is dropped by us.
    ///
    /// Not for clusters, where each server pushes of its own keys only: make a [`SharedLink::replica`] of each.
    pub async fn listening(&self, on_push: impl Fn(PushInfo) + Send + Sync + 'static) -> Result<Dedicated> {
        if matches!(&*self.way, Way::Cluster(_)) {
            let name = &self.shared.plan().name;
            return Err(Error::new(
                Kind::Internal,
                format!("source {name}: nobody can listen to a whole cluster"),
            ));
        }
        let on_push: OnPush = Arc::new(on_push);
        Dedicated::open(self.clone(), Some(on_push)).await
    }

    pub(crate) fn way(&self) -> &Way {
        &self.way
    }

    async fn put(&self, question: Commands<'_>) -> Result<Value> {
        self.shared.counters().asked();
        match &*self.way {
            Way::One(node) => node.ask(question).await,
            Way::Cluster(cluster) => cluster.ask(question).await,
        }
    }
}

/// The replies to a pipeline. None at all stand for a transaction that a watched key undid.
pub(crate) fn listed(reply: Value) -> Vec<Value> {
    match reply {
        Value::Array(replies) => replies,
        _ => Vec::new(),
    }
}
