//! Kept: what all cores share of one kind of remedy, by the names of its policies. What a reload does not change lives on, with
//! all it has counted. Used by `remedies`.

use std::collections::BTreeMap;
use std::sync::Arc;

/// A remedy as all cores share it.
pub trait Remedy {
    /// What the plan says of it.
    type Rule: Clone + PartialEq;

    /// Under this rule, with nothing counted yet.
    fn new(rule: Self::Rule) -> Self;

    /// What it does.
    fn rule(&self) -> &Self::Rule;

    /// The name of its policy.
    fn name(rule: &Self::Rule) -> &str;
}

/// See the module.
#[derive(Debug)]
pub struct Kept<T>(BTreeMap<String, Arc<T>>);

impl<T: Remedy> Kept<T> {
    /// Has one under this rule; `before`: those that ran so far.
    pub(crate) fn keep(&mut self, rule: &T::Rule, before: Option<&Kept<T>>) {
        let name = T::name(rule);
        let kept = before.and_then(|before| before.0.get(name)).filter(|kept| kept.rule() == rule).cloned();
        let made = || kept.unwrap_or_else(|| Arc::new(T::new(rule.clone())));
        self.0.entry(name.to_owned()).or_insert_with(made);
    }

    /// The one under a rule that is kept.
    pub fn of(&self, rule: &T::Rule) -> Arc<T> {
        Arc::clone(&self.0[T::name(rule)])
    }

    /// By the names of their policies.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.0.iter().map(|(name, kept)| (name.as_str(), &**kept))
    }
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Kept(BTreeMap::new())
    }
}
