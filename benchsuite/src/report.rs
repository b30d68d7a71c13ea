//! Report: the figures of a comparison as a table, as JSON, and kept in a directory with everything needed to repeat it.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{CellAlignment, Table};
use serde::Serialize;

use crate::compare::Options;
use crate::failure::Result;
use crate::figures::{Round, ratio};
use crate::load_generator;
use crate::machine::{Machine, today};
use crate::row::Row;
use crate::scenario::{Outcome, told};
use crate::server::{Kind, Server};

/// A hit may cost this much of the bare loop's.
const HIT_BUDGET: f64 = 1.35;

/// What a change may add to the CPU time of a request.
const CHANGE_BUDGET: f64 = 0.03;

/// A whole comparison.
#[derive(Serialize)]
pub(crate) struct Report {
    machine: Machine,
    date: String,
    load: String,
    seconds: u64,
    connections: usize,
    servers: Vec<Measured>,
    lines: Vec<Line>,
    budgets: Vec<Budget>,
    scenarios: Vec<Outcome>,
}

/// Who was measured.
#[derive(Serialize)]
struct Measured {
    name: &'static str,
    version: String,
    command: String,
}

/// One server in one row.
#[derive(Serialize)]
pub(crate) struct Line {
    pub(crate) row: Row,
    pub(crate) server: &'static str,
    pub(crate) figures: Round,
    pub(crate) rounds: Vec<Round>,
}

/// Something promised, and whether it was held.
#[derive(Serialize)]
struct Budget {
    promise: String,
    held: bool,
}

impl Report {
    /// From the medians.
    pub(crate) fn new(servers: &[Server], options: &Options, lines: Vec<Line>) -> Self {
        let measured = servers.iter().map(|server| Measured {
            name: server.kind.name(),
            version: server.version.clone(),
            command: without_directories(server.process.command()),
        });
        let budgets = budgets(&lines);
        Report {
            machine: Machine::here(),
            date: today(),
            load: load_generator::version(),
            seconds: options.seconds,
            connections: options.connections,
            servers: measured.collect(),
            lines,
            budgets,
            scenarios: Vec::new(),
        }
    }

    /// What a scenario came to.
    pub(crate) fn add(&mut self, outcomes: Vec<Outcome>) {
        self.scenarios.extend(outcomes);
    }

    /// All figures, for the terminal.
    pub(crate) fn figures(&self) -> String {
        let parts = [self.table(), told(&self.scenarios)];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
    }

    /// For the terminal, and for Markdown. The ratio is to the bare loop, that of a proxied request to nginx.
    fn table(&self) -> String {
        if self.lines.is_empty() {
            return String::new();
        }
        let mut table = Table::new();
        table.load_style(ASCII_MARKDOWN);
        table.set_header([
            "row", "server", "µs CPU", "ratio", "rps", "p50 µs", "p99 µs", "errors", "fetches", "others",
        ]);
        for line in &self.lines {
            let figures = &line.figures;
            let yardstick = if line.row.is_hit() { Kind::Bare } else { Kind::Nginx };
            let one = cpu(&self.lines, line.row, yardstick);
            table.add_row([
                line.row.title().to_owned(),
                line.server.to_owned(),
                format!("{:.2}", figures.cpu_us),
                one.map_or_else(String::new, |one| format!("{:.2}", figures.cpu_us / one)),
                format!("{:.0}", figures.rps),
                format!("{:.0}", figures.p50_us),
                format!("{:.0}", figures.p99_us),
                figures.errors.to_string(),
                figures.fetches.to_string(),
                format!("{:.0} %", figures.others * 100.0),
            ]);
        }
        for column in table.column_iter_mut().skip(2) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        let mut text = format!("{table}\n");
        for budget in &self.budgets {
            // Writing to a String cannot fail.
            let _ = write!(text, "\n- {}: {}", if budget.held { "held" } else { "MISSED" }, budget.promise);
        }
        text
    }

