//! The scenarios: each a promise of the README, measured in the way it is told.

mod compose;
mod controls;
mod disk;
mod filling;
mod idle;
mod layers;
mod million;
mod outcome;
mod pairs;
mod probing;
mod purge;
mod reads;
mod seed000;
mod seed003;
mod stampede;
mod tracked_keys;
mod visitors;

pub(crate) use compose::compose;
pub(crate) use controls::controls;
pub(crate) use disk::disk;
pub(crate) use idle::idle;
pub(crate) use layers::layers;
pub(crate) use million::million;
pub(crate) use outcome::{Outcome, told};
pub(crate) use purge::purge;
pub(crate) use reads::reads;
pub(crate) use seed000::seed000;
pub(crate) use seed003::seed003;
pub(crate) use stampede::stampede;
pub(crate) use visitors::visitors;
