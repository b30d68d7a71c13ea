//! Remote: the keys of a provider, fetched in the background and shared by all cores. [`RemoteKeys::keep`] runs on one thread, for
//! all; `refresh` says when. What was fetched last goes on working while nothing else can be had, for as long as the plan says.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::{ArcSwapOption, Guard};
use bytes::Bytes;
use http::header::ACCEPT;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use jwt::{Algorithm, KeySet, LARGEST};
use message::{Error, Kind, Result};
use plan::RemoteJwks;
use rules::ResponseDirectives;
use source::{Document, HttpSource, SharedOrigin, Wanted};
use tokio::sync::{Notify, watch};

use super::refresh::Refresh;

/// For how long keys count as up to date where nobody says.
const LIFETIME: Duration = Duration::from_mins(10);
/// What a provider may say of it counts between these.
const SHORTEST_LIFETIME: Duration = Duration::from_mins(1);
const LONGEST_LIFETIME: Duration = Duration::from_hours(24);

/// See the module.
pub struct RemoteKeys {
    /// The policy that they are for.
    policy: Box<str>,
    plan: Arc<RemoteJwks>,
    algorithms: Vec<Algorithm>,
    origin: Arc<SharedOrigin>,
    current: ArcSwapOption<Current>,
    refresh: Mutex<Refresh>,
    /// Somebody has asked for newer ones.
    asked: Notify,
    /// How many fetches have ended; those who wait for one are told.
    rounds: watch::Sender<u64>,
    /// Whether nobody is to fetch any.
    is_offline: AtomicBool,
    fetched: AtomicU64,
    failed: AtomicU64,
}

/// A set of keys in use.
pub(super) struct Current {
    pub(super) keys: KeySet,
    /// Which set it is. A fetch that brings the same keys does not make it another.
    pub(super) number: u64,
    usable_until: Instant,
}

/// What was counted, and how many keys there are.
#[derive(Clone, Copy, Debug)]
pub struct RemoteFigures {
    /// Fetches that brought keys.
    pub fetched: u64,
    /// Fetches that did not.
    pub failed: u64,
    /// Keys in use now.
    pub keys: u64,
}

impl RemoteKeys {
    /// None fetched yet.
    ///
    /// # Errors
    /// `Internal`: the certificate authorities cannot be read.
    pub(super) fn new(policy: &str, plan: Arc<RemoteJwks>, algorithms: Vec<Algorithm>) -> Result<Arc<Self>> {
        let origin = SharedOrigin::new(Arc::clone(&plan.origin))?;
        Ok(Arc::new(RemoteKeys {
            policy: policy.into(),
            refresh: Mutex::new(Refresh::new(plan.cooldown)),
            plan,
            algorithms,
            origin,
            current: ArcSwapOption::empty(),
            asked: Notify::new(),
            rounds: watch::Sender::new(0),
            is_offline: AtomicBool::new(false),
            fetched: AtomicU64::new(0),
            failed: AtomicU64::new(0),
        }))
    }

    /// Whether it is what this plan asks for.
    pub(super) fn is_of(&self, plan: &RemoteJwks, algorithms: &[Algorithm]) -> bool {
        *self.plan == *plan && self.algorithms == algorithms
    }

    /// The keys in use; `None`: none were fetched yet, or it is too long ago.
    pub(super) fn current(&self, now: Instant) -> Option<InUse> {
        let current = self.current.load();
        current.as_ref().is_some_and(|current| now < current.usable_until).then_some(InUse(current))
    }

    /// Whether there is a set in use, also one without a key: that is what its provider says.
    pub fn has_set(&self, now: Instant) -> bool {
        self.current(now).is_some()
    }

    /// What was counted.
    pub fn figures(&self) -> RemoteFigures {
        RemoteFigures {
            fetched: self.fetched.load(Relaxed),
            failed: self.failed.load(Relaxed),
            keys: self.current(Instant::now()).map_or(0, |current| current.keys.len() as u64),
        }
    }

    /// Waits for a fetch: the one under way, or one that begins now.
    ///
    /// # Errors
    /// How long it is too soon for another; zero where nobody is to fetch.
    pub(super) async fn newer(&self) -> std::result::Result<(), Duration> {
        if self.is_offline.load(Relaxed) {
            return Err(Duration::ZERO);
        }
        let mut rounds = self.rounds.subscribe();
        self.refresh().ask(Instant::now())?;
        self.asked.notify_one();
        // A fetch that takes too long ends without keys, and so does the wait for one that was broken off by a reload.
        let _ = tokio::time::timeout(self.plan.timeout, rounds.changed()).await;
        Ok(())
    }

