//! Policies: what wraps a call. Remedies may change it, diagnoses only watch.
//!
//! `stack` puts a gate and layers around an end; `layer` says which layers there are and in which order.

mod accounts;
mod around;
mod at_hand;
mod auth;
mod breaker;
mod by_source;
mod cache;
mod concurrency;
mod cors;
mod credentials;
mod explain;
mod faults;
mod gate;
mod headers;
mod hedge;
mod kept;
mod layer;
mod limit;
mod outcomes;
mod queue;
mod remedies;
mod respond;
mod retry;
mod rewrite;
mod sign;
mod signed;
mod stack;
mod timeout;
mod under_way;
mod verdict;

pub use accounts::{AccountFigures, AccountsLayer, SharedAccounts};
pub use at_hand::{AtHand, Fresh};
pub use auth::{Auth, AuthFigures, AuthOutcome, Auths, RemoteFigures, RemoteKeys};
pub use breaker::{BreakerLayer, Breakers};
pub use cache::{CacheLayer, Cacheable};
pub use concurrency::{ConcurrencyFigures, ConcurrencyLayer, Concurrents};
pub use cors::{CorsLayer, preflight};
pub use credentials::{CredentialsLayer, SharedCredentials, Tokens, renew};
pub use faults::FaultsLayer;
pub use gate::Gate;
pub use headers::HeadersLayer;
pub use hedge::{HedgeLayer, Hedges};
pub use kept::{Kept, Remedy};
pub use layer::Layer;
pub use limit::{LimitLayer, Limited};
pub use outcomes::{Outcome, Outcomes, Place, Tally};
pub use remedies::Remedies;
pub use respond::RespondLayer;
pub use retry::{Retries, RetryLayer};
pub use rewrite::RewriteLayer;
pub use sign::{Signer, Unsignable};
pub use signed::gate::SignedGate;
pub use stack::{Below, End, Stack};
pub use timeout::TimeoutLayer;
