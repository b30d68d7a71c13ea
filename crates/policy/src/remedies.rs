//! Remedies: what all cores share of a plan's policies: budgets and quotas, and what they have counted. A policy is one thing
//! wherever it is used, so these go by its name. Made by `server` for each plan; what has not changed lives on over a reload.

use std::collections::BTreeMap;
use std::sync::Arc;

use plan::Layer;

use crate::limit::Limited;
use crate::retry::Retries;

/// See the module.
#[derive(Debug, Default)]
pub struct Remedies {
    retries: BTreeMap<String, Arc<Retries>>,
    limits: BTreeMap<String, Arc<Limited>>,
}

impl Remedies {
    /// Those of these layers; `before`: what ran so far.
    pub fn of<'a>(layers: impl Iterator<Item = &'a Layer>, before: Option<&Remedies>) -> Self {
        let mut remedies = Remedies::default();
        for layer in layers {
            match layer {
                Layer::Retry(rule) => {
                    let kept = before.and_then(|before| before.retries.get(&rule.name));
                    let kept = kept.filter(|kept| kept.rule() == &**rule).cloned();
                    let made = || kept.unwrap_or_else(|| Arc::new(Retries::new(plan::Retry::clone(rule))));
                    remedies.retries.entry(rule.name.clone()).or_insert_with(made);
                }
                Layer::Limit { limit: rule, .. } => {
                    let kept = before.and_then(|before| before.limits.get(&rule.name));
                    let kept = kept.filter(|kept| kept.rule() == &**rule).cloned();
                    let made = || kept.unwrap_or_else(|| Arc::new(Limited::new(plan::Limit::clone(rule))));
                    remedies.limits.entry(rule.name.clone()).or_insert_with(made);
                }
                Layer::Cache(_) | Layer::Overall(_) | Layer::PerTry(_) => {}
            }
        }
        remedies
    }

    /// By the names of their policies.
    pub fn retries(&self) -> impl Iterator<Item = (&str, &Retries)> {
        self.retries.iter().map(|(name, retries)| (name.as_str(), &**retries))
    }

    /// By the names of their policies.
    pub fn limits(&self) -> impl Iterator<Item = (&str, &Limited)> {
        self.limits.iter().map(|(name, limited)| (name.as_str(), &**limited))
    }

    /// Of a layer that this was made of.
    pub fn retries_of(&self, rule: &plan::Retry) -> Arc<Retries> {
        Arc::clone(&self.retries[&rule.name])
    }

    /// Of a layer that this was made of.
    pub fn limit_of(&self, rule: &plan::Limit) -> Arc<Limited> {
        Arc::clone(&self.limits[&rule.name])
    }
}
