//! Policies: what wraps a call. Remedies may change it, diagnoses only watch.
//!
//! `stack` puts a gate and layers around an end; `layer` says which layers there are and in which order.

mod at_hand;
mod cache;
mod gate;
mod layer;
mod sign;
mod signed;
mod stack;

pub use at_hand::AtHand;
pub use cache::CacheLayer;
pub use gate::Gate;
pub use sign::{Signer, Unsignable};
pub use stack::{Below, End, Fresh, Stack};
