//! Gather: look-ups of one core that become one. The first of a statement goes at once; while it is under way the others
//! gather, and go out together when it returns, after a millisecond, or once there are many keys.
//!
//! Called by the line for statements with a `batch`, with keys that may be merged.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use expression::Parameter;
use message::{Kind, Result};
use plan::{Batch, Statement};
use tokio::sync::oneshot;

use crate::keys;
use crate::line::DatabaseLine;
use crate::sheet::Sheet;

/// So many keys are asked for at once.
const MANY: usize = 500;

/// So many batches of a statement are under way before others wait until one returns, or until their time is over.
const AT_ONCE: usize = 2;

/// So long others are waited for.
const PATIENCE: Duration = Duration::from_millis(1);

/// Statements that are known to be no good for batches; with more, all are tried again.
const REMEMBERED: usize = 1_000;

/// What gathers on one core.
#[derive(Default)]
pub(crate) struct Gather {
    /// By what look-ups have to have in common.
    groups: RefCell<HashMap<Vec<u8>, Group>>,
    /// Statements whose rows cannot be handed back by key, whatever the configuration says.
    alone: RefCell<HashSet<Vec<String>>>,
}

/// One statement with the same other parameters.
#[derive(Default)]
struct Group {
    under_way: usize,
    gathered: Vec<Caller>,
    /// Of the gathered, all together.
    keys: usize,
    /// Goes up by one whenever they go out: whoever waits for the time to be over knows which were meant.
    round: u64,
}

struct Caller {
    keys: Vec<i64>,
    told: oneshot::Sender<Told>,
}

/// What a caller gets.
enum Told {
    Answer(Result<Bytes>),
    /// Its rows could not be told from those of others.
    AskAlone,
}

impl DatabaseLine {
    /// A look-up of these keys, together with those of others where there are some.
    pub(crate) async fn look_up(
        &self,
        statement: &Statement,
        batch: &Batch,
        parameters: &[Parameter],
        wanted: Vec<i64>,
    ) -> Result<Bytes> {
        let gather = self.gather();
        if gather.alone.borrow().contains(&statement.pieces) {
            return self.alone(statement, parameters).await;
        }
        let mut common = Vec::with_capacity(256);
        keys::common(statement, batch, parameters, &mut common);
        let joined = {
            let mut groups = gather.groups.borrow_mut();
            let group = groups.get_mut(&common);
            group.map(|group| self.join(group, &common, statement, parameters, wanted.clone()))
        };
        let Some(told) = joined else {
            gather.groups.borrow_mut().insert(common.clone(), Group { under_way: 1, ..Group::default() });
            let _returns = UnderWay { line: self, common, statement, parameters };
            self.shared().counters().batches.one();
            self.shared().counters().keys.add(wanted.len());
            return self.first(statement, batch, parameters, &wanted).await;
        };
        match told.await {
            Ok(Told::Answer(answer)) => answer,
            // The core is ending.
            Ok(Told::AskAlone) | Err(_) => self.alone(statement, parameters).await,
        }
    }

    /// The first one asks as if it were alone, as it is.
    async fn first(
        &self,
        statement: &Statement,
        batch: &Batch,
        parameters: &[Parameter],
        wanted: &[i64],
    ) -> Result<Bytes> {
        if !self.binds_numbers() {
            return self.alone(statement, parameters).await;
        }
        self.alone(statement, &keys::with_keys(batch, parameters, wanted)).await
    }

    /// Joins those who gather; they go out if they are many now.
    fn join(
        &self,
        group: &mut Group,
        common: &[u8],
        statement: &Statement,
        parameters: &[Parameter],
        wanted: Vec<i64>,
    ) -> oneshot::Receiver<Told> {
        let (told, is_told) = oneshot::channel();
        group.keys += wanted.len();
        group.gathered.push(Caller { keys: wanted, told });
        if group.keys >= MANY && group.under_way < AT_ONCE {
            self.send_out(group, common, statement, parameters);
        } else if group.gathered.len() == 1 {
            let (line, common, round) = (self.clone(), common.to_vec(), group.round);
            let (statement, parameters) = (statement.clone(), parameters.to_vec());
            tokio::task::spawn_local(async move {
                tokio::time::sleep(PATIENCE).await;
                let mut groups = line.gather().groups.borrow_mut();
                if let Some(group) = groups.get_mut(&common)
                    && group.round == round
                {
                    line.send_out(group, &common, &statement, &parameters);
                }
            });
        }
        is_told
    }

