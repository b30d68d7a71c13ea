//! Shared Redis: what all cores share of one Redis as a source of reads: the ways to it, what is held of it, and who watches
//! it. Made when a plan starts; kept by a reload that leaves its plan as it was.

use std::sync::{Arc, OnceLock};

use message::Result;
use plan::{ReadMode, RedisSource};

use super::remembered::Remembered;
use super::replica::{self, Standing};
use super::tracked_answers::TrackedAnswers;
use super::tracking;
use super::watcher::Watcher;

/// See the module.
pub struct SharedRedis {
    pub(super) plan: Arc<RedisSource>,
    pub(super) primary: Arc<redis_link::SharedLink>,
    pub(super) mode: Mode,
    /// For when it is gone: answers that are not held.
    pub(super) remembered: Option<Remembered>,
    watcher: OnceLock<Result<Watcher>>,
}

pub(super) enum Mode {
    Central,
    Replica { replica: Arc<redis_link::SharedLink>, standing: Arc<Standing> },
    Tracked(Arc<TrackedAnswers>),
}

/// What is counted of one Redis as a source of reads.
#[derive(Clone, Copy, Debug, Default)]
pub struct RedisFigures {
    /// The server itself, and its replica where one is read from.
    pub primary: redis_link::LinkFigures,
    /// See [`RedisFigures::primary`].
    pub replica: Option<redis_link::LinkFigures>,
    /// Whether it is taken for well: not given up after failures in a row, or back since.
    pub is_up: bool,
    /// Whether the replica is in step.
    pub in_step: Option<bool>,
    /// Whether Redis tells what changes, where it is tracked.
    pub is_live: bool,
    /// What is held, where it is tracked.
    pub tracked: Option<tracked::TrackedFigures>,
    /// Answers and bytes that are remembered for when it is gone.
    pub remembered: Option<(u64, u64)>,
}

/// Bytes for what is held, and for what is remembered: of a tracked Redis only what it does not tell about.
fn memory(plan: &RedisSource) -> (u64, u64) {
    let remembers = !plan.max_stale.is_zero();
    match &plan.mode {
        ReadMode::Tracked { prefixes, .. } if remembers && !prefixes.is_empty() => {
            let remembered = plan.memory / 4;
            (plan.memory - remembered, remembered)
        }
        ReadMode::Tracked { .. } => (plan.memory, 0),
        ReadMode::Central | ReadMode::Replica { .. } => (0, if remembers { plan.memory } else { 0 }),
    }
}

impl SharedRedis {
    /// Reads the certificate authorities (`Kind::Internal` says which file is at fault). Nothing is connected or
    /// watched yet.
    pub fn new(plan: Arc<RedisSource>) -> Result<Arc<SharedRedis>> {
        let primary = redis_link::SharedLink::new(Arc::clone(&plan))?;
        let (held, remembered) = memory(&plan);
        let mode = match &plan.mode {
            ReadMode::Central => Mode::Central,
            ReadMode::Replica { server, .. } => Mode::Replica {
                replica: redis_link::SharedLink::replica(Arc::clone(&plan), server.clone())?,
                standing: Arc::default(),
            },
            ReadMode::Tracked { prefixes, silence } => {
                Mode::Tracked(Arc::new(TrackedAnswers::new(held, prefixes, *silence, plan.max_stale)))
            }
        };
        let remembered = (remembered > 0).then(|| Remembered::new(remembered, plan.max_stale));
        Ok(Arc::new(SharedRedis { primary, mode, remembered, watcher: OnceLock::new(), plan }))
    }

    /// What the plan says of it.
    pub fn plan(&self) -> &RedisSource {
        &self.plan
    }

    /// The connections to it, to be shared with whoever else uses it.
    pub fn link(&self) -> &Arc<redis_link::SharedLink> {
        &self.primary
    }

    /// Starts to watch it, as its mode needs; once, and until it is dropped. Without, a replica is never read from and
    /// nothing is held.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn watch(&self) -> Result<()> {
        let name = &self.plan.name;
        let primary = Arc::clone(&self.primary);
        let watcher = self.watcher.get_or_init(|| match (&self.mode, &self.plan.mode) {
            (Mode::Replica { replica, standing }, ReadMode::Replica { max_lag, .. }) => {
                let (replica, standing, max_lag) = (Arc::clone(replica), Arc::clone(standing), *max_lag);
                Watcher::start(name, move || replica::watch(primary, replica, standing, max_lag))
            }
            (Mode::Tracked(held), _) => {
                let held = Arc::clone(held);
                Watcher::start(name, move || tracking::track(primary, held))
            }
            _ => Ok(Watcher::none()),
        });
        watcher.as_ref().map(drop).map_err(Clone::clone)
    }

    /// How it is read, for people.
    pub(crate) fn describe(&self) -> String {
        let now = message::Clock::now();
        match &self.mode {
            Mode::Central => "each read asks Redis".to_owned(),
            Mode::Replica { standing, .. } if standing.is_in_step(now) => {
                "the replica is in step, and asked".to_owned()
            }
            Mode::Replica { .. } => "the replica is not in step, so Redis itself is asked".to_owned(),
            Mode::Tracked(held) if held.is_live(now) => {
                "answers are held, and Redis tells what changes".to_owned()
            }
            Mode::Tracked(_) => "Redis does not tell what changes now, so each read asks it".to_owned(),
        }
    }

    /// For metrics.
    pub fn figures(&self) -> RedisFigures {
        let now = message::Clock::now();
        let (replica, in_step) = match &self.mode {
            Mode::Replica { replica, standing } => (Some(replica.figures()), Some(standing.is_in_step(now))),
            Mode::Central | Mode::Tracked(_) => (None, None),
        };
        RedisFigures {
            primary: self.primary.figures(),
            replica,
            is_up: self.primary.is_up(),
            in_step,
            is_live: matches!(&self.mode, Mode::Tracked(held) if held.is_live(now)),
            tracked: match &self.mode {
                Mode::Tracked(held) => Some(held.figures()),
                Mode::Central | Mode::Replica { .. } => None,
            },
            remembered: self.remembered.as_ref().map(Remembered::size),
        }
    }
}
