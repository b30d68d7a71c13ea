//! Binary: finds the program beside the test executable, building it once when that is out of date.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::Lines;

/// How a command went.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Its exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it complained.
    pub stderr: String,
}

/// The path of the built program. `FLEETFOOT_BIN` names another one, for instance an installed one.
pub fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| std::env::var_os("FLEETFOOT_BIN").map_or_else(build, PathBuf::from))
}

/// Runs the program with these arguments until it ends by itself.
pub fn run_to_end(arguments: &[&str]) -> Finished {
    let output = Command::new(program())
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("cannot run {}: {error}", program().display()));
    Finished {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// `target/PROFILE/deps/flow-…` lies in the profile's directory; cargo knows best whether the program there is fresh.
fn build() -> PathBuf {
    let executable = std::env::current_exe().expect("the system knows the running executable");
    let deps = executable.parent().expect("an executable lies in a directory");
    let directory = deps.parent().expect("target/PROFILE/deps has a parent");
    let profile = match directory.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(name) => name,
    };
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--package", "fleetfoot", "--profile", profile]);
    cargo.current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null()).stderr(Stdio::piped());
    let mut child = cargo.spawn().expect("cargo runs these tests, so it is there");
    let complaints = child.stderr.take().map(Lines::collect).unwrap_or_default();
    let status = child.wait().expect("a child can be waited for");
    assert!(status.success(), "cannot build the program:\n{}", complaints.all().join("\n"));
    directory.join("fleetfoot")
}
