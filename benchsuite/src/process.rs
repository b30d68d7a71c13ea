//! Process: a server under measurement: pinned to a core, its CPU time and memory read from /proc over all its children,
//! ended when dropped.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{LazyLock, mpsc};
use std::time::{Duration, Instant};
use std::{fmt, fs};

use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::failure::{Failure, Result, fail};
use crate::interruption;

/// The core that servers run on: the first this process may use.
pub(crate) static SERVER_CORE: LazyLock<usize> = LazyLock::new(|| usable_core(0));
/// The core that clients and the origin run on: the second, where there is one.
pub(crate) static LOAD_CORE: LazyLock<usize> = LazyLock::new(|| usable_core(1));

/// A process with all its children.
pub(crate) struct Process {
    child: Child,
    command: String,
}

/// CPU time of each thread so far, in nanoseconds.
pub(crate) struct CpuTime(BTreeMap<u32, u64>);

/// The core at this place among those this process may use, or the last one.
fn usable_core(place: usize) -> usize {
    let allowed = sched_getaffinity(None).unwrap_or_default();
    let usable: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|core| allowed.is_set(*core)).collect();
    usable.get(place).or(usable.last()).copied().unwrap_or_default()
}

/// Raises the limit of open files as far as it goes; children inherit it.
pub(crate) fn allow_many_files() {
    let hard = getrlimit(Resource::Nofile).maximum;
    let _stays_as_it_is = setrlimit(Resource::Nofile, Rlimit { current: hard, maximum: hard });
}

/// This thread from now on.
pub(crate) fn stay_on_load_core() {
    let mut only = CpuSet::new();
    only.set(*LOAD_CORE);
    let _runs_anywhere = sched_setaffinity(None, &only);
}

impl Process {
    /// Starts a program on this core, or on several: `0,1`. What it says is kept for when it fails.
    pub(crate) fn start(
        core: impl fmt::Display,
        program: &str,
        arguments: &[&str],
        log: PathBuf,
    ) -> Result<Self> {
        let output = fs::File::create(&log)?;
        let core = core.to_string();
        let mut command = Command::new("taskset");
        command.args(["-c", &core, program]).args(arguments).stdin(Stdio::null());
        command.stdout(output.try_clone()?).stderr(output);
        let child = command.spawn().map_err(|error| Failure(format!("cannot start {program}: {error}")))?;
        Ok(Process { child, command: format!("taskset -c {core} {program} {}", arguments.join(" ")) })
    }

    /// The command line, for the report.
    pub(crate) fn command(&self) -> &str {
        &self.command
    }

    /// Whether it still runs.
    pub(crate) fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// CPU time of all threads of the process and its children.
    pub(crate) fn cpu_time(&self) -> CpuTime {
        let threads = self
            .family()
            .into_iter()
            .flat_map(|pid| numbers_in(&format!("/proc/{pid}/task")).map(move |tid| (pid, tid)));
        CpuTime(threads.filter_map(|(pid, tid)| Some((tid, run_time(pid, tid)?))).collect())
    }

    /// Resident memory of the process and its children, in bytes.
    pub(crate) fn resident(&self) -> u64 {
        self.family().into_iter().filter_map(resident).sum()
    }

    /// Ends it as a loss of power would, without asking.
    pub(crate) fn kill(&mut self) {
        let _gone_already = self.child.kill();
        let _gone_already = self.child.wait();
    }

    fn family(&self) -> Vec<u32> {
        let parents: Vec<(u32, u32)> =
            numbers_in("/proc").filter_map(|pid| Some((pid, parent(pid)?))).collect();
        let mut family = vec![self.child.id()];
        let mut at = 0;
        while let Some(&member) = family.get(at) {
            family.extend(parents.iter().filter(|(_, parent)| *parent == member).map(|(pid, _)| *pid));
            at += 1;
        }
        family
    }
}

impl Drop for Process {
    /// Asks first: masters end their workers only then.
    fn drop(&mut self) {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _gone_already = kill_process(pid, Signal::TERM);
        }
        if !ended_within(Duration::from_secs(5), || !self.is_running()) {
            // The children with it: one whose master is killed would stay.
            for pid in self.family().into_iter().filter_map(|pid| Pid::from_raw(i32::try_from(pid).ok()?)) {
                let _gone_already = kill_process(pid, Signal::KILL);
            }
            let _gone_already = self.child.wait();
        }
    }
}

impl CpuTime {
    /// The time used since `earlier`.
    pub(crate) fn since(&self, earlier: &CpuTime) -> Duration {
        let used = |(tid, time): (&u32, &u64)| time.saturating_sub(earlier.0.get(tid).copied().unwrap_or(0));
        Duration::from_nanos(self.0.iter().map(used).sum())
    }
}

/// How long this core has been busy since the start of the machine, with whatever it was.
pub(crate) fn busy(core: usize) -> Duration {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    let name = format!("cpu{core} ");
    let figures = stat.lines().find_map(|line| line.strip_prefix(&name)).unwrap_or_default();
    let ticks: Vec<u64> = figures.split_whitespace().filter_map(|figure| figure.parse().ok()).collect();
    // user, nice, system, idle, iowait, irq, softirq, steal; a tick is 10 ms wherever Linux runs us.
    let idle = ticks.iter().skip(3).take(2).sum::<u64>();
    Duration::from_millis((ticks.iter().take(8).sum::<u64>() - idle) * 10)
}

/// The first figure of `schedstat`: nanoseconds on a CPU. Finer than the ticks of `stat`.
fn run_time(pid: u32, tid: u32) -> Option<u64> {
    fs::read_to_string(format!("/proc/{pid}/task/{tid}/schedstat")).ok()?.split(' ').next()?.parse().ok()
}

fn resident(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

/// The fourth word of `stat`, counted behind the name, which may hold anything.
fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

fn numbers_in(directory: &str) -> impl Iterator<Item = u32> + use<> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Looks every few milliseconds whether it is so.
pub(crate) fn wait_until(time: Duration, mut reached: impl FnMut() -> bool) -> Result<()> {
    let start = Instant::now();
    while !reached() {
        interruption::check()?;
        if start.elapsed() > time {
            return fail(format!("nothing within {time:?}"));
        }
        pause(Duration::from_millis(5));
    }
    Ok(())
}

/// The same without an ear for interruptions: whoever ends something is interrupted already.
fn ended_within(time: Duration, mut ended: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < time {
        if ended() {
            return true;
        }
        pause(Duration::from_millis(5));
    }
    false
}

/// Waits. Without `thread::sleep`, whose ban in this workspace is for the cores of the program.
pub(crate) fn pause(time: Duration) {
    let (_never_sends, nothing) = mpsc::channel::<()>();
    let _timed_out = nothing.recv_timeout(time);
}
