//! Tokens: a token that a server issues to us, as all cores share it. In: calls that need it, and a source that does not know it any
//! more. Out: the token, or why there is none.
//!
//! It is fetched in one place, [`renew`], run by `server` beside the health checks: so there is one request for all calls of all
//! cores, before the first of them and before the token expires. Whether to fetch is decided by [`guard::Renewal`].

use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use guard::Renewal;
use http::HeaderValue;
use message::{Error, Kind, Result, Retry};
use source::{HttpSource, SharedOrigin};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::grant::{self, Granted};

/// How long a call waits for a first token: longer than a request for one may take.
const PATIENCE: Duration = Duration::from_secs(12);

/// See the module.
pub struct Tokens {
    /// The name of the policy, for messages.
    policy: String,
    rule: Arc<plan::OAuth2>,
    /// Whom to ask; or what keeps us from it, which ends the start or the reload.
    server: Result<Arc<SharedOrigin>>,
    state: Mutex<State>,
    /// There is another token, or another failure.
    changed: Notify,
    /// Somebody needs another token.
    wanted: Notify,
    /// Requests for a token.
    asked: AtomicU64,
    /// Those of them that failed.
    failed: AtomicU64,
}

#[derive(Default)]
struct State {
    /// Of the token.
    number: u64,
    field: Option<HeaderValue>,
    renewal: Renewal,
    failure: Option<Error>,
}

/// A token that may be used.
#[derive(Debug)]
pub(crate) struct Token {
    /// `Authorization`.
    pub(super) field: HeaderValue,
    number: u64,
}

impl Tokens {
    pub(super) fn new(policy: &str, rule: Arc<plan::OAuth2>) -> Arc<Self> {
        Arc::new(Tokens {
            policy: policy.to_owned(),
            server: SharedOrigin::new(Arc::clone(&rule.server)),
            rule,
            state: Mutex::default(),
            changed: Notify::new(),
            wanted: Notify::new(),
            asked: AtomicU64::new(0),
            failed: AtomicU64::new(0),
        })
    }

    /// Why the server cannot be asked at all: its certificate authorities.
    pub(crate) fn unready(&self) -> Result<()> {
        self.server.as_ref().map(drop).map_err(Clone::clone)
    }

    /// The token, waited for where it is being fetched for the first time.
    ///
    /// # Errors
    /// [`Kind::CredentialsUnavailable`]: none can be had now.
    pub(crate) async fn token(&self) -> Result<Token> {
        let wait = async {
            loop {
                let mut changed = pin!(self.changed.notified());
                changed.as_mut().enable();
                if let Some(outcome) = self.look() {
                    return outcome;
                }
                changed.await;
            }
        };
        match self.look() {
            Some(outcome) => outcome,
            None => tokio::time::timeout(PATIENCE, wait).await.unwrap_or_else(|_| {
                Err(self.unavailable(&Error::new(Kind::Internal, "nobody has fetched one")))
            }),
        }
    }

    /// `None`: it is being fetched.
    fn look(&self) -> Option<Result<Token>> {
        let now = Instant::now().into_std();
        let state = self.state();
        if state.renewal.is_good(now)
            && let Some(field) = &state.field
        {
            return Some(Ok(Token { field: field.clone(), number: state.number }));
        }
        let failure = state.failure.as_ref().filter(|_| state.renewal.is_failing())?;
        Some(Err(failure.clone().after(state.renewal.due_in(now))))
    }

    /// A source does not know a token. True: there is another one, or will be. False: it cannot be the token, for that one is new.
    pub(super) fn refuse(&self, token: &Token) -> bool {
        let now = Instant::now().into_std();
        let mut state = self.state();
        if state.number != token.number || !state.renewal.is_good(now) {
            return true;
        }
        let is_dropped = state.renewal.refuse(now);
        if is_dropped {
            self.wanted.notify_one();
        }
        is_dropped
    }

    fn settle(&self, outcome: Result<Granted>) {
        let (now, random) = (Instant::now().into_std(), message::random());
        self.asked.fetch_add(1, Relaxed);
        let mut state = self.state();
        match outcome {
            Ok(granted) => {
                if state.renewal.is_failing() {
                    tracing::info!(policy = self.policy, "there are tokens again");
                }
                state.renewal.renewed(now, granted.lifetime, random);
                state.field = Some(granted.field);
                state.number += 1;
                state.failure = None;
            }
            Err(error) => {
                self.failed.fetch_add(1, Relaxed);
                state.renewal.failed(now, error.retry_after().unwrap_or_default(), random);
                let (again, left) = (state.renewal.due_in(now), state.renewal.good_for(now));
                let error = self.unavailable(&error);
                tracing::warn!(policy = self.policy, ?again, ?left, "{error}");
                state.failure = Some(error);
            }
        }
        drop(state);
        self.changed.notify_waiters();
    }

    fn unavailable(&self, error: &Error) -> Error {
        let (policy, url) = (&self.policy, self.rule.url());
        // The source has seen nothing of the call.
        Error::new(Kind::CredentialsUnavailable, format!("policy {policy}: no token from {url}: {error}"))
            .retry(Retry::Always)
    }

