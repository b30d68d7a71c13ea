//! Auth: who may ask, as one policy says it and all cores share it. In: a request. Out: who it is, or why it is not let in.
//! Made by [`Auths`] for each plan; asked by `gate`, on the way of a fresh hit too.
//!
//! `tokens` checks bearer tokens, with keys that `remote` fetches; `known` has those that were good before; `api_keys` finds
//! whose key it is. Both know a credential by its `fingerprint`. `refused` says no, `counted` counts.

mod api_keys;
mod counted;
mod fingerprint;
mod known;
mod refresh;
mod refused;
mod remote;
mod tokens;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jwt::Bearer;
use message::{Clock, Error, Request, RequestView, Result, Timestamp};

use self::api_keys::{ApiKeys, Shown};
use self::counted::AuthCounters;
use self::refused::{Challenges, Refused};
use self::tokens::{Check, Tokens};

pub use self::counted::{AuthFigures, AuthOutcome};
pub use self::remote::{RemoteFigures, RemoteKeys};

/// See the module.
pub struct Auth {
    plan: Arc<plan::Auth>,
    tokens: Option<Tokens>,
    keys: Option<ApiKeys>,
    challenges: Challenges,
    counters: AuthCounters,
}

/// Who asks, as far as a policy knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// Whoever carries nothing.
    Nobody,
    /// Somebody with a good token.
    Bearer,
    /// The owner of this API key, by its number.
    Key(usize),
}

/// Both times that are asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    /// For what is waited for.
    pub(crate) moment: Instant,
    /// For what tokens say.
    pub(crate) date: Timestamp,
}

impl Now {
    fn read() -> Self {
        Now { moment: Instant::now(), date: Clock::date() }
    }
}

/// What is known of a request at once.
enum Look<'r> {
    In(Who),
    Refused(Refused),
    /// Whether this token is good by these, which makes it this one.
    Token(&'r Tokens, &'r [u8], Who),
}

impl Auth {
    /// `before`: the same policy as it ran so far; the keys of a provider that stays are kept.
    ///
    /// # Errors
    /// `Internal`: authorities cannot be read, or the system has no entropy.
    fn new(plan: Arc<plan::Auth>, before: Option<&Auth>) -> Result<Self> {
        let before = before.and_then(|before| before.remote());
        let tokens = plan.jwt.as_ref().map(|jwt| Tokens::new(&plan.name, jwt, before)).transpose()?;
        let keys = plan.keys.as_ref().map(ApiKeys::new).transpose()?;
        let challenges = Challenges::new(&plan);
        Ok(Auth { plan, tokens, keys, challenges, counters: AuthCounters::default() })
    }

    /// The provider whose keys are to be fetched.
    pub fn remote(&self) -> Option<&Arc<RemoteKeys>> {
        self.tokens.as_ref()?.remote()
    }

    /// What was counted.
    pub fn figures(&self) -> AuthFigures {
        let keys = self.keys.iter().flat_map(ApiKeys::figures);
        let checked = self.tokens.as_ref().map(Tokens::checked);
        self.counters.figures(keys.map(|(name, count)| (name.to_owned(), count)).collect(), checked)
    }

    /// Who it is, where that is known without a signature to be checked and without waiting for anybody.
    pub(crate) fn known(&self, request: &RequestView<'_>, now: Now) -> Option<Who> {
        match self.look(request, now) {
            Look::In(who) => Some(who),
            Look::Refused(_) | Look::Token(..) => None,
        }
    }

    /// Lets a request in, and counts it.
    ///
    /// # Errors
    /// `Kind::Unauthorized`, `Kind::KeysUnavailable`.
    pub(crate) async fn admit(&self, request: &Request) -> Result<()> {
        let outcome = self.judge(request).await;
        self.count(&outcome);
        outcome.map(|_| ()).map_err(|refused| self.challenges.error(&self.plan.name, refused))
    }

    /// What it would do, in a sentence. Nothing is counted.
    ///
    /// # Errors
    /// It would not let it in.
    pub async fn explain(&self, request: &Request) -> Result<String> {
        let name = &self.plan.name;
        match self.judge(request).await {
            Ok(Who::Nobody) => Ok(format!("`{name}`: lets it in without a credential")),
            Ok(Who::Bearer) => Ok(format!("`{name}`: the token is good")),
            Ok(Who::Key(number)) => {
                let owner = self.keys.as_ref().map_or("", |keys| keys.name(number));
                Ok(format!("`{name}`: the API key of `{owner}`"))
            }
            Err(refused) => Err(self.challenges.error(name, refused)),
        }
    }

