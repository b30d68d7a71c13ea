//! Policies: what wraps a call. Remedies may change it, diagnoses only watch.

mod signed;

pub use signed::admit;
