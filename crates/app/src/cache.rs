//! `cache`: forgets, lists, shows and fetches what a running fleetfoot has stored.

mod entries;
mod purge;
mod warm;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use crate::admin_port::{AdminPort, Arguments};
use crate::output;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Forget answers; in force for all cores when the command returns.
    Purge {
        #[command(flatten)]
        scope: Scope,
        /// All answers.
        #[arg(long)]
        everything: bool,
        /// Only make them stale: they may still serve under the stale rules, and be confirmed.
        #[arg(long)]
        soft: bool,
        /// Change nothing; tell how many answers and bytes it would be.
        #[arg(long, conflicts_with = "refresh")]
        dry_run: bool,
        /// Fetch the N most used of them again.
        #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=10_000))]
        refresh: u32,
        /// Fetches a second.
        #[arg(long, value_name = "RATE", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000))]
        rate: u32,
    },
    /// List what is stored, the most used first.
    Ls {
        #[command(flatten)]
        scope: Scope,
        /// How many at most.
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
    },
    /// Show what is stored under a URL: all variants with their fields.
    Get {
        /// The URL as a client would ask for it.
        url: String,
    },
    /// Fetch every URL of FILE through fleetfoot's own routes, so that it is stored before clients ask.
    Warm {
        /// One URL a line; lines that begin with # are left out. `-`: standard input.
        file: PathBuf,
        /// Fetches a second.
        #[arg(long, value_name = "RATE", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000))]
        rate: u32,
    },
}

/// Which answers.
#[derive(Args)]
pub(crate) struct Scope {
    /// The path of this URL, with all its queries and variants.
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// With --url: this query only.
    #[arg(long, requires = "url")]
    exact: bool,
    /// Paths that begin so: /news/ on any host, or http://example.com/news/.
    #[arg(long, value_name = "PREFIX")]
    prefix: Option<String>,
    /// One host.
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// A tag; may be repeated for `purge`.
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
}

impl Scope {
    /// The words that were said, as the admin port has them.
    fn words(&self) -> Map<String, Value> {
        let mut words = Map::new();
        for (name, value) in [("url", &self.url), ("prefix", &self.prefix), ("host", &self.host)] {
            if let Some(value) = value {
                words.insert(name.to_owned(), json!(value));
            }
        }
        match self.tags.as_slice() {
            [] => {}
            [tag] => drop(words.insert("tag".to_owned(), json!(tag))),
            tags => drop(words.insert("tags".to_owned(), json!(tags))),
        }
        words
    }
}

pub(crate) fn run(command: &Command, arguments: &Arguments, json: bool) -> ExitCode {
    let port = match AdminPort::new(arguments) {
        Ok(port) => port,
        Err(problem) => return output::fail(problem, output::USAGE),
    };
    match command {
        Command::Purge { scope, everything, soft, dry_run, refresh, rate } => {
            let mut words = scope.words();
            if *everything {
                words.insert("everything".to_owned(), json!(true));
            }
            if words.len() != 1 {
                return output::fail(
                    "say what: exactly one of --url, --prefix, --host, --tag and --everything",
                    output::USAGE,
                );
            }
            let more = [
                ("exact", json!(scope.exact)),
                ("soft", json!(soft)),
                ("dry_run", json!(dry_run)),
                ("refresh", json!(refresh)),
                ("rate", json!(rate)),
            ];
            words.extend(more.map(|(name, value)| (name.to_owned(), value)));
            purge::purge(&port, &Value::Object(words), json)
        }
        Command::Ls { scope, limit } => {
            let words = scope.words();
            if words.len() > 1 || scope.tags.len() > 1 {
                let problem = "say at most one of --url, --prefix, --host and --tag";
                return output::fail(problem, output::USAGE);
            }
            entries::list(&port, &words, scope.exact, *limit, json)
        }
        Command::Get { url } => entries::get(&port, url, json),
        Command::Warm { file, rate } => warm::warm(&port, file, *rate, json),
    }
}

/// What went wrong at the admin port.
fn refused(problem: &str) -> ExitCode {
    output::fail(problem, 1)
}

/// `1 answer`, `2 answers`.
fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Bytes for people.
fn bytes(number: u64) -> String {
    match number {
        0..10_000 => format!("{number} B"),
        10_000..10_000_000 => format!("{} KiB", number / 1024),
        _ => format!("{} MiB", number / 1024 / 1024),
    }
}
