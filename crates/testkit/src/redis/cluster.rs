//! RedisCluster: masters that share the slots among them, each with a replica if a test wants to see one take over.

use super::{RedisOptions, RedisServer, Reply};
use crate::port::Port;
use crate::wait_until;

/// Slots of every cluster.
const SLOTS: usize = 16384;

/// Nodes on free ports; killed on drop. The masters come first, then the replica of each in the same order.
///
/// About two seconds pass before it is ready: a master that starts refuses for that long to say that all is well.
pub struct RedisCluster {
    nodes: Vec<RedisServer>,
    /// The ports on which the nodes talk among each other.
    buses: Vec<Port>,
}

impl RedisCluster {
    /// A cluster of this many masters without replicas.
    pub fn start(masters: usize) -> Self {
        Self::form(masters, false, &RedisOptions::new())
    }

    /// A cluster of this many masters with one replica each.
    pub fn with_replicas(masters: usize) -> Self {
        Self::form(masters, true, &RedisOptions::new())
    }

    /// The same with these options for every node.
    pub fn start_with(masters: usize, replicas: bool, options: &RedisOptions) -> Self {
        Self::form(masters, replicas, options)
    }

    fn form(masters: usize, replicas: bool, options: &RedisOptions) -> Self {
        let count = if replicas { masters * 2 } else { masters };
        let buses: Vec<Port> = (0..count).map(|_| Port::reserve()).collect();
        let nodes = buses.iter().map(|bus| RedisServer::launch(node_options(options, bus), false)).collect();
        let cluster = RedisCluster { nodes, buses };
        for node in &cluster.nodes {
            node.wait_until_ready();
        }
        cluster.share_slots(masters);
        cluster.introduce();
        for (replica, master) in cluster.nodes[masters..].iter().zip(&cluster.nodes) {
            let id = master.command(&["CLUSTER", "MYID"]).text();
            let _ok = replica.command(&["CLUSTER", "REPLICATE", &id]).or_panic();
        }
        cluster.wait_until_ok();
        for replica in &cluster.nodes[masters..] {
            replica.wait_until_replicated();
        }
        cluster
    }

    fn share_slots(&self, masters: usize) {
        for (index, node) in self.nodes.iter().enumerate() {
            // Different from the start: nodes that have to agree on this first take a moment longer.
            let _ok = node.command(&["CLUSTER", "SET-CONFIG-EPOCH", &(index + 1).to_string()]).or_panic();
            if index < masters {
                let first = SLOTS * index / masters;
                let last = SLOTS * (index + 1) / masters - 1;
                let range = [first.to_string(), last.to_string()];
                let _ok = node.command(&["CLUSTER", "ADDSLOTSRANGE", &range[0], &range[1]]).or_panic();
            }
        }
    }

    /// Every node meets every other one: gossip alone would take seconds.
    fn introduce(&self) {
        for (index, node) in self.nodes.iter().enumerate() {
            for (other, bus) in self.nodes.iter().zip(&self.buses).skip(index + 1) {
                let [port, bus] = [other.port().to_string(), bus.number().to_string()];
                let _ok = node.command(&["CLUSTER", "MEET", "127.0.0.1", &port, &bus]).or_panic();
            }
        }
        wait_until("acquainted", || {
            self.nodes.iter().all(|node| {
                let known = node.command(&["CLUSTER", "NODES"]).or_panic().text();
                known.lines().count() == self.nodes.len() && !known.contains("handshake")
            })
        });
    }

    /// All nodes: the masters, then their replicas.
    pub fn nodes(&self) -> &[RedisServer] {
        &self.nodes
    }

    /// Where this key is now, as the first node that lives knows it.
    pub fn node_of(&self, key: &str) -> &RedisServer {
        let known = self.living().next().and_then(|node| self.named_by(node, key));
        known.unwrap_or_else(|| panic!("no node has {key}"))
    }

    /// Kills the master of this key and waits until its replica has taken over and every living node is content with
    /// it; gives the new master.
    pub fn fail_over(&self, key: &str) -> &RedisServer {
        let old = self.node_of(key);
        old.kill();
        wait_until("taken over", || {
            let mut living = self.living().peekable();
            living.peek().is_some()
                && living.all(|node| self.named_by(node, key).is_some_and(|new| new.port() != old.port()))
        });
        self.wait_until_ok();
        self.node_of(key)
    }

    /// Waits until every node that answers says that all slots are served.
    pub fn wait_until_ok(&self) {
        wait_until("a cluster that is ok", || {
            let mut states = self.nodes.iter().filter_map(|node| node.asked(&["CLUSTER", "INFO"]).ok());
            states.all(|state| state.text().contains("cluster_state:ok"))
        });
    }

    fn living(&self) -> impl Iterator<Item = &RedisServer> {
        self.nodes.iter().filter(|node| node.asked(&["PING"]).is_ok())
    }

    /// Which node has this key, as this one knows it.
    fn named_by(&self, living: &RedisServer, key: &str) -> Option<&RedisServer> {
        let slot = living.command(&["CLUSTER", "KEYSLOT", key]).int();
        let ranges = living.command(&["CLUSTER", "SLOTS"]);
        let range = ranges.array().iter().map(Reply::array).find(|range| {
            let slots = range[0].int()..=range[1].int();
            slots.contains(&slot)
        })?;
        let port = range[2].array()[1].int();
        self.nodes.iter().find(|node| i64::from(node.port()) == port)
    }
}

fn node_options(options: &RedisOptions, bus: &Port) -> RedisOptions {
    let mut node = options.clone();
    let own = [
        "cluster-enabled yes".to_owned(),
        "cluster-config-file nodes.conf".to_owned(),
        "cluster-announce-ip 127.0.0.1".to_owned(),
        format!("cluster-port {}", bus.number()),
        "cluster-node-timeout 1000".to_owned(),
        "cluster-replica-validity-factor 0".to_owned(),
    ];
    node.lines.splice(0..0, own);
    node
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RedisClient;

    #[test]
    fn has_every_key_on_one_of_its_nodes() {
        let cluster = RedisCluster::start(3);
        for index in 0..50 {
            let key = format!("key:{index}");
            let node = cluster.node_of(&key);
            let mut client = RedisClient::connect(node.address());
            assert_eq!(client.command(&["SET", &key, "v"]).text(), "OK");
        }
        assert!(cluster.nodes().iter().all(|node| node.command(&["DBSIZE"]).int() > 0));
        let elsewhere =
            cluster.nodes().iter().find(|node| node.port() != cluster.node_of("key:0").port()).unwrap();
        assert!(elsewhere.command(&["GET", "key:0"]).error().is_some_and(|text| text.starts_with("MOVED ")));
    }

    #[test]
    fn a_replica_takes_over_from_its_master() {
        let cluster = RedisCluster::with_replicas(3);
        let old = cluster.node_of("k").port();
        let _ok = cluster.node_of("k").command(&["SET", "k", "v"]).or_panic();
        let _count = cluster.node_of("k").command(&["WAIT", "1", "0"]).or_panic();
        let new = cluster.fail_over("k");
        assert_ne!(new.port(), old);
        assert_eq!((new.role(), new.command(&["GET", "k"]).text()), ("master".to_owned(), "v".to_owned()));
    }
}
