//! Module: a source of your own CPU work → [`WasmSource`]. Called by `check` for each.

use std::path::Path;
use std::time::Duration;

use crate::meant::WasmSource;
use crate::yaml::fault::Report;
use crate::yaml::section::Section;
use crate::yaml::tree::Node;
use crate::yaml::value;
use crate::{default, schema};

/// Reads a module. `None` when a fault left none.
pub(crate) fn module(node: Node<'_>, folder: &Path, report: &mut Report) -> Option<WasmSource> {
    let section = Section::open(node, &schema::SOURCE_WASM, report)?;
    let module = section.need("wasm", report).and_then(|node| value::file(node, folder, report))?;
    let mut source = WasmSource {
        name: node.key().to_owned(),
        modified: std::fs::metadata(&module).and_then(|file| file.modified()).ok(),
        module,
        timeout: Duration::from_secs(1),
        memory: 64 * 1024 * 1024,
        threads: default::cores(),
        queue: 1000,
    };
    section.set("timeout", &mut source.timeout, report, value::timeout);
    section
        .set("memory", &mut source.memory, report, |node, report| value::size(node, "64KiB", "4GiB", report));
    section.set("threads", &mut source.threads, report, |node, report| {
        Some(value::number(node, 1..=1024, report)? as usize)
    });
    section.set("queue", &mut source.queue, report, |node, report| {
        Some(value::number(node, 0..=1_000_000, report)? as usize)
    });
    Some(source)
}
