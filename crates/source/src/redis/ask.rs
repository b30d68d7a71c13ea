//! Ask: one read over one way to Redis. In: a read and its arguments. Out: what was found, ready to go out; or whether
//! Redis is gone, or what it said is of no use.

use std::sync::Arc;

use expression::Arguments;
use message::{Clock, Error, Kind, Result, Timestamp};
use plan::{Read, ReadCommand, Topology};
use redis_link::{Link, pipe};
use tokio::task::JoinSet;

use super::command::{Carried, append, carried, pipeline, together};
use super::kept_answer::KeptAnswer;
use crate::read::{ReadAsked, Rendered};

/// See the module.
pub(super) enum Outcome {
    Found(KeptAnswer),
    /// It answered, but not with what the route could give: 502.
    Unusable(Error),
    /// It could not be asked.
    Gone(Error),
}

/// Asks; once more where the connection broke, of which Redis may know nothing: a read can be repeated.
pub(super) async fn ask(link: &Link, read: &Read, arguments: &Arguments) -> Outcome {
    let mut asked_at = Clock::now();
    let mut carried = once(link, read, arguments, asked_at).await;
    if carried.as_ref().is_err_and(|error| error.kind() == Kind::BrokeOff) {
        asked_at = Clock::now();
        carried = once(link, read, arguments, asked_at).await;
    }
    let rendered = carried.and_then(|Carried { found, until }| {
        Ok(KeptAnswer { rendered: Arc::new(Rendered::new(found, read)?), asked_at, until })
    });
    match rendered {
        Ok(kept) => Outcome::Found(kept),
        Err(error) if is_of_no_use(&error) => Outcome::Unusable(match error.kind() {
            Kind::UnusableReply => error,
            _ => Error::new(Kind::UnusableReply, format!("{} failed: {error}", read.command.word())),
        }),
        Err(error) => Outcome::Gone(error),
    }
}

/// Asks several over one way to one server, all at once. `None`: not one reply for each came back, so that each has to
/// be asked for itself to know which of them failed.
pub(super) async fn ask_together(link: &Link, asked: &[ReadAsked]) -> Option<Vec<Result<KeptAnswer>>> {
    let asked_at = Clock::now();
    let mut together = pipe();
    let mut lengths = Vec::with_capacity(asked.len());
    for ReadAsked { read, arguments } in asked {
        lengths.push(append(read, arguments, &mut together));
    }
    let mut replies = link.ask_all(&together).await.ok()?.into_iter();
    let one = |(asked, length): (&ReadAsked, usize)| {
        let own: Vec<_> = replies.by_ref().take(length).collect();
        let Carried { found, until } = carried(asked.read.command, own, asked_at)?;
        Ok(KeptAnswer { rendered: Arc::new(Rendered::new(found, &asked.read)?), asked_at, until })
    };
    Some(asked.iter().zip(lengths).map(one).collect())
}

async fn once(link: &Link, read: &Read, arguments: &Arguments, asked_at: Timestamp) -> Result<Carried> {
    match (read.command, &link.shared().plan().topology) {
        (ReadCommand::Mget, Topology::Cluster(_)) => each(link, arguments, asked_at).await,
        (command, _) => carried(command, link.ask_all(&pipeline(read, arguments)).await?, asked_at),
    }
}

/// A server that cannot do its work now is there but cannot be asked.
fn is_of_no_use(error: &Error) -> bool {
    match error.kind() {
        Kind::UnusableReply => true,
        Kind::MalformedResponse => !redis_link::is_unable(error),
        _ => false,
    }
}

/// The keys of an `MGET` one by one, all at once: in a cluster they lie on any of its servers.
async fn each(link: &Link, keys: &Arguments, asked_at: Timestamp) -> Result<Carried> {
    let mut asking = JoinSet::new();
    for (index, key) in keys.iter().enumerate() {
        let mut pipeline = pipe();
        pipeline.cmd("GET").arg(key).cmd("PTTL").arg(key);
        let link = link.clone();
        asking.spawn_local(async move { (index, link.ask_all(&pipeline).await) });
    }
    let mut all = Vec::with_capacity(keys.len());
    while let Some(asked) = asking.join_next().await {
        let (index, replies) =
            asked.map_err(|error| Error::new(Kind::Internal, "a read was given up").caused_by(error))?;
        // Another type is no value to `MGET`.
        let found = match replies {
            Err(error) if redis_link::code(&error) == Some("WRONGTYPE") => Carried::NOTHING,
            replies => carried(ReadCommand::Get, replies?, asked_at)?,
        };
        all.push((index, found));
    }
    all.sort_unstable_by_key(|(index, _)| *index);
    Ok(together(all.into_iter().map(|(_, found)| found).collect()))
}
