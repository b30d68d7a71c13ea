//! Metrics: the admin port's `/metrics` as a map from series to value.

use std::collections::BTreeMap;

/// Series (name with labels, as printed) and values.
#[derive(Clone, Debug, Default)]
pub struct Metrics(pub BTreeMap<String, f64>);

impl Metrics {
    /// Reads the text format; panics on a line that is none.
    pub fn parse(text: &str) -> Self {
        let samples = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        Metrics(samples.map(sample).collect())
    }

    /// The sum over all series of this name whose labels hold every one of these texts, say `result="hit"`.
    pub fn sum(&self, name: &str, labels: &[&str]) -> f64 {
        let of_name = |series: &str| {
            series == name || series.strip_prefix(name).is_some_and(|rest| rest.starts_with('{'))
        };
        self.0
            .iter()
            .filter(|(series, _)| of_name(series) && labels.iter().all(|label| series.contains(label)))
            .map(|(_, value)| value)
            .sum()
    }

    /// The same for what is counted in whole numbers.
    pub fn count(&self, name: &str) -> u64 {
        self.sum(name, &[]) as u64
    }

    /// Whether there is a series of this name.
    pub fn has(&self, name: &str) -> bool {
        self.0
            .keys()
            .any(|series| series == name || series.strip_prefix(name).is_some_and(|r| r.starts_with('{')))
    }
}

fn sample(line: &str) -> (String, f64) {
    let (series, value) = match line.rfind('}') {
        Some(brace) => (&line[..=brace], &line[brace + 1..]),
        None => line.split_once(' ').unwrap_or_else(|| panic!("not a sample: {line:?}")),
    };
    let number = value.split_whitespace().next().and_then(|value| value.parse().ok());
    (series.to_owned(), number.unwrap_or_else(|| panic!("not a sample: {line:?}")))
}

#[cfg(test)]
mod tests {
    use super::Metrics;

    #[test]
    fn sums_by_label() {
        let metrics = Metrics::parse(
            "# TYPE a counter\na_total{r=\"x\",s=\"1\"} 2\na_total{r=\"y\"} 3\nb 1.5\n# EOF\n",
        );
        assert!((metrics.sum("a_total", &["r=\"x\""]) - 2.0).abs() < 0.1);
        assert!((metrics.sum("a_total", &[]) - 5.0).abs() < 0.1);
        assert!(metrics.has("b") && !metrics.has("a"));
    }
}
