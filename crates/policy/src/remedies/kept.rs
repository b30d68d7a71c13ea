//! Kept: what all cores share of one kind of remedy, by the names of its policies. What a reload does not change lives on, with
//! all it has counted. Used by `remedies`.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

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
pub struct Kept<T> {
    by_name: BTreeMap<String, Arc<T>>,
    /// Those that ran under another rule before, as long as calls are under way that began then.
    replaced: Vec<(String, Weak<T>)>,
}

impl<T: Remedy> Kept<T> {
    /// Has one under this rule; `before`: those that ran so far.
    pub(crate) fn keep(&mut self, rule: &T::Rule, before: Option<&Kept<T>>) {
        let name = T::name(rule);
        let kept =
            before.and_then(|before| before.by_name.get(name)).filter(|kept| kept.rule() == rule).cloned();
        let made = || kept.unwrap_or_else(|| Arc::new(T::new(rule.clone())));
        self.by_name.entry(name.to_owned()).or_insert_with(made);
    }

    /// Remembers those that ran so far and are not kept: what waits there, or is under way, is still told. To be said once, after
    /// all are kept.
    pub(crate) fn remember(&mut self, before: &Kept<T>) {
        let is_kept =
            |name: &String, old: &Arc<T>| self.by_name.get(name).is_some_and(|kept| Arc::ptr_eq(kept, old));
        let gone = before.by_name.iter().filter(|(name, old)| !is_kept(name, old));
        let gone = gone.map(|(name, old)| (name.clone(), Arc::downgrade(old)));
        let earlier = before.replaced.iter().filter(|(_, old)| old.strong_count() > 0).cloned();
        self.replaced = gone.chain(earlier).collect();
    }

    /// The one under a rule that is kept.
    pub fn of(&self, rule: &T::Rule) -> Arc<T> {
        Arc::clone(&self.by_name[T::name(rule)])
    }

    /// By the names of their policies.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.by_name.iter().map(|(name, kept)| (name.as_str(), &**kept))
    }

    /// Those that ran under another rule before a reload, and still have calls.
    pub fn replaced(&self) -> impl Iterator<Item = (&str, Arc<T>)> {
        self.replaced.iter().filter_map(|(name, old)| Some((name.as_str(), old.upgrade()?)))
    }
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Kept { by_name: BTreeMap::new(), replaced: Vec::new() }
    }
}
