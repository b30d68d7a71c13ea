//! The admin port: whether the process lives and is ready, what it counted, and control of the cache: purge, list, warm,
//! explain. It has its own listener and never answers on a data port.
//!
//! `server` makes an [`Admin`] from its [`Metrics`](telemetry::Metrics), a [`Readiness`] and a [`Control`], and runs
//! [`serve`] on a thread with a runtime of its own, so that a core that is busy does not make the process look dead, and
//! a scrape does not make a request wait. What only the cores can do, they do as its [`Backstage`].

mod access;
mod answers;
mod backstage;
mod control;
mod entries;
mod explain;
mod keyed_url;
mod purge;
mod query;
mod readiness;
mod refusal;
mod rounds;
mod scope;
mod serve;
mod walks;
mod warm;

pub use access::Access;
pub use answers::Admin;
pub use backstage::{Backstage, Doing, Errand, Fetched, Inquiry, Purpose};
pub use control::Control;
pub use keyed_url::KeyedUrl;
pub use readiness::{Check, Finding, Readiness, Report};
pub use scope::kind_of;
pub use serve::serve;
