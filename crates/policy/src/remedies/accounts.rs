//! Accounts: the layer that has each call carry the credentials of another account, by turns over all cores, past those that the
//! provider has throttled. Which is next is decided by [`guard::Rotation`].
//!
//! What is above hears of the accounts as a whole: where another one is free, a throttled answer asks nobody to wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use guard::{Backoff, Rotation};
use http::StatusCode;
use http::header::RETRY_AFTER;
use message::{Ask, Call, Clock, Error, Kind, Request, Response, Result, Trip};

use crate::remedies::credentials::{Carried, Tokens};
use crate::remedies::kept::Remedy;
use crate::remedies::outcomes::{Outcome, Outcomes};
use crate::stack::around::{Arrival, Held};

/// How long an account rests that is throttled by who does not say for how long; twice as long each time.
const FIRST_REST: Duration = Duration::from_secs(1);

/// How long one is set aside that the provider does not let in.
const ASIDE: Duration = Duration::from_mins(5);

/// What all cores share of one policy's accounts.
#[derive(Debug)]
pub struct SharedAccounts {
    rule: plan::Accounts,
    rotation: Rotation,
    members: Box<[Member]>,
    /// Whether any of them has a token that may have to be waited for.
    waits: bool,
}

#[derive(Debug)]
struct Member {
    carried: Carried,
    calls: AtomicU64,
    throttled: AtomicU64,
    refused: AtomicU64,
    /// Times that it was throttled without a word for how long, since it was last let in.
    in_row: AtomicU32,
}

/// One account, for metrics.
#[derive(Clone, Copy, Debug)]
pub struct AccountFigures<'a> {
    /// What it is called.
    pub name: &'a str,
    /// Calls made by it, since the start.
    pub calls: u64,
    /// Those of them that were throttled.
    pub throttled: u64,
    /// Those of them that were not let in: 401, 403.
    pub refused: u64,
    /// Whether it rests, or is set aside.
    pub is_resting: bool,
}

/// See the module. One for each place and core.
#[derive(Clone, Debug)]
pub struct AccountsLayer {
    /// Whose turn it is.
    pub accounts: Arc<SharedAccounts>,
    /// What became of calls here.
    pub outcomes: Arc<Outcomes>,
}

/// The account that a call under way uses.
#[derive(Debug)]
pub(crate) struct AccountInUse {
    accounts: Arc<SharedAccounts>,
    index: usize,
}

impl Remedy for SharedAccounts {
    type Rule = plan::Accounts;

    fn new(rule: plan::Accounts) -> Self {
        let member = |account: &plan::Account| Member {
            carried: Carried::new(&rule.name, &account.credential),
            calls: AtomicU64::new(0),
            throttled: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            in_row: AtomicU32::new(0),
        };
        let members: Box<[Member]> = rule.accounts.iter().map(member).collect();
        SharedAccounts {
            rotation: Rotation::new(rule.accounts.iter().map(|account| account.weight)),
            waits: members.iter().any(|member| member.carried.tokens().is_some()),
            members,
            rule,
        }
    }

    fn rule(&self) -> &plan::Accounts {
        &self.rule
    }

    fn name(rule: &plan::Accounts) -> &str {
        &rule.name
    }
}

