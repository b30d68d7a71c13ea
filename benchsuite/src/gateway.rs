//! Gateway: what people would write themselves instead of a configuration: in Go, with the standard library only. It is
//! built when it is asked for; Go keeps what did not change. Asked for by `server`.

use std::path::PathBuf;
use std::sync::LazyLock;

use crate::failure::Result;
use crate::krakend::go;

const SOURCE: &str = include_str!("../rivals/compose-go/main.go");

/// Where it is; `None` where it cannot be built, which is said once.
pub(crate) fn program() -> Option<PathBuf> {
    static BUILT: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
        build().inspect_err(|failure| eprintln!("the gateway in Go cannot be built: {failure}")).ok()
    });
    BUILT.clone()
}

/// Of the compiler: there is nothing else in it.
pub(crate) fn version() -> String {
    let said = go(&std::env::temp_dir(), &["version"]).unwrap_or_default();
    let version = said.split_whitespace().nth(2).unwrap_or("of an unknown version");
    format!("a gateway with the standard library, {version}")
}

fn build() -> Result<PathBuf> {
    let folder = tempfile::Builder::new().prefix("bench-").tempdir()?;
    std::fs::write(folder.path().join("main.go"), SOURCE)?;
    let program = std::env::current_exe()?.with_file_name("gateway-go");
    go(folder.path(), &["build", "-o", &program.to_string_lossy(), "main.go"])?;
    Ok(program)
}
