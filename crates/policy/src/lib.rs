//! Policies: what wraps a call. Remedies may change it, diagnoses only watch.

mod gate;
mod sign;
mod signed;

pub use gate::Gate;
pub use sign::{Signer, Unsignable};
