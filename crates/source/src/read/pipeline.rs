//! Pipeline: reads of one request that start together go to their source together, one way there and back. Called by
//! `value`.
//!
//! The first that is asked waits until every step that is ready has begun, then sends all. Each waits for the same
//! round trip, and none of them owns it: one that is given up takes nothing from the others.

use std::cell::RefCell;
use std::collections::HashMap;
use std::pin::Pin;
use std::rc::Rc;

use futures_util::FutureExt;
use futures_util::future::Shared;
use message::{Error, Kind, Result};
use plan::SourceId;

use super::line::{ReadAsked, ReadLine, ReadValue};

type Replies = Rc<Vec<Result<ReadValue>>>;
type RoundTrip = Shared<Pin<Box<dyn Future<Output = Replies>>>>;

/// The reads of one request that have not been sent, by the source that they go to.
#[derive(Default)]
pub struct Pipelines(RefCell<HashMap<SourceId, Rc<Gathering>>>);

/// Reads that go together.
#[derive(Default)]
struct Gathering {
    asked: RefCell<Vec<ReadAsked>>,
    round_trip: RefCell<Option<RoundTrip>>,
}

impl Pipelines {
    /// Asks together with whatever else is asked of this source now.
    pub(crate) async fn ask(&self, source: SourceId, line: &ReadLine, asked: ReadAsked) -> Result<ReadValue> {
        let gathering = Rc::clone(self.0.borrow_mut().entry(source).or_default());
        let place = {
            let mut waiting = gathering.asked.borrow_mut();
            waiting.push(asked);
            waiting.len() - 1
        };
        // Every step that is ready has been polled once when this goes on.
        tokio::task::yield_now().await;
        let round_trip = gathering
            .round_trip
            .borrow_mut()
            .get_or_insert_with(|| {
                // Whatever is asked from now on goes by itself.
                self.0.borrow_mut().remove(&source);
                let (line, asked) = (line.clone(), gathering.asked.take());
                let send: Pin<Box<dyn Future<Output = Replies>>> =
                    Box::pin(async move { Rc::new(line.values(&asked).await) });
                send.shared()
            })
            .clone();
        let replies = round_trip.await;
        replies.get(place).cloned().unwrap_or_else(|| Err(Error::new(Kind::Internal, "a read has no reply")))
    }
}
