//! The benchmarks: one command that measures fleetfoot beside a bare epoll loop and whichever of nginx, HAProxy and
//! Varnish are installed, on this machine, in one go; and the scenarios that the README's promises come from.
//!
//! ```text
//! cargo run --release -p benchsuite                      the comparison
//! cargo run --release -p benchsuite -- --only nginx      against one rival
//! cargo run --release -p benchsuite -- stampede          one scenario
//! ```
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program whose output is its purpose")]

mod compare;
mod epoll_server;
mod failure;
mod figures;
mod http_client;
mod load_generator;
mod machine;
mod process;
mod report;
mod row;
mod scenario;
mod server;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::epoll_server::Role;

/// Measures fleetfoot beside its rivals.
#[derive(Parser)]
#[command(version)]
struct CommandLine {
    #[command(flatten)]
    options: compare::Options,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// 200 connections on `/` and `/cache` of the demo API: how much faster, and how many fetches for each 5 s.
    Seed000,
    /// 1,000 clients at once on a cold key whose origin takes 1 s.
    Stampede,
    /// What an idle connection costs, with 10,000 of them.
    Idle,
    /// What a million entries of 1 KiB cost.
    Million,
    /// The epoll loop itself; started by the suite.
    #[command(hide = true)]
    Serve {
        #[arg(long)]
        role: Role,
        #[arg(long)]
        listen: SocketAddr,
    },
    /// The load generator of the workspace, where there is no wrk; started by the suite.
    #[command(hide = true)]
    Load {
        #[arg(long)]
        address: SocketAddr,
        #[arg(long)]
        targets: PathBuf,
        #[arg(long)]
        connections: usize,
        #[arg(long)]
        seconds: u64,
    },
}

fn main() -> ExitCode {
    let line = CommandLine::parse();
    process::allow_many_files();
    let json = line.options.json;
    let result = match line.command {
        None => compare::run(&line.options),
        Some(Command::Seed000) => scenario::seed000(line.options.seconds, json),
        Some(Command::Stampede) => scenario::stampede(json),
        Some(Command::Idle) => scenario::idle(json),
        Some(Command::Million) => scenario::million(json),
        Some(Command::Serve { role, listen }) => epoll_server::serve(role, listen),
        Some(Command::Load { address, targets, connections, seconds }) => {
            load_generator::run_here(address, &targets, connections, seconds)
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("benchsuite: {failure}");
            ExitCode::FAILURE
        }
    }
}