    /// Writes `report.md` and `report.json`; gives their directory.
    pub(crate) fn save(&self) -> Result<PathBuf> {
        let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("runs");
        let directory = runs.join(format!("{}-{}", self.date, self.machine.slug()));
        fs::create_dir_all(&directory)?;
        fs::write(directory.join("report.json"), serde_json::to_string_pretty(self)? + "\n")?;
        fs::write(directory.join("report.md"), self.markdown())?;
        Ok(directory)
    }

    fn markdown(&self) -> String {
        let Machine { cpu, cores, memory_gib, kernel, commit } = &self.machine;
        let mut text = format!(
            "# Benchmarks, {}\n\n{cpu}, {cores} cores, {memory_gib} GiB, {kernel}; commit {commit}.\n\n\
             CPU time is that of the server's whole process tree for each request; \"others\" is the share of its core that somebody\n\
             else had meanwhile. Every figure is the median of {} rounds\n\
             of {} s, the rounds of all servers interleaved; server on core 0, load and origin on core 1; {} connections;\n\
             load by {}. The\n\
             ratio of CPU times is to the bare loop, that of a proxied request to nginx.\n\n",
            self.date,
            self.lines.first().map_or(0, |line| line.rounds.len()),
            self.seconds,
            self.connections,
            self.load,
        );
        text.push_str(&self.table());
        if !self.scenarios.is_empty() {
            let _ = write!(text, "\n\n## Promises\n\n```text\n{}\n```", told(&self.scenarios));
        }
        text.push_str("\n\n## Who was measured\n\n");
        for server in &self.servers {
            let _ = writeln!(text, "- {}: {}; `{}`", server.name, server.version, server.command);
        }
        text.push_str("\nTheir configs are in `benchsuite/rivals/`. To repeat: `cargo run --profile dist -p benchsuite -- --save`.\n");
        text
    }
}

/// The command with file names only: where a checkout or a temporary directory lay is nobody's business.
fn without_directories(command: &str) -> String {
    let last = |word: &str| {
        if word.starts_with('/') {
            word.rsplit('/').next().unwrap_or_default().to_owned()
        } else {
            word.to_owned()
        }
    };
    command.split(' ').map(last).collect::<Vec<_>>().join(" ")
}

fn line(lines: &[Line], row: Row, kind: Kind) -> Option<&Line> {
    lines.iter().find(|line| line.row == row && line.server == kind.name())
}

fn cpu(lines: &[Line], row: Row, kind: Kind) -> Option<f64> {
    line(lines, row, kind).map(|line| line.figures.cpu_us)
}

fn budgets(lines: &[Line]) -> Vec<Budget> {
    let mut budgets = Vec::new();
    for row in Row::ALL {
        let Some(ours) = cpu(lines, row, Kind::Fleetfoot) else { continue };
        if row.is_hit()
            && let Some(bare) = cpu(lines, row, Kind::Bare)
        {
            let ratio = ours / bare;
            let promise =
                format!("{}: {ratio:.2} of at most {HIT_BUDGET} × the bare loop's CPU", row.title());
            budgets.push(Budget { promise, held: ratio <= HIT_BUDGET });
        }
        let rivals =
            if row.is_hit() { &[Kind::Nginx, Kind::HaProxy, Kind::Varnish][..] } else { &[Kind::Nginx] };
        for rival in rivals {
            if let Some(theirs) = cpu(lines, row, *rival) {
                let promise =
                    format!("{}: {ours:.2} µs against {theirs:.2} µs of {}", row.title(), rival.name());
                budgets.push(Budget { promise, held: ours <= theirs });
            }
        }
        budgets.extend(change(lines, row));
    }
    budgets
}

/// What a row costs now, of what it cost in the build before.
fn change(lines: &[Line], row: Row) -> Option<Budget> {
    let (now, before) = (line(lines, row, Kind::Fleetfoot)?, line(lines, row, Kind::Before)?);
    let ratio = ratio(&now.rounds, &before.rounds, |round| round.cpu_us);
    let promise = format!(
        "{}: {ratio:.3} × the CPU of the build before, at most {:.0} % more",
        row.title(),
        CHANGE_BUDGET * 100.0
    );
    Some(Budget { promise, held: ratio <= 1.0 + CHANGE_BUDGET })
}
