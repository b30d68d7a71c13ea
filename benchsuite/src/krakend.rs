//! Krakend: where KrakenD CE is: named by `KRAKEND_BIN`, installed, or built with Go from its module. That takes some
//! minutes once; what was built is kept beside this program. Asked for by `server`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use crate::failure::{Failure, Result};
use crate::server::installed;

const MODULE: &str = "github.com/krakend/krakend-ce/v2";
const PROGRAM: &str = "github.com/krakend/krakend-ce/v2/cmd/krakend-ce";

/// Where it is; `None` where it cannot be had, which is said once.
pub(crate) fn program() -> Option<PathBuf> {
    static FOUND: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
        found()
            .inspect_err(|failure| eprintln!("krakend is not installed and cannot be built: {failure}"))
            .ok()
    });
    FOUND.clone()
}

fn found() -> Result<PathBuf> {
    if let Some(named) = std::env::var_os("KRAKEND_BIN") {
        return Ok(PathBuf::from(named));
    }
    if let Some(installed) = installed("krakend") {
        return Ok(installed);
    }
    let built = std::env::current_exe()?.with_file_name("krakend");
    if !built.exists() {
        build(&built)?;
    }
    Ok(built)
}

/// The newest version, in a module of its own: `go install` takes no program whose module replaces others. The module
/// is named before its program, for Go would ask for a module of the program's name first.
fn build(program: &Path) -> Result<()> {
    eprintln!("krakend: being built with Go, which takes some minutes");
    let module = tempfile::Builder::new().prefix("bench-").tempdir()?;
    std::fs::write(module.path().join("go.mod"), "module rival\n")?;
    go(module.path(), &["get", &format!("{MODULE}@latest")])?;
    let version = go(module.path(), &["list", "-m", "-f", "{{.Version}}", MODULE])?;
    let says = format!("-X github.com/luraproject/lura/v2/core.KrakendVersion={}", version.trim());
    go(module.path(), &["build", "-mod=mod", "-ldflags", &says, "-o", &program.to_string_lossy(), PROGRAM])?;
    Ok(())
}

/// Runs Go in a folder; gives what it printed. Nicely: whoever builds for minutes may be doing something else.
pub(crate) fn go(folder: &Path, arguments: &[&str]) -> Result<String> {
    let go = installed("go").ok_or_else(|| Failure("Go is not installed".to_owned()))?;
    let output = Command::new("nice").arg(go).args(arguments).current_dir(folder).output()?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(Failure(format!("go {} says: {said}", arguments[0])))
}
