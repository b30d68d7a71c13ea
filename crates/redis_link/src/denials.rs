//! Denials: what a Redis does not let us do, told once in a while for each thing. In: errors that say so. Out: lines of the
//! log. Kept by `shared_link`.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use message::Error;

/// See the module.
#[derive(Default)]
pub(crate) struct Denials(Mutex<HashMap<String, Instant>>);

/// The same is told again after so long.
const QUIET: Duration = Duration::from_mins(1);
/// Different ones that are remembered; whatever else is denied is told of by the counter alone.
const MOST: usize = 64;

impl Denials {
    pub(crate) fn tell(&self, error: &Error, now: Instant) {
        if self.is_new(error.to_string(), now) {
            tracing::warn!("{error}; give the user the right to do so");
        }
    }

    fn is_new(&self, text: String, now: Instant) -> bool {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = told.get(&text).is_none_or(|at| now.saturating_duration_since(*at) >= QUIET);
        if !is_due || (told.len() >= MOST && !told.contains_key(&text)) {
            return false;
        }
        told.insert(text, now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_told_once_in_a_while_and_not_without_end() {
        let (denials, now) = (Denials::default(), Instant::now());
        let is_new = |text: &str, at| denials.is_new(text.to_owned(), at);
        assert!(is_new("get", now) && !is_new("get", now) && is_new("set", now));
        assert!(is_new("get", now + QUIET));
        assert!((0..MOST - 2).all(|number| is_new(&number.to_string(), now)));
        assert!(!is_new("one more", now));
    }
}
