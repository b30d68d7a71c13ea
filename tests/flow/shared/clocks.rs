//! Instances whose clocks differ: what they share is dated by the clock of Redis.

use testkit::{Fleetfoot, Origin, RedisServer};

use super::instances::{config, counting, joined, until_it_hears, until_written};
use crate::running::clock::Machine;

/// One with the right clock, and one that is so many seconds ahead.
fn apart(origin: &Origin, redis: &RedisServer, ahead: i64) -> Option<(Fleetfoot, Machine)> {
    let source = format!("redis: {}", redis.url());
    let mut wrong = Machine::start(&config(origin, &source, ""), ahead)?;
    until_it_hears(&mut wrong.fleetfoot);
    Some((joined(origin, &source, ""), wrong))
}

#[test]
fn what_one_stored_is_fresh_for_the_other_whoever_is_ahead() {
    for ahead in [3600, -3600] {
        let (origin, redis) = (counting("Cache-Control: max-age=600"), RedisServer::start());
        let Some((mut right, mut wrong)) = apart(&origin, &redis, ahead) else { return };
        right.get("/right");
        until_written(&mut right, 1);
        assert!(wrong.fleetfoot.get("/right").age().is_some_and(|age| age < 300), "{ahead}");
        wrong.fleetfoot.get("/wrong");
        until_written(&mut wrong.fleetfoot, 1);
        assert!(right.get("/wrong").age().is_some_and(|age| age < 300), "{ahead}");
        assert_eq!((origin.count("GET /right"), origin.count("GET /wrong")), (1, 1), "{ahead}");
    }
}

#[test]
fn what_one_that_is_ahead_stored_is_not_fresh_for_longer_at_the_other() {
    let (origin, redis) = (counting("Cache-Control: max-age=2"), RedisServer::start());
    let Some((mut right, mut wrong)) = apart(&origin, &redis, 3600) else { return };
    wrong.fleetfoot.get("/x");
    until_written(&mut wrong.fleetfoot, 1);
    right.wait_until("stale", |right| {
        right.get("/x");
        origin.count("GET /x") == 2
    });
}
