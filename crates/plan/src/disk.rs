//! Disk: the section `disk` → [`Disk`]. Called by `check`.

use std::path::{Path, PathBuf};

use crate::meant::Disk;
use crate::schema;
use crate::yaml::fault::{Report, quoted};
use crate::yaml::section::Section;
use crate::yaml::tree::Node;
use crate::yaml::value;

/// Reads the disk tier.
pub(crate) fn disk(node: Node<'_>, folder: &Path, report: &mut Report) -> Option<Disk> {
    let section = Section::open(node, &schema::DISK, report)?;
    let place = section.need("folder", report).and_then(|node| place(node, folder, report));
    let bytes = section.need("size", report).and_then(|node| value::size(node, "16MiB", "16TiB", report));
    Some(Disk { folder: place?, bytes: bytes? })
}

/// The folder, which need not be there yet.
fn place(node: Node<'_>, folder: &Path, report: &mut Report) -> Option<PathBuf> {
    let text = value::text(node, report)?;
    let path = folder.join(text);
    if text.is_empty() {
        report.at(node, "`` is not a path", "write the path of a folder, like `./cache`");
        return None;
    }
    if std::fs::metadata(&path).is_ok_and(|found| !found.is_dir()) {
        report.at(node, format!("{} is not a folder", quoted(text)), "write the path of a folder of its own");
        return None;
    }
    Some(path)
}
