//! Footprint: what a running process holds, as Linux tells. In: a process id. Out: memory, files, threads. Asked by stories
//! that promise a bound; they compare with what the same process held before, since a build's own size is no promise.

use std::path::Path;

/// What a process holds at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// Memory that is resident, in bytes.
    pub resident: usize,
    /// The most that ever was, in bytes.
    pub peak: usize,
    /// Open files, sockets among them.
    pub files: usize,
    /// Threads.
    pub threads: usize,
}

impl Footprint {
    /// Of a process that runs.
    pub fn of(pid: u32) -> Footprint {
        let process = Path::new("/proc").join(pid.to_string());
        let status = std::fs::read_to_string(process.join("status")).expect("the process runs");
        let number = |name: &str| -> usize {
            let value = status.lines().find_map(|line| line.strip_prefix(name)).expect("Linux tells it");
            value.split_whitespace().next().and_then(|number| number.parse().ok()).expect("a number")
        };
        Footprint {
            resident: number("VmRSS:") * 1024,
            peak: number("VmHWM:") * 1024,
            files: std::fs::read_dir(process.join("fd")).expect("the process runs").count(),
            threads: number("Threads:"),
        }
    }
}
