//! Line: whom one core reads from. In: a read and its arguments, or several that were asked together. Out: values.
//! Called by `call` for routes, and by whoever carries out steps of a compose.

use std::sync::Arc;

use bytes::Bytes;
use expression::Arguments;
use message::{Result, Timestamp};
use plan::Read;

use super::answered::AnsweredRead;
use super::asked::Scratch;
use crate::redis::RedisLine;
use crate::store::SharedStore;

/// See the module. Clones share everything.
#[derive(Clone)]
pub enum ReadLine {
    /// A Redis.
    Redis(RedisLine),
    /// A file.
    Store(Arc<SharedStore>),
}

/// One read of several.
#[derive(Clone)]
pub struct ReadAsked {
    /// What is read, and in which form.
    pub read: Arc<Read>,
    /// Its arguments, bound.
    pub arguments: Arguments,
}

/// What was read.
#[derive(Clone, Debug)]
pub struct ReadValue {
    /// The content, in the form that was asked for; `None`: there is nothing.
    pub content: Option<Bytes>,
    /// Whether it is what was so before a Redis went away.
    pub is_stale: bool,
}

impl ReadLine {
    /// What is at hand for the arguments in `scratch`.
    pub(super) fn fresh(&self, read: &Read, now: Timestamp, scratch: &mut Scratch) -> Option<AnsweredRead> {
        match self {
            ReadLine::Redis(line) => line.fresh(read, now, scratch),
            ReadLine::Store(store) => {
                let rendered = store.answer(read, &scratch.arguments).ok()?;
                Some(AnsweredRead { rendered, until: None, stale: None, cache: None })
            }
        }
    }

    /// Whether anything may be at hand.
    pub(super) fn holds(&self) -> bool {
        match self {
            ReadLine::Redis(line) => line.holds(),
            ReadLine::Store(_) => true,
        }
    }

    /// Answers for the arguments in `scratch`.
    pub(super) async fn answer(&self, read: &Read, scratch: &mut Scratch) -> Result<AnsweredRead> {
        match self {
            ReadLine::Redis(line) => line.answer(read, scratch).await,
            ReadLine::Store(store) => {
                let rendered = store.answer(read, &scratch.arguments)?;
                Ok(AnsweredRead { rendered, until: None, stale: None, cache: None })
            }
        }
    }

    /// Carries out one read.
    pub async fn value(&self, asked: ReadAsked) -> Result<ReadValue> {
        asked.check()?;
        let mut scratch = Scratch { arguments: asked.arguments, key: Vec::new() };
        self.answer(&asked.read, &mut scratch).await.map(ReadValue::from)
    }

    /// Carries out several: one way there and back, where all of them go to one server that is asked each time.
    pub async fn values(&self, asked: &[ReadAsked]) -> Vec<Result<ReadValue>> {
        if let (ReadLine::Redis(line), [_, _, ..]) = (self, asked)
            && asked.iter().all(|asked| asked.check().is_ok())
            && let Some(answered) = line.answer_together(asked).await
        {
            return answered.into_iter().map(|answered| answered.map(ReadValue::from)).collect();
        }
        futures_util::future::join_all(asked.iter().cloned().map(|asked| self.value(asked))).await
    }
}

impl ReadAsked {
    fn check(&self) -> Result<()> {
        super::asked::check(self.read.command, &self.arguments)
    }
}

impl From<AnsweredRead> for ReadValue {
    fn from(answered: AnsweredRead) -> Self {
        let AnsweredRead { rendered, stale, .. } = answered;
        let content = rendered.is_there().then(|| rendered.body().clone());
        ReadValue { content, is_stale: stale.is_some() }
    }
}
