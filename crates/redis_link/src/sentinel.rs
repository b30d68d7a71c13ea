//! Sentinel: who is the master of this name now. Sentinels are asked one after the other, since each may be down or
//! behind; whoever they name is asked whether it is a master. Called for each new connection.

use std::time::Duration;

use message::{Error, Kind, Result, Retry};
use plan::RedisServer;
use redis::Value;

use crate::connect::{As, OnPush, Opened, open};
use crate::failure::{self, Failure};
use crate::shared_link::SharedLink;

/// A connection to the master. The time is shared out, so that a silent sentinel leaves some for the others.
pub(crate) async fn open_master(
    shared: &SharedLink,
    sentinels: &[RedisServer],
    master: &str,
    most: Duration,
    on_push: Option<OnPush>,
) -> Result<Opened> {
    let source = &shared.plan().name;
    let share = most / u32::try_from(sentinels.len() + 1).unwrap_or(u32::MAX);
    let mut last = None;
    for sentinel in sentinels {
        match tokio::time::timeout(share, master_by(shared, sentinel, master, share)).await {
            Ok(Ok(server)) => match checked_master(shared, &server, most, on_push.clone()).await {
                Ok(opened) => return Ok(opened),
                Err(error) => last = Some(error),
            },
            Ok(Err(error)) => last = Some(error),
            Err(_) => last = Some(failure::late_connection(source)),
        }
    }
    Err(last.unwrap_or_else(|| unknown(source, master)))
}

/// Whom this sentinel names. Most let everybody ask; where they want a login, it is that of the servers.
async fn master_by(
    shared: &SharedLink,
    sentinel: &RedisServer,
    master: &str,
    most: Duration,
) -> Result<RedisServer> {
    let source = &shared.plan().name;
    let mut opened = match open(shared, sentinel, As::Nobody, most, None).await {
        Err(error) if failure::code(&error) == Some("NOAUTH") => {
            open(shared, sentinel, As::UserOfSentinel, most, None).await?
        }
        opened => opened?,
    };
    let mut question = redis::cmd("SENTINEL");
    question.arg("GET-MASTER-ADDR-BY-NAME").arg(master);
    let reply = failure::checked(source, opened.connection.send_packed_command(&question).await);
    let value = reply.map_err(Failure::into_error)?;
    let (host, port): (String, u16) = redis::from_redis_value(value).map_err(|_| unknown(source, master))?;
    Ok(RedisServer::Tcp { host, port, tls: matches!(sentinel, RedisServer::Tcp { tls: true, .. }) })
}

/// A sentinel that was away for a while names the master of before.
async fn checked_master(
    shared: &SharedLink,
    server: &RedisServer,
    most: Duration,
    on_push: Option<OnPush>,
) -> Result<Opened> {
    let source = &shared.plan().name;
    let mut opened = open(shared, server, As::User, most, on_push).await?;
    let reply = failure::checked(source, opened.connection.send_packed_command(&redis::cmd("ROLE")).await);
    let role = match reply {
        Ok(Value::Array(parts)) => parts.into_iter().next(),
        Ok(_) => None,
        // A user who may not ask: the first write will tell.
        Err(Failure::Refusal(_)) => return Ok(opened),
        Err(Failure::Broken(error)) => return Err(error),
    };
    match role {
        Some(Value::BulkString(role)) if role == b"master" => Ok(opened),
        _ => {
            let detail =
                format!("source {source}: {} is no master, though a sentinel says so", server.address());
            Err(Error::new(Kind::Connect, detail).retry(Retry::Always))
        }
    }
}

fn unknown(source: &str, master: &str) -> Error {
    Error::new(Kind::Connect, format!("source {source}: no sentinel knows a master named {master}"))
        .retry(Retry::Always)
}
