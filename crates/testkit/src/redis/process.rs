//! Process: a redis-server with a config file in a folder of its own; killed on drop, and with the test's own process.

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

impl Process {
    /// Starts redis-server, or what `REDIS_SERVER` names, with this config file.
    pub(crate) fn start(config: &Path, arguments: &[&str]) -> Self {
        let program = std::env::var_os("REDIS_SERVER").unwrap_or_else(|| "redis-server".into());
        // A test binary that is killed runs no destructors: then the kernel kills its servers. Where there is no
        // setpriv they stay, but only then.
        let mut bound_to_us = Command::new("setpriv");
        bound_to_us.args(["--pdeathsig", "KILL", "--"]).arg(&program);
        let mut child = spawn(with_config(bound_to_us, config, arguments))
            .or_else(|_no_setpriv| spawn(with_config(Command::new(&program), config, arguments)))
            .unwrap_or_else(|error| panic!("cannot run {}: {error}", program.display()));
        let log = child.stdout.take().map(Lines::collect).unwrap_or_default();
        Process { child, log }
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
        assert!(!self.has_ended(), "redis-server ended: {}", self.log().join("\n"));
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

fn with_config(mut command: Command, config: &Path, arguments: &[&str]) -> Command {
    let folder = config.parent().expect("a file lies in a folder");
    command.arg(config).args(arguments).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// Starts a command from a thread that lives as long as this process: the kernel counts the death of the thread that
/// started a child as the death of its parent, and a test's thread may end before a server that it shares.
fn spawn(command: Command) -> io::Result<Child> {
    type Order = (Command, Sender<io::Result<Child>>);
    static STARTER: OnceLock<Sender<Order>> = OnceLock::new();
    let starter = STARTER.get_or_init(|| {
        let (orders, taken) = channel::<Order>();
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
