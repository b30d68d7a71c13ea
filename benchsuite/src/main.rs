//! The benchmarks: one command that measures fleetfoot beside a bare epoll loop and whichever of nginx, HAProxy and
//! Varnish are installed, on this machine, in one go; and the scenarios that the README's promises come from.
//! `visitors`, `reads` and `seed003` need a redis-server, `seed003` a MariaDB too; `compose` builds its rivals with Go
//! where they are not installed, and needs Node for another.
//!
//! ```text
//! cargo run --profile dist -p benchsuite                      the comparison
//! cargo run --profile dist -p benchsuite -- --only nginx      against one rival
//! FLEETFOOT_BEFORE=old/fleetfoot cargo run --profile dist -p benchsuite -- --only fleetfoot --only before
//!                                                             against another build of itself
//! cargo run --profile dist -p benchsuite -- stampede          one scenario
//! cargo run --profile dist -p benchsuite -- controls          hits with every control configured, beside plain ones
//! cargo run --profile dist -p benchsuite -- layers            a proxied request with five idle layers, beside a plain one
//! cargo run --profile dist -p benchsuite -- purge             a tag on 100,000 of a million entries
//! cargo run --profile dist -p benchsuite -- visitors          50 users on an API whose database is overloaded
//! cargo run --profile dist -p benchsuite -- reads             reads of a Redis: central, replica, tracked, and bare
//! cargo run --profile dist -p benchsuite -- compose           pages of four calls, beside KrakenD, Go and Node
//! cargo run --profile dist -p benchsuite -- seed003           one response of sixteen calls, in every way
//! cargo run --profile dist -p benchsuite -- all               the comparison and all scenarios
//! ```
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program whose output is its purpose")]

mod compare;
mod demo_api;
mod epoll_server;
mod failure;
mod figures;
mod gateway;
mod http_client;
mod interruption;
mod krakend;
mod load_generator;
mod machine;
mod paced;
mod page;
mod process;
mod reader;
mod redis_server;
mod report;
mod row;
mod scenario;
mod server;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::compare::Options;
use crate::epoll_server::Role;
use crate::failure::Result;
use crate::report::Report;
use crate::scenario::{
    Outcome, compose, controls, disk, idle, layers, million, purge, reads, seed000, seed003, stampede,
    visitors,
};

/// Measures fleetfoot beside its rivals.
#[derive(Parser)]
#[command(version)]
struct CommandLine {
    #[command(flatten)]
    options: Options,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// CPU time, rate and latencies of every server, side by side. The default.
    Hits,
    /// 200 connections on `/` and `/cache` of the demo API: how much faster, and how many fetches for each 5 s.
    Seed000,
    /// 1,000 clients at once on a cold key whose origin takes 1 s.
    Stampede,
    /// What an idle connection costs, with 10,000 of them.
    Idle,
    /// What a million entries of 1 KiB cost.
    Million,
    /// What a hit costs with keys, tags, bypasses and the like configured, beside a plain one.
    Controls,
    /// What a proxied request costs with five idle layers around it, beside one without any.
    Layers,
    /// One tag on 100,000 of a million entries is purged under load.
    Purge,
    /// What is left after a restart, and what hits from disk cost; for a fleetfoot with the feature `disk`.
    Disk,
    /// 50 users with pauses on an API whose database is overloaded, without and with fleetfoot.
    Visitors,
    /// What a read of a Redis costs: central, with a replica nearby, tracked, and bare; and a million tracked keys.
    Reads,
    /// What one response of four calls costs, beside KrakenD CE and gateways written in Go and Node.
    Compose,
    /// One response of sixteen calls: one after the other, in a pool, at once, saved; and what a step costs.
    Seed003,
    /// The comparison and all scenarios.
    All,
    /// The epoll loop itself; started by the suite.
    #[command(hide = true)]
    Serve {
        #[arg(long)]
        role: Role,
        #[arg(long)]
        listen: SocketAddr,
    },
    /// The bare reader of a Redis; started by the suite.
    #[command(hide = true)]
    ServeReads {
        #[arg(long)]
        listen: SocketAddr,
        #[arg(long)]
        redis: SocketAddr,
        /// A connection to Redis for each client instead of one for all.
        #[arg(long)]
        pooled: bool,
    },
    /// The load generator of the workspace, where there is no wrk; started by the suite.
    #[command(hide = true)]
    Load {
        #[arg(long)]
        address: SocketAddr,
        #[arg(long)]
        targets: PathBuf,
        #[arg(long = "field")]
        fields: Vec<String>,
        #[arg(long)]
        connections: usize,
        #[arg(long)]
        seconds: u64,
    },
}

fn main() -> ExitCode {
    let line = CommandLine::parse();
    process::allow_many_files();
    let result = match line.command.unwrap_or(Command::Hits) {
        Command::Serve { role, listen } => epoll_server::serve(role, listen),
        Command::ServeReads { listen, redis, pooled } => reader::serve(listen, redis, pooled),
        Command::Load { address, targets, fields, connections, seconds } => {
            load_generator::run_here(address, &targets, &fields, connections, seconds)
        }
        wanted => measure(&wanted, &line.options).and_then(|report| show(&report, &line.options)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("benchsuite: {failure}");
            ExitCode::FAILURE
        }
    }
}

type Scenario<'a> = dyn Fn() -> Result<Vec<Outcome>> + 'a;

/// What was asked for, or all of it.
fn measure(wanted: &Command, options: &Options) -> Result<Report> {
    interruption::listen()?;
    let mut report = match wanted {
        Command::Hits | Command::All => compare::run(options)?,
        _ => Report::new(&[], options, Vec::new()),
    };
    let all = matches!(wanted, Command::All);
    let scenarios: [(bool, &str, &Scenario<'_>); 12] = [
        (matches!(wanted, Command::Seed000), "seed000", &|| seed000(options.seconds)),
        (matches!(wanted, Command::Stampede), "stampede", &stampede),
        (matches!(wanted, Command::Idle), "idle", &idle),
        (matches!(wanted, Command::Million), "million", &million),
        (matches!(wanted, Command::Controls), "controls", &|| controls(options)),
        (matches!(wanted, Command::Layers), "layers", &|| layers(options)),
        (matches!(wanted, Command::Purge), "purge", &purge),
        (matches!(wanted, Command::Disk), "disk", &disk),
        (matches!(wanted, Command::Visitors), "visitors", &|| visitors(options)),
        (matches!(wanted, Command::Reads), "reads", &|| reads(options)),
        (matches!(wanted, Command::Compose), "compose", &|| compose(options)),
        (matches!(wanted, Command::Seed003), "seed003", &|| seed003(options)),
    ];
    for (_, name, scenario) in scenarios.into_iter().filter(|(chosen, ..)| *chosen || all) {
        interruption::check()?;
        match scenario() {
            Ok(outcomes) => report.add(outcomes),
            // The figures of the others are not to be lost for it.
            Err(failure) if all => report.add(vec![Outcome::failed(format!("{name}: {failure}"))]),
            Err(failure) => return Err(failure),
        }
        eprintln!("{name}: done");
    }
    Ok(report)
}

fn show(report: &Report, options: &Options) -> Result<()> {
    if options.save {
        eprintln!("kept in {}", report.save()?.display());
    }
    if options.json {
        println!("{}", serde_json::to_string_pretty(report)?);
    } else {
        println!("{}", report.figures());
    }
    Ok(())
}
