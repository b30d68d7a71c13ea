//! Figures: what one server did in one row: the median of its rounds.

use serde::Serialize;

/// One measured round.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Round {
    /// CPU time of the server for each request, in microseconds.
    pub(crate) cpu_us: f64,
    /// Requests for each second.
    pub(crate) rps: f64,
    /// Median latency, in microseconds.
    pub(crate) p50_us: f64,
    /// 99th percentile of the latency, in microseconds.
    pub(crate) p99_us: f64,
    /// Answers that were none.
    pub(crate) errors: u64,
    /// Requests that reached the origin meanwhile.
    pub(crate) fetches: u64,
    /// The share of the server's core that somebody else had: above a few per cent the figures are not to be trusted.
    pub(crate) others: f64,
}

/// The median of each figure over the rounds; errors and fetches are added up.
pub(crate) fn median(rounds: &[Round]) -> Round {
    let of = |figure: fn(&Round) -> f64| middle(rounds.iter().map(figure).collect());
    Round {
        cpu_us: of(|round| round.cpu_us),
        rps: of(|round| round.rps),
        p50_us: of(|round| round.p50_us),
        p99_us: of(|round| round.p99_us),
        errors: rounds.iter().map(|round| round.errors).sum(),
        fetches: rounds.iter().map(|round| round.fetches).sum(),
        others: of(|round| round.others),
    }
}

/// How one's figure compares with another's: the median of the rounds' ratios, so that what disturbs a round disturbs both.
pub(crate) fn ratio(ones: &[Round], others: &[Round], figure: fn(&Round) -> f64) -> f64 {
    middle(ones.iter().zip(others).map(|(one, other)| figure(one) / figure(other)).collect())
}

/// The median.
pub(crate) fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        length if length % 2 == 1 => values[length / 2],
        length => f64::midpoint(values[length / 2 - 1], values[length / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::middle;

    #[test]
    fn the_middle_of_odd_and_even_numbers() {
        assert!((middle(vec![3.0, 1.0, 2.0]) - 2.0).abs() < 1e-9);
        assert!((middle(vec![4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-9);
        assert!(middle(Vec::new()).is_nan());
    }
}
