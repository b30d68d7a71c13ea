//! Load: a file or its text → a [`Plan`]. What the commands and the reload call.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use crate::check::check;
use crate::meant::Plan;
use crate::yaml::fault::{Faults, Place, Reason, Report};
use crate::yaml::file::LARGEST;

/// Reads and compiles a file. A file that is missing, unreadable, too long or not UTF-8 is a fault too.
pub fn load(path: &Path) -> Result<Plan, Faults> {
    let name = path.display().to_string();
    let bytes = read(path).map_err(|reason| Faults::of_file(&name, reason))?;
    match std::str::from_utf8(&bytes) {
        Ok(text) => compile(text, &name),
        Err(error) => Err(not_utf8(&bytes, error.valid_up_to(), &name)),
    }
}

/// Compiles the text of a file. `name` is the file's name: messages begin with it, and relative paths in the text start
/// at its folder.
pub fn compile(text: &str, name: &str) -> Result<Plan, Faults> {
    check(text, name, Path::new(name).parent().unwrap_or(Path::new("")))
}

/// Reads a file, but not endlessly: it may be a device.
fn read(path: &Path) -> Result<Vec<u8>, Reason> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(LARGEST as u64 + 1).read_to_end(&mut bytes));
    match read {
        Ok(_) if bytes.len() > LARGEST => {
            Err(Reason::new("the file is longer than 1 MiB", "write at most 1 MiB"))
        }
        Ok(_) => Ok(bytes),
        Err(error) => Err(match error.kind() {
            ErrorKind::NotFound => Reason::new(
                "the file does not exist",
                "check the path, or begin with `fleetfoot up URL`, which needs no file",
            ),
            ErrorKind::PermissionDenied => {
                Reason::new("the file may not be read", "give this user the right to read it")
            }
            ErrorKind::IsADirectory => Reason::new("this is a folder", "name the file in it"),
            _ => Reason::new(format!("the file cannot be read: {error}"), "check the path and the disk"),
        }),
    }
}

/// The first byte that is no UTF-8, with its line.
fn not_utf8(bytes: &[u8], valid: usize, name: &str) -> Faults {
    let text = String::from_utf8_lossy(bytes);
    let before = String::from_utf8_lossy(&bytes[..valid]);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    let mut report = Report::default();
    report.fault(
        Place { line, column, length: 1 },
        String::new(),
        format!(
            "the file is not UTF-8: byte {:#04x} stands here",
            bytes.get(valid).copied().unwrap_or_default()
        ),
        "save the file as UTF-8",
    );
    report.into_faults(name, &text)
}
