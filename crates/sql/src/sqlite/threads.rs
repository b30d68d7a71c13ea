//! Threads: as many as the plan's pool has connections, shared by all cores. They end with what all cores share.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;
use std::time::Duration;

use message::{Error, Kind, Result};
use plan::{Rows, SqlSource};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::board::{Board, Job};
use super::{open, run};
use crate::figures::{DatabaseCounters, Present};
use crate::sheet::Sheet;
use crate::text::Text;
use crate::trouble;

/// See the module.
pub(crate) struct Threads {
    board: Arc<Board>,
    counters: Arc<DatabaseCounters>,
    source: Arc<str>,
    queue: usize,
    wait: Duration,
    limit: Duration,
}

impl Threads {
    /// `Internal` where the file cannot be opened; it names it.
    pub(crate) fn start(
        plan: &SqlSource,
        file: &Path,
        cores: usize,
        counters: &Arc<DatabaseCounters>,
    ) -> Result<Self> {
        let source: Arc<str> = plan.name.as_str().into();
        let queue = plan.queue.saturating_mul(cores.max(1));
        let threads = Threads {
            board: Arc::new(Board::new(queue)),
            counters: Arc::clone(counters),
            source: Arc::clone(&source),
            queue,
            wait: plan.wait,
            limit: plan.timeout,
        };
        for _ in 0..plan.pool.max(1) {
            let mut connection = open::open(&source, file)?;
            let (board, counters, source) =
                (Arc::clone(&threads.board), Arc::clone(counters), Arc::clone(&source));
            let open = Present::new(&counters, |counters| &counters.open);
            counters.connects.one();
            let work = move || {
                while let Some(mut job) = board.take() {
                    let in_use = Present::new(&counters, |counters| &counters.in_use);
                    let (begun, _) = oneshot::channel();
                    if std::mem::replace(&mut job.begun, begun).send(()).is_ok() {
                        counters.queries.one();
                        let ran = run::run(&source, &mut connection, &mut job);
                        drop(in_use);
                        let _nobody_waits = job.done.send((job.sheet, ran));
                    }
                }
                drop(open);
            };
            Builder::new().name("fleetfoot-sqlite".to_owned()).spawn(work).map_err(|error| {
                Error::new(Kind::Internal, format!("source {}: no thread", threads.source)).caused_by(error)
            })?;
        }
        Ok(threads)
    }

    /// Writes the rows of a statement on the sheet. Dropped, it stops the statement.
    pub(crate) async fn ask(&self, reads: bool, text: Text<'_>, sheet: &mut Sheet) -> Result<()> {
        let (begun, has_begun) = oneshot::channel();
        let (done, is_done) = oneshot::channel();
        let mut wanted = Wanted { stop: Arc::default(), counters: &self.counters, runs: false };
        let job = Job {
            sql: text.sql,
            values: text.values.iter().map(|bound| (bound.value.clone(), bound.placeholder)).collect(),
            reads,
            sheet: std::mem::replace(sheet, Sheet::new(Rows::All)),
            stop: Arc::clone(&wanted.stop),
            begun,
            done,
        };
        if !self.board.put(job) {
            self.counters.refused.one();
            return Err(trouble::full(&self.source, self.queue));
        }
        let waiting = Present::new(&self.counters, |counters| &counters.waiting);
        let Ok(begins) = timeout(self.wait, has_begun).await else {
            self.counters.unserved.one();
            return Err(trouble::unserved(&self.source, self.wait));
        };
        drop(waiting);
        wanted.runs = begins.is_ok();
        let Ok(ended) = timeout(self.limit, is_done).await else {
            self.counters.timed_out.one();
            return Err(trouble::late(&self.source, self.limit));
        };
        wanted.runs = false;
        let gone =
            || Error::new(Kind::Internal, format!("source {}: a thread of SQLite has ended", self.source));
        let (filled, ran) = ended.map_err(|_| gone())?;
        *sheet = filled;
        ran.map_err(trouble::Trouble::error)
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.board.close();
    }
}

/// Stops the statement when it is dropped.
struct Wanted<'a> {
    stop: Arc<AtomicBool>,
    counters: &'a DatabaseCounters,
    runs: bool,
}

impl Drop for Wanted<'_> {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if self.runs {
            self.counters.cancelled.one();
        }
    }
}
