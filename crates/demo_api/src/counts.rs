//! Counts: how many requests reached the API, for each endpoint.
//!
//! Written by the endpoints as a request comes in, before they wait; read by whoever holds a clone.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What can be asked of the API. A fixed list, so that made-up paths cannot fill memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// `/`
    Root,
    /// `/cache`
    Cache,
    /// `/timeout`
    Timeout,
    /// `/simulate-cpu`
    SimulateCpu,
    /// `/error/{status}`
    Error,
    /// `/tagged`
    Tagged,
    /// `/games`
    Games,
    /// `/games/{id}`
    Game,
    /// `PUT /games/{id}`
    GameChange,
    /// `/leagues/{id}`
    League,
    /// `/trends/api/realtimetrends`
    Trends,
    /// `/user/{id}`
    User,
    /// `/orders/{id}`
    Orders,
    /// `/news/{id}`
    News,
    /// `/weather/{id}`
    Weather,
    /// `/healthz`
    Health,
    /// Every path and method that is none of the others.
    Other,
}

impl Endpoint {
    /// All of them, in the order of the documentation.
    pub const ALL: [Endpoint; 17] = [
        Endpoint::Root,
        Endpoint::Cache,
        Endpoint::Timeout,
        Endpoint::SimulateCpu,
        Endpoint::Error,
        Endpoint::Tagged,
        Endpoint::Games,
        Endpoint::Game,
        Endpoint::GameChange,
        Endpoint::League,
        Endpoint::Trends,
        Endpoint::User,
        Endpoint::Orders,
        Endpoint::News,
        Endpoint::Weather,
        Endpoint::Health,
        Endpoint::Other,
    ];

    /// The path as `/stats` names it.
    pub const fn path(self) -> &'static str {
        match self {
            Endpoint::Root => "/",
            Endpoint::Cache => "/cache",
            Endpoint::Timeout => "/timeout",
            Endpoint::SimulateCpu => "/simulate-cpu",
            Endpoint::Error => "/error/{status}",
            Endpoint::Tagged => "/tagged",
            Endpoint::Games => "/games",
            Endpoint::Game => "/games/{id}",
            Endpoint::GameChange => "PUT /games/{id}",
            Endpoint::League => "/leagues/{id}",
            Endpoint::Trends => "/trends/api/realtimetrends",
            Endpoint::User => "/user/{id}",
            Endpoint::Orders => "/orders/{id}",
            Endpoint::News => "/news/{id}",
            Endpoint::Weather => "/weather/{id}",
            Endpoint::Health => "/healthz",
            Endpoint::Other => "other",
        }
    }
}

/// Requests received per endpoint. Clones share the same numbers.
#[derive(Clone, Debug, Default)]
pub struct Counts(Arc<[AtomicU64; Endpoint::ALL.len()]>);

impl Counts {
    /// All at zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Requests this endpoint has received, answered or not.
    pub fn of(&self, endpoint: Endpoint) -> u64 {
        self.0[endpoint as usize].load(Ordering::Relaxed)
    }

    /// Requests received altogether, `/stats` aside.
    pub fn total(&self) -> u64 {
        Endpoint::ALL.into_iter().map(|endpoint| self.of(endpoint)).sum()
    }

    pub(crate) fn add(&self, endpoint: Endpoint) {
        self.0[endpoint as usize].fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_their_numbers() {
        let counts = Counts::new();
        let clone = counts.clone();
        clone.add(Endpoint::Cache);
        clone.add(Endpoint::Cache);
        clone.add(Endpoint::Other);
        assert_eq!(counts.of(Endpoint::Cache), 2);
        assert_eq!(counts.of(Endpoint::Root), 0);
        assert_eq!(counts.total(), 3);
    }

    #[test]
    fn every_endpoint_has_its_own_place() {
        for (place, endpoint) in Endpoint::ALL.into_iter().enumerate() {
            assert_eq!(endpoint as usize, place);
        }
    }
}
