//! Seed 003: one response of sixteen calls, four each to a database, a Redis, a module that computes and an API that is
//! slow: one after the other (the seed's v1), in a pool (v2), all at once (v3), and with everything saved. On a real
//! MariaDB and a real Redis, both on the load core with the API and the users.
//!
//! All ways are routes of one fleetfoot and take turns; no figure is told before their responses are the same, byte for
//! byte.

mod hundred_users;
mod one_user;
mod overhead;
mod stage;
mod ten_users;

use crate::compare::Options;
use crate::failure::Result;
use crate::redis_server::RedisServer;
use crate::scenario::outcome::Outcome;
use crate::server::installed;

use hundred_users::hundred_users;
use one_user::one_user;
use overhead::overhead;
use stage::Stage;
use ten_users::ten_users;

pub(crate) fn seed003(options: &Options) -> Result<Vec<Outcome>> {
    let parts = ["one-user", "ten-users", "hundred-users", "overhead"];
    let some = options.only.iter().any(|name| parts.contains(&name.as_str()));
    let wanted = |part: &str| !some || options.only.iter().any(|name| name == part);
    let mut outcomes = Vec::new();
    if wanted("overhead") {
        outcomes.extend(overhead(options)?);
    }
    if !parts[..3].iter().any(|part| wanted(part)) {
        return Ok(outcomes);
    }
    if RedisServer::program().is_none() || installed("mariadbd").is_none() {
        let sentence = "seed003: the sixteen calls left out, redis-server or mariadbd is not installed";
        outcomes.push(Outcome::skipped(sentence));
        return Ok(outcomes);
    }
    let stage = Stage::build()?;
    if wanted("one-user") {
        outcomes.extend(one_user(&stage, options)?);
    }
    if wanted("ten-users") {
        outcomes.extend(ten_users(&stage, options)?);
    }
    if wanted("hundred-users") {
        outcomes.extend(hundred_users(&stage, options)?);
    }
    Ok(outcomes)
}