    /// Requests for a token, since the start.
    pub fn asked(&self) -> u64 {
        self.asked.load(Relaxed)
    }

    /// Those of them that failed.
    pub fn failed(&self) -> u64 {
        self.failed.load(Relaxed)
    }

    /// How long the token may still be used; zero: there is none.
    pub fn good_for(&self) -> Duration {
        self.state().renewal.good_for(Instant::now().into_std())
    }

    /// How it stands, for people.
    pub(super) fn explain(&self) -> String {
        let (url, left) = (self.rule.url(), self.good_for().as_secs());
        if left > 0 {
            return format!("a token from {url}, usable for {left} s");
        }
        let is_failing = self.state().renewal.is_failing();
        let why = if is_failing { "which does not give one now" } else { "which has not been asked yet" };
        format!("a token from {url}, {why}")
    }

    /// A poisoned lock is as good as another: what runs under it leaves nothing half done.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps a token fresh for ever. Dropping the future ends that; the token stays.
pub async fn renew(tokens: Arc<Tokens>) {
    let Ok(server) = &tokens.server else { return };
    let source = HttpSource::new(Arc::clone(server));
    loop {
        let due_in = tokens.state().renewal.due_in(Instant::now().into_std());
        if due_in.is_zero() {
            tokens.settle(grant::ask(&source, &tokens.rule).await);
            continue;
        }
        tokio::select! {
            () = tokio::time::sleep(due_in) => {}
            () = tokens.wanted.notified() => {}
        }
    }
}

/// Never the token.
impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokens")
            .field("policy", &self.policy)
            .field("url", &self.rule.url())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn tokens() -> Arc<Tokens> {
        let text = "sources: { a: http://a }\nroutes: [{ match: /, proxy: a, use: p }]\npolicies: { p: { credentials: { oauth2: \
                    { token: http://localhost/t, client_id: a, client_secret: s3cret } } } }";
        let plan = plan::compile(text, "test.yaml").unwrap_or_else(|faults| panic!("{faults}"));
        match plan.routes[0].layers.iter().next() {
            Some(plan::Layer::Credentials(of)) => {
                Tokens::new("p", Arc::clone(of.credential.oauth2().unwrap()))
            }
            other => panic!("{other:?}"),
        }
    }

    fn granted(token: &'static str, lifetime: Duration) -> Granted {
        Granted { field: HeaderValue::from_static(token), lifetime }
    }

    async fn used(tokens: &Tokens) -> HeaderValue {
        tokens.token().await.expect("a token").field
    }

    #[tokio::test(start_paused = true)]
    async fn a_token_serves_as_long_as_it_is_good_though_there_is_no_other() {
        let tokens = tokens();
        tokens.settle(Ok(granted("old", 100 * SECOND)));
        tokio::time::advance(85 * SECOND).await;
        tokens.settle(Err(Error::new(Kind::Connect, "nobody there")));
        assert_eq!(used(&tokens).await, "old");
        tokio::time::advance(5 * SECOND).await;
        let error = tokens.token().await.expect_err("it is good no more");
        assert_eq!((error.kind(), error.retry_after().is_some()), (Kind::CredentialsUnavailable, true));
        assert_eq!(error.detail(), "policy p: no token from http://localhost/t: nobody there");
        tokens.settle(Ok(granted("new", 100 * SECOND)));
        assert_eq!(used(&tokens).await, "new");
        assert_eq!((tokens.asked(), tokens.failed()), (3, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn who_comes_first_waits_for_the_token_and_not_for_ever() {
        let tokens = tokens();
        let came = async {
            tokio::time::sleep(SECOND).await;
            tokens.settle(Ok(granted("first", 100 * SECOND)));
        };
        let (one, other, ()) = tokio::join!(used(&tokens), used(&tokens), came);
        assert_eq!((one, other), (HeaderValue::from_static("first"), HeaderValue::from_static("first")));
        let error = self::tokens().token().await.expect_err("nobody fetches it");
        assert_eq!(error.kind(), Kind::CredentialsUnavailable);
    }

    #[tokio::test(start_paused = true)]
    async fn calls_under_way_with_one_token_drop_it_once() {
        let tokens = tokens();
        tokens.settle(Ok(granted("one", 100 * SECOND)));
        let (first, second) = (tokens.token().await.unwrap(), tokens.token().await.unwrap());
        assert!(tokens.refuse(&first) && tokens.good_for().is_zero());
        tokens.settle(Ok(granted("two", 100 * SECOND)));
        assert!(tokens.refuse(&second), "there is another one");
        assert_eq!(used(&tokens).await, "two");
        let third = tokens.token().await.unwrap();
        assert!(!tokens.refuse(&third), "a token that new is not the reason");
        assert_eq!(used(&tokens).await, "two");
        tokio::time::advance(2 * SECOND).await;
        assert!(tokens.refuse(&third));
    }
}