    async fn judge(&self, request: &Request) -> std::result::Result<Who, Refused> {
        let now = Now::read();
        match self.look(&request.view(), now) {
            Look::In(who) => Ok(who),
            Look::Refused(refused) => Err(refused),
            Look::Token(tokens, token, who) => match tokens.check(token, now) {
                Check::Good => Ok(who),
                Check::Refused(refused) => Err(refused),
                // Boxed: it is rare, and each request would make room for it.
                Check::NeedsKeys => Box::pin(check_with_newer_keys(tokens, token)).await.map(|()| who),
            },
        }
    }

    /// Whatever a request carries must be good, also beside something else that is: claims are read of a token that is
    /// there, whoever it was let in for.
    fn look<'r>(&'r self, request: &RequestView<'r>, now: Now) -> Look<'r> {
        let shown = self.keys.as_ref().map_or(Shown::None, |keys| keys.find(request.fields));
        let key = match shown {
            Shown::None => None,
            Shown::Key(number) => Some(Who::Key(number)),
            Shown::Unknown => return Look::Refused(Refused::Key),
            Shown::Several => return Look::Refused(Refused::SeveralKeys),
        };
        let bearer = match self.tokens {
            Some(_) => jwt::bearer(request.fields),
            None => Bearer::None,
        };
        match (bearer, &self.tokens) {
            (Bearer::Several, _) => Look::Refused(Refused::SeveralTokens),
            (Bearer::Token(token), Some(tokens)) => {
                let who = key.unwrap_or(Who::Bearer);
                if tokens.knows(token, now) { Look::In(who) } else { Look::Token(tokens, token, who) }
            }
            _ => match key {
                Some(who) => Look::In(who),
                None if self.plan.is_optional => Look::In(Who::Nobody),
                None => Look::Refused(Refused::Missing),
            },
        }
    }

    /// Counts what became of a request.
    pub(crate) fn count(&self, outcome: &std::result::Result<Who, Refused>) {
        self.counters.count(match outcome {
            Ok(Who::Nobody) => AuthOutcome::Anonymous,
            Ok(_) => AuthOutcome::Ok,
            Err(refused) => refused.outcome(),
        });
        if let (Ok(Who::Key(number)), Some(keys)) = (outcome, &self.keys) {
            keys.count(*number);
        }
    }
}

async fn check_with_newer_keys(tokens: &Tokens, token: &[u8]) -> std::result::Result<(), Refused> {
    let wait = match tokens.remote() {
        Some(remote) => remote.newer().await.err().unwrap_or_default(),
        None => Duration::ZERO,
    };
    let now = Now::read();
    match tokens.check(token, now) {
        Check::Good => Ok(()),
        Check::Refused(refused) => Err(refused),
        Check::NeedsKeys if tokens.remote().is_some_and(|remote| remote.has_set(now.moment)) => {
            Err(Refused::Token(jwt::Refusal::UnknownKey))
        }
        Check::NeedsKeys => Err(Refused::KeysUnavailable(wait)),
    }
}

/// Never a secret.
impl std::fmt::Debug for Auth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Auth").field("name", &self.plan.name).finish_non_exhaustive()
    }
}

/// All policies of a plan that say who may ask, by their names. What has not changed lives on over a reload.
#[derive(Debug, Default)]
pub struct Auths(BTreeMap<String, Arc<Auth>>);

impl Auths {
    /// Those of these routes; `before`: what ran so far.
    ///
    /// # Errors
    /// `Internal`: one of them cannot be made ready.
    pub fn of<'a>(routes: impl Iterator<Item = &'a plan::Route>, before: Option<&Auths>) -> Result<Self> {
        let mut all = BTreeMap::new();
        for plan in routes.flat_map(|route| &route.auth) {
            if all.contains_key(&plan.name) {
                continue;
            }
            let kept = before.and_then(|before| before.0.get(&plan.name));
            let auth = match kept.filter(|kept| kept.plan == *plan) {
                Some(kept) => Arc::clone(kept),
                None => Arc::new(Auth::new(Arc::clone(plan), kept.map(|kept| &**kept))?),
            };
            all.insert(plan.name.clone(), auth);
        }
        Ok(Auths(all))
    }

    /// Those that a route names.
    pub fn of_route(&self, route: &plan::Route) -> Vec<Arc<Auth>> {
        route.auth.iter().map(|plan| Arc::clone(&self.0[&plan.name])).collect()
    }

    /// By the names of their policies.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Arc<Auth>)> {
        self.0.iter().map(|(name, auth)| (name.as_str(), auth))
    }
}

/// As `Kind::Internal`: something that is needed at the start is not there.
fn no_entropy(cause: aws_lc_rs::error::Unspecified) -> Error {
    Error::new(message::Kind::Internal, "the system gives no random numbers").caused_by(cause)
}
