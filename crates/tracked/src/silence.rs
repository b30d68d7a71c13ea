//! Silence: when the line is pinged, and when it counts as lost. Called by whoever keeps it, with the times it noted.

use std::time::{Duration, Instant};

/// What to do about a silent line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing for this long; then ask again. Never zero.
    Wait(Duration),
    /// Send a `PING`: its reply is a sign of life.
    Ping,
    /// Nobody is there.
    Lost,
}

/// What to do now about a line that was confirmed as of `confirmed`: when the last ping that was answered was sent, or the
/// command that turned tracking on. `is_asked`: whether a ping is under way.
///
/// It is pinged when half of `silence` has passed, however much is announced meanwhile: only an answer says that nothing
/// announced is still on its way. The other half is left for the answer. One ping at a time: TCP does not lose it.
pub fn next(confirmed: Instant, is_asked: bool, now: Instant, silence: Duration) -> Next {
    let quiet = now.saturating_duration_since(confirmed);
    let due = if is_asked { silence } else { silence / 2 };
    match due.checked_sub(quiet) {
        Some(wait) if !wait.is_zero() => Next::Wait(wait),
        _ if quiet >= silence => Next::Lost,
        _ => Next::Ping,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SILENCE: Duration = Duration::from_secs(10);
    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_line_is_pinged_once_at_half_of_the_silence_and_lost_at_its_end() {
        let start = Instant::now();
        assert_eq!(next(start, false, start, SILENCE), Next::Wait(5 * SECOND));
        assert_eq!(next(start, false, start + 3 * SECOND, SILENCE), Next::Wait(2 * SECOND));
        assert_eq!(next(start, false, start + 5 * SECOND, SILENCE), Next::Ping);
        assert_eq!(next(start, true, start + 5 * SECOND, SILENCE), Next::Wait(5 * SECOND));
        assert_eq!(next(start, true, start + 9 * SECOND, SILENCE), Next::Wait(SECOND));
        assert_eq!(next(start, true, start + 10 * SECOND, SILENCE), Next::Lost);
    }

    #[test]
    fn an_answer_counts_from_when_its_ping_was_sent() {
        let start = Instant::now();
        let (sent, answered) = (start + 5 * SECOND, start + 8 * SECOND);
        assert_eq!(next(sent, false, answered, SILENCE), Next::Wait(2 * SECOND));
        assert_eq!(next(sent, false, sent + 5 * SECOND, SILENCE), Next::Ping);
    }

    #[test]
    fn who_slept_through_the_silence_does_not_ping_but_gives_up() {
        let start = Instant::now();
        assert_eq!(next(start, false, start + 60 * SECOND, SILENCE), Next::Lost);
    }

    #[test]
    fn a_line_that_nobody_answers_is_lost_after_two_waits_and_one_ping() {
        let start = Instant::now();
        let (mut now, mut is_asked, mut pings, mut waits) = (start, false, 0, 0);
        loop {
            match next(start, is_asked, now, SILENCE) {
                Next::Wait(wait) => {
                    assert!(!wait.is_zero());
                    (now, waits) = (now + wait, waits + 1);
                }
                Next::Ping => (is_asked, pings) = (true, pings + 1),
                Next::Lost => break,
            }
        }
        assert_eq!((now - start, pings, waits), (SILENCE, 1, 2));
    }
}
