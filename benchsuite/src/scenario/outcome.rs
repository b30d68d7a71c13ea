//! Outcome: a promise, the figure, and whether it holds.

use serde::Serialize;

use crate::failure::Result;
use crate::http_client::HttpClient;
use crate::server::Server;

/// One figure of a scenario.
#[derive(Serialize)]
pub(crate) struct Outcome {
    pub(crate) what: &'static str,
    pub(crate) figure: f64,
    pub(crate) unit: &'static str,
    /// What was promised, in words; empty for figures that are only told.
    pub(crate) promise: &'static str,
    pub(crate) held: bool,
}

/// As lines for people.
pub(crate) fn told(outcomes: &[Outcome]) -> String {
    let line = |Outcome { what, figure, unit, promise, held }: &Outcome| {
        let verdict = match (promise.is_empty(), held) {
            (true, _) => String::new(),
            (false, true) => format!("  held: {promise}"),
            (false, false) => format!("  MISSED: {promise}"),
        };
        format!("{what:<44} {figure:>12.2} {unit:<6}{verdict}").trim_end().to_owned()
    };
    outcomes.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The sum of a metric's series.
pub(crate) fn metric(server: &Server, name: &str) -> Result<f64> {
    let text = HttpClient::connect(server.admin)?.get("/metrics")?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let of_name = |line: &&str| line.strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', '{']));
    let value = |line: &str| line.rsplit(' ').next()?.parse::<f64>().ok();
    Ok(text.lines().filter(of_name).filter_map(value).sum())
}
