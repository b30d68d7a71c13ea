//! Waterfall: what the steps of a compose did, each as a bar on one scale of time. Called by `explain`.

use serde_json::Value;

/// Characters of the whole time.
const WIDTH: usize = 40;

/// A line for each step that was run; none where none was.
pub(crate) fn lines(compose: &Value) -> Vec<String> {
    let Some(bars) = compose["waterfall"].as_array().filter(|bars| !bars.is_empty()) else {
        return Vec::new();
    };
    let number = |value: &Value| value.as_f64().unwrap_or_default();
    let name = |bar: &Value| bar["name"].as_str().unwrap_or_default().to_owned();
    let longest = bars.iter().map(|bar| name(bar).chars().count()).max().unwrap_or_default();
    let end = bars.iter().map(|bar| number(&bar["start"]) + number(&bar["took"])).fold(0.001, f64::max);
    let at = |millis: f64| ((millis / end * WIDTH as f64).round() as usize).min(WIDTH);
    let line = |bar: &Value| {
        let (start, took) = (number(&bar["start"]), number(&bar["took"]));
        let first = at(start).min(WIDTH - 1);
        let length = at(start + took).saturating_sub(first).max(1);
        let outcome = bar["outcome"].as_str().unwrap_or_default();
        let outcome = if outcome == "given" { String::new() } else { format!("  {outcome}") };
        format!(
            "{:<longest$}  {}{}{}  {start:>8.2} + {took:.2} ms{outcome}",
            name(bar),
            " ".repeat(first),
            "█".repeat(length),
            " ".repeat(WIDTH - first - length),
        )
    };
    let whole = compose["took"]
        .as_f64()
        .map(|took| format!("{:<longest$}  {} {took:>8.2} ms", "all", "─".repeat(WIDTH)));
    bars.iter().map(line).chain(whole).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bars_stand_where_their_time_is() {
        let lines = lines(&json!({"took": 20.0, "waterfall": [
            {"name": "user", "start": 0.0, "took": 10.0, "outcome": "given"},
            {"name": "orders", "start": 10.0, "took": 10.0, "outcome": "failed: slow"},
        ]}));
        assert!(lines[0].starts_with("user    ████████████████████    "), "{}", lines[0]);
        assert!(lines[1].starts_with("orders                      ████████████████████"), "{}", lines[1]);
        assert!(lines[1].ends_with("failed: slow") && lines[2].starts_with("all"));
    }
}
