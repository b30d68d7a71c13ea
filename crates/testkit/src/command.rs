//! Command: a run of the program to its end, with variables and input of the test's own.

use std::io::Write;
use std::path::Path;
use std::process::{Command as Process, Stdio};

use crate::{Finished, program};

/// What is run. Variables of the test's own environment that the program would read are left out.
#[derive(Debug)]
pub struct Command(Process);

impl Command {
    /// The program with these arguments.
    pub fn new(arguments: &[&str]) -> Self {
        let mut process = Process::new(program());
        process.args(arguments).env_remove("FLEETFOOT_ADMIN_TOKEN");
        Command(process)
    }

    /// With this variable.
    #[must_use]
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.0.env(name, value);
        self
    }

    /// In this folder.
    #[must_use]
    pub fn folder(mut self, folder: &Path) -> Self {
        self.0.current_dir(folder);
        self
    }

    /// Runs it until it ends by itself; `input` is short enough for a pipe.
    pub fn run(mut self, input: &str) -> Finished {
        let pipes = self.0.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            pipes.spawn().unwrap_or_else(|error| panic!("cannot run {}: {error}", program().display()));
        if let Some(mut stdin) = child.stdin.take() {
            let _does_not_read = stdin.write_all(input.as_bytes());
        }
        let output = child.wait_with_output().expect("a child can be waited for");
        Finished {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}
