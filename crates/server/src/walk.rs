//! A request's walk on one core. `running` is a plan made ready for all cores, `local` what one core has of it.
//!
//! ```text
//! handler ─► find ─► gate ─► cache ─► end: an origin, a read, or `composed` ─► steps
//!   └─ observed: recorded when its last byte is gone, remembered in `recent`;  `invalidating`: what a write makes forgotten
//! errand ─► the same for requests of our own
//! ```

pub(crate) mod composed;
pub(crate) mod composition;
pub(crate) mod counting;
pub(crate) mod end;
pub(crate) mod errand;
pub(crate) mod find;
pub(crate) mod handler;
pub(crate) mod identity;
pub(crate) mod invalidating;
mod layers;
mod lines;
pub(crate) mod local;
mod observed;
pub(crate) mod preflight;
pub(crate) mod recent;
pub(crate) mod running;
mod sentence;
mod steps;
