//! RedisSentinel: a master, a replica, and Sentinels that see to it that one of the two is the master.

use super::{RedisOptions, RedisServer};
use crate::wait_until;

/// What the Sentinels call the master.
const NAME: &str = "mymaster";

/// How often Sentinels look and talk, in milliseconds: by default only every ten seconds, and every two. How often they
/// ping stays: they believe no replica that was silent for five pings, and ask it once a second. And how long they do
/// nothing after they were kept from running for two seconds, as on a busy machine: by default half a minute.
const HURRY: [&str; 8] =
    ["info-period", "500", "ask-period", "100", "publish-period", "200", "tilt-period", "1000"];

/// All on free ports; killed on drop.
pub struct RedisSentinel {
    servers: [RedisServer; 2],
    sentinels: Vec<RedisServer>,
}

impl RedisSentinel {
    /// One Sentinel, which decides alone.
    pub fn start() -> Self {
        Self::start_with(1, &RedisOptions::new())
    }

    /// This many Sentinels, of which one suffices to say that the master is down but most have to agree who acts;
    /// and these options for the master and the replica.
    pub fn start_with(sentinels: usize, options: &RedisOptions) -> Self {
        let master = options.clone().start();
        let replica = options.clone().replica_of(&master).start();
        let port = master.port();
        let sentinels: Vec<_> =
            (0..sentinels).map(|_| RedisServer::launch(sentinel_options(port), true)).collect();
        let sentinel = RedisSentinel { servers: [master, replica], sentinels };
        for started in &sentinel.sentinels {
            started.wait_until_ready();
            let _too_old_to_hurry = started.command(&[&["SENTINEL", "DEBUG"][..], &HURRY].concat());
        }
        sentinel.wait_until_complete();
        sentinel
    }

    /// What the Sentinels call the master.
    pub fn name(&self) -> &'static str {
        NAME
    }

    /// The Sentinels.
    pub fn sentinels(&self) -> &[RedisServer] {
        &self.sentinels
    }

    /// Both servers, whoever is the master; the first one was it at first.
    pub fn servers(&self) -> &[RedisServer] {
        &self.servers
    }

    /// Whom the Sentinels name as the master.
    pub fn master(&self) -> &RedisServer {
        self.named().expect("the Sentinels agree on one of the two")
    }

    /// The other one.
    pub fn replica(&self) -> &RedisServer {
        let master = self.master().port();
        self.servers.iter().find(|server| server.port() != master).expect("there are two")
    }

    /// Kills the master and waits until all Sentinels name the other one; gives that.
    pub fn fail_over(&self) -> &RedisServer {
        let next = self.replica();
        self.master().kill();
        self.wait_for_master(next)
    }

    /// `SENTINEL FAILOVER`: the servers change places while both live; gives the new master.
    pub fn switch_over(&self) -> &RedisServer {
        let (old, next) = (self.master(), self.replica());
        let _ok = self.sentinels[0].command(&["SENTINEL", "FAILOVER", NAME]).or_panic();
        self.wait_for_master(next);
        old.wait_for_role("slave");
        next
    }

    fn wait_for_master<'a>(&'a self, next: &'a RedisServer) -> &'a RedisServer {
        wait_until("the other master", || self.named().is_some_and(|named| named.port() == next.port()));
        next.wait_for_role("master");
        next
    }

    fn named(&self) -> Option<&RedisServer> {
        let mut named = self.sentinels.iter().map(|sentinel| {
            sentinel.command(&["SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME]).or_panic().texts()[1].clone()
        });
        let port = named.next()?;
        if !named.all(|other| other == port) {
            return None;
        }
        self.servers.iter().find(|server| server.port().to_string() == port)
    }

    /// Waits until every Sentinel knows all other Sentinels, and the replica so well that it would make it the master.
    fn wait_until_complete(&self) {
        let others = (self.sentinels.len() - 1).to_string();
        wait_until("known to all Sentinels", || {
            self.sentinels.iter().all(|sentinel| {
                let master = sentinel.command(&["SENTINEL", "MASTER", NAME]).or_panic().texts();
                let replicas = sentinel.command(&["SENTINEL", "REPLICAS", NAME]).or_panic();
                let [replica] = replicas.array() else { return false };
                let replica = replica.texts();
                field(&master, "num-other-sentinels") == Some(&others)
                    && field(&replica, "flags") == Some("slave")
                    && field(&replica, "master-link-status") == Some("ok")
            })
        });
    }
}

fn sentinel_options(master: u16) -> RedisOptions {
    RedisOptions::new()
        .line(format!("sentinel monitor {NAME} 127.0.0.1 {master} 1"))
        .line(format!("sentinel down-after-milliseconds {NAME} 500"))
        .line(format!("sentinel failover-timeout {NAME} 2000"))
        .line(format!("sentinel auth-user {NAME} {}", super::options::TESTKIT))
        .line(format!("sentinel auth-pass {NAME} any"))
}

fn field<'a>(fields: &'a [String], name: &str) -> Option<&'a str> {
    fields.chunks_exact(2).find(|pair| pair[0] == name).map(|pair| pair[1].as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_replica_becomes_master_when_the_master_dies() {
        let sentinel = RedisSentinel::start();
        let old = sentinel.master().port();
        let _ok = sentinel.master().command(&["SET", "k", "v"]).or_panic();
        let _count = sentinel.master().command(&["WAIT", "1", "0"]).or_panic();
        let new = sentinel.fail_over();
        assert_ne!(new.port(), old);
        assert_eq!((new.role(), new.command(&["GET", "k"]).text()), ("master".to_owned(), "v".to_owned()));
    }

    #[test]
    fn both_change_places_when_three_sentinels_are_told_to() {
        let sentinel = RedisSentinel::start_with(3, &RedisOptions::new());
        let old = sentinel.master().port();
        assert_ne!(sentinel.switch_over().port(), old);
        assert_eq!(sentinel.replica().port(), old);
    }
}
