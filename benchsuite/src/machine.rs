//! Machine: what the figures were measured on, since they mean little without it.

use std::fs;
use std::process::Command;

use serde::Serialize;

/// Read from the system.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Machine {
    pub(crate) cpu: String,
    pub(crate) cores: usize,
    pub(crate) memory_gib: u64,
    pub(crate) kernel: String,
    pub(crate) commit: String,
}

impl Machine {
    /// This one.
    pub(crate) fn here() -> Self {
        let memory_kib = value_in("/proc/meminfo", "MemTotal")
            .and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
        Machine {
            cpu: value_in("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown".to_owned()),
            cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            memory_gib: memory_kib.unwrap_or(0) / (1024 * 1024),
            kernel: said("uname", &["-sr"]),
            commit: said("git", &["describe", "--always", "--dirty"]),
        }
    }

    /// For the name of a directory: `amd-epyc-2-cores`.
    pub(crate) fn slug(&self) -> String {
        let words = format!("{} {} cores", self.cpu, self.cores).to_lowercase();
        let plain: String = words.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        plain.split('-').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
    }
}

/// `2026-02-03`.
pub(crate) fn today() -> String {
    said("date", &["-u", "+%Y-%m-%d"])
}

fn value_in(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn said(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let text = output.map(|output| output.stdout).unwrap_or_default();
    Some(String::from_utf8_lossy(&text).trim().to_owned())
        .filter(|text| !text.is_empty())
        .unwrap_or_else(|| "unknown".to_owned())
}
