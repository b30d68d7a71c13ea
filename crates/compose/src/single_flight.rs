//! Single flight: equal calls at the same time run once. One per core for requests among each other, and one per request
//! for its own calls, which also remembers those that have ended.
//!
//! A call belongs to all who wait for it: it goes on as long as one of them does, and is cancelled with the last.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::pin::Pin;
use std::rc::Rc;

use foldhash::fast::RandomState;
use futures_util::FutureExt;
use futures_util::future::{Shared, WeakShared};
use message::Result;
use source::Value;

/// A call under way, which belongs to nobody: several may wait for it.
pub type Flight = Pin<Box<dyn Future<Output = Result<Value>>>>;
/// The same, waited for by several.
pub(crate) type SharedFlight = Shared<Flight>;

/// Calls under way on one core. Clones are the same.
#[derive(Clone, Default)]
pub struct SingleFlight {
    under_way: Rc<RefCell<UnderWay>>,
    begun: Rc<Cell<u64>>,
}

/// Calls by what makes them equal.
type UnderWay = HashMap<Rc<[u8]>, Entry, RandomState>;

/// A call in the list.
struct Entry {
    /// Which of all calls it is: another may stand in its place by the time it ends.
    number: u64,
    flight: WeakShared<Flight>,
}

/// Takes a call out of the list when it has ended, or when nobody waits for it any more.
struct Listed {
    flights: SingleFlight,
    key: Rc<[u8]>,
    number: u64,
}

impl SingleFlight {
    /// The call of this key that is under way, and that there was one; or a new one.
    pub(crate) fn join(&self, key: &[u8], begin: impl FnOnce() -> Flight) -> (SharedFlight, bool) {
        if let Some(flight) = self.under_way.borrow().get(key).and_then(|entry| entry.flight.upgrade()) {
            return (flight, true);
        }
        let key: Rc<[u8]> = key.into();
        let number = self.begun.get();
        self.begun.set(number + 1);
        let listed = Listed { flights: self.clone(), key: Rc::clone(&key), number };
        let call = begin();
        let flight: Flight = Box::pin(async move {
            let _listed = listed;
            call.await
        });
        let shared = flight.shared();
        if let Some(flight) = shared.downgrade() {
            self.under_way.borrow_mut().insert(key, Entry { number, flight });
        }
        (shared, false)
    }

    /// How many calls are under way.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.under_way.borrow().len()
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        let mut flights = self.flights.under_way.borrow_mut();
        if flights.get(&self.key).is_some_and(|entry| entry.number == self.number) {
            flights.remove(&self.key);
        }
    }
}