    /// All who have gathered, in as many batches as it takes.
    fn send_out(&self, group: &mut Group, common: &[u8], statement: &Statement, parameters: &[Parameter]) {
        group.round += 1;
        group.keys = 0;
        let mut callers = std::mem::take(&mut group.gathered);
        callers.retain(|caller| !caller.told.is_closed());
        for callers in in_batches(callers) {
            group.under_way += 1;
            let (line, common) = (self.clone(), common.to_vec());
            let (statement, parameters) = (statement.clone(), parameters.to_vec());
            tokio::task::spawn_local(async move {
                let _returns =
                    UnderWay { line: &line, common, statement: &statement, parameters: &parameters };
                line.ask_for(callers, &statement, &parameters).await;
            });
        }
    }

    /// One batch, until all of its callers have been told or have left.
    async fn ask_for(&self, mut callers: Vec<Caller>, statement: &Statement, parameters: &[Parameter]) {
        let Some(batch) = &statement.batch else { return };
        let mut wanted: Vec<i64> = callers.iter().flat_map(|caller| &caller.keys).copied().collect();
        wanted.sort_unstable();
        wanted.dedup();
        self.shared().counters().batches.one();
        self.shared().counters().keys.add(wanted.len());
        let merged = keys::with_keys(batch, parameters, &wanted);
        let mut sheet = Sheet::keyed(statement.rows, &batch.column);
        let asked = {
            let mut asking = pin!(self.ask(statement, &merged, &mut sheet));
            poll_fn(|context| {
                if let Poll::Ready(asked) = asking.as_mut().poll(context) {
                    return Poll::Ready(Some(asked));
                }
                // The first one that is still there is waited for; when it leaves, the next one.
                let gone = callers.iter_mut().all(|caller| caller.told.poll_closed(context).is_ready());
                if gone { Poll::Ready(None) } else { Poll::Pending }
            })
            .await
        };
        let several = callers.len() > 1;
        match asked {
            None => {}
            // What one asked for does not fit, or all together is too much: that is nobody else's fault.
            Some(Err(error))
                if several && (error.kind() == Kind::MalformedRequest || sheet.is_too_large()) =>
            {
                tell(callers, |_| Told::AskAlone);
            }
            Some(Err(error)) => tell(callers, |_| Told::Answer(Err(error.clone()))),
            Some(Ok(())) => {
                let is_wanted = |key: &i64| wanted.binary_search(key).is_ok();
                let keyed = sheet.into_keyed();
                if let Some(keyed) = keyed.filter(|keyed| keyed.rows.iter().all(|(key, _)| is_wanted(key))) {
                    tell(callers, |caller| {
                        Told::Answer(Ok(keyed.answer(statement.rows, |key| caller.keys.contains(&key))))
                    });
                } else {
                    self.gather().remember(statement);
                    tell(callers, |_| Told::AskAlone);
                }
            }
        }
    }
}

fn tell(callers: Vec<Caller>, mut what: impl FnMut(&Caller) -> Told) {
    for caller in callers {
        let told = what(&caller);
        let _left_already = caller.told.send(told);
    }
}

/// In their order; a batch is full once the next caller's keys would make it larger than [`MANY`].
fn in_batches(callers: Vec<Caller>) -> Vec<Vec<Caller>> {
    let mut batches: Vec<Vec<Caller>> = Vec::new();
    let mut keys = 0;
    for caller in callers {
        keys += caller.keys.len();
        match batches.last_mut() {
            Some(batch) if keys <= MANY => batch.push(caller),
            _ => {
                keys = caller.keys.len();
                batches.push(vec![caller]);
            }
        }
    }
    batches
}

impl Gather {
    fn remember(&self, statement: &Statement) {
        tracing::warn!(
            statement = statement.text(),
            "rows cannot be handed back by the column of `batch`, so each look-up asks for itself"
        );
        let mut alone = self.alone.borrow_mut();
        if alone.len() >= REMEMBERED {
            alone.clear();
        }
        alone.insert(statement.pieces.clone());
    }
}

/// A batch that is under way. When it is over, however it ends, those who gathered meanwhile go out.
struct UnderWay<'a> {
    line: &'a DatabaseLine,
    common: Vec<u8>,
    statement: &'a Statement,
    parameters: &'a [Parameter],
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let mut groups = self.line.gather().groups.borrow_mut();
        let Some(group) = groups.get_mut(&self.common) else { return };
        group.under_way -= 1;
        if !group.gathered.is_empty() {
            self.line.send_out(group, &self.common, self.statement, self.parameters);
        }
        if group.under_way == 0 {
            groups.remove(&self.common);
        }
    }
}
