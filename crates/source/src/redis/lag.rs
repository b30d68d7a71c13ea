//! Lag: how far a replica is behind, in time. In: how far the primary had written at which moments, and how far the
//! replica has come. Out: the age of what it has. Pure; asked by `replica` whenever it has looked at both.
//!
//! Redis counts bytes, not time. But what the primary had written at some moment, it had written by then: a replica
//! that has come as far lacks nothing older.

use std::collections::VecDeque;
use std::time::Duration;

use message::Timestamp;

use super::replication::Place;

/// Moments that are remembered; older ones could only say that it is far behind.
const MOST: usize = 4096;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Lag {
    stream: String,
    /// The oldest first; each with another offset.
    moments: VecDeque<Moment>,
}

#[derive(Debug)]
struct Moment {
    /// When the primary was last known to be no further.
    at: Timestamp,
    offset: u64,
}

impl Lag {
    /// The primary was so far at `at`, at least: the moment before it was asked.
    pub(super) fn primary_at(&mut self, place: &Place, at: Timestamp) {
        if self.stream != place.stream {
            self.stream.clone_from(&place.stream);
            self.moments.clear();
        }
        match self.moments.back_mut() {
            // Restored from an older state: nothing known of it holds.
            Some(last) if last.offset > place.offset => self.moments.clear(),
            Some(last) if last.offset == place.offset => {
                last.at = at;
                return;
            }
            _ => {}
        }
        if self.moments.len() == MOST {
            self.moments.pop_front();
        }
        self.moments.push_back(Moment { at, offset: place.offset });
    }

    /// Whether it is a place in the primary's stream.
    pub(super) fn is_of(&self, place: &Place) -> bool {
        place.stream == self.stream
    }

    /// How old what the replica has is, at most. `None`: not known, or it replicates something else.
    pub(super) fn of_replica(&self, place: &Place, now: Timestamp) -> Option<Duration> {
        if place.stream != self.stream {
            return None;
        }
        let reached = self.moments.iter().rev().find(|moment| moment.offset <= place.offset)?;
        Some(now.since(reached.at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(offset: u64) -> Place {
        Place { stream: "a".to_owned(), offset }
    }

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn lag_of(written: &[(u64, u64)], offset: u64, now: u64) -> Option<u128> {
        let mut lag = Lag::default();
        for (moment, offset) in written {
            lag.primary_at(&place(*offset), at(*moment));
        }
        lag.of_replica(&place(offset), at(now)).map(|lag| lag.as_millis())
    }

    #[test]
    fn it_is_the_time_since_the_primary_was_where_the_replica_is() {
        let written = [(1000, 10), (1250, 20), (1500, 30)];
        assert_eq!(lag_of(&written, 30, 1510), Some(10));
        assert_eq!(lag_of(&written, 29, 1510), Some(260), "it may lack anything since 1250");
        assert_eq!(lag_of(&written, 20, 1510), Some(260));
        assert_eq!(lag_of(&written, 15, 1510), Some(510));
        assert_eq!(lag_of(&written, 99, 1510), Some(10), "it was asked later than the primary");
    }

    #[test]
    fn where_nothing_is_written_nothing_is_missed() {
        assert_eq!(lag_of(&[(1000, 10), (1250, 10), (9000, 10)], 10, 9010), Some(10));
    }

    #[test]
    fn further_behind_than_is_remembered_is_not_known() {
        assert_eq!(lag_of(&[(1000, 10)], 9, 1000), None);
        assert_eq!(lag_of(&[], 9, 1000), None);
    }

    #[test]
    fn another_stream_is_none_of_ours() {
        let mut lag = Lag::default();
        lag.primary_at(&place(10), at(1000));
        let other = Place { stream: "b".to_owned(), offset: 10 };
        assert_eq!(lag.of_replica(&other, at(1001)), None);
        lag.primary_at(&other, at(2000));
        assert_eq!(lag.of_replica(&place(10), at(2001)), None, "the primary is another now");
        assert_eq!(lag.of_replica(&other, at(2001)), Some(Duration::from_millis(1)));
    }

    #[test]
    fn a_primary_that_lost_what_it_had_begins_anew() {
        assert_eq!(lag_of(&[(1000, 50), (2000, 20)], 50, 2000), Some(0));
        assert_eq!(lag_of(&[(1000, 50), (2000, 20)], 10, 2000), None);
    }

    #[test]
    fn it_is_bounded() {
        let mut lag = Lag::default();
        for step in 0..10_000 {
            lag.primary_at(&place(step), at(step));
        }
        assert_eq!(lag.moments.len(), MOST);
    }
}
