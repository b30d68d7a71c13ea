//! Queue: what waits to be written. Cores put operations in and go on; the writer takes them out in order.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::index::{Ticket, lock};

/// One thing to write.
pub(crate) enum Operation {
    /// A record.
    Store(Box<Incoming>),
    /// Nothing older may be found after a restart.
    Remove { hash: u64, ticket: Ticket },
    /// Everything written so far goes.
    Clear,
}

/// A record as it was handed in.
pub(crate) struct Incoming {
    pub(crate) hash: u64,
    pub(crate) ticket: Ticket,
    pub(crate) sequence: u64,
    pub(crate) key: Bytes,
    pub(crate) head: Bytes,
    pub(crate) body: Bytes,
}

impl Incoming {
    fn cost(&self) -> usize {
        /// What the queue itself takes.
        const OVERHEAD: usize = 256;
        self.key.len() + self.head.len() + self.body.len() + OVERHEAD
    }
}

impl Operation {
    fn cost(&self) -> usize {
        match self {
            Operation::Store(incoming) => incoming.cost(),
            Operation::Remove { .. } | Operation::Clear => 0,
        }
    }
}

/// Shared by all cores and the writer.
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    most: usize,
}

#[derive(Default)]
struct State {
    operations: VecDeque<Operation>,
    bytes: usize,
    /// Removals among the operations.
    removals: usize,
    /// Bytes taken out and not yet written.
    taken: usize,
    /// Whether the writer is at work on what it took.
    working: bool,
    sync_journal: bool,
    paused: Option<Instant>,
    end: End,
    done: bool,
}

impl State {
    fn settled(&self) -> bool {
        self.done || (!self.working && (self.paused.is_some() || self.operations.is_empty()))
    }
}

/// How it is to end.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum End {
    #[default]
    NotYet,
    WhenEmpty,
    Now,
}

/// What the writer is to do next.
pub(crate) enum Work {
    /// Write these; flush the journal if told to.
    Write(Vec<Operation>, bool),
    /// See whether the folder is still there; and where it is paused, whether writing works again.
    Look,
    /// Seal and go.
    End,
}

impl Queue {
    /// One that holds at most so many bytes of records.
    pub(crate) fn new(most: usize) -> Self {
        Queue { state: Mutex::default(), changed: Condvar::new(), most }
    }

    /// Takes an operation, or gives it back: full, paused or closed. One record larger than the whole queue is taken
    /// by an empty queue. Removals have a bound of their own, and are also taken when it is paused.
    pub(crate) fn push(&self, operation: Operation) -> bool {
        /// 24 bytes each.
        const REMOVALS: usize = 1 << 20;
        let removal = matches!(operation, Operation::Remove { .. });
        let cost = operation.cost();
        let mut state = lock(&self.state);
        let waiting = state.bytes + state.taken;
        let full = (cost > 0 && waiting > 0 && waiting + cost > self.most)
            || (removal && state.removals >= REMOVALS);
        let paused = cost > 0 && state.paused.is_some();
        if full || paused || state.end != End::NotYet {
            return false;
        }
        state.bytes += cost;
        state.removals += usize::from(removal);
        state.operations.push_back(operation);
        drop(state);
        self.changed.notify_all();
        true
    }

    /// Asks the writer to flush the journal.
    pub(crate) fn sync_journal(&self) {
        lock(&self.state).sync_journal = true;
        self.changed.notify_all();
    }

    /// Waits for something to do, but not for longer than `patience`; what was taken before is done.
    pub(crate) fn take(&self, patience: Duration) -> Work {
        /// Records are written together up to so many bytes.
        const TOGETHER: usize = 1 << 20;
        let mut state = lock(&self.state);
        state.taken = 0;
        state.working = false;
        self.changed.notify_all();
        let look_at = state.paused.unwrap_or_else(|| Instant::now() + patience);
        loop {
            let nothing_waits = state.operations.is_empty() || state.paused.is_some();
            if state.end == End::Now || (state.end == End::WhenEmpty && nothing_waits) {
                return Work::End;
            }
            if state.sync_journal || (state.paused.is_none() && !state.operations.is_empty()) {
                break;
            }
            let Some(wait) = look_at.checked_duration_since(Instant::now()) else { return Work::Look };
            state = self.changed.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
        let mut operations = Vec::new();
        while state.taken < TOGETHER && state.paused.is_none() {
            let Some(operation) = state.operations.pop_front() else { break };
            let cost = operation.cost();
            state.bytes -= cost;
            state.taken += cost;
            state.removals -= usize::from(matches!(operation, Operation::Remove { .. }));
            operations.push(operation);
        }
        state.working = true;
        Work::Write(operations, std::mem::take(&mut state.sync_journal))
    }

    /// Takes no more records until it is told to go on, and gives none out; after a while there is a look at it. Those that wait are given back: kept, they would hold
    /// their memory as long as the disk fails.
    pub(crate) fn pause(&self, pause: Duration) -> Vec<Operation> {
        let mut state = lock(&self.state);
        state.paused = Some(Instant::now() + pause);
        state.bytes = 0;
        let operations = std::mem::take(&mut state.operations);
        let (records, rest) = operations
            .into_iter()
            .partition::<Vec<_>, _>(|operation| matches!(operation, Operation::Store(_)));
        state.operations = rest.into();
        records
    }

    /// Takes records again.
    pub(crate) fn resume(&self) {
        lock(&self.state).paused = None;
        self.changed.notify_all();
    }

    /// Whether it is paused.
    pub(crate) fn paused(&self) -> bool {
        lock(&self.state).paused.is_some()
    }

    /// Bytes that wait.
    pub(crate) fn bytes(&self) -> usize {
        let state = lock(&self.state);
        state.bytes + state.taken
    }

    /// Takes nothing more, and waits until all is written or the time is over. Tells which.
    pub(crate) fn close(&self, limit: Duration) -> bool {
        let mut state = lock(&self.state);
        if state.end == End::NotYet {
            state.end = End::WhenEmpty;
        }
        self.changed.notify_all();
        let (mut state, _) = self
            .changed
            .wait_timeout_while(state, limit, |state| !state.done)
            .unwrap_or_else(PoisonError::into_inner);
        state.end = End::Now;
        self.changed.notify_all();
        state.done && state.operations.is_empty()
    }

    /// Waits until what was handed in is written, or is not going to be for a while.
    pub(crate) fn settle(&self, limit: Duration) -> bool {
        let state = lock(&self.state);
        let busy = |state: &mut State| !state.settled();
        let (state, _) =
            self.changed.wait_timeout_while(state, limit, busy).unwrap_or_else(PoisonError::into_inner);
        state.settled()
    }

    /// The writer has gone.
    pub(crate) fn done(&self) {
        lock(&self.state).done = true;
        self.changed.notify_all();
    }
}
