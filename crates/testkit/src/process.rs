//! Process: a server that others wrote, with a folder of its own; killed on drop, and with the test's own process.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};

use rustix::process::{Pid, Signal, kill_process};

use crate::Lines;

/// A running server.
pub(crate) struct Process {
    child: Child,
    log: Lines,
}

/// What is to run, where, and as whom.
#[derive(Clone, Debug)]
pub(crate) struct Order<'a> {
    pub(crate) program: OsString,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) folder: &'a Path,
    /// Where it says what it does.
    pub(crate) says: Says,
    /// The number of the user and the group to run as; ours if none. Needs setpriv.
    pub(crate) user: Option<u32>,
}

/// Where a server says what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Says {
    Output,
    Errors,
}

impl Process {
    /// Starts it.
    pub(crate) fn start(order: &Order<'_>) -> Self {
        // A test binary that is killed runs no destructors: then the kernel kills its servers. Where there is no
        // setpriv they stay, but only then.
        let mut bound_to_us = Command::new("setpriv");
        bound_to_us.args(["--pdeathsig", "KILL"]);
        if let Some(user) = order.user {
            bound_to_us.args([
                format!("--reuid={user}"),
                format!("--regid={user}"),
                "--clear-groups".to_owned(),
            ]);
        }
        bound_to_us.arg("--").arg(&order.program);
        let mut child = spawn(order.apply(bound_to_us))
            .or_else(|_no_setpriv| spawn(order.apply(Command::new(&order.program))))
            .unwrap_or_else(|error| panic!("cannot run {}: {error}", order.program.display()));
        let log = match order.says {
            Says::Output => child.stdout.take().map(Lines::collect),
            Says::Errors => child.stderr.take().map(Lines::collect),
        };
        Process { child, log: log.unwrap_or_default() }
    }

    /// What it said so far.
    pub(crate) fn log(&self) -> Vec<String> {
        self.log.all()
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("a child can be waited for").is_some()
    }

    /// Sends this signal.
    pub(crate) fn signal(&mut self, signal: Signal) {
        assert!(!self.has_ended(), "the server ended: {}", self.log().join("\n"));
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("a child has an id");
        kill_process(pid, signal).expect("the child is ours and not waited for yet");
    }

    /// SIGKILL, which reaches paused ones too; waits until it is gone.
    pub(crate) fn kill(&mut self) {
        let _gone_already = self.child.kill();
        let _gone_already = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Order<'_> {
    fn apply(&self, mut command: Command) -> Command {
        command.args(&self.arguments).current_dir(self.folder).stdin(Stdio::null());
        match self.says {
            Says::Output => command.stdout(Stdio::piped()).stderr(Stdio::null()),
            Says::Errors => command.stdout(Stdio::null()).stderr(Stdio::piped()),
        };
        command
    }
}

/// Whether none of the threads of this process runs any more: a signal reaches them one after the other.
pub(crate) fn is_stopped(pid: u32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    threads.into_iter().all(|thread| {
        let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_none_or(|(_, state)| state.starts_with(['T', 'Z', 'X']))
    })
}

/// Starts a command from a thread that lives as long as this process: the kernel counts the death of the thread that
/// started a child as the death of its parent, and a test's thread may end before a server that it shares.
fn spawn(command: Command) -> io::Result<Child> {
    type Waiting = (Command, Sender<io::Result<Child>>);
    static STARTER: OnceLock<Sender<Waiting>> = OnceLock::new();
    let starter = STARTER.get_or_init(|| {
        let (orders, taken) = channel::<Waiting>();
        std::thread::spawn(move || {
            for (mut command, started) in taken {
                let _waits_for_it = started.send(command.spawn());
            }
        });
        orders
    });
    let (started, child) = channel();
    starter.send((command, started)).expect("the starting thread never ends");
    child.recv().expect("the starting thread never ends")
}
