//! Compare: reports side by side, as a table for a terminal and as plain lines.

use std::time::Duration;

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{CellAlignment, Table};

use crate::Report;
use crate::figures::{bytes, number, rate, span, times};

/// Two runs of the same load: without something, and with it.
#[derive(Clone, Copy, Debug)]
pub struct Comparison<'a> {
    /// Without.
    pub before: &'a Report,
    /// With.
    pub after: &'a Report,
}

impl Comparison<'_> {
    /// How many times the requests per second; zero where nothing was answered before.
    pub fn throughput_gain(&self) -> f64 {
        if self.before.rps > 0.0 { self.after.rps / self.before.rps } else { 0.0 }
    }

    /// A table: one row a figure, with how many times better it became.
    pub fn table(&self) -> String {
        let Comparison { before, after } = self;
        let mut table = new_table(["", &before.name, &after.name, "better"]);
        table.add_row([
            "requests per second",
            &rate(before.rps),
            &rate(after.rps),
            &times(after.rps, before.rps),
        ]);
        for (name, was, is) in self.latencies() {
            table.add_row([name, &span(was), &span(is), &times(was.as_secs_f64(), is.as_secs_f64())]);
        }
        table.add_row(["requests", &number(before.requests), &number(after.requests), ""]);
        table.add_row(["time", &span(before.duration), &span(after.duration), ""]);
        for (name, was, is) in [
            ("errors", before.errors.total(), after.errors.total()),
            ("answers not 2xx", before.not_successful(), after.not_successful()),
        ] {
            if was + is > 0 {
                table.add_row([name, &number(was), &number(is), ""]);
            }
        }
        table.to_string()
    }

    /// The same in sentences, one a line: what became how many times better, from what to what.
    pub fn ratios(&self) -> Vec<String> {
        let Comparison { before, after } = self;
        let throughput = format!(
            "requests per second: {} better ({} → {})",
            times(after.rps, before.rps),
            rate(before.rps),
            rate(after.rps)
        );
        let latencies = self.latencies().into_iter().map(|(name, was, is)| {
            format!(
                "{name}: {} better ({} → {})",
                times(was.as_secs_f64(), is.as_secs_f64()),
                span(was),
                span(is)
            )
        });
        std::iter::once(throughput).chain(latencies).collect()
    }

    fn latencies(&self) -> [(&'static str, Duration, Duration); 4] {
        let (was, is) = (self.before.latency, self.after.latency);
        [
            ("latency, mean", was.mean, is.mean),
            ("latency, p50", was.p50, is.p50),
            ("latency, p99", was.p99, is.p99),
            ("latency, max", was.max, is.max),
        ]
    }
}

/// Any number of reports, one row each.
pub fn table<'a>(reports: impl IntoIterator<Item = &'a Report>) -> String {
    let mut table = new_table([
        "",
        "requests/s",
        "mean",
        "min",
        "p50",
        "p90",
        "p95",
        "p99",
        "max",
        "received/s",
        "errors",
        "not 2xx",
    ]);
    for report in reports {
        let seconds = report.duration.as_secs_f64().max(f64::EPSILON);
        table.add_row([
            report.name.clone(),
            rate(report.rps),
            span(report.latency.mean),
            span(report.latency.min),
            span(report.latency.p50),
            span(report.latency.p90),
            span(report.latency.p95),
            span(report.latency.p99),
            span(report.latency.max),
            bytes(report.bytes as f64 / seconds),
            number(report.errors.total()),
            number(report.not_successful()),
        ]);
    }
    table.to_string()
}

/// Names on the left, figures to the right.
fn new_table<const COLUMNS: usize>(header: [&str; COLUMNS]) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_header(header);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Errors, Latency};

    fn report(name: &str, rps: f64, millis: u64) -> Report {
        let latency = Duration::from_millis(millis);
        Report {
            name: name.to_owned(),
            requests: 1000,
            by_status: [(200, 1000)].into(),
            duration: Duration::from_secs(5),
            bytes: 5_000_000,
            rps,
            latency: Latency {
                mean: latency,
                min: latency,
                p50: latency,
                p90: latency,
                p95: latency,
                p99: latency,
                max: latency,
            },
            ..Report::default()
        }
    }

    #[test]
    fn a_comparison_says_what_became_how_many_times_better() {
        let (before, after) = (report("direct", 900.0, 225), report("through fleetfoot", 122_400.0, 2));
        let comparison = Comparison { before: &before, after: &after };
        assert_eq!(comparison.ratios()[0], "requests per second: 136 × better (900 → 122,400)");
        assert_eq!(comparison.ratios()[2], "latency, p50: 113 × better (225 ms → 2.00 ms)");
        assert!((comparison.throughput_gain() - 136.0).abs() < 0.01);
        let table = comparison.table();
        assert!(table.contains("│ requests per second ┆    900 ┆           122,400 ┆  136 × │"), "{table}");
        assert!(!table.contains("errors"), "{table}");
    }

    #[test]
    fn failures_are_shown_when_there_are_any() {
        let before =
            Report { errors: Errors { timeout: 7, ..Errors::default() }, ..report("direct", 1.0, 1) };
        let after = Report { by_status: [(502, 1000)].into(), ..report("after", 0.0, 1) };
        let comparison = Comparison { before: &before, after: &after };
        let table = comparison.table();
        assert!(table.contains("errors") && table.contains("answers not 2xx"), "{table}");
        assert!(comparison.ratios()[0].contains("– better"), "{:?}", comparison.ratios());
    }

    #[test]
    fn many_reports_make_a_row_each() {
        let table = table(&[report("one", 1.0, 1), report("two", 2.0, 2)]);
        assert!(table.contains("│ one") && table.contains("│ two") && table.contains("1.00 MB"), "{table}");
    }
}
