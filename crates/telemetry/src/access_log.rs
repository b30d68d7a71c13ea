//! AccessLog: lines on their way to standard output. Recorders append to their core's buffer; one thread collects the
//! buffers about ten times a second and writes them in one go.
//!
//! A core never waits: the writer holds a buffer only while it swaps it for an empty one, and a core that meets it
//! there takes the buffer beside it. (A channel of lines would cost an allocation and a wake-up for each; a timer on
//! every core would run for nothing when nobody asks.) When the output is slower than the requests the buffers fill
//! up, and what does not fit is dropped and counted.

use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// Where lines go.
pub(crate) type Output = Box<dyn Write + Send>;

/// How late a line may be written.
const DELAY: Duration = Duration::from_millis(100);

/// A buffer this full is written without waiting for [`DELAY`].
const EARLY: usize = 128 * 1024;

/// A buffer this full takes no more lines.
const FULL: usize = 4 * 1024 * 1024;

/// A buffer that grew beyond this is given back to the system once written.
const KEPT: usize = 1024 * 1024;

/// How long an output that takes nothing at the moment is given before it is tried again.
const PAUSE: Duration = Duration::from_millis(10);

/// How long [`AccessLog::flush`] waits at most.
const FLUSH: Duration = Duration::from_secs(1);

/// The access log of all cores: a line for each request that says when, who, what, the status, bytes, time, and what
/// the cache decided and why.
///
/// Request targets are logged as sent, except that in the query the values of fields whose names speak of a token, a
/// key, a secret, a password, a signature or the like are replaced by `…`. Bytes that could forge a line or drive a
/// terminal are escaped.
pub struct AccessLog {
    shared: Arc<Shared>,
    /// Taken by the writer when it starts.
    output: Mutex<Option<Output>>,
    /// `Some(None)`: no thread could be started.
    writer: OnceLock<Option<Thread>>,
}

impl AccessLog {
    /// A log without a thread yet: whoever logs nothing needs none.
    pub(crate) fn new(cores: usize, output: Output) -> Self {
        let shared = Shared {
            cores: std::iter::repeat_with(Buffers::default).take(cores).collect(),
            early: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            stopping: AtomicBool::new(false),
            lost: AtomicU64::new(0),
            flushes: Mutex::default(),
            flushed: Condvar::new(),
        };
        AccessLog { shared: Arc::new(shared), output: Mutex::new(Some(output)), writer: OnceLock::new() }
    }

    /// Starts the writer, the first time it is called.
    pub(crate) fn start(&self) {
        self.writer.get_or_init(|| {
            let output = self.output.lock().unwrap_or_else(PoisonError::into_inner).take()?;
            let writer = Writer { shared: Arc::clone(&self.shared), output, torn: false, failing: false };
            match thread::Builder::new().name("access-log".to_owned()).spawn(move || writer.run()) {
                Ok(handle) => Some(handle.thread().clone()),
                Err(error) => {
                    tracing::error!(%error, "no thread for the access log; its lines are dropped");
                    None
                }
            }
        });
    }

    /// Appends the line that `write` formats. False when it was dropped: the buffer is full or the output closed.
    pub(crate) fn append(&self, core: usize, write: impl FnOnce(&mut Vec<u8>)) -> bool {
        let Some(Some(writer)) = self.writer.get() else { return false };
        if self.shared.closed.load(Ordering::Relaxed) {
            return false;
        }
        let Some(mut buffer) = self.shared.cores[core].free() else { return false };
        let before = buffer.len();
        if before >= FULL {
            return false;
        }
        write(&mut buffer);
        let after = buffer.len();
        drop(buffer);

        if before < EARLY && after >= EARLY {
            self.shared.early.store(true, Ordering::Relaxed);
            writer.unpark();
        } else if before == 0 {
            writer.unpark();
        }
        true
    }

    /// Waits until every line appended before is written, at most a second: an output that nobody reads must not keep
    /// the process from ending. Call it once all cores have stopped, off the cores' threads.
    pub fn flush(&self) {
        let Some(Some(writer)) = self.writer.get() else { return };
        let mut flushes = self.shared.flushes();
        flushes.asked += 1;
        let ticket = flushes.asked;
        writer.unpark();
        let unfinished =
            |flushes: &mut Flushes| flushes.done < ticket && !self.shared.closed.load(Ordering::Relaxed);
        drop(self.shared.flushed.wait_timeout_while(flushes, FLUSH, unfinished));
    }

    /// Lines that were taken and then could not be written.
    pub(crate) fn lost(&self) -> u64 {
        self.shared.lost.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for AccessLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessLog").field("lost", &self.lost()).finish_non_exhaustive()
    }
}

impl Drop for AccessLog {
    fn drop(&mut self) {
        self.flush();
        self.shared.stopping.store(true, Ordering::Relaxed);
        if let Some(Some(writer)) = self.writer.get() {
            writer.unpark();
        }
    }
}