    /// Nobody is to fetch any: whoever needs them is told so at once.
    pub fn stay_offline(&self) {
        self.is_offline.store(true, Relaxed);
    }

    /// Fetches keys whenever that is due, for ever.
    pub async fn keep(self: Arc<Self>) {
        let source = HttpSource::new(Arc::clone(&self.origin));
        loop {
            let wait = self.refresh().wait(Instant::now());
            if !wait.is_zero() {
                tokio::select! {
                    () = tokio::time::sleep(wait) => {}
                    () = self.asked.notified() => {}
                }
                continue;
            }
            self.refresh().begin();
            self.end(self.fetch(&source).await);
            self.rounds.send_modify(|rounds| *rounds += 1);
        }
    }

    fn end(&self, outcome: Result<(KeySet, Duration)>) {
        let now = Instant::now();
        let policy = &*self.policy;
        match outcome {
            Ok((keys, lifetime)) => {
                let before = self.current.load_full();
                let number = match &before {
                    Some(before) if before.keys == keys => before.number,
                    _ => {
                        if keys.is_empty() {
                            let url = self.url();
                            tracing::warn!(
                                policy,
                                url,
                                "there are no keys for its algorithms any more: no token is good"
                            );
                        } else {
                            tracing::info!(policy, keys = keys.len(), "new keys for tokens");
                        }
                        before.as_ref().map_or(0, |before| before.number + 1)
                    }
                };
                let usable_until = now + lifetime + self.plan.if_error;
                self.current.store(Some(Arc::new(Current { keys, number, usable_until })));
                self.fetched.fetch_add(1, Relaxed);
                self.refresh().succeed(now, lifetime, message::random());
            }
            Err(error) => {
                self.failed.fetch_add(1, Relaxed);
                self.refresh().fail(now, message::random());
                let standing = if self.has_set(now) { "those fetched last stay" } else { "there are none" };
                let url = self.url();
                tracing::warn!(policy, url, %error, "keys for tokens could not be fetched; {standing}");
            }
        }
    }

    /// The keys, and for how long they count as up to date.
    async fn fetch(&self, source: &HttpSource) -> Result<(KeySet, Duration)> {
        let accepted =
            HeaderValue::from_static("application/jwk-set+json, application/json;q=0.9, */*;q=0.1");
        let wanted = Wanted {
            method: Method::GET,
            target: &self.plan.target,
            fields: HeaderMap::from_iter([(ACCEPT, accepted)]),
            body: Bytes::new(),
            most: LARGEST as u64,
            within: self.plan.timeout,
        };
        let document = Document::fetch(source, wanted).await?;
        let unusable = |detail: String| Error::new(Kind::UnusableReply, detail);
        if document.status != StatusCode::OK {
            return Err(unusable(format!("it answered {}", document.status.as_u16())));
        }
        let said = ResponseDirectives::of(&document.fields, &[]).max_age;
        let said = said
            .map(|seconds| Duration::from_secs(seconds.into()).clamp(SHORTEST_LIFETIME, LONGEST_LIFETIME));
        let keys =
            KeySet::read(&document.content, &self.algorithms).map_err(|why| unusable(why.to_string()))?;
        Ok((keys, self.plan.refresh.or(said).unwrap_or(LIFETIME)))
    }

    /// Without the query, which may hold a secret.
    fn url(&self) -> String {
        let target = &self.plan.origin.targets[0];
        let path = self.plan.target.split('?').next().unwrap_or_default();
        format!("{}://{}{path}", target.scheme.as_str(), target.authority())
    }

    fn refresh(&self) -> MutexGuard<'_, Refresh> {
        self.refresh.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The keys in use, held for a moment.
pub(super) struct InUse(Guard<Option<Arc<Current>>>);

impl std::ops::Deref for InUse {
    type Target = Current;

    fn deref(&self) -> &Current {
        self.0.as_ref().expect("made only where there are keys")
    }
}

impl fmt::Debug for RemoteKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteKeys").field("policy", &self.policy).finish_non_exhaustive()
    }
}
