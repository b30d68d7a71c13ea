//! What the RFCs say, as pure functions: no clock, no socket, no randomness; `now` is an argument.
//!
//! In come heads: method, status, fields, and when they were sent and received. Out come decisions: may this answer
//! be stored and on which [`Terms`], may it be [reused](Reuse) for this request, does it [vary], is it
//! [unchanged](validate), which [ranges](range) of it are wanted, what does a write [invalidate].
//! `cache` asks before it stores and reuses, `response` before it writes, `listener` and `source` strip
//! [hop-by-hop](hop_by_hop) fields. Each module names the sections it implements: RFC 9110 (semantics),
//! 9111 (caching), 5861 (stale answers), 9213 (targeted fields), 9651 (structured fields),
//! 9875 (cache groups).
//! What a policy adds to them is decided here too: modes, lifetimes by status, what of a request counts.

pub mod accept;
mod age;
pub mod alike;
pub mod authority;
mod cache_control;
pub mod changeable;
pub mod claim;
pub mod client_lifetime;
pub mod date;
pub mod directives;
pub mod echo;
pub mod encoding;
mod endless;
pub mod etag;
pub mod exchange;
mod form;
mod freshness;
pub mod hop_by_hop;
pub mod invalidate;
pub mod language;
mod lifetime_from;
mod list;
pub mod no_vary_search;
pub mod not_stored;
pub mod path;
mod permission;
pub mod policy;
pub mod provider_limit;
mod quality;
pub mod query;
pub mod range;
pub mod reflection;
mod retry_after;
pub mod rewrite;
pub mod seconds;
mod static_type;
pub mod status;
pub mod storable;
pub mod tags;
mod targeted;
pub mod terms;
pub mod update;
pub mod validate;
pub mod vary;

pub use directives::{FieldList, RequestDirectives, ResponseDirectives};
pub use encoding::Encoding;
pub use etag::EntityTag;
pub use exchange::Exchange;
pub use lifetime_from::LifetimeFrom;
pub use no_vary_search::NoVarySearch;
pub use not_stored::NotStored;
pub use policy::{Mode, Policy};
pub use query::{NamePattern, QueryKey, QueryNames};
pub use range::{Combined, ContentRange, Ranges};
pub use retry_after::retry_after;
pub use storable::storable_fields;
pub use terms::{Reuse, Terms, Why};
pub use validate::PreconditionOutcome;
pub use vary::Vary;