/// What the cores and the writer share.
struct Shared {
    cores: Box<[Buffers]>,
    /// A buffer is getting full.
    early: AtomicBool,
    /// Nobody will ever read another line.
    closed: AtomicBool,
    /// The writer is to write what is left and end.
    stopping: AtomicBool,
    lost: AtomicU64,
    flushes: Mutex<Flushes>,
    flushed: Condvar,
}

/// How many flushes were asked for, and how many of those are done.
#[derive(Default)]
struct Flushes {
    asked: u64,
    done: u64,
}

impl Shared {
    fn flushes(&self) -> MutexGuard<'_, Flushes> {
        self.flushes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn in_a_hurry(&self) -> bool {
        let flushes = self.flushes();
        flushes.asked > flushes.done || self.stopping.load(Ordering::Relaxed)
    }
}

/// The lines of one core. Two buffers, because the writer may be holding one; it holds never more than one, and takes
/// the first before the second, so that the lines stay in order.
#[derive(Default)]
#[repr(align(128))]
struct Buffers([Mutex<Vec<u8>>; 2]);

impl Buffers {
    /// A buffer that the writer is not holding. A third try, because it may move on from the first to the second while
    /// we do the same; it does not come back to the first before it has written.
    fn free(&self) -> Option<MutexGuard<'_, Vec<u8>>> {
        self.0.iter().cycle().take(3).find_map(|buffer| match buffer.try_lock() {
            Ok(buffer) => Some(buffer),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        })
    }
}

/// The thread that writes.
struct Writer {
    shared: Arc<Shared>,
    output: Output,
    /// A failed write left half a line behind.
    torn: bool,
    /// The last write failed; said once, not ten times a second.
    failing: bool,
}

impl Writer {
    fn run(mut self) {
        let mut spare = Vec::new();
        loop {
            // A core that finds its buffer empty unparks after appending, so a token always follows the first line.
            thread::park();
            self.wait_for_more();
            let asked = self.shared.flushes().asked;
            let stopping = self.shared.stopping.load(Ordering::Relaxed);
            self.write_all_cores(&mut spare);
            self.shared.flushes().done = asked;
            self.shared.flushed.notify_all();
            if stopping {
                return;
            }
        }
    }

    /// Lets lines gather, unless a buffer fills up or somebody waits.
    fn wait_for_more(&self) {
        let deadline = Instant::now() + DELAY;
        while !self.shared.early.swap(false, Ordering::Relaxed) && !self.shared.in_a_hurry() {
            match deadline.checked_duration_since(Instant::now()) {
                Some(left) if !left.is_zero() => thread::park_timeout(left),
                _ => return,
            }
        }
    }

    fn write_all_cores(&mut self, spare: &mut Vec<u8>) {
        let shared = Arc::clone(&self.shared);
        for buffer in shared.cores.iter().flat_map(|core| &core.0) {
            std::mem::swap(&mut *buffer.lock().unwrap_or_else(PoisonError::into_inner), spare);
            self.write(spare);
            spare.clear();
            if spare.capacity() > KEPT {
                *spare = Vec::new();
            }
        }
    }

    /// Writes whole lines; what the output does not take is counted as lost.
    fn write(&mut self, lines: &[u8]) {
        if lines.is_empty() {
            return;
        }
        let mut written = 0;
        match self.try_write(lines, &mut written) {
            Ok(()) => self.failing = false,
            Err(error) => {
                let rest = &lines[written..];
                let lost = rest.split_inclusive(|byte| *byte == b'\n').count();
                self.shared.lost.fetch_add(lost as u64, Ordering::Relaxed);
                self.torn = self.torn || (written > 0 && lines[written - 1] != b'\n');
                self.shared.closed.fetch_or(error.kind() == ErrorKind::BrokenPipe, Ordering::Relaxed);
                if !std::mem::replace(&mut self.failing, true) {
                    tracing::warn!(%error, "the access log cannot be written; its lines are dropped");
                }
            }
        }
    }

    fn try_write(&mut self, lines: &[u8], written: &mut usize) -> io::Result<()> {
        if self.torn {
            self.output.write_all(b"\n")?;
            self.torn = false;
        }
        while *written < lines.len() {
            match self.output.write(&lines[*written..]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(more) => *written += more,
                Err(error) => self.pause_or_fail(error)?,
            }
        }
        while let Err(error) = self.output.flush() {
            self.pause_or_fail(error)?;
        }
        Ok(())
    }

