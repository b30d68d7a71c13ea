//! Measure: what a process and everything it started take, read from /proc. CPU time to the nanosecond where the
//! kernel tells it (`schedstat`), else to the clock tick; memory as it is resident.

use std::fs;
use std::path::Path;
use std::time::Duration;

/// Clock ticks a second, as Linux shows them to programs on every architecture it runs on today.
const TICKS: u32 = 100;

/// CPU time so far of this process and its descendants, on behalf of users and in the kernel.
///
/// Exact when they are idle: for a running thread the kernel adds up only now and then.
pub(crate) fn cpu_time(process: u32) -> Result<Duration, String> {
    family(process)?.into_iter().map(cpu_time_of).sum()
}

/// Bytes resident of this process and its descendants, shared ones counted for each.
pub(crate) fn resident(process: u32) -> Result<u64, String> {
    family(process)?.into_iter().map(resident_of).sum()
}

/// This process and its descendants.
pub(crate) fn family(process: u32) -> Result<Vec<u32>, String> {
    let entries = fs::read_dir("/proc").map_err(|error| format!("/proc: {error}"))?;
    let parents: Vec<(u32, u32)> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|child| Some((child, parent_of(child)?)))
        .collect();
    let mut family = vec![process];
    let mut place = 0;
    while let Some(parent) = family.get(place).copied() {
        family.extend(parents.iter().filter(|(_, theirs)| *theirs == parent).map(|(child, _)| child));
        place += 1;
    }
    Ok(family)
}

/// `None`: it is gone.
fn parent_of(process: u32) -> Option<u32> {
    stat_fields(process).ok()?.get(1)?.parse().ok()
}

/// The fields of `stat` behind the command's name, which may contain anything: state, parent and so on.
fn stat_fields(process: u32) -> Result<Vec<String>, String> {
    let stat = read(&format!("/proc/{process}/stat"))?;
    let (_, fields) = stat.rsplit_once(')').ok_or("stat without the command's name")?;
    Ok(fields.split_whitespace().map(str::to_owned).collect())
}

fn cpu_time_of(process: u32) -> Result<Duration, String> {
    if Path::new("/proc/self/schedstat").exists() { fine_cpu_time(process) } else { coarse_cpu_time(process) }
}

/// The sum over its threads. One that ended is no longer in it: servers measured keep theirs.
fn fine_cpu_time(process: u32) -> Result<Duration, String> {
    let tasks = format!("/proc/{process}/task");
    let entries = fs::read_dir(&tasks).map_err(|error| format!("{tasks}: {error}"))?;
    let nanoseconds = entries.filter_map(|entry| {
        let statistics = fs::read_to_string(entry.ok()?.path().join("schedstat")).ok()?;
        statistics.split_whitespace().next()?.parse::<u64>().ok()
    });
    Ok(Duration::from_nanos(nanoseconds.sum()))
}

fn coarse_cpu_time(process: u32) -> Result<Duration, String> {
    let fields = stat_fields(process)?;
    let ticks = |place: usize| fields.get(place).and_then(|field| field.parse::<u32>().ok()).unwrap_or(0);
    let (user, system) = (ticks(11), ticks(12));
    Ok(Duration::from_secs(1) * (user + system) / TICKS)
}

fn resident_of(process: u32) -> Result<u64, String> {
    let status = read(&format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    Ok(kilobytes.ok_or("status without VmRSS")? * 1024)
}

fn read(path: &str) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))
}

/// The middle one, or the mean of the two in the middle; 0 of nothing.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    let middle = figures.len() / 2;
    match figures.len() {
        0 => 0.0,
        count if count % 2 == 1 => figures[middle],
        _ => f64::midpoint(figures[middle - 1], figures[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_its_own_family_and_takes_something() {
        let process = std::process::id();
        assert_eq!(family(process).expect("we run").first(), Some(&process));
        assert!(resident(process).expect("we run") > 100_000);
        assert!(coarse_cpu_time(process).is_ok());
    }

    #[test]
    fn medians_stand_in_the_middle() {
        assert_eq!(median(vec![]).to_bits(), 0.0_f64.to_bits());
        assert!((median(vec![5.0, 1.0, 3.0]) - 3.0).abs() < 1e-9);
        assert!((median(vec![4.0, 1.0, 2.0, 9.0]) - 3.0).abs() < 1e-9);
    }
}
