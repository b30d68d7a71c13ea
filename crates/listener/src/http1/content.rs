//! Content: how far a request's content has been received. Shared by the one who reads it (`incoming`) and the
//! connection, which watches over it.

use std::cell::RefCell;
use std::rc::Rc;
use std::task::Waker;

use ::http1::{Decoded, Decoder, Framing};
use bytes::BytesMut;
use message::{Error, Kind, Result, Side};
use tokio::time::Instant;

/// Content that nobody read is taken off the connection up to this length; with more, the connection is closed.
const DISCARDED: u64 = 64 * 1024;

/// Shared between connection and reader.
pub(super) type SharedContent = Rc<RefCell<Content>>;

/// See the module.
#[derive(Debug)]
pub(super) struct Content {
    pub(super) decoder: Decoder,
    /// Bytes still allowed.
    allowance: u64,
    /// The client waits for a `100 Continue` that nobody has sent yet.
    pub(super) expects_continue: bool,
    /// Since when somebody waits for the client to send more.
    pub(super) waiting_since: Option<Instant>,
    /// Who that is.
    pub(super) reader: Option<Waker>,
    /// Why nothing more will come.
    pub(super) fault: Option<Error>,
}

impl Content {
    pub(super) fn new(framing: Framing, limit: u64, expects_continue: bool) -> SharedContent {
        Rc::new(RefCell::new(Content {
            decoder: Decoder::new(framing, Side::Client),
            allowance: limit,
            expects_continue,
            waiting_since: None,
            reader: None,
            fault: None,
        }))
    }

    /// The next piece of what was read. An error stays.
    pub(super) fn decode(&mut self, input: &mut BytesMut) -> Result<Decoded> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        let decoded = self.decoder.decode(input).and_then(|decoded| self.charge(decoded));
        match &decoded {
            Ok(Decoded::NeedMore) => {}
            Ok(_) => {
                self.waiting_since = None;
                self.expects_continue = false; // it did not wait
            }
            Err(error) => self.fail(error.clone()),
        }
        decoded
    }

    /// Counts content against the limit.
    fn charge(&mut self, decoded: Decoded) -> Result<Decoded> {
        if let Decoded::Data(data) = &decoded {
            self.allowance = self.allowance.checked_sub(data.len() as u64).ok_or_else(|| {
                Error::new(Kind::ContentTooLarge, "the request's content is larger than the limit")
            })?;
        }
        Ok(decoded)
    }

    /// Ends it early, and tells the reader. The first reason stays.
    pub(super) fn fail(&mut self, error: Error) {
        self.waiting_since = None;
        if !self.decoder.is_complete() {
            self.fault.get_or_insert(error);
        }
        self.wake_reader();
    }

    /// There is something new for the reader.
    pub(super) fn wake_reader(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }

    /// Whether so much of it is still to come that the connection must end with the answer, whose head is about to be
    /// written. From then on no `100 Continue` may be sent, and a client that waited for one sends its content or not:
    /// nobody can tell where its next request would begin.
    pub(super) fn outlives_the_answer(&mut self) -> bool {
        let waits = std::mem::take(&mut self.expects_continue);
        let is_short = self.decoder.remaining().is_some_and(|left| left <= DISCARDED);
        !self.is_complete() && (waits || self.fault.is_some() || !is_short)
    }

    /// Whether all of it has been received and read.
    pub(super) fn is_complete(&self) -> bool {
        self.decoder.is_complete()
    }
}