    /// An interrupted write is repeated, and one to an output that is full at the moment a little later; standard
    /// output may have been made non-blocking by whoever shares it.
    fn pause_or_fail(&self, error: io::Error) -> io::Result<()> {
        match error.kind() {
            ErrorKind::Interrupted => Ok(()),
            ErrorKind::WouldBlock if !self.shared.stopping.load(Ordering::Relaxed) => {
                #[allow(clippy::disallowed_methods)] // not a core; parking would use up a core's wake-up
                thread::sleep(PAUSE);
                Ok(())
            }
            _ => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// An output that fails as told, then keeps what it gets.
    #[derive(Clone, Default)]
    struct Kept {
        bytes: Arc<Mutex<Vec<u8>>>,
        failures: Arc<Mutex<Vec<ErrorKind>>>,
        tries: Arc<AtomicU64>,
        /// Takes no more than so many bytes at once.
        at_once: Option<usize>,
    }

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.tries.fetch_add(1, Ordering::Relaxed);
            let taken = bytes.len().min(self.at_once.unwrap_or(usize::MAX));
            if let Some(kind) = self.failures.lock().unwrap().pop() {
                return Err(kind.into());
            }
            self.bytes.lock().unwrap().extend_from_slice(&bytes[..taken]);
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// An output that does not come back from a write until told to.
    struct Stuck(mpsc::Receiver<()>);

    impl Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn started(cores: usize, output: &Kept) -> AccessLog {
        let log = AccessLog::new(cores, Box::new(output.clone()));
        log.start();
        log
    }

    fn text(output: &Kept) -> String {
        String::from_utf8(output.bytes.lock().unwrap().clone()).unwrap()
    }

    #[test]
    fn lines_come_out_whole_and_in_order() {
        let output = Kept { at_once: Some(7), ..Kept::default() };
        let log = started(2, &output);
        for number in 0..1000 {
            assert!(log.append(1, |line| writeln!(line, "line {number}").unwrap()));
        }
        log.flush();
        let expected: Vec<String> = (0..1000).map(|number| format!("line {number}")).collect();
        assert_eq!(text(&output).lines().collect::<Vec<_>>(), expected);
        assert_eq!(log.lost(), 0);
    }

    #[test]
    fn a_line_is_written_without_a_flush() {
        let output = Kept::default();
        let log = started(1, &output);
        assert!(log.append(0, |line| line.extend_from_slice(b"alone\n")));
        let deadline = Instant::now() + Duration::from_secs(10);
        while text(&output).is_empty() && Instant::now() < deadline {
            thread::yield_now();
        }
        assert_eq!(text(&output), "alone\n");
    }

    #[test]
    fn cores_do_not_lose_lines_to_each_other() {
        let output = Kept::default();
        let log = started(4, &output);
        let dropped: usize = thread::scope(|scope| {
            let log = &log;
            let cores: Vec<_> = (0..4)
                .map(|core| {
                    scope.spawn(move || {
                        (0..5000).filter(|_| !log.append(core, |line| line.extend_from_slice(b"x\n"))).count()
                    })
                })
                .collect();
            cores.into_iter().map(|core| core.join().unwrap()).sum()
        });
        log.flush();
        assert_eq!(text(&output).lines().count() + dropped, 4 * 5000);
    }

    #[test]
    fn a_closed_output_ends_the_log_and_nothing_spins() {
        let output = Kept::default();
        output.failures.lock().unwrap().push(ErrorKind::BrokenPipe);
        let log = started(1, &output);
        assert!(log.append(0, |line| line.extend_from_slice(b"one\ntwo\n")));
        log.flush();
        assert_eq!(log.lost(), 2);
        assert!(!log.append(0, |_| unreachable!("nothing is formatted for nobody")));
        log.flush();
        assert_eq!(output.tries.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_passing_failure_costs_its_lines_only() {
        let output = Kept::default();
        output.failures.lock().unwrap().push(ErrorKind::StorageFull);
        let log = started(1, &output);
        assert!(log.append(0, |line| line.extend_from_slice(b"lost\n")));
        log.flush();
        assert!(log.append(0, |line| line.extend_from_slice(b"kept\n")));
        log.flush();
        assert_eq!((text(&output).as_str(), log.lost()), ("kept\n", 1));
    }

    #[test]
    fn a_full_or_interrupted_output_is_tried_again() {
        let output = Kept::default();
        output.failures.lock().unwrap().extend([ErrorKind::WouldBlock, ErrorKind::Interrupted]);
        let log = started(1, &output);
        assert!(log.append(0, |line| line.extend_from_slice(b"kept\n")));
        log.flush();
        assert_eq!((text(&output).as_str(), log.lost()), ("kept\n", 0));
    }

    #[test]
    fn a_stuck_output_stops_neither_cores_nor_the_end() {
        let (release, stuck) = mpsc::channel();
        let log = AccessLog::new(1, Box::new(Stuck(stuck)));
        log.start();
        let line = vec![b'x'; 64 * 1024];
        let taken = (0..10_000).filter(|_| log.append(0, |buffer| buffer.extend_from_slice(&line))).count();
        assert!(taken * line.len() <= 4 * FULL, "the buffers are bounded");
        let before = Instant::now();
        log.flush();
        assert!(before.elapsed() < FLUSH * 5);
        drop(release);
    }

    #[test]
    fn half_a_line_is_ended_before_the_next() {
        let output = Kept { at_once: Some(4), ..Kept::default() };
        let (shared, torn) = (AccessLog::new(1, Box::new(io::sink())).shared.clone(), output.clone());
        let mut writer = Writer { shared, output: Box::new(torn), torn: false, failing: false };
        output.failures.lock().unwrap().push(ErrorKind::StorageFull);
        writer.torn = true;
        writer.write(b"gone\n");
        writer.write(b"next\n");
        assert_eq!(text(&output), "\nnext\n");
    }
}
