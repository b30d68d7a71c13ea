//! Policies: what wraps a call. Remedies may change it, diagnoses only watch.
//!
//! - `gate`: whom a route lets in.
//! - `stack`: a gate and layers around an end; which layers there are, and how a call goes through them.
//! - `remedies`: what each layer does, and what all cores share of them.

mod gate;
mod remedies;
mod stack;

pub use gate::Gate;
pub use gate::auth::{Auth, AuthFigures, AuthOutcome, Auths, RemoteFigures, RemoteKeys};
pub use gate::sign::{Signer, Unsignable};
pub use gate::signed::gate::SignedGate;
pub use remedies::Remedies;
pub use remedies::accounts::{AccountFigures, AccountsLayer, SharedAccounts};
pub use remedies::breaker::{BreakerLayer, Breakers};
pub use remedies::cache::{CacheLayer, Cacheable};
pub use remedies::concurrency::{ConcurrencyFigures, ConcurrencyLayer, Concurrents};
pub use remedies::cors::{CorsLayer, preflight};
pub use remedies::credentials::{CredentialsLayer, SharedCredentials, Tokens, renew};
pub use remedies::faults::FaultsLayer;
pub use remedies::headers::HeadersLayer;
pub use remedies::hedge::{HedgeLayer, Hedges};
pub use remedies::kept::{Kept, Remedy};
pub use remedies::learn::{LearnLayer, Lessons};
pub use remedies::limit::{JointLimit, LimitLayer, Limited, heartbeat};
pub use remedies::outcomes::{Outcome, Outcomes, Place, Tally};
pub use remedies::respond::RespondLayer;
pub use remedies::retry::{Retries, RetryLayer};
pub use remedies::rewrite::RewriteLayer;
pub use remedies::timeout::TimeoutLayer;
pub use remedies::wasm::{AskedFor, WasmLayer};
pub use stack::at_hand::{AtHand, Fresh};
pub use stack::explain::{Question, Then, Told};
pub use stack::layer::Layer;
pub use stack::{Below, End, Stack};
