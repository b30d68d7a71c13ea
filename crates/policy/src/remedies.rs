//! Remedies: what all cores share of a plan's policies: budgets and quotas, and what they have counted. A policy is one thing
//! wherever it is used, so these go by its name. Made by `server` for each plan; what has not changed lives on over a reload.

use plan::Layer;

use crate::breaker::Breakers;
use crate::hedge::Hedges;
use crate::kept::Kept;
use crate::limit::Limited;
use crate::outcomes::Tally;
use crate::retry::Retries;

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
                Layer::Cache(_) | Layer::Overall(_) | Layer::PerTry(_) => {}
            }
        }
        remedies
    }
}
