//! Outcome: a promise, the figure, and whether it holds.

use std::borrow::Cow;

use serde::Serialize;

use crate::failure::Result;
use crate::http_client::HttpClient;
use crate::server::Server;

/// One figure of a scenario.
#[derive(Serialize)]
pub(crate) struct Outcome {
    what: Cow<'static, str>,
    /// `None`: only a sentence.
    figure: Option<f64>,
    unit: &'static str,
    /// What was promised, in words; empty for figures that are only told.
    promise: &'static str,
    held: bool,
}

impl Outcome {
    /// A figure that nobody promised anything about.
    pub(crate) fn told(what: impl Into<Cow<'static, str>>, figure: f64, unit: &'static str) -> Self {
        Outcome { what: what.into(), figure: Some(figure), unit, promise: "", held: true }
    }

    /// The same with what was promised of it, and whether that is so.
    pub(crate) fn promised(self, promise: &'static str, held: bool) -> Self {
        Outcome { promise, held, ..self }
    }

    /// Why there is no figure, where there need not be one.
    pub(crate) fn skipped(sentence: impl Into<Cow<'static, str>>) -> Self {
        Outcome { what: sentence.into(), figure: None, unit: "", promise: "", held: true }
    }

    /// Why there is no figure, where there should be.
    pub(crate) fn failed(sentence: String) -> Self {
        Outcome { held: false, promise: "to be measured", ..Self::skipped(without_places(&sentence)) }
    }
}

/// Reports are kept: where something lay on this machine is nobody's business.
fn without_places(sentence: &str) -> String {
    let program = std::env::current_exe().ok().and_then(|program| Some(program.parent()?.to_owned()));
    let places = [Some(std::env::temp_dir()), std::env::current_dir().ok(), program];
    places
        .into_iter()
        .flatten()
        .fold(sentence.to_owned(), |sentence, place| sentence.replace(&format!("{}/", place.display()), ""))
}

/// As lines for people.
pub(crate) fn told(outcomes: &[Outcome]) -> String {
    let line = |Outcome { what, figure, unit, promise, held }: &Outcome| {
        let verdict = match (promise.is_empty(), held) {
            (true, _) => String::new(),
            (false, true) => format!("  held: {promise}"),
            (false, false) => format!("  MISSED: {promise}"),
        };
        let figure = figure.map(|figure| format!("{figure:>12.2} {unit:<6}")).unwrap_or_default();
        format!("{what:<60} {figure}{verdict}").trim_end().to_owned()
    };
    outcomes.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The sum of a metric's series; nothing where there is none.
pub(crate) fn metric(server: &Server, name: &str) -> Result<Option<f64>> {
    let text = HttpClient::connect(server.admin)?.get("/metrics")?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let of_name = |line: &&str| line.strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', '{']));
    let value = |line: &str| line.rsplit(' ').next()?.parse::<f64>().ok();
    let values: Vec<f64> = text.lines().filter(of_name).filter_map(value).collect();
    Ok((!values.is_empty()).then(|| values.iter().sum()))
}
