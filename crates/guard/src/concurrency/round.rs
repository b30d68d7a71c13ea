//! Round: how long so many calls in a row have taken. In: each of them. Out: their [`Latency`], the mean and how much of it is
//! chance. Used by `adaptive`.

/// What takes so many times as long as the mean counts as that long: one call in a hundred may take a hundred times as long as
/// the others, and the mean must not hang on how many of those are in a round.
const LONGEST: f64 = 2.0;
/// So often that is said of the mean that follows from it: one call of an hour is forgotten then.
const TIMES: usize = 4;
/// Of a longer round, some calls are kept, evenly.
const MOST: usize = 1000;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Round {
    calls: f64,
    used: f64,
    /// How long some of them took, in seconds.
    kept: Vec<f64>,
}

/// How long calls took, in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Latency {
    pub(super) mean: f64,
    /// The standard error of the mean.
    error: f64,
    /// Most of them were taken while at least half of the limit was in use.
    pub(super) was_used: bool,
}

impl Round {
    /// One of a round of so many.
    pub(super) fn record(&mut self, seconds: f64, was_used: bool, length: f64) {
        self.calls += 1.0;
        self.used += f64::from(u8::from(was_used));
        let due = (self.calls * (MOST as f64 / length).min(1.0)) as usize;
        if self.kept.len() < due.min(MOST) {
            self.kept.push(seconds);
        }
    }

    /// Whether there were so many.
    pub(super) fn is_over(&self, length: f64) -> bool {
        self.calls >= length
    }

    /// Of those since the last was cleared, at least one.
    pub(super) fn latency(&self) -> Latency {
        let mean_up_to = |longest: f64| self.mean_of(|seconds| seconds.min(longest));
        let mean = (0..TIMES).fold(mean_up_to(f64::INFINITY), |mean, _| mean_up_to(LONGEST * mean));
        let mut latency = self.latency_up_to(LONGEST * mean);
        // What counts as long as that moves with the mean, and so moves it further.
        let long = self.mean_of(|seconds| f64::from(u8::from(seconds > LONGEST * mean)));
        latency.error /= 1.0 - (LONGEST * long).min(0.5);
        latency
    }

    /// The same where nothing counts as much longer than that of another round.
    pub(super) fn latency_against(&self, other: &Latency) -> Latency {
        self.latency_up_to(LONGEST * other.mean)
    }

    fn latency_up_to(&self, longest: f64) -> Latency {
        let mean = self.mean_of(|seconds| seconds.min(longest));
        let variance = self.mean_of(|seconds| (seconds.min(longest) - mean).powi(2));
        let error = (variance / self.kept.len() as f64).sqrt();
        Latency { mean, error, was_used: 2.0 * self.used > self.calls }
    }

    /// The next begins.
    pub(super) fn clear(&mut self) {
        (self.calls, self.used) = (0.0, 0.0);
        self.kept.clear();
    }

    fn mean_of(&self, map: impl Fn(f64) -> f64) -> f64 {
        self.kept.iter().map(|seconds| map(*seconds)).sum::<f64>() / self.kept.len() as f64
    }
}

impl Latency {
    /// The standard error of the difference of the two means.
    pub(super) fn error_against(&self, other: &Latency) -> f64 {
        self.error.hypot(other.error)
    }

    /// The standard error of the logarithm of their quotient.
    pub(super) fn error_of_quotient(&self, other: &Latency) -> f64 {
        (self.error / self.mean).hypot(other.error / other.mean)
    }

    /// Whether it is lower by more than its error.
    pub(super) fn is_below(&self, other: &Latency) -> bool {
        self.mean + self.error < other.mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latency(calls: impl Iterator<Item = f64>) -> Latency {
        let mut round = Round::default();
        calls.for_each(|seconds| round.record(seconds, true, 100.0));
        round.latency()
    }

    #[test]
    fn a_round_tells_the_mean_and_how_sure_it_is() {
        let mut round = Round::default();
        for number in 0..100 {
            assert!(!round.is_over(100.0));
            round.record(if number % 2 == 0 { 1.0 } else { 3.0 }, number < 51, 100.0);
        }
        assert!(round.is_over(100.0));
        let varied = round.latency();
        round.clear();
        assert!((varied.mean - 2.0).abs() < 1e-9 && (varied.error - 0.1).abs() < 1e-9 && varied.was_used);
        (0..100).for_each(|number| round.record(1.85, number < 50, 100.0));
        let even = round.latency();
        assert!(even.error < 1e-6 && !even.was_used, "the next is begun anew");
        assert!(even.is_below(&varied) && !varied.is_below(&even));
    }

    #[test]
    fn the_mean_does_not_hang_on_a_few_stragglers() {
        let with =
            |stragglers| latency((0..100).map(|number| if number < stragglers { 3600.0 } else { 1.0 }));
        for (stragglers, most) in [(1, 1.02), (3, 1.1)] {
            assert!(with(stragglers).mean < most, "{:?}", with(stragglers));
        }
    }

    #[test]
    fn a_long_round_keeps_some_of_its_calls() {
        let mut round = Round::default();
        let calls = (0..100_000).take_while(|number| {
            round.record(f64::from(number % 3), true, 10_000.0);
            !round.is_over(10_000.0)
        });
        assert_eq!(calls.count(), 9999);
        assert!(round.kept.len() <= MOST && (round.latency().mean - 1.0).abs() < 0.01);
    }
}