impl SharedAccounts {
    /// Each of them, in the order of the file.
    pub fn figures(&self) -> impl Iterator<Item = AccountFigures<'_>> {
        let now = now();
        let all = self.rule.accounts.iter().zip(&self.members).enumerate();
        all.map(move |(index, (account, member))| AccountFigures {
            name: &account.name,
            calls: member.calls.load(Relaxed),
            throttled: member.throttled.load(Relaxed),
            refused: member.refused.load(Relaxed),
            is_resting: self.rotation.is_aside(index, now),
        })
    }

    /// The tokens that are asked for, each with the name of its account.
    pub fn tokens(&self) -> impl Iterator<Item = (&str, &Arc<Tokens>)> {
        let all = self.rule.accounts.iter().zip(&self.members);
        all.filter_map(|(account, member)| Some((&*account.name, member.carried.tokens()?)))
    }

    /// The next account, noted in the trip.
    fn choose(&self, trip: &mut Trip) -> Result<usize> {
        let now = now();
        let Some(index) = self.rotation.choose(now) else {
            return Err(self.refusal(now));
        };
        self.members[index].calls.fetch_add(1, Relaxed);
        trip.account = Some(Arc::clone(&self.rule.accounts[index].name));
        Ok(index)
    }

    /// Puts the credentials of the next account into a request.
    pub(crate) async fn put(&self, request: &mut Request) -> Result<()> {
        let index = self.choose(&mut Trip::default())?;
        self.members[index].carried.put(request).await
    }

    fn refusal(&self, now: Instant) -> Error {
        let (name, count) = (&self.rule.name, self.members.len());
        let error = Error::new(Kind::RateLimited, format!("policy {name}: all {count} accounts rest"));
        match self.rotation.first_back(now) {
            Some(back) => error.after(back.saturating_duration_since(now)),
            None => error,
        }
    }

    /// Learns from an answer to a call by that account.
    fn learn(&self, index: usize, response: &mut Response) {
        let (now, member) = (now(), &self.members[index]);
        let asked_for = rules::retry_after(&response.fields, Clock::date());
        let is_throttled = match response.status {
            StatusCode::TOO_MANY_REQUESTS => true,
            StatusCode::SERVICE_UNAVAILABLE => asked_for.is_some(),
            _ => false,
        };
        if is_throttled {
            return self.throttled(index, asked_for, response);
        }
        match response.status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                member.refused.fetch_add(1, Relaxed);
                self.rotation.avoid(index, now + ASIDE);
            }
            // A source in trouble says nothing of an account.
            status if status.is_server_error() => {}
            _ => {
                member.in_row.store(0, Relaxed);
                self.rotation.forgive(index);
            }
        }
    }

    fn throttled(&self, index: usize, asked_for: Option<Duration>, response: &mut Response) {
        let (now, member, longest) = (now(), &self.members[index], self.rule.rest);
        member.throttled.fetch_add(1, Relaxed);
        let pause = asked_for.unwrap_or_else(|| {
            // Calls that were under way together are throttled once.
            let is_told = self.rotation.is_resting(index, now);
            let times =
                if is_told { member.in_row.load(Relaxed) } else { member.in_row.fetch_add(1, Relaxed) + 1 };
            Backoff::new(FIRST_REST, longest).after(times)
        });
        self.rotation.rest(index, now + pause.min(longest));
        match self.rotation.first_back(now) {
            None => drop(response.fields.remove(RETRY_AFTER)),
            Some(back) => {
                let wait = back.saturating_duration_since(now);
                let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
                response.fields.insert(RETRY_AFTER, seconds.into());
            }
        }
    }

    /// What it would do, and whether it would refuse a call; for people.
    pub(crate) fn explain(&self) -> (String, bool) {
        let now = now();
        let count = self.members.len();
        let resting = (0..count).filter(|index| self.rotation.is_aside(*index, now)).count();
        let refuses = self.rotation.first_back(now).is_some();
        let told = if refuses {
            format!("refused with 429: all {count} accounts rest")
        } else {
            format!("takes the next of {count} accounts, of which {resting} rest")
        };
        (told, refuses)
    }
}

impl AccountsLayer {
    /// Those that may happen.
    pub const OUTCOMES: &[Outcome] = &[Outcome::Refused, Outcome::Again];

    /// Takes the next account, where nobody has to be waited for.
    pub(crate) fn arrive<Q: Ask>(&self, ask: &mut Q, trip: &mut Trip) -> Arrival<Q::Answer> {
        let Some(request) = ask.request_mut() else { return Arrival::Pass };
        if self.accounts.waits {
            return Arrival::Wait;
        }
        match self.accounts.choose(trip) {
            Ok(index) => {
                self.accounts.members[index].carried.write(request);
                Arrival::Hold(Held::Account(AccountInUse { accounts: Arc::clone(&self.accounts), index }))
            }
            Err(refusal) => {
                self.outcomes.count(Outcome::Refused);
                Arrival::End(Err(refusal))
            }
        }
    }

    /// The same where some account has a token that is asked for: one that cannot be had makes its account rest.
    pub(crate) async fn call<Q: Ask>(
        &self,
        ask: Q,
        below: impl Call<Q>,
        trip: &mut Trip,
    ) -> Result<Q::Answer> {
        let AccountsLayer { accounts, outcomes } = self;
        let mut failure = None;
        let index = loop {
            let index = accounts.choose(trip).map_err(|refusal| {
                outcomes.count(Outcome::Refused);
                failure.take().unwrap_or(refusal)
            })?;
            let Some(tokens) = accounts.members[index].carried.tokens() else { break index };
            let Err(error) = tokens.token().await else { break index };
            let rest = error.retry_after().unwrap_or_default().max(FIRST_REST);
            accounts.rotation.rest(index, now() + rest);
            failure = Some(error);
        };
        let mut outcome = accounts.members[index].carried.call(ask, &below, trip, outcomes).await;
        AccountInUse { accounts: Arc::clone(accounts), index }.end::<Q>(&mut outcome, trip);
        outcome
    }
}

impl AccountInUse {
    /// The call has ended. What gave no answer says nothing of the account, and neither does an answer of ours.
    pub(crate) fn end<Q: Ask>(self, outcome: &mut Result<Q::Answer>, trip: &Trip) {
        let Some(response) = outcome.as_mut().ok().and_then(Q::response_mut) else { return };
        self.accounts.members[self.index].carried.take_back(response);
        if !trip.is_answered_here {
            self.accounts.learn(self.index, response);
        }
    }
}

fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
