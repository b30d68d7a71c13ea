//! Tracking: the line on which Redis tells what changes: `CLIENT TRACKING ON BCAST`. One for each process and source, on
//! the thread of its watcher. In: what is pushed. Out: what is held becomes untrue; and when nothing is heard for
//! `silence`, all of it.
//!
//! Pings are sent on the same connection, so that a reply says: all that was told before has been passed on.

use std::sync::Arc;
use std::time::{Duration, Instant};

use message::{Clock, Error, Kind, Result};
use redis_link::{Cmd, Dedicated, Link, PushInfo, PushKind, Value, cmd};
use tokio::sync::Notify;
use tracked::silence::{Next, next};

use super::tracked_answers::TrackedAnswers;

/// Before the first attempt to connect anew, and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Keeps a line for ever.
pub(super) async fn track(shared: Arc<redis_link::SharedLink>, held: Arc<TrackedAnswers>) {
    let name = shared.plan().name.clone();
    let mut pause = FIRST_PAUSE;
    let mut was_told = false;
    loop {
        match begin(&shared, &held).await {
            Ok(line) => {
                tracing::info!("source {name}: Redis tells what changes");
                (pause, was_told) = (FIRST_PAUSE, false);
                let error = line.keep(&held).await;
                held.disconnected();
                tracing::warn!("source {name}: nothing is held any more: {error}");
            }
            // An outage is told once.
            Err(error) if was_told => tracing::debug!("source {name}: {error}"),
            Err(error) => {
                tracing::warn!(
                    "source {name}: Redis does not tell what changes, so each read asks it: {error}"
                );
                was_told = true;
            }
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// A line that is live.
struct Line {
    connection: Dedicated,
    lost: Arc<Notify>,
    /// When the last ping that was answered was sent.
    confirmed: Instant,
}

/// Connects, to whoever is the master now, and has it tell.
async fn begin(shared: &Arc<redis_link::SharedLink>, held: &Arc<TrackedAnswers>) -> Result<Line> {
    let lost = Arc::new(Notify::new());
    let (hearing, losing) = (Arc::clone(held), Arc::clone(&lost));
    let link = Link::new(Arc::clone(shared));
    let mut connection = link.listening(move |push| hear(&push, &hearing, &losing)).await?;
    let sent_at = Instant::now();
    connection.ask(&command(held.prefixes()), held.silence).await?;
    held.connected(Clock::at(sent_at));
    Ok(Line { connection, lost, confirmed: sent_at })
}

fn command(prefixes: &[String]) -> Cmd {
    let mut command = cmd("CLIENT");
    command.arg("TRACKING").arg("ON").arg("BCAST");
    for prefix in prefixes {
        command.arg("PREFIX").arg(prefix);
    }
    command
}

impl Line {
    /// Until it is lost: the reason.
    async fn keep(mut self, held: &TrackedAnswers) -> Error {
        loop {
            match next(self.confirmed, false, Instant::now(), held.silence) {
                Next::Wait(wait) => {
                    tokio::select! {
                        () = self.lost.notified() => return lost(),
                        () = tokio::time::sleep(wait) => {}
                    }
                }
                Next::Ping => {
                    let sent_at = Instant::now();
                    let left = held.silence.saturating_sub(sent_at - self.confirmed);
                    let ping = cmd("PING");
                    let reply = tokio::select! {
                        () = self.lost.notified() => return lost(),
                        reply = self.connection.ask(&ping, left) => reply,
                    };
                    match reply {
                        // Not when it came: it may have waited for us to read it.
                        Ok(_) => {
                            self.confirmed = sent_at;
                            held.confirmed(Clock::at(sent_at));
                        }
                        Err(error) => return error,
                    }
                }
                Next::Lost => {
                    return Error::new(Kind::SourceTimeout, "Redis was silent for too long");
                }
            }
        }
    }
}

fn lost() -> Error {
    Error::new(Kind::BrokeOff, "the connection was broken off")
}

/// Takes a push, on the task that reads the connection.
fn hear(push: &PushInfo, held: &TrackedAnswers, lost: &Notify) {
    match push.kind {
        PushKind::Invalidate => {
            for keys in &push.data {
                match keys {
                    Value::Array(keys) => {
                        for key in keys {
                            match key {
                                Value::BulkString(key) => held.invalidate(key),
                                // Whatever it means, something has changed.
                                _ => held.flush(),
                            }
                        }
                    }
                    _ => held.flush(),
                }
            }
        }
        PushKind::Disconnection => {
            held.disconnected();
            lost.notify_one();
        }
        _ => {}
    }
}
