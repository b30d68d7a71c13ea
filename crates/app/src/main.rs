//! fleetfoot: one program in front of an API that makes it fast.
//!
//! This file reads the command line; each command has a file of its own.

mod admin_port;
mod cache;
mod check;
mod demo;
mod demo_api;
mod explain;
mod output;
mod run;
mod waterfall;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tracing::Level;

/// Answers are built from many small allocations of mixed sizes on several threads; mimalloc keeps them apart.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Makes APIs fast: a cache that obeys HTTP, in front of yours.
#[derive(Parser)]
#[command(name = "fleetfoot", version, arg_required_else_help = true)]
struct CommandLine {
    /// Print results as JSON.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Stand in front of the API at URL and cache what it allows to be cached.
    Up {
        /// The API, as in http://localhost:3000.
        url: String,
        /// Where clients connect; `:8080` for every address of the machine.
        #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080", value_parser = plan::socket_address)]
        listen: SocketAddr,
        /// Where health and metrics are.
        #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9090", value_parser = plan::socket_address)]
        admin: SocketAddr,
    },
    /// Run as FILE says; reload when it changes or on SIGHUP, drain on SIGTERM.
    Run {
        /// The configuration.
        file: PathBuf,
    },
    /// Check FILE and list every fault with its line, cause and remedy.
    Check {
        /// The configuration.
        file: PathBuf,
    },
    /// Tell what would happen to a request: route, key, policy, and why its answer is cached or not.
    Explain {
        #[command(flatten)]
        question: explain::ExplainArguments,
    },
    /// Forget, list, show or fetch what a running fleetfoot has stored.
    Cache {
        #[command(flatten)]
        port: admin_port::Arguments,
        #[command(subcommand)]
        command: cache::Command,
    },
    /// Start a slow demo API with fleetfoot in front, load both, and show the difference.
    Demo {
        /// Seconds of load on each, from 1 to 60.
        #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=60))]
        seconds: u64,
        /// Connections of the load, from 1 to 5000.
        #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u16).range(1..=5000))]
        connections: u16,
    },
    /// Run the slow demo API alone.
    DemoApi {
        /// Where it listens.
        #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:3000", value_parser = plan::socket_address)]
        listen: SocketAddr,
    },
}

fn main() -> ExitCode {
    let line = CommandLine::parse();
    let level = match line.command {
        // Its result says what went wrong.
        Command::Explain { .. } => Level::ERROR,
        _ => Level::INFO,
    };
    output::start_diagnostics(line.json, level);
    match line.command {
        Command::Up { url, listen, admin } => run::up(&url, listen, admin, line.json),
        Command::Run { file } => run::run(file, line.json),
        Command::Check { file } => check::check(&file, line.json),
        Command::Explain { question } => explain::explain(&question, line.json),
        Command::Cache { port, command } => cache::run(&command, &port, line.json),
        Command::Demo { seconds, connections } => demo::demo(seconds, connections, line.json),
        Command::DemoApi { listen } => demo_api::serve(listen, line.json),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn parse(line: &str) -> Result<CommandLine, clap::Error> {
        CommandLine::try_parse_from(line.split(' '))
    }

    #[test]
    fn the_command_line_is_consistent() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn what_makes_sense_is_understood() {
        for line in [
            "fleetfoot explain GET http://a/",
            "fleetfoot explain GET http://a/ --admin 127.0.0.1:9090 --ask",
            "fleetfoot explain --id 00f1e2d3c4b5a697",
            "fleetfoot explain --admin :9090 --id 00f1e2d3c4b5a697",
            "fleetfoot cache purge --url http://a/x --exact --admin 127.0.0.1:9091",
            "fleetfoot cache --admin 127.0.0.1:9091 purge --tag a --tag b --soft --refresh 10 --rate 5",
            "fleetfoot cache purge --everything --dry-run --json",
            "fleetfoot cache ls --prefix / --limit 5",
            "fleetfoot cache get http://a/",
            "fleetfoot cache warm - --token-file t",
        ] {
            assert!(parse(line).is_ok(), "{line}: {}", parse(line).err().expect("it is wrong"));
        }
    }

    #[test]
    fn what_does_not_is_refused() {
        for line in [
            "fleetfoot explain GET",
            "fleetfoot explain",
            "fleetfoot explain GET http://a/ --ask",
            "fleetfoot explain GET http://a/ --id x",
            "fleetfoot explain GET http://a/ --admin :9090 --config f",
            "fleetfoot cache",
            "fleetfoot cache purge --exact --host a",
            "fleetfoot cache purge --tag a --rate 0",
            "fleetfoot cache purge --tag a --refresh 10001",
            "fleetfoot cache ls --limit 0",
            "fleetfoot cache get",
            "fleetfoot cache get http://a/ --admin nowhere",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
