//! Remedies: what all cores share of a plan's policies: budgets and quotas, and what they have counted. A policy is one thing
//! wherever it is used, so these go by its name. Made by `server` for each plan; what has not changed lives on over a reload.

pub(crate) mod accounts;
pub(crate) mod breaker;
pub(crate) mod by_source;
pub(crate) mod cache;
pub(crate) mod concurrency;
pub(crate) mod cors;
pub(crate) mod credentials;
pub(crate) mod faults;
pub(crate) mod headers;
pub(crate) mod hedge;
pub(crate) mod kept;
pub(crate) mod learn;
pub(crate) mod limit;
pub(crate) mod outcomes;
pub(crate) mod queue;
pub(crate) mod respond;
pub(crate) mod retry;
pub(crate) mod rewrite;
pub(crate) mod timeout;
pub(crate) mod wasm;

use std::sync::Arc;

use message::Result;
use plan::Layer;

use crate::remedies::accounts::SharedAccounts;
use crate::remedies::breaker::Breakers;
use crate::remedies::concurrency::Concurrents;
use crate::remedies::credentials::{SharedCredentials, Tokens};
use crate::remedies::hedge::Hedges;
use crate::remedies::kept::Kept;
use crate::remedies::learn::Lessons;
use crate::remedies::limit::Limited;
use crate::remedies::outcomes::Tally;
use crate::remedies::retry::Retries;

/// See the module.
#[derive(Debug, Default)]
pub struct Remedies {
    /// `hedge`.
    pub hedges: Kept<Hedges>,
    /// `retry`.
    pub retries: Kept<Retries>,
    /// `breaker`.
    pub breakers: Kept<Breakers>,
    /// `limit`.
    pub limits: Kept<Limited>,
    /// `learn`.
    pub lessons: Kept<Lessons>,
    /// `concurrency`.
    pub concurrents: Kept<Concurrents>,
    /// `credentials`.
    pub credentials: Kept<SharedCredentials>,
    /// `accounts`.
    pub accounts: Kept<SharedAccounts>,
    /// What became of calls.
    pub tally: Tally,
}

impl Remedies {
    /// Those of these layers; `before`: what ran so far.
    pub fn of<'a>(layers: impl Iterator<Item = &'a Layer>, before: Option<&Remedies>) -> Self {
        let mut remedies = Remedies::default();
        if let Some(before) = before {
            remedies.tally = before.tally.of_next();
        }
        for layer in layers {
            match layer {
                Layer::Hedge(rule) => remedies.hedges.keep(rule, before.map(|before| &before.hedges)),
                Layer::Retry(rule) => remedies.retries.keep(rule, before.map(|before| &before.retries)),
                Layer::Breaker(rule) => {
                    remedies.breakers.keep(rule, before.map(|before| &before.breakers));
                }
                Layer::Limit { limit, .. } => {
                    remedies.limits.keep(limit, before.map(|before| &before.limits));
                }
                Layer::Learn(rule) => remedies.lessons.keep(rule, before.map(|before| &before.lessons)),
                Layer::Concurrency(rule) => {
                    remedies.concurrents.keep(rule, before.map(|before| &before.concurrents));
                }
                Layer::Credentials(rule) => {
                    remedies.credentials.keep(rule, before.map(|before| &before.credentials));
                }
                Layer::Accounts(rule) => remedies.accounts.keep(rule, before.map(|before| &before.accounts)),
                Layer::Cache(_)
                | Layer::Overall(_)
                | Layer::Headers(_)
                | Layer::Rewrite(_)
                | Layer::Wasm(_)
                | Layer::Cors(_)
                | Layer::Respond(_)
                | Layer::Faults(_)
                | Layer::PerTry(_) => {}
            }
        }
        if let Some(before) = before {
            remedies.limits.remember(&before.limits);
            remedies.lessons.remember(&before.lessons);
            remedies.concurrents.remember(&before.concurrents);
        }
        remedies
    }

    /// Every token that is asked for, with the name of its policy, and of its account where that has several.
    pub fn tokens(&self) -> impl Iterator<Item = (&str, &str, &Arc<Tokens>)> {
        let plain = self.credentials.iter().filter_map(|(policy, of)| Some((policy, "", of.tokens()?)));
        let accounts = self.accounts.iter();
        let accounts =
            accounts.flat_map(|(policy, of)| of.tokens().map(move |(name, tokens)| (policy, name, tokens)));
        plain.chain(accounts)
    }

    /// Whether everything can run that is to.
    ///
    /// # Errors
    /// The certificate authorities of a token endpoint cannot be used.
    pub fn check(&self) -> Result<()> {
        self.tokens().try_for_each(|(_, _, tokens)| tokens.unready())
    }
}
